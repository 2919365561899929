/**
 * Definitions of channels: while `enough` has the value that its only writer computed from `len(xs) > 2`, a condition on
 * `enough` is a condition on `len(xs)` (available expressions, as in a compiler).
 */
import type { ControlNet, NetRouting } from "../control/net.ts";
import { signalsOf, startTargets, successorsOf } from "../control/signals.ts";
import { type MayBeUnwritten, unwrittenChannels } from "../control/unwritten.ts";
import { controlGraphOf } from "../control/control-graph.ts";
import type { Expression } from "../../runtime/expression/expression.ts";
import { expressionParts } from "../../runtime/expression/expression-depth.ts";
import type { ChannelWrite, DataModel } from "./model.ts";
import { channelsOf } from "./terms.ts";

/** The expression that a channel equals at one place; `undefined` if none is known. */
export type Definitions = (channel: number) => Expression | undefined;

/** By node: the definitions that hold where the conditions of its edges are evaluated after a success. */
export function findDefinitions(net: ControlNet, data: DataModel): (node: number) => Definitions | undefined {
  const written = writersByChannel(data);
  const candidates = net.nodes.flatMap(({ index, isSent }) =>
    isSent ? [] : (data.writes[index] ?? []).flatMap((write) => definitionOf(data, written, index, write)),
  );
  if (candidates.length === 0) return () => undefined;
  const byChannel = new Map(candidates.map((definition, index) => [definition.channel, { definition, index }]));
  let oneToken: boolean | undefined;
  let mayBeUnwritten: MayBeUnwritten | undefined;
  const until = new Map<number, ReadonlySet<number>>();
  const holds = (node: number, { definition, index }: { definition: Definition; index: number }): boolean => {
    // If nothing writes what the expression reads, the definition holds as soon as the channel has been written.
    if (definition.kills.length === 0) {
      const channels = candidates.map(({ writer }, name) => ({ name: `definition ${name}`, writers: [writer] }));
      mayBeUnwritten ??= unwrittenChannels(controlGraphOf(net), channels);
      return !mayBeUnwritten({ vertex: net.nodes[node]!.declared, when: "after" }, index);
    }
    oneToken ??= hasOneToken(net);
    if (!oneToken) return false;
    let nodes = until.get(index);
    if (nodes === undefined) {
      if (until.size >= MAX_SEARCHES) return false;
      nodes = nodesUntil(net, definition);
      until.set(index, nodes);
    }
    return nodes.has(node);
  };
  return (node) =>
    net.nodes[node]?.isSent === true
      ? undefined
      : (channel) => {
          const found = byChannel.get(channel);
          return found !== undefined && holds(node, found) ? found.definition.expression : undefined;
        };
}

/** Limit of the definitions that are followed through a loop; each costs a search over the graph. */
const MAX_SEARCHES = 100;

interface Definition {
  readonly channel: number;
  readonly writer: number;
  readonly expression: Expression;
  /** Nodes that write a channel which the expression reads. */
  readonly kills: readonly number[];
}

function writersByChannel({ channels, writes }: DataModel): readonly (readonly number[])[] {
  const found: number[][] = channels.map(() => []);
  for (const [node, list] of writes.entries()) for (const { channel } of list) found[channel]?.push(node);
  return found;
}

function definitionOf(
  { channels }: DataModel,
  written: readonly (readonly number[])[],
  writer: number,
  { channel, expression, optional }: ChannelWrite,
): readonly Definition[] {
  const { reducer, isGiven, startsUnknown } = channels[channel]!;
  const isFirst = !isGiven && !startsUnknown;
  if (expression === undefined || optional || reducer !== undefined || !isFirst || written[channel]!.length !== 1)
    return [];
  const reads = channelsOf(expression);
  if (reads.length === 0 || reads.includes(channel) || !dependsOnState(expression)) return [];
  // Mutation point: killed-definition
  const kills = [...new Set(reads.flatMap((read) => written[read]!))];
  return kills.includes(writer) ? [] : [{ channel, writer, expression, kills }];
}

/** Whether an expression has the same value whenever its channels have the same values. */
function dependsOnState(expression: Expression): boolean {
  if (["call", "error", "outcome", "secret", "local", "comprehension"].includes(expression.op)) return false;
  return expressionParts(expression).every(dependsOnState);
}

/** Whether one node at a time runs: no step has two signals, and there are no jumps and no barriers. */
export function hasOneToken(net: ControlNet): boolean {
  const isSingle = (routing: NetRouting | undefined): boolean => {
    if (routing === undefined) return true;
    const [group, other] = routing.groups;
    if (group === undefined || other !== undefined) return group === undefined;
    if (group.kind === "always") return group.signals.length <= 1;
    if (group.kind === "several" && group.branches.length > 1) return false;
    const branches =
      group.kind === "several" && group.otherwise ? [...group.branches, group.otherwise] : group.branches;
    return branches.every(({ signals }) => signals.length <= 1);
  };
  return (
    net.barriers.length === 0 &&
    isSingle(net.start) &&
    net.nodes.every((node) => node.jumps === undefined && isSingle(node.routing) && isSingle(node.errorRouting))
  );
}

/**
 * Nodes for which the definition holds: on every path to such a node the writer has run, and no node has changed since
 * what the expression reads. Computes the greatest fixed point. Each node is removed at most once, so the search ends.
 */
function nodesUntil(net: ControlNet, { writer, kills }: Definition): ReadonlySet<number> {
  const successors = successorsOf(net);
  const holds = net.nodes.map(({ index }) => !kills.includes(index));
  // Before the writer has run, the channel has its initial value. A failed writer leaves the old value.
  const pending = [...startTargets(net), ...signalsOf(net.nodes[writer]?.errorRouting).map(({ node }) => node)];
  for (const killer of kills) for (const next of successors[killer] ?? []) pending.push(next);
  for (let node = pending.pop(); node !== undefined; node = pending.pop()) {
    if (node < 0 || node === writer || holds[node] !== true) continue;
    holds[node] = false;
    for (const next of successors[node] ?? []) pending.push(next);
  }
  return new Set(net.nodes.flatMap(({ index }) => (holds[index] === true ? [index] : [])));
}
