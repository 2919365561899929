/** An edge of the path that a search is on, with the vertex it leaves. */
export interface Step<Vertex, Edge> {
  readonly vertex: Vertex;
  readonly edge: Edge;
}

export interface DepthFirst<Vertex, Edge> {
  readonly edges: (vertex: Vertex) => readonly Edge[];
  /** Where an edge leads; `undefined` for one that the search ignores. */
  readonly target: (edge: Edge) => Vertex | undefined;
  /** Called in postorder: after all that the vertex leads to, cycles apart. */
  readonly leave?: (vertex: Vertex) => void;
  /** Called for an edge that leads back to a vertex of the path: the path from that vertex on, with this edge last. */
  readonly onCycle?: (cycle: readonly Step<Vertex, Edge>[]) => void;
}

/**
 * Depth-first search from some roots, each vertex once, edges in their order. A loop in place of recursion: chains may
 * be long.
 */
export function depthFirst<Vertex, Edge>(roots: Iterable<Vertex>, search: DepthFirst<Vertex, Edge>): void {
  const { edges, target, leave, onCycle } = search;
  const state = new Map<Vertex, "open" | "left">();
  for (const root of roots) {
    if (state.has(root)) continue;
    const path: { readonly vertex: Vertex; readonly edges: readonly Edge[]; next: number }[] = [];
    const enter = (vertex: Vertex): void => {
      state.set(vertex, "open");
      path.push({ vertex, edges: edges(vertex), next: 0 });
    };
    enter(root);
    for (let top = path.at(-1); top !== undefined; top = path.at(-1)) {
      if (top.next === top.edges.length) {
        state.set(top.vertex, "left");
        leave?.(top.vertex);
        path.pop();
        continue;
      }
      const next = target(top.edges[top.next++] as Edge);
      if (next === undefined) continue;
      const known = state.get(next);
      if (known === undefined) enter(next);
      else if (known === "open" && onCycle !== undefined) {
        const cycle = path.slice(path.findIndex(({ vertex }) => vertex === next));
        onCycle(cycle.map((step) => ({ vertex: step.vertex, edge: step.edges[step.next - 1] as Edge })));
      }
    }
  }
}
