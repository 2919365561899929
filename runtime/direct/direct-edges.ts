/** The edges of nodes that have ended, and what their signals run. */
import { barrierOf, followRoutes, isBarrier, type Target } from "../routing/routes.ts";
import { END } from "../table/table.ts";
import type { DirectBarriers } from "./direct-barriers.ts";
import type { DirectGraph, DirectNode } from "./direct-graph.ts";
import type { DirectRun } from "./direct-run.ts";

export const NOTHING: readonly never[] = Object.freeze([]);

/** The nodes that run after a node that ran alone. */
export function readyAfter(run: DirectRun, index: number, targets: readonly Target[]): readonly number[] {
  if (targets.length === 1) {
    const [target = END] = targets;
    if (target === END) return NOTHING;
    const { nodes, gates } = run.code;
    if (target >= 0 && gates[target] === -1) return nodes[target]!.alone;
  }
  const signals = new Signals(run);
  for (const target of targets) signals.signal(index, target);
  return signals.finish();
}

/** The targets of a node's edges; `undefined` if a condition has no value, or no edge applies. */
export function targetsOf(run: DirectRun, { routes }: DirectNode): readonly Target[] | undefined {
  try {
    const targets = followRoutes(routes, run);
    return targets.length === 0 && routes.edges.length > 0 ? undefined : targets;
  } catch {
    return undefined;
  }
}

/** The signals of a step (`routing/plan-step.ts`). No user code runs while they are collected, so runs share the marks of nodes. */
export class Signals {
  readonly #code: DirectGraph;
  readonly #barriers: DirectBarriers | undefined;
  readonly #generation: number;
  readonly #ready: number[] = [];
  #isSorted = true;
  #complete: number[] | undefined;

  constructor({ code, barriers }: DirectRun) {
    this.#code = code;
    this.#barriers = barriers;
    this.#generation = ++code.scratch.generation;
  }

  signal(source: number, target: Target): void {
    if (isBarrier(target)) this.#signalBarrier(source, barrierOf(target));
    else if (target >= 0 && this.#code.gates[target] !== -1) this.#signalBarrier(source, this.#code.gates[target]!);
    else this.run(target);
  }

  #signalBarrier(source: number, barrier: number): void {
    if (this.#barriers!.signal(barrier, source)) (this.#complete ??= []).push(barrier);
  }

  run(target: number): void {
    const { nodes } = this.#code.scratch;
    if (target === END || nodes[target] === this.#generation) return;
    nodes[target] = this.#generation;
    const ready = this.#ready;
    if (ready.length > 0 && ready[ready.length - 1]! > target) this.#isSorted = false;
    ready.push(target);
  }

  /** Fires the complete barriers, in order of completion. Returns the nodes of the next step, in declaration order. */
  finish(): readonly number[] {
    const complete = this.#complete ?? NOTHING;
    // Grows: a join into a gated node passes the signals of its members to the gate.
    for (let at = 0; at < complete.length; at++) {
      const barrier = complete[at]!;
      const { target, gates } = this.#code.barriers[barrier]!;
      const gate = target < 0 ? -1 : this.#code.gates[target]!;
      if (gates || gate === -1) this.run(target);
      else for (const node of this.#barriers!.arrived(barrier)) this.#signalBarrier(node, gate);
      this.#barriers!.clear(barrier);
    }
    return this.#isSorted ? this.#ready : this.#ready.sort((a, b) => a - b);
  }
}
