/**
 * Graphs as topologies of NeoGraph, schema version 1. A node of NeoGraph has a type, which is a function that the program registers,
 * and reads and writes the one state of the graph. Losses concern what surrounds the topology (types, time limits, computed
 * arguments). What would change which nodes run is refused.
 */
import type { BoundGraph } from "../../compiler/bind/bound-graph.ts";
import type { Json } from "../../runtime/value/json.ts";
import { Losses, type Exported } from "./losses.ts";
import { loseStatements, topologyChannels } from "./neograph/channels.ts";
import { topologyEdges } from "./neograph/edges.ts";
import { nodeFields } from "./neograph/nodes.ts";
import { retryPolicy } from "./neograph/policies.ts";
import { Topology } from "./neograph/topology.ts";

/** @throws ExportError */
export function exportNeoGraph(graph: BoundGraph): Exported {
  const losses = new Losses();
  const topology = writeTopology(new Topology(graph, losses, 0));
  return { text: `${JSON.stringify(topology, null, 2)}\n`, losses: losses.list };
}

function writeTopology(topology: Topology): Json {
  const { graph, losses, depth, writer } = topology;
  loseStatements(topology);
  const nodes = graph.nodes.filter((node) => node !== writer?.node);
  const barriers = new Map<string, readonly string[]>();
  const { edges, conditional } = topologyEdges(topology, barriers);
  const retry = retryPolicy(topology, nodes);
  const before = nodes.filter(({ pauseBefore }) => pauseBefore).map(({ name }) => name);
  const after = nodes.filter(({ pauseAfter }) => pauseAfter).map(({ name }) => name);
  const writeCalled = (called: BoundGraph): Json => writeTopology(new Topology(called, losses, depth + 1));
  return Object.fromEntries<Json>([
    ["schema_version", 1],
    ["name", graph.name],
    ...(graph.doc === undefined ? [] : [["description", graph.doc] as const]),
    ["channels", topologyChannels(topology)],
    [
      "nodes",
      Object.fromEntries(
        nodes.map((node) => [
          node.name,
          Object.fromEntries(nodeFields(topology, node, barriers.get(node.name), writeCalled)),
        ]),
      ),
    ],
    ["edges", edges],
    ...(conditional.length === 0 ? [] : [["conditional_edges", conditional] as const]),
    ...(before.length === 0 ? [] : [["interrupt_before", before] as const]),
    ...(after.length === 0 ? [] : [["interrupt_after", after] as const]),
    ...(retry === undefined ? [] : [["retry_policy", retry] as const]),
  ]);
}
