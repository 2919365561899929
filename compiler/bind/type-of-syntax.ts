import { duplicateField, unknownType, wrongSortOfName } from "../../diagnostics/catalog/names.ts";
import type { Diagnostic } from "../../diagnostics/diagnostic.ts";
import { suggest } from "../../diagnostics/similar.ts";
import type { Span } from "../../diagnostics/source.ts";
import type * as Ast from "../../grammar/ast.ts";
import type { FieldType, ValueType } from "../../runtime/table/value-type.ts";
import {
  BOOL,
  BROKEN_TYPE,
  FLOAT,
  INT,
  JSON_TYPE,
  listOf,
  literal,
  mapOf,
  NULL,
  recordOf,
  STRING,
  unionOf,
} from "../types/construct.ts";
import { NAMED_TYPES } from "../types/failure-types.ts";
import { isPoisoned, namesOf, KIND_NAMES, type FileScope, markMeantAsUsed } from "./file-scope.ts";

const BUILT_IN: ReadonlyMap<string, ValueType> = new Map([
  ["string", STRING],
  ["int", INT],
  ["float", FLOAT],
  ["bool", BOOL],
  ["json", JSON_TYPE],
  ["null", NULL],
]);

/** The types of the language by their names in other languages; in backticks where one can replace the other. */
const INSTEAD: ReadonlyMap<string, string> = new Map([
  ["number", "`float`, or `int` for whole numbers"],
  ["integer", "`int`"],
  ["long", "`int`"],
  ["double", "`float`"],
  ["decimal", "`float`"],
  ["boolean", "`bool`"],
  ["str", "`string`"],
  ["text", "`string`"],
  ["String", "`string`"],
  ["Number", "`float`, or `int` for whole numbers"],
  ["Boolean", "`bool`"],
  ["Date", "`string` (an ISO date) or `int` (milliseconds)"],
  ["any", "`json`"],
  ["unknown", "`json`"],
  ["object", "`json`, a record `{ a: T }`, or `map<T>`"],
  ["Object", "`json`, a record `{ a: T }`, or `map<T>`"],
  ["dict", "`map<T>`"],
  ["Map", "`map<T>`"],
  ["Record", "`map<T>`, or a record `{ a: T }`"],
  ["Array", "`T[]`"],
  ["ReadonlyArray", "`T[]`"],
  ["List", "`T[]`"],
  ["list", "`T[]`"],
  ["array", "`T[]`"],
  ["map", "`map<T>`, with the type of its values"],
  ["undefined", "`null`"],
  ["void", "`null`"],
  ["None", "`null`"],
  ["enum", 'the values themselves: `"a" | "b"`'],
]);

/** The type that a type expression means. Reports unknown names, which break only their own part. */
export function typeOfSyntax(
  syntax: Ast.TypeExpr,
  scope: FileScope,
  report: (diagnostic: Diagnostic) => void,
): ValueType {
  switch (syntax.kind) {
    case "NamedType":
      return namedType(syntax, scope, report);
    case "LiteralType":
      return syntax.value === null ? NULL : literal(syntax.value);
    case "ListType":
      return listOf(typeOfSyntax(syntax.item, scope, report));
    case "MapType":
      return mapOf(typeOfSyntax(syntax.value, scope, report));
    case "RecordType":
      return recordType(syntax, scope, report);
    case "UnionType":
      return unionOf(syntax.members.map((member) => typeOfSyntax(member, scope, report)));
    case "BrokenType":
      return BROKEN_TYPE;
  }
}

function recordType(syntax: Ast.RecordType, scope: FileScope, report: (diagnostic: Diagnostic) => void): ValueType {
  const fields: FieldType[] = [];
  const seen = new Map<string, Span>();
  for (const field of syntax.fields) {
    const { name, span } = field.name;
    const type = typeOfSyntax(field.type, scope, report);
    const first = seen.get(name);
    if (first !== undefined) {
      const { source } = scope.file;
      report(duplicateField({ file: source, span }, { name, first: { file: source, span: first } }));
      continue;
    }
    seen.set(name, span);
    fields.push(field.optional ? { name, type, optional: true } : { name, type });
  }
  return recordOf(fields);
}

function namedType(syntax: Ast.NamedType, scope: FileScope, report: (diagnostic: Diagnostic) => void): ValueType {
  const { name, span } = syntax;
  const place = { file: scope.file.source, span };
  const builtIn = BUILT_IN.get(name);
  if (builtIn !== undefined) return builtIn;
  const declared = scope.names.get(name);
  if (declared === undefined) {
    const known = NAMED_TYPES.get(name);
    if (known !== undefined) return known;
    if (isPoisoned(name, scope)) return BROKEN_TYPE;
    const all = (): string[] => [
      ...BUILT_IN.keys(),
      "map<T>",
      ...namesOf("type", scope),
      ...namesOf("importedType", scope),
    ];
    const suggestion = suggest(name, all, scope.suggestions);
    markMeantAsUsed(suggestion.similar, scope);
    report(unknownType(place, { name, instead: INSTEAD.get(name), ...suggestion }));
    return BROKEN_TYPE;
  }
  scope.used.add(name);
  if (declared.kind === "type" || declared.kind === "importedType") return declared.type;
  if (declared.kind === "broken") return BROKEN_TYPE;
  // A class, or a module whose exports are not certain.
  if (declared.kind === "import" && declared.exported !== "value") return declared.type();
  const at = { file: scope.file.source, span: declared.identifier.span };
  report(wrongSortOfName(place, { name, is: KIND_NAMES[declared.kind], expected: "a type", declared: at }));
  return BROKEN_TYPE;
}
