/**
 * Converts TypeScript types to types of the language. Converts types whose values JSON can hold: interfaces, aliases,
 * unions, arrays, records, enums. All other types (generics, conditional types, classes, types of packages) are opaque.
 */
import { boundedBy, upperBoundOf } from "../types/upper-bound.ts";
import { weigh } from "../types/weigh-type.ts";
import type { FieldType, ValueType } from "../../runtime/table/value-type.ts";
import {
  BOOL,
  JSON_TYPE,
  listOf,
  mapOf,
  NEVER,
  NULL,
  nullable,
  NUMBER,
  opaque,
  recordOf,
  STRING,
  unionOf,
} from "../types/construct.ts";
import { findLocal, findMember, type FoundDeclaration } from "./find-declaration.ts";
import { literalNames, readEnum, readLiteral } from "./literal-type.ts";
import { notJson } from "./not-json.ts";
import type { StatementOf, TsType } from "./parse-module.ts";
import { marked, possible, UNDEFINED, withoutNullish, type PossibleType } from "./possible-type.ts";
import { asRecord, mergeRecords } from "./record-type.ts";
import { freeName, type NamedType, type ReadTypes, type TypeScope } from "./type-scope.ts";

/** Maximum nesting of types; deeper types are opaque. */
const MAX_DEPTH = 100;
/** Types with more parts become `ref`s, like types that graph files declare. */
const MAX_WRITTEN_OUT = 8;
const NO_PARAMETERS: ReadonlyMap<string, TsType | undefined> = new Map();

/**
 * Reads a type. `at` is the type as TypeScript text that starts with an imported name (`Ticket["tags"][number]`).
 * Opaque types use `at` as their name.
 */
export function readType(syntax: TsType, at: string, scope: TypeScope): ValueType {
  const { type, mayBeMissing } = readPossible(syntax, at, scope);
  if (!mayBeMissing) return type;
  if (scope.named !== undefined) scope.named.hasMissing = true;
  // An argument is never `undefined`. A result may be, and fails the run then.
  return scope.isResult === true ? unionOf([type, notJson("undefined", "", "`undefined`")]) : nullable(type);
}

/** Reads the type of a map's values. A run drops the entries of a result that are `undefined`. */
function readValue(syntax: TsType, at: string, scope: TypeScope): ValueType {
  const { type, mayBeMissing } = readPossible(syntax, at, scope);
  if (mayBeMissing && scope.named !== undefined) scope.named.hasMissing = true;
  return mayBeMissing && scope.isResult !== true ? nullable(type) : type;
}

/** Reads a type without `undefined`, and whether `undefined` is among its values. */
function readPossible(syntax: TsType, at: string, scope: TypeScope): PossibleType {
  return possible(readAny(syntax, at, scope));
}

/** Reads the type that an exported or local name declares. `undefined` counts as `null`. */
export function readDeclared(found: FoundDeclaration, at: string, scope: TypeScope): ValueType {
  const { type, mayBeMissing } = readNamed(found, at, scope);
  return mayBeMissing ? nullable(type) : type;
}

/** Reads the type that a name declares, without `undefined`, and whether `undefined` is among its values. */
function readNamed(found: FoundDeclaration, at: string, scope: TypeScope): PossibleType {
  const key = `${found.module.path}#${found.name}`;
  const { types, specifier, depth, named: outer, isResult } = scope;
  const [known, others] = isResult === true ? [types.results, types.known] : [types.known, types.results];
  const before = known.get(key) ?? sameAsResult(others.get(key));
  if (before !== undefined) outer?.parts.add(before);
  if (before?.read !== undefined) return before.read;
  if (before !== undefined) {
    // The type contains itself.
    before.ref ??= freeName(found.name, types);
    return { type: { kind: "ref", name: before.ref }, mayBeMissing: false };
  }
  const entry: NamedType = { ref: undefined, read: undefined, hasMissing: false, parts: new Set() };
  known.set(key, entry);
  outer?.parts.add(entry);
  const inner: TypeScope = {
    types,
    specifier,
    module: found.module,
    parameters: NO_PARAMETERS,
    depth: depth + 1,
    named: entry,
    ...(isResult === true ? { isResult } : {}),
  };
  const { type: body, mayBeMissing } = readStatements(found, at, inner);
  // Within itself, the name of a type that may be `undefined` means what counts for it there: `null`.
  const named = mayBeMissing && entry.ref !== undefined ? nullable(body) : body;
  const type = nameIfNeeded(named, found.name, entry, types);
  entry.read = { type, mayBeMissing };
  if (type.kind === "opaque") known.delete(key);
  return entry.read;
}

