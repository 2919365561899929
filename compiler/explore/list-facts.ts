/**
 * Facts about lists that grow one expression at a time: `len(xs)` is a counter, and `last(xs)` is what was appended last.
 * The model has a channel of its own for each of them (ghost variables, as in program verification), so that loops such
 * as `when len(xs) < 3` have bounds.
 */
import { expressionParts } from "../../runtime/expression/expression-depth.ts";
import type { Expression } from "../../runtime/expression/expression.ts";
import type { Json } from "../../runtime/value/json.ts";
import type { ValueType } from "../../runtime/table/value-type.ts";
import { setChannels, type BoundChannel, type BoundGraph, type BoundNode } from "../bind/bound-graph.ts";
import { conditionsOf } from "../bind/edge-parts.ts";
import { replaceParts } from "./replace-parts.ts";
import type { TypeNames } from "./terms.ts";

/** A channel that the graph does not have: `len(xs)` or `last(xs)`. */
export interface GhostChannel {
  readonly name: string;
  readonly type: ValueType;
  readonly kind: "len" | "last";
  /** The index of the list among the channels. */
  readonly list: number;
  readonly role: BoundChannel["role"];
  /** The initial value; `undefined` for a list that an earlier run may have written. */
  readonly initial: Json | undefined;
  /** By node: what it adds to the length, or the last item that it appends. */
  readonly writes: ReadonlyMap<number, Expression>;
}

export interface ListFacts {
  /** Their indexes follow those of the channels of the graph. */
  readonly ghosts: readonly GhostChannel[];
  /** The expression with `len(xs)` and `last(xs)` replaced by their channels. */
  read(expression: Expression): Expression;
  /** The inverse of `read`. */
  original(expression: Expression): Expression;
}

const NO_FACTS: ListFacts = {
  ghosts: [],
  read: (expression) => expression,
  original: (expression) => expression,
};

/** The facts that a graph uses, in linear time. */
export function findListFacts(graph: BoundGraph, resolve: TypeNames): ListFacts {
  const used = usedFacts(graph);
  if (used.size === 0) return NO_FACTS;
  const replaced = setChannels(graph);
  const ghosts: GhostChannel[] = [];
  const indexes = new Map<string, number>();
  for (const [key, { kind, list }] of used) {
    const channel = graph.channels[list];
    if (channel === undefined || replaced.has(channel.name)) continue;
    const ghost = ghostOf(graph, resolve, kind, list, channel);
    if (ghost === undefined) continue;
    indexes.set(key, graph.channels.length + ghosts.length);
    ghosts.push(ghost);
  }
  if (ghosts.length === 0) return NO_FACTS;
  return {
    ghosts,
    read: (expression) =>
      replaceParts(expression, (part) => {
        const fact = factOf(part);
        const channel = fact === undefined ? undefined : indexes.get(keyOf(fact));
        return channel === undefined ? undefined : { op: "channel", channel };
      }),
    original: (expression) =>
      replaceParts(expression, (part) => {
        const ghost = part.op === "channel" ? ghosts[part.channel - graph.channels.length] : undefined;
        return ghost && { op: "library", name: ghost.kind, args: [{ op: "channel", channel: ghost.list }] };
      }),
  };
}

interface Fact {
  readonly kind: GhostChannel["kind"];
  readonly list: number;
}

function keyOf({ kind, list }: Fact): string {
  return `${kind} ${list}`;
}

function factOf(part: Expression): Fact | undefined {
  if (part.op !== "library" || (part.name !== "len" && part.name !== "last")) return undefined;
  const [list] = part.args;
  return list?.op === "channel" ? { kind: part.name, list: list.channel } : undefined;
}

/** The facts that conditions, assertions and computed values read. */
function usedFacts(graph: BoundGraph): ReadonlyMap<string, Fact> {
  const found = new Map<string, Fact>();
  const pending: Expression[] = [
    ...graph.edges.flatMap((edge) => conditionsOf(edge).map(({ expression }) => expression)),
    ...graph.assertions.flatMap(({ condition }) => (condition === undefined ? [] : [condition.expression])),
    ...graph.nodes.flatMap(({ call }) => (call.kind === "expression" ? [call.expression.expression] : [])),
  ];
  for (let part = pending.pop(); part !== undefined; part = pending.pop()) {
    const fact = factOf(part);
    if (fact !== undefined) found.set(keyOf(fact), fact);
    for (const each of expressionParts(part)) pending.push(each);
  }
  return found;
}

/** The channel of a fact; `undefined` if some node may append another number of items than its text shows. */
function ghostOf(
  graph: BoundGraph,
  resolve: TypeNames,
  kind: GhostChannel["kind"],
  list: number,
  { name, role, type, reducer, initial }: BoundChannel,
): GhostChannel | undefined {
  if (reducer?.kind !== "append" || type.kind !== "list" || role === "input" || role === "config") return undefined;
  if (!isItem(type.item, resolve) || (initial !== undefined && !Array.isArray(initial))) return undefined;
  const writes = new Map<number, Expression>();
  for (const [index, node] of graph.nodes.entries()) {
    if (!node.writes.includes(name)) continue;
    const appended = appendedBy(node, name, resolve);
    if (appended === undefined) return undefined;
    // Mutation point: appended-items
    writes.set(index, kind === "len" ? { op: "const", value: appended.count } : appended.last);
  }
  const items: readonly Json[] = initial ?? [];
  return {
    name: `${kind}(${name})`,
    type: kind === "len" ? { kind: "int" } : type.item,
    kind,
    list,
    role,
    initial: kind === "len" ? items.length : items.at(-1),
    writes,
  };
}

/** What a node appends to a list each time it succeeds; `undefined` if the text does not show it. */
function appendedBy(
  { call, each, output }: BoundNode,
  channel: string,
  resolve: TypeNames,
): { readonly count: number; readonly last: Expression } | undefined {
  if (call.kind !== "expression" || each !== undefined || output?.kind !== "channel") return undefined;
  if (output.channel !== channel || output.optional === true) return undefined;
  const { expression, type } = call.expression;
  if (isItem(type, resolve)) return { count: 1, last: expression };
  if (expression.op === "const" && Array.isArray(expression.value)) {
    const { length } = expression.value;
    return length === 0
      ? undefined
      : { count: length, last: { op: "const", value: expression.value[length - 1] as Json } };
  }
  if (expression.op !== "list") return undefined;
  const last = expression.items.at(-1);
  if (last === undefined || "spread" in last || expression.items.some((item) => "spread" in item)) return undefined;
  return { count: expression.items.length, last };
}

const ITEMS: ReadonlySet<ValueType["kind"]> = new Set(["string", "int", "float", "bool", "literal", "record"]);

/** Whether each value of a type is one item: neither a list, which `append` concatenates, nor `null`. */
function isItem(type: ValueType, resolve: TypeNames): boolean {
  if (type.kind === "ref") {
    const target = resolve(type.name);
    return target !== undefined && target.kind !== "ref" && isItem(target, resolve);
  }
  return type.kind === "union" ? type.members.every((member) => isItem(member, resolve)) : ITEMS.has(type.kind);
}
