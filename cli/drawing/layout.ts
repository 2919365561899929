import type { Drawing, DrawnEdge, DrawnNode } from "./drawing.ts";

/** A drawing with places: boxes by their middle, edges as the points they pass. */
export interface Layout {
  readonly width: number;
  readonly height: number;
  readonly boxes: readonly Box[];
  readonly lines: readonly Line[];
}

export interface Box {
  readonly node: DrawnNode;
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

export interface Line {
  readonly edge: DrawnEdge;
  readonly points: readonly { readonly x: number; readonly y: number }[];
}

const LAYER_GAP = 56;
const BOX_GAP = 28;
const MARGIN = 24;
const CHARACTER = 7.2;
/** Corners of long edges, over the whole drawing; beyond it long edges are drawn straight. */
const MAX_CORNERS = 20_000;
const SWEEPS = 6;

/** A box, or a corner of an edge that passes a layer. */
interface Item {
  readonly layer: number;
  readonly width: number;
  readonly height: number;
  readonly above: Item[];
  readonly below: Item[];
  x: number;
  order: number;
}

/**
 * Sugiyama's method: edges against the flow are turned round, nodes are laid in layers by their longest path from `start`,
 * layers are ordered by the middle of their neighbours, and boxes are moved towards them.
 */
export function layOut(drawing: Drawing): Layout {
  const layers = assignLayers(drawing);
  const items = new Map<string, Item>();
  const rows: Item[][] = [];
  const place = (item: Item): Item => {
    const row = (rows[item.layer] ??= []);
    item.order = row.length;
    row.push(item);
    return item;
  };
  for (const node of drawing.nodes) {
    items.set(
      node.id,
      place({ layer: layers.get(node.id) ?? 0, ...sizeOf(node), above: [], below: [], x: 0, order: 0 }),
    );
  }

  let corners = 0;
  const paths = drawing.edges.map((edge) => {
    const from = items.get(edge.from);
    const to = items.get(edge.to);
    if (from === undefined || to === undefined) return { edge, path: [] };
    const [top, bottom] = from.layer <= to.layer ? [from, to] : [to, from];
    const path = [top];
    const length = bottom.layer - top.layer - 1;
    if (corners + length <= MAX_CORNERS) {
      corners += Math.max(0, length);
      for (let layer = top.layer + 1; layer < bottom.layer; layer++) {
        path.push(place({ layer, width: 8, height: 0, above: [], below: [], x: 0, order: 0 }));
      }
    }
    path.push(bottom);
    for (let at = 1; at < path.length; at++) {
      const upper = path[at - 1];
      const lower = path[at];
      if (upper === undefined || lower === undefined || upper.layer === lower.layer) continue;
      upper.below.push(lower);
      lower.above.push(upper);
    }
    return { edge, path: from === top ? path : path.reverse() };
  });

  orderRows(rows);
  placeRows(rows);
  return toLayout(drawing, items, rows, paths);
}

function sizeOf(node: DrawnNode): { width: number; height: number } {
  const longest = Math.max(node.label.length, Math.min(node.detail.length, 40));
  const width = Math.max(52, Math.round(longest * CHARACTER) + 24);
  return { width: node.kind === "barrier" ? Math.max(64, width) : width, height: node.detail === "" ? 30 : 44 };
}

/** Longest path from `start` over the edges that do not close a circle. */
function assignLayers(drawing: Drawing): ReadonlyMap<string, number> {
  const next = new Map<string, string[]>();
  for (const { from, to } of drawing.edges) {
    const list = next.get(from);
    if (list === undefined) next.set(from, [to]);
    else list.push(to);
  }
  // Depth first, on a stack of its own; an edge to a node that is still open goes against the flow.
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

function orderRows(rows: readonly Item[][]): void {
  for (let sweep = 0; sweep < SWEEPS; sweep++) {
    const down = sweep % 2 === 0;
    for (const row of down ? rows : [...rows].reverse()) {
      const middle = new Map(
        row.map((item) => {
          const neighbours = down ? item.above : item.below;
          const sum = neighbours.reduce((total, neighbour) => total + neighbour.order, 0);
          return [item, neighbours.length === 0 ? item.order : sum / neighbours.length];
        }),
      );
      row.sort((a, b) => (middle.get(a) ?? 0) - (middle.get(b) ?? 0));
      row.forEach((item, index) => (item.order = index));
    }
  }
}

function placeRows(rows: readonly Item[][]): void {
  for (const row of rows) {
    const width = row.reduce((total, item) => total + item.width + BOX_GAP, -BOX_GAP);
    let x = -width / 2;
    for (const item of row) {
      item.x = x + item.width / 2;
      x += item.width + BOX_GAP;
    }
  }
  for (let sweep = 0; sweep < SWEEPS; sweep++) {
    const down = sweep % 2 === 0;
    for (const row of down ? rows : [...rows].reverse()) {
      for (const item of row) {
        const neighbours = down ? item.above : item.below;
        if (neighbours.length === 0) continue;
        item.x = neighbours.reduce((total, neighbour) => total + neighbour.x, 0) / neighbours.length;
      }
      separate(row);
    }
  }
}

/** Moves boxes apart where they overlap, keeping their order and, as far as it goes, the middle of the row. */
function separate(row: readonly Item[]): void {
  const before = row.reduce((total, item) => total + item.x, 0);
  for (let index = 1; index < row.length; index++) {
    const left = row[index - 1];
    const item = row[index];
    if (left === undefined || item === undefined) continue;
    item.x = Math.max(item.x, left.x + (left.width + item.width) / 2 + BOX_GAP);
  }
  const shift = (before - row.reduce((total, item) => total + item.x, 0)) / Math.max(1, row.length);
  for (const item of row) item.x += shift;
}

function toLayout(
  drawing: Drawing,
  items: ReadonlyMap<string, Item>,
  rows: readonly Item[][],
  paths: readonly { readonly edge: DrawnEdge; readonly path: readonly Item[] }[],
): Layout {
  const tops: number[] = [];
  let y = MARGIN;
  for (const row of rows) {
    const height = row.reduce((most, item) => Math.max(most, item.height), 0);
    tops.push(y + height / 2);
    y += height + LAYER_GAP;
  }
  const all = rows.flat();
  const left = all.reduce((least, item) => Math.min(least, item.x - item.width / 2), 0) - MARGIN;
  const right = all.reduce((most, item) => Math.max(most, item.x + item.width / 2), 0) + MARGIN;
  const at = (item: Item): { x: number; y: number } => ({
    x: Math.round(item.x - left),
    y: Math.round(tops[item.layer] ?? 0),
  });
  return {
    width: Math.round(right - left),
    height: Math.round(y - LAYER_GAP + MARGIN),
    boxes: drawing.nodes.flatMap((node): Box[] => {
      const item = items.get(node.id);
      return item === undefined ? [] : [{ node, ...at(item), width: item.width, height: item.height }];
    }),
    lines: paths.map(({ edge, path }) => ({ edge, points: path.map(at) })),
  };
}
