import { nothingToUndo } from "../../diagnostics/catalog/policies.ts";
import { edgeAtBoundary } from "../../diagnostics/catalog/names.ts";
import { type BoundGraph, ROLLBACK_NAME } from "../bind/bound-graph.ts";
import { targetsOf } from "../bind/edge-parts.ts";
import type { CheckContext } from "./check-context.ts";

/** Reports NG621: an edge leads to `rollback`, and neither the graph nor a graph that it calls has an `undo`. */
export function checkRollback(context: CheckContext): void {
  const { graph } = context;
  const target = graph.edges.flatMap((edge) => targetsOf(edge)).find(({ name }) => name === ROLLBACK_NAME);
  if (target === undefined || hasUndo(graph)) return;
  context.report(nothingToUndo(context.place(target.span), { graph: graph.name }));
}

/** Reports NG109: a node that follows `finally` leads to `rollback`. */
export function checkNoRollback(context: CheckContext): void {
  for (const edge of context.graph.edges) {
    const target = targetsOf(edge).find(({ name }) => name === ROLLBACK_NAME);
    if (target === undefined) continue;
    context.report(edgeAtBoundary(context.place(target.span), { name: ROLLBACK_NAME, use: "late" }));
  }
}

function hasUndo(graph: BoundGraph): boolean {
  const seen = new Set<BoundGraph>();
  const open = [graph];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (seen.has(next)) continue;
    seen.add(next);
    // An `undo` with an error counts: it has been reported.
    if (next.nodes.some(({ declaration }) => declaration.policies.some(({ kind }) => kind === "Undo"))) return true;
    for (const called of next.graphs) open.push(called);
  }
  return false;
}
