import type { DrawnEdge } from "./drawing.ts";

/** Marks the edges that close a cycle, in a depth-first search from `start` and then from the others in order. Linear. */
export function markLoops(edges: readonly DrawnEdge[]): readonly DrawnEdge[] {
  const next = new Map<string, DrawnEdge[]>();
  for (const edge of edges) {
    const list = next.get(edge.from);
    if (list === undefined) next.set(edge.from, [edge]);
    else list.push(edge);
  }
  const state = new Map<string, "open" | "done">();
  const closing = new Set<DrawnEdge>();
  // An explicit stack: recursion over a chain of ten thousand nodes would overflow the call stack.
  for (const root of ["start", ...next.keys()]) {
    if (state.has(root)) continue;
    state.set(root, "open");
    const stack = [{ id: root, at: 0 }];
    for (let top = stack.at(-1); top !== undefined; top = stack.at(-1)) {
      const edge = next.get(top.id)?.[top.at++];
      if (edge === undefined) {
        state.set(top.id, "done");
        stack.pop();
      } else if (state.get(edge.to) === "open") closing.add(edge);
      else if (!state.has(edge.to)) {
        state.set(edge.to, "open");
        stack.push({ id: edge.to, at: 0 });
      }
    }
  }
  return edges.map((edge) => (closing.has(edge) ? { ...edge, loop: true } : edge));
}
