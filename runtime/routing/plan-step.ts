import type { Evaluate, Scope } from "../expression/compile-expression.ts";
import { END, ROLLBACK, type Table } from "../table/table.ts";
import { compileBarrier, compileSettled, type BarrierCode, type BarrierState } from "./barrier-state.ts";
import { compileErrorRoutes, type ErrorRouteCode } from "./error-routes.ts";
import { barrierOf, compileRoutes, followRoutes, isBarrier, type RoutesCode, type Target } from "./routes.ts";

/** The routes of a table, prepared for evaluation. Immutable except for the caches `alone`, `atStart` and `scratch`. */
export interface RoutingCode {
  readonly start: RoutesCode;
  /** The routes of `finally`; `undefined` if the graph has none. */
  readonly finally: RoutesCode | undefined;
  /** By node index. */
  readonly nodes: readonly RoutesCode[];
  readonly errors: readonly (readonly ErrorRouteCode[])[];
  /** By node index: the barrier that gates it, or -1. */
  readonly gates: readonly number[];
  readonly barriers: readonly BarrierCode[];
  /** By node: the `settled` barriers that a signal can reach from it; `undefined` if there are none. */
  readonly settled: readonly (readonly number[])[] | undefined;
  readonly expressions: readonly Evaluate[];
  /** By node index, filled on first use: the plan when the node ran alone; `null` if the plan depends on the state. */
  readonly alone: (StepPlan | null | undefined)[];
  /** The plan of `start`, filled on first use, if it does not depend on the state. */
  atStart: StepPlan | undefined;
  /** Working memory of a plan, reused by the next one. */
  scratch: Scratch | undefined;
}

/** One finished task of the step, as input of routing. Routings are in task order. */
export interface Routing {
  readonly node: number;
  /** Targets of `goto` (node indexes, `END` or `ROLLBACK`); `undefined` follows the node's edges. */
  readonly goto: readonly number[] | undefined;
  /** The `goto` replaces the routing of the whole step (2.6). */
  readonly exclusive: boolean;
  readonly stopped: boolean;
  /** The node failed: the targets of its `on error` edges. */
  readonly errorTargets: readonly Target[] | undefined;
}

export interface StepPlan {
  /** Nodes of the next step, ascending; without `END` and `ROLLBACK`. */
  readonly ready: readonly number[];
  readonly hitEnd: boolean;
  /** A signal led to `rollback`: the run ends, so no node is ready. */
  readonly rollsBack: boolean;
  /** Position (in the routings) of the exclusive `goto` that replaced the routing of the step, or -1. */
  readonly winner: number;
  /** Routings whose edges lead to no target; `cause` is the error if an expression had no value. */
  readonly unrouted: readonly { readonly routing: number; readonly cause: unknown }[];
}

/** Notified while a plan is made, to emit events. */
export interface PlanObserver {
  route(
    routing: number,
    via: "edges" | "goto" | "exclusive" | "stop" | "error",
    targets: readonly Target[],
    discarded: boolean,
  ): void;
  barrier(barrier: number, arrived: readonly number[], fired: boolean): void;
}

interface Scratch {
  /** By node: the generation of the plan that last signalled it. A new generation replaces clearing the array. */
  readonly signalled: Int32Array;
  generation: number;
}

export function compileRouting(table: Table, expressions: readonly Evaluate[]): RoutingCode {
  const barriers = table.barriers.map(compileBarrier);
  return {
    start: compileRoutes(table.start, expressions),
    finally: table.finally === undefined ? undefined : compileRoutes(table.finally, expressions),
    nodes: table.nodes.map((node) => compileRoutes(node.routes, expressions)),
    errors: table.nodes.map((node) => compileErrorRoutes(node.onError, expressions)),
    gates: table.nodes.map((node) => node.waits ?? -1),
    barriers,
    settled: compileSettled(barriers, table.nodes.length),
    expressions,
    alone: Array.from<undefined>({ length: table.nodes.length }),
    atStart: undefined,
    scratch: undefined,
  };
}