/** A type that has been read, if a function's result of this type is the same type as any other value. */
function sameAsResult(entry: NamedType | undefined): NamedType | undefined {
  if (entry?.read === undefined) return undefined;
  const seen = new Set([entry]);
  for (const { hasMissing, parts } of seen) {
    if (hasMissing) return undefined;
    for (const part of parts) seen.add(part);
  }
  return entry;
}

/**
 * Returns a `ref` for records, recursive types and large types, as for types that graph files declare. Returns other
 * types unchanged.
 */
function nameIfNeeded(body: ValueType, name: string, entry: NamedType, types: ReadTypes): ValueType {
  if (entry.ref === undefined) {
    if (body.kind !== "record" && weigh(body) <= MAX_WRITTEN_OUT) return body;
    entry.ref = freeName(name, types);
  }
  // A `ref` never names a type that is only another `ref`.
  types.table.set(entry.ref, body.kind === "ref" ? (types.table.get(body.name) ?? JSON_TYPE) : body);
  return { kind: "ref", name: entry.ref };
}

function readStatements({ statements }: FoundDeclaration, at: string, scope: TypeScope): PossibleType {
  const always = (type: ValueType): PossibleType => ({ type, mayBeMissing: false });
  const interfaces = statements.flatMap((statement) =>
    statement.type === "TSInterfaceDeclaration" ? [statement] : [],
  );
  if (interfaces.length > 0) return always(readInterface(interfaces, at, scope));
  for (const statement of statements) {
    if (statement.type === "TSTypeAliasDeclaration") {
      return isGeneric(statement)
        ? always(opaque(at, scope.specifier))
        : readPossible(statement.typeAnnotation, at, scope);
    }
    if (statement.type === "TSEnumDeclaration") return always(readEnum(statement, at, scope));
  }
  return always(opaque(at, scope.specifier));
}

function isGeneric(statement: { readonly typeParameters?: object | null | undefined }): boolean {
  return statement.typeParameters !== null && statement.typeParameters !== undefined;
}

function readInterface(
  declarations: readonly StatementOf<"TSInterfaceDeclaration">[],
  at: string,
  scope: TypeScope,
): ValueType {
  if (declarations.some(isGeneric)) return opaque(at, scope.specifier);
  const parts: ValueType[] = [];
  for (const { extends: bases, body } of declarations) {
    for (const base of bases ?? []) {
      const { expression } = base;
      const found = expression.type === "Identifier" ? findLocal(scope.module, expression.name) : undefined;
      if (found === undefined || isGeneric(base)) return opaque(at, scope.specifier);
      parts.push(readDeclared(found, at, scope));
    }
    parts.push(readMembers(body.body, at, scope));
  }
  return mergeRecords(parts, scope) ?? opaque(at, scope.specifier);
}

function readAny(syntax: TsType, at: string, scope: TypeScope): ValueType {
  if (scope.depth > MAX_DEPTH) return opaque(at, scope.specifier);
  const inner = { ...scope, depth: scope.depth + 1 };
  const unreadable = (description: string): ValueType => notJson(at, scope.specifier, description);
  switch (syntax.type) {
    case "TSStringKeyword":
      return STRING;
    case "TSNumberKeyword":
      return NUMBER;
    case "TSBooleanKeyword":
      return BOOL;
    case "TSNullKeyword":
      return NULL;
    case "TSUndefinedKeyword":
    case "TSVoidKeyword":
      return UNDEFINED;
    case "TSAnyKeyword":
    case "TSUnknownKeyword":
      return scope.isResult === true && scope.named === undefined ? opaque(at, scope.specifier) : JSON_TYPE;
    case "TSNeverKeyword":
      return NEVER;
    case "TSBigIntKeyword":
      return unreadable("a `bigint`");
    case "TSSymbolKeyword":
      return unreadable("a `symbol`");
    case "TSFunctionType":
    case "TSConstructorType":
      return unreadable("a function");
    case "TSTypePredicate":
      return syntax.asserts === true ? UNDEFINED : BOOL;
    case "TSParenthesizedType":
    case "TSOptionalType":
      return readAny(syntax.typeAnnotation, at, inner);
    case "TSLiteralType":
      return readLiteral(syntax.literal, at, scope);
    case "TSArrayType":
      return listOf(readType(syntax.elementType, `${at}[number]`, inner));
    case "TSTupleType":
      return listOf(readItems(syntax.elementTypes, `${at}[number]`, inner));
    case "TSTypeOperator":
      return syntax.operator === "readonly" ? readAny(syntax.typeAnnotation, at, inner) : opaque(at, scope.specifier);
    case "TSUnionType":
      return readUnion(syntax.types, at, inner);
    case "TSIntersectionType":
      return (
        mergeRecords(
          syntax.types.map((part) => readType(part, at, inner)),
          scope,
        ) ?? opaque(at, scope.specifier)
      );
    case "TSTypeLiteral":
      return readMembers(syntax.members, at, inner);
    case "TSTypeReference":
      return readReference(syntax, at, inner);
    default:
      return opaque(at, scope.specifier);
  }
}

