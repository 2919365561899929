/** Called graphs and plans, and graphs that are tools of a model, drawn with their own nodes. */
import type { Drawing, DrawnEdge, DrawnGroup, DrawnNode } from "./drawing.ts";

/** Calls inside of calls below this level stay folded: graphs may call others without a bound. */
const MAX_DEPTH = 5;
/** Nodes of an unfolded drawing; further calls stay folded. */
const MAX_NODES = 1_500;

/** The drawings of what a node calls, by the name of the node: a graph or plan, or each graph among the tools of a model. */
export type Called = (node: string) => readonly CalledDrawing[];

export interface CalledDrawing {
  readonly drawing: Drawing;
  readonly called: Called;
  /** The model calls it as a tool with this name. */
  readonly tool?: string;
}

/**
 * Draws calls with the nodes of what they call, in a frame. The node of a call stays and stands for `start` inside; what follows it
 * leads away from the end inside. Error routes and jumps still lead away from the node of the call. Each graph among the tools of a model
 * has a frame of its own: the model may call it, and its end leads back to the model.
 *
 * @param isUnfolded whether a node of the outermost graph is unfolded; those inside of it all are
 */
export function unfold(drawing: Drawing, called: Called, isUnfolded: (node: string) => boolean = () => true): Drawing {
  const budget = { nodes: MAX_NODES - drawing.nodes.length };
  return unfoldLevel(drawing, called, isUnfolded, 0, budget);
}

function unfoldLevel(
  drawing: Drawing,
  called: Called,
  isUnfolded: (node: string) => boolean,
  depth: number,
  budget: { nodes: number },
): Drawing {
  const parts: Parts = { nodes: [], edges: [], groups: [] };
  const { nodes, edges, groups } = parts;
  const ends = new Map<string, string>();
  const inside = (found: CalledDrawing): Drawing =>
    unfoldLevel(found.drawing, found.called, () => true, depth + 1, budget);
  for (const node of drawing.nodes) {
    const found = node.calls !== undefined && isUnfolded(node.label) && depth < MAX_DEPTH ? called(node.label) : [];
    const size = found.reduce((sum, each) => sum + each.drawing.nodes.length, 0);
    if (found.length === 0 || size > budget.nodes) {
      nodes.push(node);
      continue;
    }
    budget.nodes -= size;
    nodes.push({ ...node, group: node.id });
    const [first] = found;
    if (first !== undefined && first.tool === undefined) {
      groups.push({ id: node.id, label: `${node.label}: ${first.drawing.name}` });
      const end = addInside(parts, node.id, inside(first));
      if (end !== undefined) ends.set(node.id, end);
      continue;
    }
    groups.push({ id: node.id, label: `${node.label}: tools` });
    for (const each of found) {
      // As breakpoints and namespaces name it.
      const id = `${node.id}.${each.tool}`;
      groups.push({ id, label: each.drawing.name, parent: node.id });
      nodes.push({ id, kind: "node", label: each.tool!, detail: "", pauses: false, group: id });
      edges.push({ from: node.id, to: id, kind: "jump", label: "calls" });
      const end = addInside(parts, id, inside(each));
      if (end !== undefined) edges.push({ from: end, to: node.id, kind: "jump", label: "result", loop: true });
    }
  }
  for (const edge of drawing.edges) {
    const isWay = edge.kind !== "error" && edge.kind !== "jump";
    edges.push(isWay ? { ...edge, from: ends.get(edge.from) ?? edge.from } : edge);
  }
  return groups.length === 0 ? drawing : { ...drawing, nodes, edges, groups };
}

interface Parts {
  readonly nodes: DrawnNode[];
  readonly edges: DrawnEdge[];
  readonly groups: DrawnGroup[];
}

/** Adds a drawing to the frame of a node, which stands for its `start`. @returns the id of its `end`, if it has one */
function addInside({ nodes, edges, groups }: Parts, frame: string, inner: Drawing): string | undefined {
  const idOf = (id: string): string => (id === "start" ? frame : `${frame}/${id}`);
  for (const { group, ...each } of inner.nodes) {
    if (each.id === "start") continue;
    nodes.push({ ...each, id: idOf(each.id), group: group === undefined ? frame : idOf(group) });
  }
  for (const edge of inner.edges) edges.push({ ...edge, from: idOf(edge.from), to: idOf(edge.to) });
  for (const { id, label, parent } of inner.groups ?? [])
    groups.push({ id: idOf(id), label, parent: parent === undefined ? frame : idOf(parent) });
  return inner.nodes.some(({ id }) => id === "end") ? idOf("end") : undefined;
}
