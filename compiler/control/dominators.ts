import type { ControlGraph } from "./control-graph.ts";

export interface Dominators {
  /**
   * Whether every path from `start` to `b` contains `a` (a vertex dominates itself). `false` for unreachable vertices.
   */
  readonly dominates: (a: number, b: number) => boolean;
}

/**
 * Dominators by the algorithm of Lengauer and Tarjan (1979), in the simple version with path compression: O(m log n).
 * It is written without recursion, so the size of a generated graph is not limited by the stack.
 */
export function findDominators(graph: ControlGraph): Dominators {
  const idom = immediateDominators(graph);
  // Preorder intervals of the dominator tree: a dominates b if b's interval lies in a's.
  const children: number[][] = Array.from({ length: graph.size }, () => []);
  for (let vertex = 0; vertex < graph.size; vertex++) {
    const parent = idom[vertex] ?? -1;
    if (parent >= 0 && vertex !== graph.start) children[parent]?.push(vertex);
  }
  const first = new Int32Array(graph.size).fill(-1);
  const last = new Int32Array(graph.size).fill(-1);
  let time = 0;
  const open: number[] = [graph.start];
  for (let at = open.pop(); at !== undefined; at = open.pop()) {
    if (at < 0) {
      last[-at - 1] = time;
      continue;
    }
    first[at] = time++;
    open.push(-at - 1);
    for (const child of children[at] ?? []) open.push(child);
  }
  return {
    dominates: (a, b) => {
      const outer = first[a] ?? -1;
      const inner = first[b] ?? -1;
      return outer >= 0 && inner >= outer && inner < (last[a] ?? -1);
    },
  };
}

/** The immediate dominator of each vertex; -1 for `start` and for unreachable vertices. */
export function immediateDominators(graph: Pick<ControlGraph, "size" | "start" | "successors">): Int32Array {
  const { size, start } = graph;
  const { preorder, parent, number } = depthFirst(graph);
  const count = preorder.length;
  // All arrays below are indexed by preorder number.
  const semi = Int32Array.from({ length: count }, (_, i) => i);
  const label = Int32Array.from(semi);
  const ancestor = new Int32Array(count).fill(-1);
  const dominator = new Int32Array(count).fill(-1);
  const buckets: number[][] = Array.from({ length: count }, () => []);
  const predecessors: number[][] = Array.from({ length: count }, () => []);
  for (const [i, vertex] of preorder.entries()) {
    for (const target of graph.successors[vertex] ?? []) predecessors[number[target] as number]?.push(i);
  }
  const at = (array: Int32Array, i: number): number => array[i] as number;
  const evaluate = (v: number): number => {
    if (at(ancestor, v) === -1) return v;
    // Path compression, from the root of the forest's path down to v.
    const path: number[] = [];
    for (let u = v; at(ancestor, at(ancestor, u)) !== -1; u = at(ancestor, u)) path.push(u);
    for (let u = path.pop(); u !== undefined; u = path.pop()) {
      const above = at(ancestor, u);
      if (at(semi, at(label, above)) < at(semi, at(label, u))) label[u] = at(label, above);
      ancestor[u] = at(ancestor, above);
    }
    return at(label, v);
  };
  for (let w = count - 1; w > 0; w--) {
    const up = number[parent[preorder[w] as number] as number] as number;
    for (const v of predecessors[w] ?? []) {
      const u = evaluate(v);
      if (at(semi, u) < at(semi, w)) semi[w] = at(semi, u);
    }
    buckets[at(semi, w)]?.push(w);
    ancestor[w] = up;
    for (const v of buckets[up] ?? []) {
      const u = evaluate(v);
      dominator[v] = at(semi, u) < at(semi, v) ? u : up;
    }
    buckets[up] = [];
  }
  const idom = new Int32Array(size).fill(-1);
  for (let w = 1; w < count; w++) {
    if (at(dominator, w) !== at(semi, w)) dominator[w] = at(dominator, at(dominator, w));
    idom[preorder[w] as number] = preorder[at(dominator, w)] as number;
  }
  idom[start] = -1;
  return idom;
}

function depthFirst(graph: Pick<ControlGraph, "size" | "start" | "successors">): {
  preorder: number[];
  parent: Int32Array;
  number: Int32Array;
} {
  const parent = new Int32Array(graph.size).fill(-1);
  const number = new Int32Array(graph.size).fill(-1);
  const next = new Uint32Array(graph.size);
  const preorder: number[] = [graph.start];
  number[graph.start] = 0;
  const path: number[] = [graph.start];
  for (let at = path.at(-1); at !== undefined; at = path.at(-1)) {
    const position = next[at] ?? 0;
    next[at] = position + 1;
    const target = graph.successors[at]?.[position];
    if (target === undefined) path.pop();
    else if (number[target] === -1) {
      number[target] = preorder.length;
      parent[target] = at;
      preorder.push(target);
      path.push(target);
    }
  }
  return { preorder, parent, number };
}
