/** States that call nothing: Pass, Fail and Wait. */
import { duration, ImportError, isObject, quoted, type Source } from "../imported.ts";
import { into, record, sayLiteral, sayPathExpression } from "./json-path.ts";
import { jsonataOf, sayJsonata } from "./jsonata.ts";
import type { State } from "./machine.ts";
import { atom, operand, type Said, type Scope } from "./said.ts";
import type { Kind } from "./shape.ts";
import { outputOf, plainOutput, variablesOf, writeData } from "./state-data.ts";
import type { StateEdges } from "./state-edges.ts";
import { lastKey, wrongSeconds } from "./state-parts.ts";
import { rootOf, sayOrCall, sayPath, sayValue, scopeOf } from "./state-values.ts";

export function writePass(edges: StateEdges, state: State): void {
  const { machine } = edges;
  const { source, node } = state;
  const query = machine.queryOf(state);
  const scope = scopeOf(machine, state);
  const assigned = (root: Scope): (readonly [string, Said])[] => variablesOf(machine, state, source, root, query);
  if (query === "JSONata") {
    writeData(machine, node, plainOutput(machine, state), assigned(scope), scope);
    edges.next(state, node);
    return;
  }
  const root = rootOf(machine, state, scope);
  const inner = scopeOf(machine, state, {}, root);
  const result = source.field("Result");
  const parameters = source.field("Parameters");
  const path = source.field("ResultPath").value;
  const isRoot = path === undefined || path === "$";
  const target = isRoot && !source.field("OutputPath").isPresent ? { path: [] } : undefined;
  let said: Said;
  if (result.isPresent) said = sayFields(result, target, scope);
  else if (parameters.isPresent) said = sayValue(machine, state, parameters, inner, query, target !== undefined);
  else said = root.path.length === 0 ? atom(root.channel, "json") : sayPathExpression("$", "json", inner);
  const output = outputOf(machine, state, said, scope, query);
  writeData(machine, node, output?.text === "data" ? undefined : output, assigned(inner), scope);
  edges.next(state, node);
}

/** A value without paths. Its fields count as fields of the data. */
function sayFields(source: Source, target: { readonly path: readonly string[] } | undefined, scope: Scope): Said {
  const { value } = source;
  if (!isObject(value) || target === undefined || target.path.length > 15)
    return into(target, sayLiteral(source), scope);
  return record(
    source.entries().map(([name, field]) => [name, sayFields(field, { path: [...target.path, name] }, scope)] as const),
  );
}

export function writeFail(edges: StateEdges, state: State): void {
  const { machine } = edges;
  const { source, node } = state;
  const query = machine.queryOf(state);
  const scope = scopeOf(machine, state);
  const part = (field: string): Said | undefined => {
    const path = source.field(`${field}Path`);
    if (path.isPresent) return sayPath(machine, state, path, scope, "string", true);
    const value = source.field(field);
    if (!value.isPresent || value.value === null || value.value === "") return undefined;
    if (query === "JSONata" && jsonataOf(value.value) !== undefined)
      return sayOrCall(machine, value, `${node}_${field}`, scope, () =>
        sayJsonata(jsonataOf(value.value)!, scope, "string"),
      );
    return atom(quoted(value.text()), "string");
  };
  const error = part("Error");
  const cause = part("Cause");
  if (machine.outer !== undefined) {
    // The error edges of the calling graph read the name.
    const raise = scope.helper("raise");
    machine.node(
      `${node} = ${raise}({ error: ${error?.text ?? '"States.TaskFailed"'}, cause: ${cause?.text ?? '""'} })`,
    );
  } else {
    const isText = [error, cause].every((each) => each === undefined || each.text.startsWith('"'));
    const parts = [error, cause].filter((each) => each !== undefined);
    const message = isText
      ? quoted(parts.map(({ text }) => JSON.parse(text) as string).join(": ") || state.name)
      : `join([${parts.map(({ text }) => text).join(", ")}], ": ")`;
    machine.node(`${node} = fail(${message})`);
  }
  machine.edge(`${node} -> end`);
}

export function writeWait(edges: StateEdges, state: State): void {
  const { machine } = edges;
  const { source, node } = state;
  const query = machine.queryOf(state);
  const scope = scopeOf(machine, state);
  const given = ["Seconds", "SecondsPath", "Timestamp", "TimestampPath"]
    .map((field) => source.field(field))
    .filter((field) => field.isPresent);
  const [value] = given;
  if (value === undefined || given.length > 1)
    throw new ImportError(
      source.at,
      `a Wait has one of Seconds, SecondsPath, Timestamp and TimestampPath, and \`${state.name}\` has ${given.length}`,
    );
  const expression = query === "JSONata" ? jsonataOf(value.value) : undefined;
  const read = (kind: Kind): Said => {
    if (expression !== undefined)
      return sayOrCall(machine, value, `${node}_${lastKey(value)}`, scope, () => sayJsonata(expression, scope, kind));
    return sayPath(machine, state, value, scopeOf(machine, state, {}, rootOf(machine, state, scope)), kind, true);
  };
  let last = node;
  const key = lastKey(value);
  if (key === "Seconds" && expression === undefined) {
    if (typeof value.value !== "number" || !(value.value >= 0) || value.value > 99_999_999) throw wrongSeconds(value);
    machine.node(`${node} = sleep(${value.value === 0 ? "0s" : duration(value.value * 1000)})`);
  } else if (key.startsWith("Seconds")) {
    const seconds = read("float");
    // An expression of JSONata may have no value.
    const number = expression === undefined ? operand(seconds) : `${scope.helper("untyped")}(${seconds.text})`;
    machine.node(`${node} = sleep(round(${number} * 1000))`);
  } else {
    const text =
      key === "Timestamp" && expression === undefined ? atom(quoted(value.text()), "string") : read("string");
    const due = machine.local.fresh(`${node}_due`);
    machine.channels.push(`  state ${due}: int = 0`);
    machine.node(`${node} = ${scope.helper("millisecondsUntil")}(${text.text}) into ${due}`);
    last = machine.local.fresh(`${node}_sleep`);
    machine.node(`${last} = sleep(${due})`);
    machine.edge(`${node} -> ${last}`);
  }
  const output = plainOutput(machine, state);
  const variables = variablesOf(machine, state, source, scope, query);
  if (output !== undefined || variables.length > 0) {
    const after = machine.local.fresh(`${node}_output`);
    writeData(machine, after, output, variables, scope);
    machine.edge(`${last} -> ${after}`);
    last = after;
  }
  edges.next(state, last);
}
