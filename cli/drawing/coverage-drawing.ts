import type { Table } from "../../runtime/table/table.ts";
import type { Coverage } from "../../testing/coverage.ts";
import { coverageLine } from "../testing/report-tests.ts";
import { drawnEdges, edgeKey, type Drawing, type DrawnEdge, type DrawnNode } from "./drawing.ts";

/** Draws over a graph which of its nodes and edges its tests take. Jumps of code are not counted, and stay as they are. */
export function drawCoverage(drawing: Drawing, table: Table, coverage: Coverage): Drawing {
  const nodeCounts = new Map(
    coverage.parts.flatMap(({ kind, text, count }) => (kind === "node" ? [[text, count]] : [])),
  );
  const branchCounts = coverage.parts.flatMap(({ kind, count }) => (kind === "node" ? [] : [count]));
  const edgeCounts = new Map<string, number>();
  drawnEdges(table).branches.forEach((edges, index) => {
    for (const edge of edges) {
      const key = edgeKey(edge);
      edgeCounts.set(key, (edgeCounts.get(key) ?? 0) + (branchCounts[index] ?? 0));
    }
  });
  // A barrier has fired if a member has reached it and its target has run.
  const reached = new Set(drawing.edges.filter((edge) => (edgeCounts.get(edgeKey(edge)) ?? 0) > 0).map(({ to }) => to));
  const barriers = new Set(drawing.nodes.flatMap(({ id, kind }) => (kind === "barrier" ? [id] : [])));
  const countOf = (edge: DrawnEdge): number | undefined => {
    if (!barriers.has(edge.from)) return edgeCounts.get(edgeKey(edge));
    return reached.has(edge.from) ? (nodeCounts.get(edge.to) ?? 1) : 0;
  };
  return {
    ...drawing,
    nodes: drawing.nodes.map((node): DrawnNode => {
      const count = node.kind === "node" ? nodeCounts.get(node.id) : undefined;
      if (count === undefined) return node;
      const run = { count, steps: [] };
      return count === 0
        ? { ...node, run: { ...run, state: "missed", text: `✗ ${MISSED}` } }
        : { ...node, run: { ...run, state: "ran", text: `${count}×` } };
    }),
    edges: drawing.edges.map((edge): DrawnEdge => {
      const count = countOf(edge);
      if (count === undefined) return edge;
      if (count > 0) return { ...edge, taken: true };
      return { ...edge, taken: false, label: edge.label === "" ? `✗ ${MISSED}` : `${edge.label} ✗ ${MISSED}` };
    }),
    run: { kind: "coverage", title: coverageLine(coverage), steps: [], end: "" },
  };
}

const MISSED = "no test";
