import { maybeNull, noField, wrongType } from "../../diagnostics/catalog/types.ts";
import { suggest } from "../../diagnostics/similar.ts";
import type * as Ast from "../../grammar/ast.ts";
import type { Expression } from "../../runtime/expression/expression.ts";
import type { ValueType } from "../../runtime/table/value-type.ts";
import { isAssignable } from "../types/assignable.ts";
import {
  BROKEN_TYPE,
  INT,
  isBroken,
  isNever,
  NULL,
  nullable,
  opaquePart,
  STRING,
  unionOf,
} from "../types/construct.ts";
import { typeToText } from "../types/type-text.ts";
import { alternatives, mayBeNull, resolveType, withoutNull } from "../types/type-table.ts";
import { describe, expectNotNull, expectType, JSON_HELP, placeOf, reportType } from "./expect-type.ts";
import { fewestItems, hasItemAt, type ListFunction, pathOf } from "./facts.ts";
import type { ExpressionScope, Typed } from "./scope.ts";

/** `of.name` and `of?.name`. */
export function typeMember(syntax: Ast.MemberExpr, object: Typed, scope: ExpressionScope): Typed {
  const { name } = syntax.property;
  const base = syntax.optional ? withoutNull(object.type, scope.types) : notNull(syntax, object, scope);
  const wasNull = syntax.optional && mayBeNull(object.type, scope.types);
  const form = { op: "member", of: object.expression, name } as const;
  const expression: Expression = syntax.optional ? { ...form, optional: true } : form;
  if (isNever(base) || isBroken(base)) return { expression, type: isNever(base) ? NULL : BROKEN_TYPE, syntax };
  const found = fieldOf(base, name, syntax, scope);
  if (found === undefined) return { expression, type: BROKEN_TYPE, syntax };
  const type = wasNull ? nullable(found.type) : found.type;
  if (found.from === "map" && !syntax.optional) {
    return { expression: { op: "index", of: object.expression, at: { op: "const", value: name } }, type, syntax };
  }
  return { expression: found.from === "present" ? expression : { ...expression, absent: true }, type, syntax };
}

/** `list[i]`, `map[key]`, and `record["field"]`. */
export function typeIndex(syntax: Ast.IndexExpr, object: Typed, index: Typed, scope: ExpressionScope): Typed {
  const what = "only lists and maps are indexed";
  const base = expectNotNull(object, what, scope, "test it first, or give a value for that case: `(… ?? [])[…]`");
  const expression: Expression = { op: "index", of: object.expression, at: index.expression };
  if (isBroken(base)) return { expression, type: BROKEN_TYPE, syntax };
  const found: ValueType[] = [];
  for (const member of alternatives(base, scope.types)) {
    const plain = resolveType(member, scope.types);
    if (plain.kind === "list") {
      if (!expectType(index, INT, { what: "a list is indexed by an int" }, scope))
        return { expression, type: BROKEN_TYPE, syntax };
      found.push(plain.item);
      if (!hasItem(syntax, index, scope)) found.push(NULL);
    } else if (plain.kind === "map") {
      if (!expectType(index, STRING, { what: "a map is indexed by a string" }, scope))
        return { expression, type: BROKEN_TYPE, syntax };
      found.push(plain.value, NULL);
    } else if (plain.kind === "record") {
      const type = recordIndex(syntax, plain, base, index, scope);
      if (type === undefined) return { expression, type: BROKEN_TYPE, syntax };
      found.push(type);
    } else if (plain.kind === "opaque") for (const each of opaqueIndex(plain, syntax, scope)) found.push(each);
    else {
      const isText = isAssignable(base, STRING, scope.types) === undefined;
      reportType(object, base, { what, help: isText ? 'take strings apart with `split(text, "")`' : undefined }, scope);
      return { expression, type: BROKEN_TYPE, syntax };
    }
  }
  return { expression, type: unionOf(found), syntax };
}

/** Whether a list is known to have an item at an index. */
function hasItem(syntax: Ast.IndexExpr, { expression }: Typed, scope: ExpressionScope): boolean {
  const list = pathOf(syntax.object);
  if (list === undefined || scope.facts.size === 0) return false;
  const isLibrary = libraryTest(syntax.object, scope);
  if (expression.op === "const" && typeof expression.value === "number") {
    return expression.value >= 0 && expression.value < fewestItems(scope.facts, list, isLibrary);
  }
  const index = pathOf(syntax.index);
  return index !== undefined && hasItemAt(scope.facts, list, index, isLibrary);
}

/** Whether a list is known to have items, so that `first(list)` and `last(list)` are items. */
export function hasItems(list: Ast.Expr, scope: ExpressionScope): boolean {
  const path = scope.facts.size === 0 ? undefined : pathOf(list);
  return path !== undefined && fewestItems(scope.facts, path, libraryTest(list, scope)) > 0;
}

/** A test whether a name is that of the library function here, and not of an import. */
function libraryTest({ span }: Ast.Expr, { names }: ExpressionScope): (name: ListFunction) => boolean {
  return (name) => names.callee(name, span) === undefined;
}

