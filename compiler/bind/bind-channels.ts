/** Channels: their types, defaults, reducers and start values. */
import {
  asyncReducer,
  notConstant,
  notJsonValue,
  reducerMismatch,
  reducerNeedsDefault,
  reducerOfConfig,
  typeMismatch,
} from "../../diagnostics/catalog/types.ts";
import { unknownFunction, wrongSortOfName } from "../../diagnostics/catalog/names.ts";
import { suggest } from "../../diagnostics/similar.ts";
import type { Diagnostic } from "../../diagnostics/diagnostic.ts";
import type * as Ast from "../../grammar/ast.ts";
import type { Json } from "../../runtime/value/json.ts";
import type { ValueType } from "../../runtime/table/value-type.ts";
import type { BoundChannel } from "./bound-graph.ts";
import { evaluateConstant } from "../expressions/constant.ts";
import { listItem } from "../expressions/typed.ts";
import { findNotJson } from "../modules/not-json.ts";
import type { FunctionSignature } from "../modules/read-signature.ts";
import { isAssignable } from "../types/assignable.ts";
import { FLOAT, isBroken, recordOf, STRING } from "../types/construct.ts";
import { typeToText } from "../types/type-text.ts";
import { acceptsNull, alternatives, resolveType, type TypeTable, withoutNull } from "../types/type-table.ts";
import { isPoisoned, namesOf, KIND_NAMES, type FileScope, markMeantAsUsed } from "./file-scope.ts";
import type { ChannelEntry } from "./graph-context.ts";
import { reportMisfit } from "../expressions/fit-value.ts";
import { typeOfSyntax } from "./type-of-syntax.ts";

type Reducer = NonNullable<BoundChannel["reducer"]>;
type Report = (diagnostic: Diagnostic) => void;
const BUILT_IN_REDUCERS = ["last", "append", "sum", "min", "max", "merge", "union"] as const;

interface ChannelScope {
  readonly scope: FileScope;
  readonly types: TypeTable;
  readonly report: Report;
}

export function bindChannel(declaration: Ast.ChannelDecl, index: number, context: ChannelScope): ChannelEntry {
  const { scope, types, report } = context;
  const name = declaration.name.name;
  const type = typeOfSyntax(declaration.type, scope, report);
  reportNotJson(declaration, type, context);
  const initial = declaration.initial === undefined ? undefined : bindDefault(declaration, type, context);
  let hasWrongReducer = false;
  const reducer = bindReducer(declaration, type, {
    ...context,
    report: (diagnostic) => {
      hasWrongReducer = true;
      context.report(diagnostic);
    },
  });
  if (reducer === undefined && declaration.reducer !== undefined) hasWrongReducer = true;
  const startsNull =
    !hasWrongReducer &&
    declaration.role !== "input" &&
    declaration.role !== "config" &&
    declaration.initial === undefined &&
    (reducer === undefined || reducer.kind === "last" || reducer.kind === "min" || reducer.kind === "max") &&
    !isBroken(type) &&
    !acceptsNull(type, types) &&
    // The compiler does not know whether an opaque type accepts `null`.
    resolveType(type, types).kind !== "opaque";
  return {
    declaration,
    name,
    index,
    role: declaration.role,
    type,
    ...(declaration.was === undefined ? {} : { was: declaration.was.map((earlier) => earlier.name) }),
    ...(initial === undefined ? {} : { initial }),
    ...(reducer === undefined ? {} : { reducer }),
    startsNull,
    hasWrongReducer,
  };
}

/** NG408 for a channel whose type, read from TypeScript, JSON cannot hold. */
function reportNotJson(declaration: Ast.ChannelDecl, type: ValueType, { scope, types, report }: ChannelScope): void {
  const found = findNotJson(type, types);
  if (found === undefined) return;
  const place = { file: scope.file.source, span: declaration.type.span };
  const target = `channel \`${declaration.name.name}\``;
  report(notJsonValue(place, { target, source: `\`${typeToText(type)}\``, ...found }));
}