/**
 * The nodes that run after a step (2.4 - 2.6, 3). Costs the out-degree of the nodes that ran. Changes only `barriers`.
 * Without `barriers` a signal to a barrier runs its target at once.
 *
 * A step that changes the reach of a `settled` barrier with a signal also costs the tasks of the next step and the
 * partly filled barriers (1.3).
 *
 * @param scope the state after the step's updates
 * @param beside nodes that run next whatever the routings are: those of sent tasks, and those that were ready before
 */
export function planStep(
  code: RoutingCode,
  routings: readonly Routing[],
  scope: Scope,
  barriers: BarrierState | undefined,
  observer?: PlanObserver,
  beside: readonly number[] = NO_NODES,
): StepPlan {
  const [first] = routings;
  const isFree = code.settled === undefined || barriers === undefined || barriers.isClear;
  if (first !== undefined && routings.length === 1 && observer === undefined && isFree && isPlain(first)) {
    const known = planAlone(code, first.node);
    if (known !== null) return known;
  }
  const plan = new Plan(code, barriers, observer);
  const winner = lastExclusive(routings);
  for (let i = 0; i < routings.length; i++) {
    const routing = routings[i]!;
    // Mutation point: routing-kind
    if (routing.errorTargets !== undefined) {
      observer?.route(i, "error", routing.errorTargets, false);
      plan.signalAll(routing.node, routing.errorTargets);
    } else if (winner === -1) {
      followOne(code, plan, i, routing, scope);
    } else if (i === winner) {
      // Runs the targets at once, past any gate. The barrier of the gate keeps its signals (2.6).
      observer?.route(i, "exclusive", routing.goto!, false);
      // Mutation point: exclusive-goto
      for (const target of routing.goto!) plan.run(target);
    } else {
      const via = routing.stopped ? "stop" : routing.goto === undefined ? "edges" : "goto";
      observer?.route(i, via, routing.goto ?? [], true);
    }
  }
  if (code.settled !== undefined) plan.settle(code.settled, routings, beside);
  return plan.finish(winner);
}

function isPlain({ goto, exclusive, stopped, errorTargets }: Routing): boolean {
  return goto === undefined && !exclusive && !stopped && errorTargets === undefined;
}

/**
 * The plan after a node that ran alone, if it is always the same: all edges are plain, and no target has a barrier.
 * Otherwise `null`.
 */
function planAlone(code: RoutingCode, node: number): StepPlan | null {
  let known = code.alone[node];
  if (known === undefined) {
    const { fixed } = code.nodes[node]!;
    const isKnown = fixed?.every((target) => target === END || (target >= 0 && code.gates[target] === -1));
    code.alone[node] = known = isKnown === true ? fixedPlan(fixed!) : null;
  }
  return known;
}

function fixedPlan(targets: readonly Target[]): StepPlan {
  const ready = [...new Set(targets)].filter((target) => target !== END).sort((a, b) => a - b);
  // Not frozen: all plans have one hidden class, which keeps the property accesses of each step monomorphic.
  return { ready, hitEnd: targets.includes(END), rollsBack: false, winner: -1, unrouted: NO_FAULTS };
}

/** The first step. Edges of `start` do not signal barriers. */
export function planStart(code: RoutingCode, scope: Scope, observer?: PlanObserver): StepPlan {
  if (observer === undefined && code.start.fixed !== undefined) {
    // Plain edges lead to the same nodes in every run. Edges into gated nodes do not count.
    code.atStart ??= fixedPlan(code.start.fixed.filter((target) => target === END || code.gates[target] === -1));
    return code.atStart;
  }
  return planEntry(code, code.start, scope, observer);
}

/** The first step of the part of the graph that `finally` leads to. */
export function planFinally(code: RoutingCode, scope: Scope, observer?: PlanObserver): StepPlan {
  return planEntry(code, code.finally ?? NO_ROUTES, scope, observer);
}

const NO_ROUTES: RoutesCode = { edges: [], fixed: undefined, isChoice: false };