/** The type of a part of an opaque value. An item of a list may be missing; `tsc` knows whether a field may. */
function opaqueIndex(
  type: ValueType & { kind: "opaque" },
  { index }: Ast.IndexExpr,
  scope: ExpressionScope,
): readonly ValueType[] {
  if (index.kind !== "String") return type.module === "" ? [type] : [opaquePart(type, "number"), NULL];
  if (type.module !== "") {
    scope.names.leaveToTypeScript({ kind: "field", type, field: index.value, span: index.span });
  }
  return [opaquePart(type, JSON.stringify(index.value))];
}

/** Reports a field that is read of `null`, with a fix that writes `?.`. */
function notNull(syntax: Ast.MemberExpr, object: Typed, scope: ExpressionScope): ValueType {
  if (!mayBeNull(object.type, scope.types)) return object.type;
  const rest = withoutNull(object.type, scope.types);
  const use = `\`.${syntax.property.name}\` of null is an error`;
  const help = `write \`?.${syntax.property.name}\`, or test it first`;
  const place = placeOf(syntax.object.span, scope);
  scope.report(maybeNull(place, { what: describe(object, scope), use, unwritten: object.unwritten, help }));
  return isNever(rest) ? BROKEN_TYPE : rest;
}

interface Found {
  readonly type: ValueType;
  /** A map's value and an optional field may be absent. */
  readonly from: "present" | "absent" | "map";
}

function fieldOf(base: ValueType, name: string, syntax: Ast.MemberExpr, scope: ExpressionScope): Found | undefined {
  const types: ValueType[] = [];
  let from: Found["from"] = "present";
  for (const member of alternatives(base, scope.types)) {
    const plain = resolveType(member, scope.types);
    if (plain.kind === "opaque") {
      if (plain.module !== "") {
        scope.names.leaveToTypeScript({ kind: "field", type: plain, field: name, span: syntax.property.span });
      }
      types.push(opaquePart(plain, JSON.stringify(name)));
    } else if (plain.kind === "map") {
      types.push(plain.value, NULL);
      from = from === "present" && types.length === 2 ? "map" : "absent";
    } else if (plain.kind === "record") {
      const field = plain.fields.find((candidate) => candidate.name === name);
      if (field === undefined) {
        reportNoField(
          syntax,
          member,
          plain.fields.map((candidate) => candidate.name),
          base,
          scope,
        );
        return undefined;
      }
      types.push(field.type);
      if (field.optional === true) {
        types.push(NULL);
        from = "absent";
      } else if (from === "map") from = "absent";
    } else {
      reportNotRecord(syntax, plain, scope);
      return undefined;
    }
  }
  return { type: unionOf(types), from };
}

function reportNoField(
  syntax: Ast.MemberExpr,
  member: ValueType,
  fields: readonly string[],
  base: ValueType,
  scope: ExpressionScope,
): void {
  const { name, span } = syntax.property;
  const isPart = member !== base && alternatives(base, scope.types).length > 1;
  scope.report(
    noField(placeOf(span, scope), {
      field: name,
      type: typeToText(member),
      similar: suggest(name, () => fields, scope.suggestions).similar,
      fields,
      ...(isPart ? { help: `it may be one of \`${typeToText(base)}\`: test which one it is first` } : {}),
    }),
  );
}

function reportNotRecord(syntax: Ast.MemberExpr, type: ValueType, scope: ExpressionScope): void {
  const { name, span } = syntax.property;
  scope.report(
    wrongType(placeOf(span, scope), {
      message: `\`.${name}\` needs a record`,
      label: `this is a field of \`${typeToText(type)}\``,
      help: helpFor(),
    }),
  );

  function helpFor(): string | undefined {
    const isList = type.kind === "list";
    const isText = isAssignable(type, STRING, scope.types) === undefined;
    if (name === "length" && (isList || isText)) return "write `len(…)`";
    if (type.kind === "json") return JSON_HELP;
    return isList
      ? `take an item first (\`first(…)\`, \`…[0]\`), or go over them: \`[x.${name} for x in …]\``
      : undefined;
  }
}

function recordIndex(
  syntax: Ast.IndexExpr,
  record: ValueType & { kind: "record" },
  base: ValueType,
  index: Typed,
  scope: ExpressionScope,
): ValueType | undefined {
  if (syntax.index.kind !== "String") {
    if (!expectType(index, STRING, { what: "a record is indexed by the name of a field" }, scope)) return undefined;
    return nullable(unionOf(record.fields.map((field) => field.type)));
  }
  const name = syntax.index.value;
  const field = record.fields.find((candidate) => candidate.name === name);
  if (field !== undefined) return field.optional === true ? nullable(field.type) : field.type;
  const fields = record.fields.map((candidate) => candidate.name);
  const { similar } = suggest(name, () => fields, scope.suggestions);
  scope.report(
    noField(placeOf(syntax.index.span, scope), {
      field: name,
      type: typeToText(base),
      fields,
      similar: similar === undefined ? undefined : JSON.stringify(similar),
    }),
  );
  return undefined;
}