/** The default's value, when it is a constant of the channel's type. */
function bindDefault(declaration: Ast.ChannelDecl, type: ValueType, context: ChannelScope): Json | undefined {
  const { initial, name } = declaration;
  if (initial === undefined) return undefined;
  const { source } = context.scope.file;
  const constant = evaluateConstant(initial);
  if (constant.kind === "broken") return undefined;
  if (constant.kind === "computed") {
    context.report(notConstant({ file: source, span: constant.span }, name.name));
    return undefined;
  }
  const target = `the default of \`${name.name}\``;
  const fits = reportMisfit(
    { type: constant.type, syntax: initial },
    type,
    { target, declared: { file: source, span: declaration.type.span } },
    { file: source, types: context.types, report: context.report, suggestions: context.scope.suggestions },
  );
  return fits ? constant.value : undefined;
}

function bindReducer(declaration: Ast.ChannelDecl, type: ValueType, context: ChannelScope): Reducer | undefined {
  const { reducer, name } = declaration;
  if (reducer === undefined) return undefined;
  const { scope, report } = context;
  const place = { file: scope.file.source, span: reducer.span };
  const declared = scope.names.get(reducer.name);
  if (declaration.role === "config") {
    if (declared !== undefined) scope.used.add(reducer.name);
    report(reducerOfConfig(place, { config: name.name }));
    return undefined;
  }
  // An import hides a built-in reducer of the same name.
  if (declared?.kind === "import") {
    scope.used.add(reducer.name);
    if (declaration.initial === undefined && declaration.role !== "input") {
      report(reducerNeedsDefault(place, { channel: name.name, reducer: reducer.name }));
    }
    checkImportedReducer(reducer, declared.signatures(), type, context);
    return { kind: "function", function: declared.spec };
  }
  const kind = BUILT_IN_REDUCERS.find((candidate) => candidate === reducer.name);
  if (kind !== undefined) {
    checkReducer(kind, declaration, type, context);
    return { kind };
  }
  if (declared?.kind === "broken" || (declared === undefined && isPoisoned(reducer.name, scope))) {
    if (declared !== undefined) scope.used.add(reducer.name);
    return undefined;
  }
  if (declared !== undefined) {
    report(wrongSortOfName(place, { name: reducer.name, is: KIND_NAMES[declared.kind], expected: "a reducer" }));
    return undefined;
  }
  const all = (): string[] => [...BUILT_IN_REDUCERS, ...namesOf("import", scope)];
  const { similar, known } = suggest(reducer.name, all, scope.suggestions);
  markMeantAsUsed(similar, scope);
  const isList = listItem(withoutNull(type, context.types), context) !== undefined;
  const own = reducer.name === "add" && !isList ? "sum" : REDUCERS_ELSEWHERE.get(reducer.name);
  const help = own === undefined ? undefined : `the reducer is called \`${own}\` here`;
  report(unknownFunction(place, { name: reducer.name, similar, known, help }));
  return undefined;
}

/** What other frameworks call the built-in reducers. */
const REDUCERS_ELSEWHERE: ReadonlyMap<string, string> = new Map([
  ["add", "append"],
  ["concat", "append"],
  ["extend", "append"],
  ["push", "append"],
  ["add_messages", "append"],
  ["plus", "sum"],
  ["count", "sum"],
  ["update", "merge"],
  ["assign", "merge"],
  ["replace", "last"],
  ["overwrite", "last"],
  ["set", "union"],
]);

/** An imported reducer is called with the channel's value and an update, and returns the channel's next value. */
function checkImportedReducer(
  reducer: Ast.Identifier,
  signatures: readonly FunctionSignature[],
  type: ValueType,
  { scope, types, report }: ChannelScope,
): void {
  const [signature] = signatures;
  if (signature === undefined || signatures.length > 1) return;
  const place = { file: scope.file.source, span: reducer.span };
  const facts = { reducer: reducer.name, declared: signature.place };
  if (signature.isAsync) return report(asyncReducer(place, facts));
  const { result } = signature;
  const labels = [{ ...signature.place, message: `\`${reducer.name}\` is declared here` }];
  const target = `\`reduce ${reducer.name}\` of a \`${typeToText(type)}\``;
  const notJson = result === undefined ? undefined : findNotJson(result, types);
  if (notJson !== undefined) {
    const source = `the result of \`${reducer.name}\``;
    return report(notJsonValue(place, { target, source, verb: "use", declared: signature.place, ...notJson }));
  }
  const before = signature.parameters[0]?.type ?? signature.rest;
  const mismatch =
    (before === undefined ? undefined : isAssignable(type, before, types)) ??
    (result === undefined ? undefined : isAssignable(result, type, types));
  if (mismatch === undefined) return;
  const { expected, found, path, reason } = mismatch;
  report(
    typeMismatch(place, { target, expected: typeToText(expected), found: typeToText(found), path, reason, labels }),
  );
}

