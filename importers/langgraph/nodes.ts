/** Nodes of a program: their functions, and what their options say. */
import { duration } from "../imported.ts";
import { line, walk, type Tree } from "../program-tree.ts";
import { choices, makesSends, nodeOfText, type RouteReading } from "./routes.ts";
import type { StateChannel, StateNode } from "../state-graph.ts";
import type { FunctionNames } from "./function-names.ts";
import {
  elements,
  functionName,
  isFunction,
  isNew,
  keyOf,
  plain,
  properties,
  property,
  resolve,
  returnsOf,
  withoutBind,
  type Declared,
} from "./trees.ts";

export interface NodeReading extends RouteReading {
  /** The channels by their names. */
  readonly channels: ReadonlyMap<string, StateChannel>;
  /** What the functions do that are read: many nodes may have the same one. */
  readonly functions: Map<Tree, NodeFunction>;
  readonly names: FunctionNames;
  /** The graph that an expression is, with its channels. */
  readonly graphOf: (tree: Tree) => CalledGraph | undefined;
}

/** A graph of the same file. */
export interface CalledGraph {
  readonly name: string;
  readonly channels: ReadonlySet<string>;
}

interface NodeFunction {
  /** The channels that it writes; `undefined` if they are not all known. */
  readonly writes: readonly string[] | undefined;
  /** The targets of its `Command`; `undefined` if one is no constant. */
  readonly jumps: readonly string[] | undefined;
  readonly sends: boolean;
}

/** @param body the function of the node, or a name of it */
export function readNode(
  name: string,
  body: Tree | undefined,
  options: Tree | undefined,
  reading: NodeReading,
): StateNode {
  const { declared, channels, end, changes, names } = reading;
  const notes: string[] = [];
  const say = (at: Tree, message: string): void => void notes.push(changes.add(line(at), message));
  const given = withoutBind(body);
  const own = resolve(given, declared);
  const { writes, jumps, sends } = functionOf(own, reading);
  const settings = resolve(options, declared);
  const policies = settings === undefined ? [] : policiesOf(name, settings, declared, say);
  const graph = body === undefined ? undefined : reading.graphOf(body);
  if (graph !== undefined) {
    const shared = [...graph.channels]
      .filter((channel) => channels.has(channel))
      .map((channel) => [channel, channel] as const);
    const joined = shared.filter(([channel]) => (channels.get(channel)?.reducer ?? "last") !== "last");
    if (joined.length > 0)
      say(
        body!,
        `\`${name}\` is a graph: its result replaces ${joined.map(([channel]) => `\`${channel}\``).join(", ")}, and LangGraph applies the reducer to it`,
      );
    return { name, call: graph.name, graph: { input: shared, output: shared }, policies, notes };
  }
  if (own?.type === "CallExpression" || own?.type === "NewExpression")
    say(own, `\`${name}\` is an object of a library; the stub calls it`);
  const ends = settings === undefined ? undefined : resolve(property(settings, "ends"), declared);
  const goes = ends === undefined ? jumps : elements(ends).map(end);
  if (ends !== undefined && ends.type !== "ArrayExpression")
    say(ends, `\`ends\` of \`${name}\` is no constant list: its jumps are not read`);
  if (goes === undefined)
    say(own!, `\`${name}\` returns \`Command\` with a \`goto\` that is no constant: its jumps are not read`);
  else if (goes.length > 0)
    say(ends ?? own!, `\`${name}\` returns \`Command\`: here its function calls \`goto\` of the context`);
  if ((goes ?? []).length > 0 && sends)
    say(
      own!,
      `\`${name}\` returns \`Send\` in \`goto\`, which gives the node a state of its own: here it reads the common state`,
    );
  return {
    name,
    call: names.of("node", (given === undefined ? undefined : functionName(given)) ?? name, own),
    ...(writes === undefined ? {} : { writes }),
    policies,
    ...(goes === undefined || goes.length === 0 ? {} : { goes: [...new Set(goes)] }),
    notes,
  };
}

/** Options that say nothing about runs. */
const SILENT: ReadonlySet<string> = new Set(["ends", "metadata", "subgraphs", "retryPolicy"]);
const OPTIONS: ReadonlyMap<string, string> = new Map([
  ["defer", "`defer` is left out: let the node come after `settled(…)`, which waits for what can still come"],
  ["cachePolicy", "`cachePolicy` is left out: the policy `cache` keeps results"],
  ["input", "`input` is left out: the node reads the whole state"],
]);

function policiesOf(
  name: string,
  options: Tree,
  declared: Declared,
  say: (at: Tree, message: string) => void,
): readonly string[] {
  for (const each of properties(options)) {
    const key = keyOf(each) ?? "";
    if (!SILENT.has(key)) say(each, OPTIONS.get(key) ?? `the option \`${key}\` of \`${name}\` is left out`);
  }
  const own = property(options, "retryPolicy");
  if (own === undefined) return [];
  const retry = resolve(own, declared)!;
  const amount = (field: string, otherwise: number): number => {
    const value = resolve(property(retry, field), declared);
    if (value === undefined) return otherwise;
    if (value.type === "NumericLiteral") return value["value"] as number;
    say(value, `\`${field}\` of \`${name}\` is no constant: here it is ${otherwise}`);
    return otherwise;
  };
  const retryOn = property(retry, "retryOn");
  if (retryOn !== undefined)
    say(retryOn, `\`retryOn\` of \`${name}\` is left out: an error with \`retryable: false\` is not retried`);
  const factor = amount("backoffFactor", 2);
  if (factor !== 2) say(retry, `delays of \`${name}\` double here instead of growing by ${factor}`);
  const tries = Math.trunc(amount("maxAttempts", 3));
  const first = Math.max(1, amount("initialInterval", 500));
  const longest = Math.max(first, amount("maxInterval", 128_000));
  return tries <= 1 ? [] : [`tries ${tries} backoff ${duration(first)}..${duration(longest)}`];
}

function functionOf(body: Tree | undefined, { constants, channels, functions }: NodeReading): NodeFunction {
  if (!isFunction(body)) return { writes: undefined, jumps: [], sends: false };
  const known = functions.get(body);
  if (known !== undefined) return known;
  const read = { writes: writesOf(body, channels), jumps: jumpsOf(body, constants), sends: makesSends(body) };
  functions.set(body, read);
  return read;
}

/** The targets of `new Command({ goto })` in a function without `ends`; `undefined` if one is no constant. */
function jumpsOf(body: Tree, constants: Declared): readonly string[] | undefined {
  const targets = new Set<string>();
  for (const tree of walk(body)) {
    if (!isNew(tree, "Command")) continue;
    const [first] = tree["arguments"] as readonly Tree[];
    const goto = first === undefined ? undefined : property(first, "goto");
    // An empty list jumps nowhere.
    if (goto === undefined || (goto.type === "ArrayExpression" && elements(goto).length === 0)) continue;
    for (const names of choices(goto, constants)) {
      if (names === undefined) return undefined;
      for (const name of names) targets.add(nodeOfText(name));
    }
  }
  return [...targets];
}

/** The fields of the records that a function returns; `undefined` if they are not all known. */
function writesOf(body: Tree, known: NodeReading["channels"]): readonly string[] | undefined {
  const fields = new Set<string>();
  for (const result of returnsOf(body)) {
    const record = plain(result);
    if (record?.type !== "ObjectExpression") return undefined;
    for (const each of record["properties"] as readonly Tree[]) {
      const field = each.type === "SpreadElement" ? undefined : keyOf(each);
      if (field === undefined || !known.has(field)) return undefined;
      fields.add(field);
    }
  }
  return [...fields];
}
