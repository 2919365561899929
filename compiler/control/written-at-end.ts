/**
 * Channels that every completed run has written: a backward "must" analysis from the ends of the graph. A node
 * certainly leads to its own writes, and to the intersection of what its alternatives lead to. An alternative leads to
 * the union of what its parallel targets lead to. A completed run leaves no barrier partly filled, so a signal into a
 * barrier counts as a signal into the target of the barrier.
 */
import { END_INDEX, START_INDEX, targetsOf, type Reference, type ResolvedEdge } from "../bind/resolve-edges.ts";

export interface EndInput {
  readonly nodes: number;
  readonly edges: readonly ResolvedEdge[];
  /** By node: nodes that `waits` names, and those that `goes` does (`end` as `END_INDEX`). */
  readonly waits: ReadonlyMap<number, readonly number[]>;
  readonly goes: ReadonlyMap<number, readonly number[]>;
  /** By node: channels that it writes. */
  readonly writes: readonly (readonly string[])[];
}

/** The channels of `channels` that some completed run may not have written. */
export function unwrittenAtEnd(input: EndInput, channels: readonly string[]): Set<string> {
  const unwritten = new Set<string>();
  const routes = collectRoutes(input);
  for (let base = 0; base < channels.length; base += 32) {
    const block = channels.slice(base, base + 32);
    const bits = certainWrites(input, routes, block);
    for (const [i, channel] of block.entries()) if ((bits & (1 << i)) === 0) unwritten.add(channel);
  }
  return unwritten;
}

/** The edges that leave one vertex after success and after a failure, in the order of the text. */
interface Routes {
  readonly done: ResolvedEdge[];
  readonly failed: ResolvedEdge[];
}

function collectRoutes({ nodes, edges }: EndInput): readonly Routes[] {
  const routes: Routes[] = Array.from({ length: nodes + 1 }, () => ({ done: [], failed: [] }));
  for (const edge of edges) {
    const sources = edge.source.kind === "nodes" ? edge.source.nodes : edge.source.members.flat();
    for (const { index } of sources) {
      const own = routes[index === START_INDEX ? nodes : index];
      (edge.onError ? own?.failed : own?.done)?.push(edge);
    }
  }
  return routes;
}

const ALL = -1;

/** The bits of the channels of a block that every completed run writes: the greatest fixed point. */
function certainWrites(input: EndInput, routes: readonly Routes[], block: readonly string[]): number {
  const { nodes } = input;
  const position = new Map(block.map((channel, i) => [channel, 1 << i]));
  const certain = new Int32Array(nodes + 1).fill(ALL);
  const gates = new Map([...input.waits].map(([node, members]) => [node, new Set(members)]));
  /** The result for an edge in the current iteration, shared by its sources. */
  const memo = new Map<ResolvedEdge, number>();
  const after = (edge: ResolvedEdge, from: number): number => {
    const isGated = targetsOf(edge.to).some(({ index }) => gates.has(index));
    const known = isGated ? undefined : memo.get(edge);
    if (known !== undefined) return known;
    const all = (list: readonly Reference[]): number => {
      let bits = 0;
      for (const { index } of list) {
        const gate = gates.get(index);
        if (index !== END_INDEX && (gate === undefined || gate.has(from))) bits |= certain[index] ?? 0;
      }
      return bits;
    };
    const { to } = edge;
    const bits =
      to.kind === "match" || to.kind === "cases"
        ? to.arms.reduce((common, arm) => common & all(arm.targets), ALL)
        : all(to.targets);
    if (!isGated) memo.set(edge, bits);
    return bits;
  };
  for (let changed = true; changed;) {
    changed = false;
    memo.clear();
    // Later declarations mostly run later, so a backward pass over the declarations converges fast.
    for (let vertex = nodes - 1; vertex >= -1; vertex--) {
      const at = vertex === -1 ? nodes : vertex;
      const own = routes[at];
      if (own === undefined) continue;
      let bits = leaving(own.done, (edge) => after(edge, at));
      for (const channel of input.writes[at] ?? []) bits |= position.get(channel) ?? 0;
      if (own.failed.length > 0) bits &= leaving(own.failed, (edge) => after(edge, at));
      for (const target of input.goes.get(at) ?? []) bits &= target === END_INDEX ? 0 : (certain[target] ?? 0);
      if (bits === certain[at]) continue;
      certain[at] = bits;
      changed = true;
    }
  }
  return certain[nodes] ?? 0;
}

/** The union of the unconditional edges, and the intersection of the conditional ones. */
function leaving(edges: readonly ResolvedEdge[], after: (edge: ResolvedEdge) => number): number {
  let bits = 0;
  let hasPlain = false;
  let conditional: number | undefined;
  let hasOtherwise = false;
  for (const edge of edges) {
    if (edge.to.kind === "when" || edge.to.kind === "otherwise") {
      conditional = (conditional ?? ALL) & after(edge);
      hasOtherwise ||= edge.to.kind === "otherwise";
    } else {
      bits |= after(edge);
      hasPlain ||= edge.to.kind === "plain";
    }
  }
  // Beside a plain edge, all conditions may be false.
  if (conditional !== undefined && (hasOtherwise || !hasPlain)) bits |= conditional;
  return bits;
}
