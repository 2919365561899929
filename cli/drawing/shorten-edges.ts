import type { Drawing, DrawnEdge, DrawnNode } from "./drawing.ts";

/**
 * Total length of all arrows, in layers. Graphviz places a virtual node in each layer that an arrow crosses, and the time of its
 * layout grows faster than the number of these nodes: 2,000 take about a second.
 */
const MAX_TOTAL_LENGTH = 2000;

/**
 * Replaces the longest arrows by connectors if all arrows together are too long: a connector is a small box `→ target` beside the
 * source. Pictures with hundreds of arrows to one error handler stay readable, and their layout takes bounded time.
 */
export function shortenEdges(drawing: Drawing): Drawing {
  const layers = assignLayers(drawing);
  const lengthOf = ({ from, to }: DrawnEdge): number => Math.abs((layers.get(from) ?? 0) - (layers.get(to) ?? 0));
  let total = drawing.edges.reduce((sum, edge) => sum + lengthOf(edge), 0);
  if (total <= MAX_TOTAL_LENGTH) return drawing;
  const labels = new Map(drawing.nodes.map(({ id, label }) => [id, label]));
  const connectors = new Map<DrawnEdge, DrawnNode>();
  for (const edge of [...drawing.edges].sort((a, b) => lengthOf(b) - lengthOf(a))) {
    if (total <= MAX_TOTAL_LENGTH) break;
    total -= lengthOf(edge);
    const label = `→ ${labels.get(edge.to) ?? edge.to}`;
    connectors.set(edge, { id: `[→${connectors.size}]`, kind: "connector", label, detail: "", pauses: false });
  }
  return {
    ...drawing,
    nodes: [...drawing.nodes, ...connectors.values()],
    edges: drawing.edges.map((edge) => ({ ...edge, to: connectors.get(edge)?.id ?? edge.to })),
  };
}

/** The longest path from a root to each node, without the edges that close a cycle. */
function assignLayers(drawing: Drawing): ReadonlyMap<string, number> {
  const next = new Map<string, string[]>();
  for (const { from, to } of drawing.edges) {
    const list = next.get(from);
    if (list === undefined) next.set(from, [to]);
    else list.push(to);
  }
  // Depth-first search with an explicit stack; an edge to a node that is still open closes a cycle.
  const state = new Map<string, "open" | "done">();
  const forward = new Map<string, string[]>();
  const finished: string[] = [];
  for (const { id: root } of drawing.nodes) {
    if (state.has(root)) continue;
    state.set(root, "open");
    const stack = [{ id: root, at: 0 }];
    for (let top = stack.at(-1); top !== undefined; top = stack.at(-1)) {
      const target = next.get(top.id)?.[top.at++];
      if (target === undefined) {
        state.set(top.id, "done");
        finished.push(top.id);
        stack.pop();
      } else if (state.get(target) !== "open") {
        const list = forward.get(top.id);
        if (list === undefined) forward.set(top.id, [target]);
        else list.push(target);
        if (!state.has(target)) {
          state.set(target, "open");
          stack.push({ id: target, at: 0 });
        }
      }
    }
  }
  const layers = new Map<string, number>();
  for (const id of finished.reverse()) {
    const layer = layers.get(id) ?? 0;
    layers.set(id, layer);
    for (const target of forward.get(id) ?? []) layers.set(target, Math.max(layers.get(target) ?? 0, layer + 1));
  }
  return layers;
}
