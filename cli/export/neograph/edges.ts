/** The edges of a topology, with its barriers. */
import { END_NAME, START, type BoundEdge } from "../../../compiler/bind/bound-graph.ts";
import { targetsOf } from "../../../compiler/bind/edge-parts.ts";
import type { Json } from "../../../runtime/value/json.ts";
import { guardEdges, matchEdge } from "./conditional-edges.ts";
import { endName, type Topology } from "./topology.ts";

export function topologyEdges(
  topology: Topology,
  barriers: Map<string, readonly string[]>,
): { readonly edges: Json[]; readonly conditional: Json[] } {
  const graph = topology.graph;
  const writer = topology.writer?.node.name;
  const plain = new Map<string, Json>();
  const conditional: Json[] = [];
  const guarded = new Map<string, BoundEdge[]>();
  const conditions = new Map<string, number>();
  const add = (from: string, to: string): void =>
    void plain.set(JSON.stringify([from, to]), { from: endName(from), to: endName(to) });
  for (const edge of graph.edges) {
    if (edge.onError)
      topology.refuse(
        edge.span,
        "`on error` has no form in a topology",
        "catch the error in the function, and write it to a channel",
      );
    for (const { name, span } of targetsOf(edge)) {
      if (name === "rollback")
        topology.refuse(span, "`rollback` has no form in a topology", "undo the results with nodes");
    }
    if (edge.source.kind !== "nodes") {
      writeBarrier(topology, edge, barriers, add);
      continue;
    }
    for (const { name, span } of edge.source.nodes) {
      if (name === "finally")
        topology.refuse(span, "`finally` has no form in a topology", "clean up in the program that runs the graph");
      // The run starts behind the node that writes the input.
      if (name === START && topology.writer !== undefined) continue;
      const from = name === writer ? START : name;
      switch (edge.to.kind) {
        case "plain":
          for (const target of edge.to.targets) add(from, target.name);
          break;
        case "when":
        case "otherwise":
          guarded.set(from, [...(guarded.get(from) ?? []), edge]);
          break;
        default:
          conditional.push(matchEdge(topology, from, edge, edge.to, conditions));
      }
    }
  }
  for (const [from, edges] of guarded) conditional.push(...guardEdges(topology, from, edges, conditions));
  for (const [target, members] of barriers) {
    const loose = graph.edges.find(
      ({ source, to }) =>
        source.kind === "nodes" &&
        source.nodes.some(({ name }) => members.includes(name)) &&
        to.kind === "plain" &&
        to.targets.some(({ name }) => name === target),
    );
    if (loose !== undefined)
      topology.refuse(
        loose.span,
        `an edge of a member of the barrier of \`${target}\` is a part of the barrier in a topology`,
        "remove this edge, or the barrier",
      );
  }
  return { edges: [...plain.values()], conditional };
}

function writeBarrier(
  topology: Topology,
  { source, to, span }: BoundEdge,
  barriers: Map<string, readonly string[]>,
  add: (from: string, to: string) => void,
): void {
  if (source.kind === "nodes") return;
  if (source.kind === "settled")
    topology.refuse(
      source.span,
      "`settled` has no form in a topology: its barriers wait for all",
      "use `all`, and let each branch reach the barrier",
    );
  if (to.kind !== "plain")
    topology.refuse(span, "a condition behind a barrier has no form in a topology", "add a node between them");
  const members = source.members.map((group) => {
    if (group.length > 1)
      topology.refuse(
        source.span,
        "a member of a barrier in a topology is one node",
        "add a node behind the nodes of `any`, and name it in `all`",
      );
    return group[0]!.name;
  });
  for (const { name, span: at } of to.targets) {
    if (name !== END_NAME && members.length > 1) {
      if (barriers.has(name))
        topology.refuse(
          at,
          `a node of a topology has one barrier, and \`${name}\` has two`,
          "add a node behind each barrier",
        );
      barriers.set(name, members);
    }
    if (name === END_NAME && members.length > 1)
      topology.lose(
        at,
        "the end of a topology has no barrier: a branch that never arrives is not reported",
        "add a node between the barrier and `end`",
      );
    for (const member of members) add(member, name);
  }
}
