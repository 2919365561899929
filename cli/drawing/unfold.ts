/** Called graphs and plans, drawn with their own nodes. */
import type { Drawing, DrawnEdge, DrawnGroup, DrawnNode } from "./drawing.ts";

/** Calls inside of calls below this level stay folded: graphs may call others without a bound. */
const MAX_DEPTH = 5;
/** Nodes of an unfolded drawing; further calls stay folded. */
const MAX_NODES = 1_500;

/** The drawing of what a node calls, by the name of the node; `undefined` for a node that calls nothing. */
export type Called = (node: string) => CalledDrawing | undefined;

export interface CalledDrawing {
  readonly drawing: Drawing;
  readonly called: Called;
}

/**
 * Draws calls with the nodes of what they call, in a frame. The node of a call stays and stands for `start` inside; what follows it
 * leads away from the end inside. Error routes and jumps still lead away from the node of the call.
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
  const nodes: DrawnNode[] = [];
  const edges: DrawnEdge[] = [];
  const groups: DrawnGroup[] = [];
  const ends = new Map<string, string>();
  for (const node of drawing.nodes) {
    const found =
      node.calls !== undefined && isUnfolded(node.label) && depth < MAX_DEPTH ? called(node.label) : undefined;
    if (found === undefined || found.drawing.nodes.length > budget.nodes) {
      nodes.push(node);
      continue;
    }
    budget.nodes -= found.drawing.nodes.length;
    const inner = unfoldLevel(found.drawing, found.called, () => true, depth + 1, budget);
    const idOf = (id: string): string => (id === "start" ? node.id : `${node.id}/${id}`);
    groups.push({ id: node.id, label: `${node.label}: ${found.drawing.name}` });
    nodes.push({ ...node, group: node.id });
    for (const { group, ...each } of inner.nodes) {
      if (each.id === "start") continue;
      nodes.push({ ...each, id: idOf(each.id), group: group === undefined ? node.id : idOf(group) });
    }
    for (const edge of inner.edges) edges.push({ ...edge, from: idOf(edge.from), to: idOf(edge.to) });
    for (const { id, label, parent } of inner.groups ?? [])
      groups.push({ id: idOf(id), label, parent: parent === undefined ? node.id : idOf(parent) });
    if (inner.nodes.some(({ id }) => id === "end")) ends.set(node.id, idOf("end"));
  }
  for (const edge of drawing.edges) {
    const isWay = edge.kind !== "error" && edge.kind !== "jump";
    edges.push(isWay ? { ...edge, from: ends.get(edge.from) ?? edge.from } : edge);
  }
  return groups.length === 0 ? drawing : { ...drawing, nodes, edges, groups };
}