function planEntry(code: RoutingCode, routes: RoutesCode, scope: Scope, observer: PlanObserver | undefined): StepPlan {
  const plan = new Plan(code, undefined, observer);
  try {
    const targets = followRoutes(routes, scope);
    for (const target of targets) {
      // A signal from `start` or `finally` into a gated node does not count (3.2).
      if (target >= 0 && code.gates[target] !== -1) continue;
      plan.run(target);
    }
    if (targets.length === 0 && routes.edges.length > 0) plan.lacksRoute(-1, undefined);
  } catch (cause) {
    plan.lacksRoute(-1, cause);
  }
  return plan.finish(-1);
}

/** The position of the `goto` that replaces the routing of the whole step (2.6), or -1. */
export function lastExclusive(routings: readonly Routing[]): number {
  for (let i = routings.length - 1; i >= 0; i--) if (routings[i]!.exclusive) return i;
  return -1;
}

function followOne(code: RoutingCode, plan: Plan, index: number, routing: Routing, scope: Scope): void {
  const { observer } = plan;
  if (routing.stopped) {
    observer?.route(index, "stop", [], false);
    return;
  }
  if (routing.goto !== undefined) {
    observer?.route(index, "goto", routing.goto, false);
    plan.signalAll(routing.node, routing.goto);
    return;
  }
  const routes = code.nodes[routing.node]!;
  let targets: readonly Target[];
  try {
    targets = followRoutes(routes, scope);
  } catch (cause) {
    plan.lacksRoute(index, cause);
    return;
  }
  if (targets.length === 0 && routes.edges.length > 0) {
    plan.lacksRoute(index, undefined);
    return;
  }
  observer?.route(index, "edges", targets, false);
  plan.signalAll(routing.node, targets);
}

class Plan implements StepPlan {
  readonly code: RoutingCode;
  readonly barriers: BarrierState | undefined;
  readonly observer: PlanObserver | undefined;
  readonly ready: number[] = [];
  hitEnd = false;
  rollsBack = false;
  winner = -1;
  unrouted: { readonly routing: number; readonly cause: unknown }[] = NO_FAULTS;
  /** Completed barriers, in order of completion. */
  private complete: number[] | undefined;
  private touched: Set<number> | undefined;
  /** The complete barriers have fired before `finish`. */
  private isSettled = false;
  private readonly scratch: Scratch;
  private sorted = true;

  constructor(code: RoutingCode, barriers: BarrierState | undefined, observer: PlanObserver | undefined) {
    this.code = code;
    this.barriers = barriers;
    this.observer = observer;
    // Taken away while in use: a function in an expression may run another graph on the same routing code.
    const scratch = code.scratch ?? { signalled: new Int32Array(code.nodes.length), generation: 0 };
    code.scratch = undefined;
    if (scratch.generation === GENERATIONS) {
      scratch.signalled.fill(0);
      scratch.generation = 0;
    }
    scratch.generation++;
    this.scratch = scratch;
  }

  lacksRoute(routing: number, cause: unknown): void {
    if (this.unrouted === NO_FAULTS) this.unrouted = [];
    this.unrouted.push({ routing, cause });
  }

  signalAll(source: number, targets: readonly Target[]): void {
    for (const target of targets) this.signal(source, target);
  }

  private signal(source: number, target: Target): void {
    if (isBarrier(target)) this.signalBarrier(source, barrierOf(target));
    else if (target >= 0 && this.code.gates[target] !== -1) {
      // The gate counts signals of its members only, whichever way they arrive (by `goto`, for example).
      this.signalBarrier(source, this.code.gates[target]!);
    } else this.run(target);
  }

  private signalBarrier(source: number, barrier: number): void {
    if (this.barriers === undefined) {
      for (const target of this.code.barriers[barrier]!.targets) this.run(target);
      return;
    }
    // Mutation point: barrier-signal
    if (this.barriers.signal(barrier, source)) (this.complete ??= []).push(barrier);
    if (this.observer !== undefined) (this.touched ??= new Set()).add(barrier);
  }

