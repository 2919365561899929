/**
 * The control-flow graph of the analyses in this folder. Its vertices are the nodes in the order of their declarations,
 * then `start`, then joints (see `ControlGraphBuilder.signal`). The algorithms iterate instead of recursing over edges,
 * so a deep graph does not overflow the stack.
 */
import { addToList, emptyLists } from "../algorithms/add-to-list.ts";
import type { Facts } from "../expressions/facts.ts";
import { type ControlNet, END_TARGET, type NetBranch, type NetRouting, type Route } from "./net.ts";

/** How the step of a node ended: its result was applied, it failed, or it jumped (and returned no result). */
export type Exit = "done" | "error" | "jump";

/** One way to start a target: a single signal, or a barrier that fires. */
export type Arrival =
  | {
      readonly kind: "signal";
      readonly from: number;
      readonly exit: Exit;
      /** Facts about the state that follow from the condition of the edge. */
      readonly facts?: Facts;
    }
  /** All members have signalled. Each member lists the sources that can signal it. */
  | {
      readonly kind: "barrier";
      readonly members: readonly (readonly { readonly from: number; readonly exit: Exit }[])[];
    };

export interface ControlGraph {
  /** Vertices: nodes, `start`, joints. */
  readonly size: number;
  readonly nodes: number;
  readonly start: number;
  /** The vertex of `finally`, a successor of `start`; -1 without edges from `finally`. */
  readonly finally: number;
  /** By target. */
  readonly arrivals: readonly (readonly Arrival[])[];
  /** By source; a target can occur several times. */
  readonly successors: readonly (readonly number[])[];
}

export class ControlGraphBuilder {
  readonly #nodes: number;
  readonly #arrivals: Arrival[][];
  #finally = -1;

  constructor(nodes: number) {
    this.#nodes = nodes;
    this.#arrivals = emptyLists(nodes + 1);
  }

  get start(): number {
    return this.#nodes;
  }

