/**
 * Strongly connected components of a graph given by successor lists, sinks first (a component comes after
 * all that it leads to). Tarjan's algorithm, without recursion.
 */
export interface Components {
  /** Vertex -> index of its component in `members`. */
  readonly componentOf: Int32Array;
  /** The vertices of each component, in reverse topological order of the components. */
  readonly members: readonly (readonly number[])[];
}

export function findComponents(size: number, successors: (vertex: number) => ArrayLike<number>): Components {
  const componentOf = new Int32Array(size).fill(-1);
  const entered = new Int32Array(size).fill(-1);
  const low = new Int32Array(size);
  const members: number[][] = [];
  // Stacks of vertices, the open ones and the path from the root, as columns: an object for each vertex would cost more than the search.
  const open = new Int32Array(size);
  let opened = 0;
  const path = new Int32Array(size);
  let top = -1;
  /** By vertex: how many of its successors have been visited. */
  const nexts = new Int32Array(size);
  const targetsOf: ArrayLike<number>[] = [];
  let clock = 0;
  const enter = (vertex: number): void => {
    entered[vertex] = low[vertex] = clock++;
    open[opened++] = vertex;
    path[++top] = vertex;
    targetsOf.push(successors(vertex));
  };
  for (let root = 0; root < size; root++) {
    if (entered[root] !== -1) continue;
    enter(root);
    while (top >= 0) {
      const vertex = path[top]!;
      const targets = targetsOf[top]!;
      const next = nexts[vertex]!;
      if (next < targets.length) {
        const target = targets[next]!;
        nexts[vertex] = next + 1;
        if (entered[target] === -1) enter(target);
        else if (componentOf[target] === -1) low[vertex] = Math.min(low[vertex]!, entered[target]!);
        continue;
      }
      top--;
      targetsOf.pop();
      if (top >= 0) {
        const parent = path[top]!;
        low[parent] = Math.min(low[parent]!, low[vertex]!);
      }
      if (low[vertex] !== entered[vertex]) continue;
      let first = opened - 1;
      while (open[first] !== vertex) first--;
      const group = first === opened - 1 ? [vertex] : Array.from(open.subarray(first, opened));
      for (const member of group) componentOf[member] = members.length;
      opened = first;
      members.push(group);
    }
  }
  return { componentOf, members };
}

/** Whether a component contains a cycle: it has more than one vertex, or one with an edge to itself. */
export function isCyclic(group: readonly number[], successors: (vertex: number) => ArrayLike<number>): boolean {
  const [first, second] = group;
  if (first === undefined) return false;
  if (second !== undefined) return true;
  const targets = successors(first);
  for (let index = 0; index < targets.length; index++) if (targets[index] === first) return true;
  return false;
}

/**
 * A shortest cycle through a vertex that stays inside; the vertex itself first and not repeated. Empty when there is
 * none.
 */
export function shortestCycle(
  from: number,
  successors: (vertex: number) => ArrayLike<number>,
  isInside: (vertex: number) => boolean,
): number[] {
  const parent = new Map<number, number>();
  const queue = [from];
  for (const vertex of queue) {
    const targets = successors(vertex);
    for (let index = 0; index < targets.length; index++) {
      const target = targets[index]!;
      if (target === from) {
        const cycle = [vertex];
        for (let at = vertex; at !== from;) {
          at = parent.get(at)!;
          cycle.push(at);
        }
        return cycle.reverse();
      }
      if (!isInside(target) || parent.has(target)) continue;
      parent.set(target, vertex);
      queue.push(target);
    }
  }
  return [];
}