  run(target: number): void {
    if (target === END) {
      this.hitEnd = true;
      return;
    }
    if (target === ROLLBACK) {
      this.rollsBack = true;
      return;
    }
    const { signalled, generation } = this.scratch;
    if (signalled[target] === generation) return;
    signalled[target] = generation;
    const { ready } = this;
    if (ready.length > 0 && ready[ready.length - 1]! > target) this.sorted = false;
    ready.push(target);
  }

  /**
   * Fires each `settled` barrier with a signal to which no other signal can come any more (3.4). If nothing else is
   * ready, the first one fires, so that it never leaves a run incomplete. Firing a barrier holds the same barriers back
   * as its signals did, so the order has no effect.
   */
  settle(
    settled: readonly (readonly number[])[],
    routings: readonly { readonly node: number }[],
    beside: readonly number[],
  ): void {
    const { barriers, ready } = this;
    if (barriers === undefined || barriers.isClear) return;
    if (this.complete !== undefined) this.fire(this.complete);
    this.isSettled = true;
    if (this.rollsBack) return;
    const fired = (this.complete ??= []);
    const changed = barriers.takeChanged(settled, routings);
    if (this.unrouted.length > 0) {
      // These nodes are routed again, and can still signal.
      barriers.putBackChanged(changed);
      return;
    }
    const isHeld = (barrier: number): boolean => {
      const canReach = (node: number): boolean => barriers.canReach(barrier, node);
      return ready.some(canReach) || beside.some(canReach) || barriers.isHeldByOther(barrier);
    };
    const fire = (barrier: number): void => {
      this.observer?.barrier(barrier, barriers.arrived(barrier), true);
      for (const target of this.code.barriers[barrier]!.targets) this.run(target);
      barriers.clear(barrier);
      fired.push(barrier);
    };
    // Mutation point: settled-held
    for (const barrier of changed) if (!isHeld(barrier)) fire(barrier);
    while (ready.length === 0 && beside.length === 0) {
      const left = barriers.settledWithSignal();
      if (left.length === 0) break;
      fire(left.find((barrier) => !isHeld(barrier)) ?? left[0]!);
    }
  }

  finish(winner: number): StepPlan {
    if (this.complete !== undefined && !this.isSettled) this.fire(this.complete);
    if (this.observer !== undefined) this.report(this.observer);
    this.code.scratch = this.scratch;
    const { ready } = this;
    // Declaration order (2.2).
    if (!this.sorted) ready.sort((a, b) => a - b);
    if (this.rollsBack) {
      ready.length = 0;
      this.unrouted = NO_FAULTS;
      this.barriers?.clearAll();
    }
    this.winner = winner;
    return this;
  }

  /** `complete` grows during the loop: a join into a gated node passes the signals of its members to the gate. */
  private fire(complete: number[]): void {
    const { barriers, code } = this;
    for (let i = 0; i < complete.length; i++) {
      const barrier = complete[i]!;
      const { target, gates } = code.barriers[barrier]!;
      const gate = target < 0 ? -1 : code.gates[target]!;
      const isAtOnce = gates || gate === -1;
      const arrived = isAtOnce && this.observer === undefined ? NONE : barriers!.arrived(barrier);
      this.observer?.barrier(barrier, arrived, true);
      if (isAtOnce) this.run(target);
      else for (const node of arrived) this.signalBarrier(node, gate);
      barriers!.clear(barrier);
    }
  }

  private report(observer: PlanObserver): void {
    const fired = new Set(this.complete);
    for (const barrier of this.touched ?? []) {
      if (!fired.has(barrier)) observer.barrier(barrier, this.barriers!.arrived(barrier), false);
    }
  }
}

const NONE: readonly number[] = Object.freeze([]);
const NO_NODES = NONE;
const NO_FAULTS: never[] = Object.freeze([]) as unknown as never[];
const GENERATIONS = 2 ** 31 - 2;
