/**
 * The graph of control as the analyses of this folder see it: which node's signal leads where. Nodes are numbered as they
 * are declared, then `start`, then joints (below). All work on it is done in loops, never by recursion over edges.
 */
import type { Facts } from "../expressions/facts.ts";

/** How a node was left: its result was applied, it failed, or it jumped (and then gave no result). */
export type Exit = "done" | "error" | "jump";

/** Each arrival starts its target. */
export type Arrival =
  | {
      readonly kind: "signal";
      readonly from: number;
      readonly exit: Exit;
      /** What the conditions on the way say of the state. */
      readonly facts?: Facts;
    }
  /** All members have signalled, each by one of its sources. */
  | {
      readonly kind: "barrier";
      readonly members: readonly (readonly { readonly from: number; readonly exit: Exit }[])[];
    };

export interface ControlGraph {
  /** Vertices: nodes, `start`, joints. */
  readonly size: number;
  readonly nodes: number;
  readonly start: number;
  /** By target. */
  readonly arrivals: readonly (readonly Arrival[])[];
  /** By source; a target may stand several times. */
  readonly successors: readonly (readonly number[])[];
}

/** Collects arrivals. */
export class ControlGraphBuilder {
  readonly #nodes: number;
  readonly #arrivals: Arrival[][];

  constructor(nodes: number) {
    this.#nodes = nodes;
    this.#arrivals = Array.from({ length: nodes + 1 }, () => []);
  }

  get start(): number {
    return this.#nodes;
  }

  arrive(target: number, arrival: Arrival): void {
    this.#arrivals[target]?.push(arrival);
  }

  /**
   * Every source signals every target. Through a joint, a vertex without a node, where both are many: a statement with m
   * sources and n targets stays of size m + n.
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
    const successors: number[][] = Array.from({ length: arrivals.length }, () => []);
    for (const [target, list] of arrivals.entries()) {
      for (const arrival of list) {
        if (arrival.kind === "signal") successors[arrival.from]?.push(target);
        else for (const member of arrival.members) for (const { from } of member) successors[from]?.push(target);
      }
    }
    return { size: arrivals.length, nodes: this.#nodes, start: this.#nodes, arrivals, successors };
  }
}

/** Vertices that `start` reaches, in reverse postorder: a vertex stands before those it leads to, cycles apart. */
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
