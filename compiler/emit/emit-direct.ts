/**
 * The code of a graph that runs without the engine (`runtime/direct/`): the calls of its nodes, with arguments that only read a channel or are
 * constant written in place, and the records of its results.
 *
 * `$s` is the scope, `$f` the table's functions, `$e` its expressions and `$c` the context of the call.
 */
import type { ChannelSpec, NodeSpec, ReducerSpec, Table } from "../../runtime/table/table.ts";
import { fieldName, literal } from "./quote.ts";

/** With more channels, the state is built when it is read. */
const MOST_FIELDS = 100;

export interface DirectNames {
  /** TypeScript knows neither that an index is in range, nor that the compiler has checked the arguments. */
  readonly isTyped: boolean;
  /** The name of the entry point for graphs that run directly. */
  readonly namespace: string;
}

export function emitDirect(table: Table, names: DirectNames): string {
  const calls = table.nodes.map((node) => `    ${emitCall(table, node, names)},`);
  const records = [
    ...record("output", table, ({ role }) => role === "output", names),
    ...record("state", table, () => true, names),
    ...(table.channels.length > MOST_FIELDS ? [`records: ${names.namespace}.records`] : []),
    ...builtins(table, names),
    // A bundler leaves out what no module names.
    ...reducers(table, names),
    ...(table.nodes.some(({ output }) => output?.kind === "fields") ? [`fields: ${names.namespace}.fields`] : []),
    ...(table.barriers.length === 0 ? [] : [`barriers: ${names.namespace}.barriers`]),
    ...(table.nodes.some(({ each }) => each !== undefined) ? [`items: ${names.namespace}.items`] : []),
    ...(table.nodes.some(({ goes }) => goes !== undefined) ? [`jumps: ${names.namespace}.jumps`] : []),
    ...(table.nodes.some(({ timeout }) => timeout !== undefined) ? [`timeouts: ${names.namespace}.timeouts`] : []),
    ...(table.secrets.length === 0 ? [] : [`secrets: ${names.namespace}.secrets`]),
  ];
  const list = calls.length === 0 ? "[]" : `[\n${calls.join("\n")}\n  ]`;
  return `{\n  calls: ${list},\n${records.map((line) => `  ${line},\n`).join("")}}`;
}

function emitCall(table: Table, { call }: NodeSpec, names: DirectNames): string {
  const bang = names.isTyped ? "!" : "";
  const used = new Set<string>();
  const use = (name: string): string => {
    used.add(name);
    return `$${name}`;
  };
  const argument = (index: number): string => {
    const expression = table.expressions[index]!;
    if (expression.op === "channel") return `${use("s")}.state[${expression.channel}]${bang}`;
    const isSmall = expression.op === "const" && (typeof expression.value !== "object" || expression.value === null);
    return isSmall ? literal(expression.value) : `${use("e")}[${index}]${bang}(${use("s")})`;
  };
  const body = (): string => {
    if (call.kind === "expression") return argument(call.expression);
    if (call.kind === "builtin") {
      const args = call.args.map(({ name, expression }) => `${fieldName(name)}: ${argument(expression)}`);
      return `${nodeName(call.name, names)}(${args.length === 0 ? "{}" : `{ ${args.join(", ")} }`}, ${use("c")})`;
    }
    if (call.kind !== "function") throw new TypeError(`a node with a call of kind ${call.kind} does not run directly`);
    const passed = call.withoutContext === undefined ? [use("c")] : [];
    const args = [...call.args.map(argument), ...passed].map((text) => (names.isTyped ? `${text} as never` : text));
    return `${use("f")}[${call.function}]${bang}(${args.join(", ")})`;
  };
  const text = body();
  // A project may refuse parameters that are not used.
  const parameters = PARAMETERS.map((name) => (used.has(name) ? `$${name}` : `_${name}`));
  while (parameters.at(-1)?.startsWith("_") === true) parameters.pop();
  return `(${parameters.join(", ")}) => ${text}`;
}

/** A built-in node, which the entry point exports. */
function nodeName(name: string, { namespace }: DirectNames): string {
  return `${namespace}.${name}Node`;
}

function builtins({ nodes }: Table, names: DirectNames): readonly string[] {
  const used = [...new Set(nodes.flatMap(({ call }) => (call.kind === "builtin" ? [call.name] : [])))].sort();
  if (used.length === 0) return [];
  return [`builtins: { ${used.map((name) => `${fieldName(name)}: ${nodeName(name, names)}`).join(", ")} }`];
}

/** What applies one update, and several of them in linear time if that is more than one after the other. */
const REDUCERS: Readonly<Partial<Record<ReducerSpec["kind"], readonly [one: string, all?: string]>>> = {
  append: ["reduceAppend", "appendAll"],
  union: ["reduceUnion", "unionAll"],
  merge: ["reduceMerge", "mergeAll"],
  sum: ["reduceSum"],
  min: ["reduceMin"],
  max: ["reduceMax"],
};

function reducers({ channels }: Table, { namespace }: DirectNames): readonly string[] {
  const used = [...new Set(channels.flatMap(({ reducer }) => (reducer === undefined ? [] : [reducer.kind])))].sort();
  const parts = used.flatMap((kind) => {
    const [one, all] = REDUCERS[kind] ?? [];
    if (one === undefined) return [];
    return [`${kind}: { one: ${namespace}.${one}${all === undefined ? "" : `, all: ${namespace}.${all}`} }`];
  });
  return parts.length === 0 ? [] : [`reducers: { ${parts.join(", ")} }`];
}

const PARAMETERS = ["s", "f", "e", "c"];

function record(
  name: "output" | "state",
  { channels }: Table,
  isPart: (channel: ChannelSpec) => boolean,
  { isTyped }: DirectNames,
): readonly string[] {
  const fields = channels.flatMap((channel, at) =>
    isPart(channel) ? [`${fieldName(channel.name)}: $v[${at}]${isTyped ? "!" : ""}`] : [],
  );
  if (fields.length > MOST_FIELDS) return [];
  return [`${name}: ($v) => (${fields.length === 0 ? "{}" : `{ ${fields.join(", ")} }`})`];
}