  /** Adds a vertex that follows `start`. */
  addEntry(): number {
    return (this.#finally = this.#arrivals.push([{ kind: "signal", from: this.start, exit: "done" }]) - 1);
  }

  arrive(target: number, arrival: Arrival): void {
    addToList(this.#arrivals, target, arrival);
  }

  /**
   * Adds a signal from each source to each target. If there are several of both, the signals pass through a joint: a
   * vertex without a node. A statement with m sources and n targets then has m + n arrivals instead of m * n.
   */
  signal(sources: readonly number[], targets: readonly number[], exit: Exit, facts: Facts | undefined): void {
    const from = (source: number, via: Exit): Arrival =>
      facts === undefined || facts.size === 0
        ? { kind: "signal", from: source, exit: via }
        : { kind: "signal", from: source, exit: via, facts };
    if (sources.length > 1 && targets.length > 1) {
      const joint = this.#arrivals.push(sources.map((source) => ({ kind: "signal", from: source, exit }))) - 1;
      for (const target of targets) this.arrive(target, from(joint, "done"));
      return;
    }
    for (const source of sources) for (const target of targets) this.arrive(target, from(source, exit));
  }

  build(): ControlGraph {
    const arrivals = this.#arrivals;
    const successors = emptyLists<number>(arrivals.length);
    for (const [target, list] of arrivals.entries()) {
      for (const arrival of list) {
        if (arrival.kind === "signal") addToList(successors, arrival.from, target);
        else for (const member of arrival.members) for (const { from } of member) addToList(successors, from, target);
      }
    }
    return {
      size: arrivals.length,
      nodes: this.#nodes,
      start: this.#nodes,
      finally: this.#finally,
      arrivals,
      successors,
    };
  }
}

/** The facts that the condition of a branch implies. `routing` is given if only one node has the branch. */
export type FactsOf = (branch: NetBranch, routing: NetRouting | undefined) => Facts;

/** The control-flow graph of a net. Tasks that are sent to a node arrive as jumps do. */
export function controlGraphOf(
  { nodes, start, finally: ending, barriers }: ControlNet,
  factsOf?: FactsOf,
): ControlGraph {
  const declared = nodes.filter((node) => !node.isSent);
  const builder = new ControlGraphBuilder(declared.length);
  // A run can end at any point, so nothing is known to have been written where `finally` begins.
  const entry = ending.routes.length > 0 ? builder.addEntry() : -1;
  const forEachRoute = (visit: (route: Route, source: number, routing: NetRouting, exit: Exit) => void): void => {
    for (const route of start.routes) visit(route, builder.start, start, "done");
    for (const route of ending.routes) visit(route, entry, ending, "done");
    for (const { index, routing, errorRouting } of declared) {
      for (const route of routing.routes) visit(route, index, routing, "done");
      if (errorRouting !== undefined) {
        for (const route of errorRouting.routes) visit(route, index, errorRouting, "error");
      }
    }
  };
  // Most edges of a large graph have one source, so their branches need no list of sources.
  const sourcesOfEdge: number[] = [];
  forEachRoute(({ edge }) => (sourcesOfEdge[edge] = (sourcesOfEdge[edge] ?? 0) + 1));
  const shared = new Map<NetBranch, number[]>();
  forEachRoute(({ edge, branches }, source) => {
    if (sourcesOfEdge[edge] === 1) return;
    for (const branch of branches) {
      const known = shared.get(branch);
      if (known === undefined) shared.set(branch, [source]);
      else known.push(source);
    }
  });
  const isDeclared = (place: number): boolean => place !== END_TARGET && place < declared.length;
  /** By place of a barrier: nodes that signal it after a failure. */
  const failed = new Map<number, Set<number>>();
  const signal = (branch: NetBranch, sources: readonly number[], exit: Exit, routing: NetRouting | undefined): void => {
    // Most branches have one signal, to a node.
    const [only] = branch.signals;
    const isPlain = branch.signals.length === 1 && only?.place !== undefined && isDeclared(only.place);
    const targets: number[] = isPlain ? [only.place] : [];
    for (const { place } of isPlain ? [] : branch.signals) {
      if (place === undefined || place === END_TARGET) continue;
      if (place < declared.length) targets.push(place);
      else if (exit === "error") {
        const known = failed.get(place) ?? new Set();
        failed.set(place, known);
        for (const source of sources) known.add(source);
      }
    }
    builder.signal(sources, targets, exit, factsOf?.(branch, routing));
  };
  forEachRoute(({ edge, branches }, source, routing, exit) => {
    for (const branch of branches) {
      if (sourcesOfEdge[edge] === 1) {
        signal(branch, [source], exit, routing);
        continue;
      }
      const sources = shared.get(branch);
      // Its first source has added the signals of all.
      if (sources === undefined) continue;
      shared.delete(branch);
      signal(branch, sources, exit, sources.length === 1 ? routing : undefined);
    }
  });
  for (const { target, members, passesOn, settled } of barriers) {
    // A barrier into a node with `waits` passes its signals on to the gate, which has an arrival of its own.
    if (target === END_TARGET || passesOn !== undefined) continue;
    if (settled !== undefined) {
      // One member is enough. No facts follow: other nodes can write between the signal and the start of the target.
      const from = new Set(members.flatMap(({ nodes: own }) => own).filter((node) => node < declared.length));
      builder.signal([...from], [target], "done", undefined);
      continue;
    }
    builder.arrive(target, {
      kind: "barrier",
      members: members.map(({ place, nodes: from }) =>
        from
          .filter((node) => node < declared.length)
          .map((node) => ({ from: node, exit: failed.get(place)?.has(node) === true ? "error" : "done" })),
      ),
    });
  }
  for (const { index, jumps = [] } of declared) {
    for (const target of jumps)
      if (target !== END_TARGET) builder.arrive(target, { kind: "signal", from: index, exit: "jump" });
  }
  return builder.build();
}

/** Vertices reachable from `start` in reverse postorder: outside of cycles, a vertex precedes its successors. */
export function reversePostorder(graph: ControlGraph): number[] {
  const seen = new Uint8Array(graph.size);
  const order: number[] = [];
  const path: number[] = [graph.start];
  const next = new Uint32Array(graph.size);
  seen[graph.start] = 1;
  for (let at = path.at(-1); at !== undefined; at = path.at(-1)) {
    const position = next[at] ?? 0;
    next[at] = position + 1;
    const target = graph.successors[at]?.[position];
    if (target === undefined) {
      order.push(at);
      path.pop();
    } else if (seen[target] === 0) {
      seen[target] = 1;
      path.push(target);
    }
  }
  return order.reverse();
}
