/** An edge on the current path of a search, with its source vertex. */
export interface Step<Vertex, Edge> {
  readonly vertex: Vertex;
  readonly edge: Edge;
}

export interface DepthFirst<Vertex, Edge> {
  readonly edges: (vertex: Vertex) => readonly Edge[];
  /** The target of an edge; `undefined` if the search ignores the edge. */
  readonly target: (edge: Edge) => Vertex | undefined;
  /** Called in postorder: outside of cycles, after all successors of the vertex. */
  readonly leave?: (vertex: Vertex) => void;
  /**
   * Called for a back edge with the cycle that it closes: the path from its target on, and the back edge as the last
   * element.
   */
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
