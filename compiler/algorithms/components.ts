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
  const open: number[] = [];
  // The path from the root, as columns: an object for each vertex would cost more than the search.
  const path: number[] = [];
  const nexts: number[] = [];
  const targetsOf: ArrayLike<number>[] = [];
  let clock = 0;
  const enter = (vertex: number): void => {
    entered[vertex] = low[vertex] = clock++;
    open.push(vertex);
    path.push(vertex);
    nexts.push(0);
    targetsOf.push(successors(vertex));
  };
  for (let root = 0; root < size; root++) {
    if (entered[root] !== -1) continue;
    enter(root);
    while (path.length > 0) {
      const top = path.length - 1;
      const vertex = path[top]!;
      const targets = targetsOf[top]!;
      const next = nexts[top]!;
      if (next < targets.length) {
        const target = targets[next]!;
        nexts[top] = next + 1;
        if (entered[target] === -1) enter(target);
        else if (componentOf[target] === -1) low[vertex] = Math.min(low[vertex]!, entered[target]!);
        continue;
      }
      path.pop();
      nexts.pop();
      targetsOf.pop();
      const parent = path.at(-1);
      if (parent !== undefined) low[parent] = Math.min(low[parent]!, low[vertex]!);
      if (low[vertex] !== entered[vertex]) continue;
      const group = open.splice(open.lastIndexOf(vertex));
      for (const member of group) componentOf[member] = members.length;
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
