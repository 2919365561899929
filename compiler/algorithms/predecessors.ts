/** The predecessors of all vertices in one list: those of vertex n from `first[n]` to `first[n + 1]`. */
export interface Predecessors {
  readonly first: Int32Array;
  readonly vertices: Int32Array;
}

/** The predecessors of the vertices of a graph. A list for each vertex would cost more than most searches that need them. */
export function predecessorsOf(successors: readonly (readonly number[])[]): Predecessors {
  const first = new Int32Array(successors.length + 1);
  let count = 0;
  for (const targets of successors) {
    for (const target of targets) first[target + 1]!++;
    count += targets.length;
  }
  for (let vertex = 0; vertex < successors.length; vertex++) first[vertex + 1]! += first[vertex]!;
  const vertices = new Int32Array(count);
  const next = first.slice();
  successors.forEach((targets, from) => {
    for (const target of targets) vertices[next[target]!++] = from;
  });
  return { first, vertices };
}