function readUnion(members: readonly TsType[], at: string, scope: TypeScope): ValueType {
  const types = members.map((member) => readAny(member, at, scope));
  const isMissing = types.some(
    (type) => type === UNDEFINED || (type.kind === "union" && type.members.includes(UNDEFINED)),
  );
  const present = types
    .flatMap((type) => (type.kind === "union" ? type.members : [type]))
    .filter((type) => type !== UNDEFINED);
  return marked({ type: unionOf(withoutBounds(present, at, scope)), mayBeMissing: isMissing });
}

/** Opaque members of one place have one name, so a union keeps the first. The bound of one does not hold for the others. */
function withoutBounds(members: readonly ValueType[], at: string, scope: TypeScope): readonly ValueType[] {
  if (members.filter(({ kind }) => kind === "opaque").length < 2) return members;
  return members.map((member) => (upperBoundOf(member) === undefined ? member : opaque(at, scope.specifier)));
}

type Element = Extract<TsType, { type: "TSTupleType" }>["elementTypes"][number];

function readItems(elements: readonly Element[], at: string, scope: TypeScope): ValueType {
  const items = elements.map((element) => readElement(element, at, scope));
  return unionOf(
    withoutBounds(
      items.flatMap((item) => (item.kind === "union" ? item.members : [item])),
      at,
      scope,
    ),
  );
}

function readElement(element: Element, at: string, scope: TypeScope): ValueType {
  if (element.type === "TSNamedTupleMember") return readType(element.elementType, at, scope);
  if (element.type !== "TSRestType") return readType(element, at, scope);
  const rest = readType(element.typeAnnotation, at, scope);
  return rest.kind === "list" ? rest.item : rest;
}

type Members = Extract<TsType, { type: "TSTypeLiteral" }>["members"];

function readMembers(members: Members, at: string, scope: TypeScope): ValueType {
  const fields: FieldType[] = [];
  for (const member of members) {
    switch (member.type) {
      case "TSIndexSignature": {
        const annotation = member.typeAnnotation?.typeAnnotation;
        // The language has no records with additional fields of any name.
        if (members.length > 1 || annotation === undefined) return opaque(at, scope.specifier);
        return mapOf(readValue(annotation, `${at}[string]`, scope));
      }
      case "TSPropertySignature":
      case "TSMethodSignature": {
        const name = keyOf(member);
        const isAccessor = member.type === "TSMethodSignature" && member.kind !== "method";
        if (name === undefined || isAccessor) return opaque(at, scope.specifier);
        fields.push(readField(member, name, `${at}[${JSON.stringify(name)}]`, scope));
        break;
      }
      default:
        // Call and construct signatures: the value is a function.
        return notJson(at, scope.specifier, "a function");
    }
  }
  return recordOf(fields);
}

type Member = Extract<Members[number], { type: "TSPropertySignature" | "TSMethodSignature" }>;

function keyOf({ key, computed }: Member): string | undefined {
  if (computed === true) return undefined;
  if (key.type === "Identifier") return key.name;
  return key.type === "StringLiteral" ? key.value : undefined;
}

function readField(member: Member, name: string, at: string, scope: TypeScope): FieldType {
  if (member.type === "TSMethodSignature") {
    const type = notJson(at, scope.specifier, "a function");
    return member.optional === true ? { name, type, optional: true } : { name, type };
  }
  const annotation = member.typeAnnotation?.typeAnnotation;
  const { type, mayBeMissing } =
    annotation === undefined ? { type: JSON_TYPE, mayBeMissing: false } : readPossible(annotation, at, scope);
  return member.optional === true || mayBeMissing ? { name, type, optional: true } : { name, type };
}

