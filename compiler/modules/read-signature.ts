import type { Place } from "../../diagnostics/diagnostic.ts";
import type { ValueType } from "../../runtime/table/value-type.ts";
import type { LoadedModule } from "../load/load-module.ts";
import { opaque } from "../types/construct.ts";
import { findExport } from "./find-declaration.ts";
import { findFunctions } from "./find-function.ts";
import { findNotJson } from "./not-json.ts";
import { isTypeScript, type FunctionNode, type Statement, type TsType } from "./parse-module.ts";
import { readDefault } from "./read-default.ts";
import { readDescription, readFunctionDoc, type FunctionDoc } from "./read-jsdoc.ts";
import { readType } from "./read-type.ts";
import type { ReadTypes, TypeScope } from "./type-scope.ts";

/** The signature of an imported function, as its module declares it. */
export interface FunctionSignature {
  /** The parameters without the context, which the engine passes. */
  readonly parameters: readonly SignatureParameter[];
  /** The type of further arguments (`...rest`); absent if the function takes none. */
  readonly rest?: ValueType;
  /** Whether the last parameter is a `NodeContext`. */
  readonly takesContext: boolean;
  /** The type of the result, `T` for `Promise<T>`; `undefined` if it is not declared. */
  readonly result: ValueType | undefined;
  /** Whether the function returns a promise. */
  readonly isAsync: boolean;
  /** The place of the declaration. */
  readonly place: Place;
  /** The text of its JSDoc comment. */
  readonly description?: string;
}

export interface SignatureParameter {
  readonly name: string;
  readonly type: ValueType;
  readonly optional: boolean;
  readonly place: Place;
  /** The parameter has no type, and its default shows that it is not the context. */
  readonly isValue?: true;
}

/**
 * The signatures of a function that a module exports, overloads in their order. Empty if the text of the module does
 * not contain the signature: the value is no function, its variable has a type annotation, or it is JavaScript without
 * JSDoc.
 */
export function readSignatures(
  module: LoadedModule,
  name: string,
  specifier: string,
  types: ReadTypes,
): readonly FunctionSignature[] {
  const found = findExport(module, name);
  if (found === undefined) return [];
  const functions = findFunctions(found.statements, found.name);
  const overloads = functions.filter(({ type }) => type === "TSDeclareFunction");
  const readable = overloads.length > 0 ? overloads : functions;
  return readable.flatMap((node) => {
    const doc = isTypeScript(found.module.path) ? undefined : docOf(node, found.statements);
    if (!isTypeScript(found.module.path) && doc === undefined) return [];
    if (hasDeclaredType(node, found.statements)) return [];
    const scope: TypeScope = {
      types,
      module: found.module,
      specifier,
      parameters: typeParametersOf(node),
      depth: 0,
    };
    const comments = [node, ...found.statements].map(({ leadingComments }) => readDescription(leadingComments));
    const description = comments.find((comment) => comment !== undefined);
    const signature = readSignature(node, doc, name, scope);
    return [description === undefined ? signature : { ...signature, description }];
  });
}

function readSignature(
  node: FunctionNode,
  doc: FunctionDoc | undefined,
  name: string,
  scope: TypeScope,
): FunctionSignature {
  const { source: file } = scope.module;
  const placeOf = (part: { readonly start?: number | null; readonly end?: number | null }): Place => ({
    file,
    span: { start: part.start ?? 0, end: part.end ?? part.start ?? 0 },
  });
  const parameters: SignatureParameter[] = [];
  let rest: ValueType | undefined;
  let takesContext = false;
  for (const [index, whole] of node.params.entries()) {
    const written = describeParameter(whole, index);
    const documented = doc?.parameters.get(written.name);
    const declared = written.type ?? documented?.type;
    const initial = declared === undefined ? readDefault(whole, scope.module) : undefined;
    // Of a parameter that JSDoc leaves out, a caller may pass more than its default has.
    const type = declared ?? (doc === undefined ? initial?.type : undefined);
    if (index === node.params.length - 1 && type !== undefined && isContext(type)) {
      takesContext = true;
      break;
    }
    // A type that only TypeScript knows accepts all JSON here; `tsc` checks the argument.
    const read =
      type === undefined
        ? opaque("unknown", "")
        : readType(type, `parameter ${written.name}`, { ...scope, specifier: "" });
    if (written.isRest) {
      rest = read.kind === "list" ? read.item : opaque("unknown", "");
      break;
    }
    // The engine passes the context after the arguments. A last parameter may be the context if its type is not a JSON
    // type.
    const mayBeContext =
      index === node.params.length - 1 &&
      initial?.mayBeContext !== false &&
      (takesAnything(type) || read.kind === "opaque" || findNotJson(read, scope.types.table) !== undefined);
    const optional =
      mayBeContext ||
      written.optional ||
      documented?.optional === true ||
      (doc !== undefined && documented === undefined);
    const isValue = initial?.mayBeContext === false ? { isValue: true as const } : {};
    parameters.push({ name: written.name, type: read, optional, place: placeOf(whole), ...isValue });
  }
  const annotation = returnTypeOf(node) ?? doc?.result;
  const promised = annotation === undefined ? undefined : promisedBy(annotation);
  const value = promised ?? annotation;
  const id = "id" in node ? node.id : undefined;
  return {
    parameters,
    ...(rest === undefined ? {} : { rest }),
    takesContext,
    result:
      value === undefined ? undefined : readType(value, `ReturnType<typeof ${name}>`, { ...scope, isResult: true }),
    isAsync: node.async === true || promised !== undefined,
    place: placeOf(id ?? node),
  };
}

