/**
 * A graph with edges from `finally` has two parts that never run at the same time. The main part begins at `start`. The other
 * begins at `finally`, at any point of a run, so that every channel can have any value of its type. The checks that explore
 * runs check each part as a graph of its own.
 */
import {
  type BoundEdge,
  type BoundGraph,
  type BoundNode,
  END_NAME,
  FINALLY,
  ROLLBACK_NAME,
  START,
} from "../bind/bound-graph.ts";
import { sourcesOf, targetsOf } from "../bind/edge-parts.ts";
import { buildNet } from "../control/build-net.ts";
import type { NetEntry } from "../control/net.ts";

export interface GraphParts {
  /** All nodes, with both entries: for checks that do not depend on the order in which nodes run. */
  readonly whole: BoundGraph;
  readonly main: BoundGraph;
  readonly finally: BoundGraph;
}

/** The parts of a graph; `undefined` without edges from `finally`. */
export function partsOf(graph: BoundGraph): GraphParts | undefined {
  if (!graph.edges.some((edge) => sourcesOf(edge).some(({ name }) => name === FINALLY))) return undefined;
  const byStart = reachedFrom(graph, START);
  const byFinally = reachedFrom(graph, FINALLY);
  // A node that no edge reaches belongs to the main part, which reports it.
  const inMain = (name: string): boolean => byStart.has(name) || !byFinally.has(name);
  const shared = new Set([...byFinally].filter((name) => byStart.has(name)));
  return {
    whole: viewOf(graph, "both", () => true),
    main: { ...viewOf(graph, START, inMain), shared },
    finally: { ...viewOf(graph, FINALLY, (name) => byFinally.has(name)), shared },
  };
}

/** Nodes to which edges and jumps lead from a source, whatever the conditions and barriers. */
function reachedFrom({ nodes, edges }: BoundGraph, entry: string): ReadonlySet<string> {
  const successors = new Map<string, string[]>(nodes.map(({ name, goes = [] }) => [name, [...goes]]));
  successors.set(entry, []);
  for (const edge of edges) {
    const targets = targetsOf(edge).map(({ name }) => name);
    for (const { name } of sourcesOf(edge)) successors.get(name)?.push(...targets);
  }
  const reached = new Set<string>();
  const pending = [entry];
  for (let name = pending.pop(); name !== undefined; name = pending.pop()) {
    for (const next of successors.get(name) ?? []) {
      if (next === END_NAME || next === ROLLBACK_NAME || reached.has(next)) continue;
      reached.add(next);
      pending.push(next);
    }
  }
  return reached;
}

function viewOf(graph: BoundGraph, entry: NetEntry, includes: (name: string) => boolean): BoundGraph {
  const isEntry = (name: string): boolean =>
    (name === START || name === FINALLY) && (entry === "both" || name === entry);
  const edges = graph.edges.flatMap((edge) => {
    const found = edgeOfView(edge, (name) => includes(name) || isEntry(name));
    return found === undefined ? [] : [found];
  });
  const absent = absentNodes(graph, edges, includes);
  const nodes = graph.nodes.filter(({ name }) => includes(name) || absent.has(name));
  const view = { ...graph, edges, nodes, entry, absent };
  return { ...view, control: buildNet(view) };
}

/** An edge with the sources of a part; `undefined` if it has none. A barrier keeps all its members. */
function edgeOfView(edge: BoundEdge, includes: (name: string) => boolean): BoundEdge | undefined {
  const { source } = edge;
  if (source.kind !== "nodes") return sourcesOf(edge).some(({ name }) => includes(name)) ? edge : undefined;
  const nodes = source.nodes.filter(({ name }) => includes(name));
  if (nodes.length === source.nodes.length) return edge;
  return nodes.length === 0 ? undefined : { ...edge, source: { ...source, nodes } };
}

/** Nodes of the other part that the barriers and assertions of this one name: here they never run. */
function absentNodes(
  { nodes, assertions }: BoundGraph,
  edges: readonly BoundEdge[],
  includes: (name: string) => boolean,
): ReadonlySet<string> {
  const members = edges.flatMap((edge) =>
    edge.source.kind !== "nodes" ? sourcesOf(edge).map(({ name }) => name) : [],
  );
  const gates = nodes.flatMap(({ name, waits = [] }: BoundNode) => (includes(name) ? waits : []));
  const before = assertions.flatMap(({ form, node, other }) =>
    form === "before" && other !== undefined && includes(other) ? [node] : [],
  );
  return new Set([...members, ...gates, ...before].filter((name) => !includes(name)));
}
