/** The control stage: the net of one graph, and the facts about its data that types and checks read. */
import type * as Ast from "../../grammar/ast.ts";
import type { ChannelEntry } from "../bind/graph-context.ts";
import type { ResolvedGraph } from "../bind/resolve-graph.ts";
import { buildNet } from "./build-net.ts";
import { filledLists } from "./filled-lists.ts";
import { analyseFlow, type Flow } from "./flow.ts";
import type { ControlNet } from "./net.ts";
import { unwrittenAtEnd } from "./written-at-end.ts";

export interface GraphControl {
  /** Places, routes and barriers. */
  readonly net: ControlNet;
  /** Unwritten channels and known facts at each node and edge. */
  readonly flow: Flow;
  /** Outputs that a completed run may leave unwritten. */
  readonly mayEndNull: ReadonlySet<string>;
}

/** Builds the control flow of a graph once; types, checks, proofs and lowering read it. */
export function buildControl({
  context,
  declarations,
  channels,
  writes,
  policies,
  edges,
  isPartial,
}: ResolvedGraph): GraphControl {
  const { nodes } = declarations;
  const net = buildNet({
    nodes: nodes.map((node, index) => {
      const { waits, goes } = policies[index] ?? {};
      return waits === undefined && goes === undefined ? node : { name: node.name, ...policies[index] };
    }),
    edges,
  });
  const namesOf = (list: ResolvedGraph["writes"][number]): readonly string[] => {
    const [first] = list;
    // Most nodes write one channel: they share its list.
    const shared = list.length === 1 && first !== undefined ? context.channelLists.get(first.channel.name) : undefined;
    return shared ?? list.map(({ channel }) => channel.name);
  };
  const mayWrite = writes.map(namesOf);
  const surelyWrites = writes.map((list, index) => {
    const sure = list.filter(
      ({ channel, isOptional, isSet }) =>
        isOptional !== true && (isSet === true || !mayWriteNothing(nodes[index]?.declaration, channel.reducer)),
    );
    return sure.length === list.length ? mayWrite[index]! : namesOf(sure);
  });
  const fills = filledLists(nodes, writes, context);
  const { assertions } = declarations;
  const flow = analyseFlow({
    channels,
    nodes,
    edges,
    assertions,
    net,
    writes: surelyWrites,
    mayWrite,
    fills,
    isPartial,
  });
  const outputs = channels.flatMap(({ name, role, startsNull }) => (role === "output" && startsNull ? [name] : []));
  const mayEndNull = isPartial ? new Set<string>() : unwrittenAtEnd(net, surelyWrites, outputs);
  return { net, flow, mayEndNull };
}

/** A `for` over an empty list, or whose items all fail, leaves a channel of numbers or records as it was (7.1). */
function mayWriteNothing(node: Ast.NodeDecl | undefined, reducer: ChannelEntry["reducer"]): boolean {
  if (node?.each === undefined) return false;
  const { list, condition } = node.each;
  const mayFail = node.policies.some(({ kind }) => kind === "AllowFailure");
  if (!mayFail && condition === undefined && list.kind === "List" && list.items.some((item) => item.kind !== "Spread"))
    return false;
  return reducer?.kind === "min" || reducer?.kind === "max" || reducer?.kind === "merge" || reducer?.kind === "sum";
}
