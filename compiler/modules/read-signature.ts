import type { Place } from "../../diagnostics/diagnostic.ts";
import type { ValueType } from "../../runtime/table/value-type.ts";
import type { LoadedModule } from "../load/load-module.ts";
import { opaque } from "../types/construct.ts";
import { findExport } from "./find-declaration.ts";
import { findFunctions } from "./find-function.ts";
import { findNotJson } from "./not-json.ts";
import { isTypeScript, type FunctionNode, type Statement, type TsType } from "./parse-module.ts";
import { readFunctionDoc, type FunctionDoc } from "./read-jsdoc.ts";
import { readType, type ReadTypes, type TypeScope } from "./read-type.ts";

/** What an imported function takes and returns, as its module declares it. */
export interface FunctionSignature {
  /** Without the context, which the engine passes. */
  readonly parameters: readonly SignatureParameter[];
  /** The type of further arguments (`...rest`); absent where there are none. */
  readonly rest?: ValueType;
  /** Its last parameter is a `NodeContext`. */
  readonly takesContext: boolean;
  /** Without its promise; `undefined` where it is not declared. */
  readonly result: ValueType | undefined;
  /** It returns a promise. */
  readonly isAsync: boolean;
  /** Where it is declared. */
  readonly place: Place;
}

export interface SignatureParameter {
  readonly name: string;
  readonly type: ValueType;
  readonly optional: boolean;
  readonly place: Place;
}

/**
 * The signatures of a function that a module exports, overloads in their order. Empty where its text does not say
 * enough: a value that is no function, a function with a declared type of its own, JavaScript without JSDoc.
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
    return [readSignature(node, doc, name, scope)];
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
    const type = written.type ?? documented?.type;
    if (index === node.params.length - 1 && type !== undefined && isContext(type)) {
      takesContext = true;
      break;
    }
    // What the graph passes is JSON: what only TypeScript knows takes all of it here, and `tsc` checks the rest.
    const read =
      type === undefined
        ? opaque("unknown", "")
        : readType(type, `parameter ${written.name}`, { ...scope, specifier: "" });
    if (written.isRest) {
      rest = read.kind === "list" ? read.item : opaque("unknown", "");
      break;
    }
    // The engine passes the context after the arguments. A last parameter whose type is not that of JSON may be the context.
    const mayBeContext =
      index === node.params.length - 1 &&
      (takesAnything(type) || read.kind === "opaque" || findNotJson(read, scope.types.table) !== undefined);
    const optional =
      mayBeContext ||
      written.optional ||
      documented?.optional === true ||
      (doc !== undefined && documented === undefined);
    parameters.push({ name: written.name, type: read, optional, place: placeOf(whole) });
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

/** `limit?: number`, `limit = 3`, `{ a, b }: Options`, `...rest: string[]`. */
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

/** `T` of `Promise<T>`. */
function promisedBy(type: TsType): TsType | undefined {
  if (type.type !== "TSTypeReference" || type.typeName.type !== "Identifier") return undefined;
  if (type.typeName.name !== "Promise" && type.typeName.name !== "PromiseLike") return undefined;
  return type.typeParameters?.params[0];
}

function typeParametersOf(node: FunctionNode): TypeScope["parameters"] {
  const list = node.typeParameters?.type === "TSTypeParameterDeclaration" ? node.typeParameters.params : [];
  return new Map(list.map((parameter) => [parameter.name, parameter.constraint ?? undefined]));
}

/** `const f: Handler = …`: the type of the variable counts, and it may be anything. */
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

/** The comment above a function: above its `export` where there is one. */
function docOf(node: FunctionNode, statements: readonly Statement[]): FunctionDoc | undefined {
  for (const holder of [node, ...statements]) {
    const doc = readFunctionDoc(holder.leadingComments);
    if (doc !== undefined) return doc;
  }
  return undefined;
}