function checkReducer(
  kind: (typeof BUILT_IN_REDUCERS)[number],
  declaration: Ast.ChannelDecl,
  type: ValueType,
  context: ChannelScope,
): void {
  const { types, report, scope } = context;
  const reducer = declaration.reducer;
  if (reducer === undefined || isBroken(type) || kind === "last") return;
  const place = { file: scope.file.source, span: reducer.span };
  const plain = withoutNull(type, types);
  const kinds = alternatives(plain, types).map((member) => resolveType(member, types).kind);
  if (kinds.includes("opaque")) return;
  const misfit = (needs: string, help?: string): void => {
    const facts = { channel: declaration.name.name, reducer: kind, needs, found: typeToText(type) };
    report(reducerMismatch(place, help === undefined ? facts : { ...facts, help }));
  };
  switch (kind) {
    case "append":
    case "union":
      if (listItem(plain, context) === undefined || kinds.length === 0) {
        misfit("a list", `make it a list: \`${declaration.name.name}: ${typeToText(plain)}[]\``);
      }
      break;
    case "sum":
    case "min":
    case "max":
      if (isAssignable(plain, FLOAT, types) !== undefined || kinds.length === 0) {
        misfit("a number", kind === "sum" ? "to collect values use `reduce append`" : undefined);
      }
      break;
    case "merge":
      if (kinds.length > 0 && kinds.every((member) => member === "list")) {
        const item = listItem(plain, context);
        const problem = item === undefined ? undefined : idProblem(item, types);
        if (problem !== undefined) misfit(`a list of records with \`id?: string\`, a record or a map: ${problem}`);
        break;
      }
      if (kinds.length === 0 || !kinds.every((member) => member === "record" || member === "map")) {
        misfit("a record, a map, or a list of records with `id?: string`");
      } else if (declaration.initial === undefined && declaration.role !== "input") {
        checkMergeStart(declaration, plain, context);
      }
      break;
  }
}

/** Why `merge` cannot combine a list of these items by their ids. */
function idProblem(item: ValueType, types: TypeTable): string | undefined {
  for (const member of alternatives(item, types)) {
    const plain = resolveType(member, types);
    if (plain.kind === "opaque" || plain.kind === "json") continue;
    if (plain.kind !== "record") return `an item may be \`${typeToText(member)}\``;
    const id = plain.fields.find(({ name }) => name === "id");
    if (id === undefined) return "its items have no `id`: to collect values use `reduce append`";
    if (isAssignable(id.type, STRING, types) !== undefined) return `their \`id\` is \`${typeToText(id.type)}\``;
    if (plain.fields.some(({ name }) => name === "removed")) {
      return "the items have a field `removed`, which says that an item is removed";
    }
  }
  return undefined;
}

/** A `merge` channel without a default starts as `{}`, so its type must accept `{}`. */
function checkMergeStart(declaration: Ast.ChannelDecl, type: ValueType, context: ChannelScope): void {
  const mismatch = isAssignable(recordOf([]), type, context.types);
  if (mismatch === undefined) return;
  const place = { file: context.scope.file.source, span: declaration.name.span };
  context.report(
    typeMismatch(place, {
      target: `\`${declaration.name.name}\` starts as \`{}\`, and its type`,
      expected: typeToText(type),
      found: "{}",
      path: mismatch.path,
      reason: mismatch.reason,
      help: "give it a default, or make its fields optional",
    }),
  );
}