/** Names of global TypeScript types whose values JSON cannot hold. */
const NOT_JSON: ReadonlySet<string> = new Set(
  "Date Map Set WeakMap WeakSet RegExp Error Function Promise PromiseLike URL Buffer ArrayBuffer Uint8Array Symbol BigInt ReadonlyMap ReadonlySet AbortSignal ReadableStream Response Request Blob File FormData Headers Iterator Generator AsyncIterable AsyncGenerator".split(
    " ",
  ),
);

function readReference(syntax: Extract<TsType, { type: "TSTypeReference" }>, at: string, scope: TypeScope): ValueType {
  const { typeName } = syntax;
  const args: readonly TsType[] = syntax.typeParameters?.params ?? [];
  if (typeName.type !== "Identifier") {
    if (typeName.type !== "TSQualifiedName" || typeName.left.type !== "Identifier" || args.length > 0) {
      return opaque(at, scope.specifier);
    }
    const { name: left } = typeName.left;
    const member = findMember(scope.module, left, typeName.right.name);
    return member === undefined ? opaque(at, scope.specifier) : marked(readNamed(member, at, scope));
  }
  const { name } = typeName;
  if (scope.parameters.has(name)) {
    const constraint = scope.parameters.get(name);
    if (constraint === undefined) return opaque(at, scope.specifier);
    const without = new Map([...scope.parameters].filter(([other]) => other !== name));
    if (scope.isResult !== true) return readAny(constraint, at, { ...scope, parameters: without });
    const bound = readType(constraint, at, { ...scope, parameters: without });
    return bound.kind === "opaque" ? bound : boundedBy(bound, at, scope.specifier);
  }
  const found = findLocal(scope.module, name);
  if (found !== undefined) return args.length > 0 ? opaque(at, scope.specifier) : marked(readNamed(found, at, scope));
  // The name is an import that cannot be followed, such as a type of a package.
  if (scope.module.scope?.locals.has(name) === true) return opaque(at, scope.specifier);
  const [first, second] = args;
  switch (name) {
    case "Array":
    case "ReadonlyArray":
      return first === undefined ? opaque(at, scope.specifier) : listOf(readType(first, `${at}[number]`, scope));
    case "Record":
      return first === undefined || second === undefined
        ? opaque(at, scope.specifier)
        : readRecordOf(first, second, at, scope);
    case "Readonly":
      return first === undefined ? opaque(at, scope.specifier) : readAny(first, at, scope);
    case "NonNullable":
      if (first === undefined) return opaque(at, scope.specifier);
      return withoutNullish(readAny(first, at, scope));
    case "Partial":
    case "Required":
    case "Pick":
    case "Omit":
      return first === undefined ? opaque(at, scope.specifier) : readUtility(name, first, second, at, scope);
    default:
      return NOT_JSON.has(name)
        ? notJson(at, scope.specifier, `${/^[AEI]/.test(name) ? "an" : "a"} \`${name}\``)
        : opaque(at, scope.specifier);
  }
}

/** `Record<string, T>` is a map, `Record<"a" | "b", T>` a record. */
function readRecordOf(key: TsType, value: TsType, at: string, scope: TypeScope): ValueType {
  const keys = readType(key, at, scope);
  if (keys.kind === "string") return mapOf(readValue(value, `${at}[string]`, scope));
  const names = literalNames(keys);
  if (names === undefined) return opaque(at, scope.specifier);
  return recordOf(
    names.map((name) => {
      const { type, mayBeMissing } = readPossible(value, `${at}[${JSON.stringify(name)}]`, scope);
      return mayBeMissing ? { name, type, optional: true } : { name, type };
    }),
  );
}

function readUtility(
  name: "Partial" | "Required" | "Pick" | "Omit",
  of: TsType,
  keys: TsType | undefined,
  at: string,
  scope: TypeScope,
): ValueType {
  const record = asRecord(readType(of, at, scope), scope);
  if (record === undefined) return opaque(at, scope.specifier);
  switch (name) {
    case "Partial":
      return recordOf(record.fields.map((field) => ({ ...field, optional: true })));
    case "Required":
      return recordOf(record.fields.map(({ name: field, type }) => ({ name: field, type })));
    case "Pick":
    case "Omit": {
      const names = keys === undefined ? undefined : literalNames(readType(keys, at, scope));
      if (names === undefined) return opaque(at, scope.specifier);
      return recordOf(record.fields.filter((field) => names.includes(field.name) === (name === "Pick")));
    }
    default:
      return name satisfies never;
  }
}