interface WrittenParameter {
  readonly name: string;
  readonly type: TsType | undefined;
  readonly optional: boolean;
  readonly isRest: boolean;
}

/** Reads the forms of a parameter: `limit?: number`, `limit = 3`, `{ a, b }: Options`, `...rest: string[]`. */
function describeParameter(whole: FunctionNode["params"][number], index: number): WrittenParameter {
  const inner = whole.type === "AssignmentPattern" ? whole.left : whole.type === "RestElement" ? whole.argument : whole;
  const holder = (whole.type === "RestElement" ? whole : inner) as {
    readonly typeAnnotation?: { readonly type: string; readonly typeAnnotation?: unknown } | null;
    readonly optional?: boolean | null;
  };
  const annotation = holder.typeAnnotation;
  const type = annotation?.type === "TSTypeAnnotation" ? (annotation.typeAnnotation as TsType) : undefined;
  return {
    name: inner.type === "Identifier" ? inner.name : `argument ${index + 1}`,
    type,
    optional: whole.type === "AssignmentPattern" || holder.optional === true,
    isRest: whole.type === "RestElement",
  };
}

function takesAnything(type: TsType | undefined): boolean {
  return type === undefined || type.type === "TSAnyKeyword" || type.type === "TSUnknownKeyword";
}

function isContext(type: TsType): boolean {
  return type.type === "TSTypeReference" && type.typeName.type === "Identifier" && type.typeName.name === "NodeContext";
}

function returnTypeOf(node: FunctionNode): TsType | undefined {
  const { returnType } = node;
  return returnType?.type === "TSTypeAnnotation" ? returnType.typeAnnotation : undefined;
}

/** Returns `T` of `Promise<T>`; `undefined` for other types. */
function promisedBy(type: TsType): TsType | undefined {
  if (type.type !== "TSTypeReference" || type.typeName.type !== "Identifier") return undefined;
  if (type.typeName.name !== "Promise" && type.typeName.name !== "PromiseLike") return undefined;
  return type.typeParameters?.params[0];
}

function typeParametersOf(node: FunctionNode): TypeScope["parameters"] {
  const list = node.typeParameters?.type === "TSTypeParameterDeclaration" ? node.typeParameters.params : [];
  return new Map(list.map((parameter) => [parameter.name, parameter.constraint ?? undefined]));
}

/** Whether the variable of a function has a type annotation (`const f: Handler = …`), which is not read. */
function hasDeclaredType(node: FunctionNode, statements: readonly Statement[]): boolean {
  return statements.some(
    (statement) =>
      statement.type === "VariableDeclaration" &&
      statement.declarations.some(
        ({ init, id }) =>
          init === node && "typeAnnotation" in id && id.typeAnnotation !== null && id.typeAnnotation !== undefined,
      ),
  );
}

/** The JSDoc types of the comment above a function or above its `export`. */
function docOf(node: FunctionNode, statements: readonly Statement[]): FunctionDoc | undefined {
  for (const holder of [node, ...statements]) {
    const doc = readFunctionDoc(holder.leadingComments);
    if (doc !== undefined) return doc;
  }
  return undefined;
}
