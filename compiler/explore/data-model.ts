/** The data flow that conditions depend on: the values of channels, and the writes of each node. */
import type { Expression } from "../../runtime/expression/expression.ts";
import { FINALLY, mergesById, setChannels, type BoundGraph, type BoundNode } from "../bind/bound-graph.ts";
import type { ChannelWrite, DataChannel, DataModel } from "./model.ts";
import { isForeignCall } from "./node-behaviour.ts";
import { ALL_INTEGERS, intersectNumbers, numberPoint, numbersCompared } from "./number-set.ts";
import type { GhostChannel, ListFacts } from "./list-facts.ts";
import { channelsOf, type TypeNames } from "./terms.ts";
import {
  intersectValues,
  isNothing,
  NULL_ONLY,
  numbersAsValues,
  onlyValue,
  uniteValues,
  type ValueSet,
  valueSetOfJson,
  valueSetOfType,
} from "./value-set.ts";

/** @param sent nodes to which tasks can be sent; each has a second model node */
export function buildData(graph: BoundGraph, resolve: TypeNames, sent: readonly number[], lists: ListFacts): DataModel {
  const reducers = new Map(graph.channels.map(({ name, reducer }) => [name, reducer?.kind]));
  const computedChannels = new Set(
    graph.nodes.flatMap((node) => node.writes.filter((name) => !writesFreely(node, reducers.get(name)))),
  );
  const written = new Set(graph.nodes.flatMap((node) => node.writes));
  const indexOf = new Map(graph.channels.map((channel, index) => [channel.name, index]));
  const replaced = setChannels(graph);
  const declaredChannels = graph.channels.map((channel): DataChannel => {
    const declared = valueSetOfType(channel.type, resolve);
    const first = initialValues(channel, declared);
    const startsUnknown = graph.entry === FINALLY;
    const isGiven = channel.role === "input" || channel.role === "memory" || channel.role === "config";
    // A channel that no node writes keeps its initial value. Nodes of the other part can write it, too.
    const isFixed = !isGiven && !startsUnknown && !written.has(channel.name);
    const domain = uniteValues(declared, first);
    const initial = startsUnknown ? domain : first;
    const isForeign = !computedChannels.has(channel.name);
    return {
      name: channel.name,
      declared,
      domain,
      initial,
      isGiven,
      startsUnknown,
      startsEmpty: !startsUnknown && startsEmpty(channel),
      isForeign,
      fixed: isFixed ? onlyValue(first) : undefined,
      // Writes with `set`, and a `merge` by ids, have any result, as those of an imported reducer have.
      // Mutation point: replaced-channel
      reducer: replaced.has(channel.name) || mergesById(channel) ? "function" : channel.reducer?.kind,
    };
  });
  const channels = [
    ...declaredChannels,
    ...lists.ghosts.map((ghost) => ghostChannel(ghost, resolve, graph.entry === FINALLY)),
  ];
  const own = graph.nodes.map((node, at): readonly ChannelWrite[] => {
    const found = writesOf(node).flatMap(({ channel, expression: written, isOptional, isSet }): ChannelWrite | [] => {
      const index = indexOf.get(channel);
      if (index === undefined) return [];
      const { declared } = channels[index]!;
      // Mutation point: jump-write
      const reducer = isSet ? undefined : graph.channels[index]!.reducer?.kind;
      // Mutation point: optional-write
      const optional = node.goes !== undefined || isOptional || mayWriteNothing(node, reducer);
      const expression = written && lists.read(written);
      return { channel: index, expression, domain: declared, optional, isFree: writesFreely(node, reducer) };
    });
    for (const [ghost, { writes }] of lists.ghosts.entries()) {
      const written = writes.get(at);
      if (written === undefined) continue;
      const channel = declaredChannels.length + ghost;
      const { declared } = channels[channel]!;
      const optional = node.goes !== undefined;
      found.push({ channel, expression: lists.read(written), domain: declared, optional, isFree: false });
    }
    // A list that has grown has room for sixteen more.
    return found.length === 0 ? NO_WRITES : found.slice();
  });
  // The number and the items of sent tasks are unknown, so their writes have no expression.
  const writes = [...own, ...sent.map((node) => own[node]!.map((write) => ({ ...write, expression: undefined })))];
  const computed: ChannelWrite[][] = channels.map(() => []);
  const computedFrom: ChannelWrite[][] = channels.map(() => []);
  for (const list of writes) {
    for (const write of list) {
      if (write.expression === undefined) continue;
      computed[write.channel]!.push(write);
      for (const source of channelsOf(write.expression)) {
        if (source !== write.channel) computedFrom[source]?.push(write);
      }
    }
  }
  return { channels, writes, computed, computedFrom };
}

const NO_WRITES: readonly ChannelWrite[] = [];

/** See `list-facts.ts`. */
function ghostChannel(
  { name, type, kind, list, role, initial }: GhostChannel,
  resolve: TypeNames,
  startsUnknown: boolean,
): DataChannel {
  const declared = kind === "len" ? LENGTHS : valueSetOfType(type, resolve);
  const first = valueSetOfJson(initial ?? null);
  const start = role === "memory" || startsUnknown ? uniteValues(declared, first) : first;
  const domain = kind === "last" && startsUnknown ? uniteValues(declared, NULL_ONLY) : uniteValues(declared, start);
  return {
    name,
    declared,
    domain,
    initial: startsUnknown ? domain : start,
    startsUnknown,
    isGiven: role === "memory",
    startsEmpty: false,
    isForeign: false,
    fixed: undefined,
    reducer: kind === "len" ? "sum" : "last",
    list,
  };
}

/** Every length of a list that fits into memory. */
const LENGTHS = numbersAsValues(
  intersectNumbers(ALL_INTEGERS, intersectNumbers(numbersCompared(">=", 0), numbersCompared("<=", 2 ** 32))),
);

function initialValues(channel: BoundGraph["channels"][number], declared: ValueSet): ValueSet {
  // Mutation point: input-values
  if (channel.role === "input" || channel.role === "config") return declared;
  const start =
    channel.initial !== undefined
      ? initialOfType(valueSetOfJson(channel.initial), declared)
      : startOfReducer(channel.reducer?.kind, declared);
  // A memory channel starts with the value of an earlier run of the thread.
  // Mutation point: memory-values
  return channel.role === "memory" ? uniteValues(declared, start) : start;
}

/** The initial value as a set over the numbers of its type: a union of integers and reals would be a set of reals. */
function initialOfType(initial: ValueSet, declared: ValueSet): ValueSet {
  const typed = intersectValues(initial, declared);
  // Binding has reported a value that the type does not contain.
  return isNothing(typed) ? initial : typed;
}

function startsEmpty({ initial, reducer }: BoundGraph["channels"][number]): boolean {
  if (initial === undefined) return reducer !== undefined && COLLECTS.has(reducer.kind);
  return typeof initial === "object" && initial !== null && Object.keys(initial).length === 0;
}

/** Reducers that start with an empty list or record. */
const COLLECTS: ReadonlySet<string> = new Set(["append", "union", "merge"]);

function startOfReducer(
  reducer: NonNullable<BoundGraph["channels"][number]["reducer"]>["kind"] | undefined,
  declared: ValueSet,
): ValueSet {
  switch (reducer) {
    case "append":
    case "union":
    case "merge":
      return valueSetOfJson([]);
    case "sum":
      return numbersAsValues({ ...numberPoint(0), integer: declared.numbers.integer });
    default:
      return NULL_ONLY;
  }
}

/**
 * Whether the outside world decides the whole value that a node writes. A `for` node writes a list whose length is the
 * length of its own list, so the list is not arbitrary. A sum of its results, for example, is.
 */
function writesFreely(node: BoundNode, reducer: DataChannel["reducer"]): boolean {
  if (!isForeignCall(node)) return false;
  if (node.each === undefined) return true;
  return (
    (reducer === "sum" || reducer === "min" || reducer === "max") && hasItems(node.each) && node.allowsFailure !== true
  );
}

/** Whether a `for` has items in every state. */
function hasItems({ list, condition }: NonNullable<BoundNode["each"]>): boolean {
  return condition === undefined && isFilled(list.expression);
}

/** Whether a list expression has items in every state. */
function isFilled(list: Expression): boolean {
  // A spread may have no items.
  if (list.op === "list") return list.items.some((item) => !("spread" in item));
  return list.op === "const" && Array.isArray(list.value) && list.value.length > 0;
}

/**
 * Whether a `for` node can leave a channel unchanged. An empty list, and one whose items all fail, create an empty update,
 * which leaves a number or a record unchanged (7.1). In a channel of another kind, it writes an empty list.
 */
function mayWriteNothing({ each, allowsFailure }: BoundNode, reducer: DataChannel["reducer"]): boolean {
  if (each === undefined) return false;
  if (reducer !== "sum" && reducer !== "min" && reducer !== "max" && reducer !== "merge") return false;
  // Mutation point: empty-for
  return !hasItems(each) || allowsFailure === true;
}

interface NodeWrite {
  readonly channel: string;
  readonly expression: Expression | undefined;
  /** The result may lack the field. */
  readonly isOptional: boolean;
  readonly isSet: boolean;
}

function writesOf(node: BoundNode): NodeWrite[] {
  const { output } = node;
  if (output === undefined) return [];
  const computed = node.each === undefined ? expressionOf(node.call) : undefined;
  if (output.kind === "channel") {
    return [{ channel: output.channel, expression: computed, isOptional: false, isSet: output.set === true }];
  }
  return output.fields.map(({ field, channel, optional, set }) => ({
    channel,
    expression: computed?.op === "record" ? fieldOf(computed, field) : undefined,
    isOptional: optional === true,
    isSet: set === true,
  }));
}

/** The expression of a field of a record; `undefined` where a spread may set the field. */
function fieldOf(record: Expression & { readonly op: "record" }, name: string): Expression | undefined {
  for (const field of record.fields.toReversed()) {
    if ("spread" in field) return undefined;
    if (field.name === name) return field.value;
  }
  return undefined;
}

function expressionOf(call: BoundNode["call"]): Expression | undefined {
  return call.kind === "expression" ? call.expression.expression : undefined;
}
