import { graphsCalledBy } from "../program/program.ts";
import type { Shared } from "../run/shared.ts";
import type { PlanTable, TouchSpec } from "../table/plan-table.ts";
import type { Table } from "../table/table.ts";
import { parsePathPattern, patternsOverlap, type PathPattern } from "./path-pattern.ts";
import type { PlanProgram, TaskCode } from "./plan-program.ts";

/** What a task occupies while it runs. */
export interface TaskClaim {
  readonly paths: readonly { readonly pattern: PathPattern; readonly write: boolean }[];
  /** `name` includes the name of the plan. */
  readonly pool: { readonly name: string; readonly count: number; readonly size: number } | undefined;
  readonly alone: boolean;
  /**
   * The task calls a plan. It takes no slot and no pool: the tasks of that plan do. If it declares paths or runs
   * `alone`, it also holds all paths of that plan from the start: to hold a part while its tasks wait for the rest
   * could deadlock.
   */
  readonly isCall: boolean;
}

/**
 * `held`: the task may start. `full`: no task of the plan can start, because no slot is free, a task runs `alone`, or
 * this one is the next to do so. `taken`: another `alone` task is the next, or a running task has a path or a pool.
 * `blocked`: only tasks that wait for an answer have them.
 */
export type HoldResult = "held" | "full" | "taken" | "blocked";

/**
 * The paths, pools and slots that the tasks of all plans of one run hold, however the plans call each other (9.3, 9.4).
 * The scheduler of each plan orders its own tasks. The ledger decides whether a task of another plan is in the way. A
 * check costs what the running tasks hold. A run with one plan needs no ledger.
 *
 * A holder is the path of a task: the names of the calling tasks and of the task itself, separated by `/`.
 */
export interface RunLedger {
  tryHold(holder: string, claim: TaskClaim): HoldResult;
  /** The task waits for an answer: it frees its slot and keeps its paths and its places in a pool. */
  suspend(holder: string): void;
  release(holder: string): void;
  /** A refused task will not be tried again. */
  withdraw(holder: string): void;
  /** Calls `listener` after each change that may let a refused task start. Returns a function that ends the calls. */
  listen(listener: () => void): () => void;
}

interface Held {
  readonly holder: string;
  readonly claim: TaskClaim;
  suspended: boolean;
}

/** @param slots the `max parallel` of the outermost plan */
export function createRunLedger(slots: number): RunLedger {
  const held = new Map<string, Held>();
  const listeners = new Set<() => void>();
  let running = 0;
  /** The running `alone` task: besides it, only tasks of plans that it calls start. */
  let alone: string | undefined;
  /** The `alone` task that starts when no task runs. No other task starts before it. */
  let nextAlone: string | undefined;

  const isAround = (outer: string, inner: string): boolean => inner.startsWith(`${outer}/`);
  const conflict = (a: TaskClaim, b: TaskClaim): boolean =>
    a.paths.some((path) =>
      b.paths.some((other) => (path.write || other.write) && patternsOverlap(path.pattern, other.pattern)),
    );

  const lookForSpace = (holder: string, claim: TaskClaim): HoldResult => {
    let found: HoldResult = "held";
    let places = claim.pool?.count ?? 0;
    for (const other of held.values()) {
      if (isAround(other.holder, holder)) continue;
      const isSamePool = claim.pool !== undefined && other.claim.pool?.name === claim.pool.name;
      if (isSamePool) places += other.claim.pool?.count ?? 0;
      const isFull = isSamePool && places > (claim.pool?.size ?? 0);
      if (!isFull && !conflict(claim, other.claim)) continue;
      if (!other.suspended) return "taken";
      found = "blocked";
    }
    return found;
  };
  const isKeptByCall = (holder: string, claim: TaskClaim): boolean =>
    [...held.values()].some(
      (other) => other.claim.isCall && !isAround(other.holder, holder) && conflict(claim, other.claim),
    );
  const notify = (): void => {
    for (const listener of [...listeners]) listener();
  };
  const freeSlot = ({ holder, claim }: Held): void => {
    if (!claim.isCall) running--;
    if (alone === holder) alone = undefined;
  };

  return {
    tryHold(holder, claim) {
      if (alone !== undefined && !isAround(alone, holder)) return "full";
      if (nextAlone !== undefined && nextAlone !== holder && !(claim.isCall && !claim.alone)) return "taken";
      if (!claim.isCall && running >= slots) return "full";
      if (claim.alone && running > 0) {
        // A call with paths that it needs may last long. Its own tasks must be able to start meanwhile.
        if (isKeptByCall(holder, claim)) return "taken";
        nextAlone = holder;
        return "full";
      }
      const found = lookForSpace(holder, claim);
      if (nextAlone === holder) {
        nextAlone = undefined;
        if (found !== "held") notify();
      }
      if (found !== "held") return found;
      held.set(holder, { holder, claim, suspended: false });
      if (!claim.isCall) running++;
      if (claim.alone) alone = holder;
      return "held";
    },
    suspend(holder) {
      const entry = held.get(holder);
      if (entry === undefined || entry.suspended) return;
      entry.suspended = true;
      freeSlot(entry);
      notify();
    },
    release(holder) {
      const entry = held.get(holder);
      if (entry === undefined) return;
      held.delete(holder);
      if (!entry.suspended) freeSlot(entry);
      notify();
    },
    withdraw(holder) {
      if (nextAlone !== holder) return;
      nextAlone = undefined;
      notify();
    },
    listen(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}

const ledgers = new WeakMap<Shared, RunLedger>();

/**
 * The ledger of a run. The outermost plan makes it. The plans that a graph calls share one without a limit of slots,
 * since a graph has no slots.
 */
export function ledgerOf(shared: Shared, slots = Infinity): RunLedger {
  let ledger = ledgers.get(shared);
  if (ledger === undefined) ledgers.set(shared, (ledger = createRunLedger(slots)));
  return ledger;
}

/** Whether a task of the plan calls a plan, directly or through a graph. */
export function callsPlans(program: PlanProgram): boolean {
  return program.tasks.some((task) => plansCalledBy(program, task).length > 0);
}

const claims = new WeakMap<PlanProgram, (TaskClaim | undefined)[]>();

/** What a task of a plan occupies. Computed once for each plan of the program. */
export function claimOf(program: PlanProgram, task: TaskCode): TaskClaim {
  let known = claims.get(program);
  if (known === undefined) claims.set(program, (known = []));
  return (known[task.index] ??= computeClaim(program, task));
}

function computeClaim(program: PlanProgram, task: TaskCode): TaskClaim {
  const { plan } = program;
  const { spec } = task;
  const called = plansCalledBy(program, task);
  const isCall = called.length > 0;
  const isPlain = spec.touches.length === 0 && spec.alone !== true;
  const touches = isPlain ? [] : [...spec.touches, ...called.flatMap(touchesWithin)];
  const pool = spec.pool === undefined || isCall ? undefined : plan.pools[spec.pool.pool];
  return {
    paths: touches.map(({ path, mode }) => ({ pattern: parsePathPattern(path), write: mode === "write" })),
    pool:
      pool === undefined
        ? undefined
        : { name: `${plan.matrix?.plan ?? plan.name} ${pool.name}`, size: pool.size, count: spec.pool?.count ?? 1 },
    alone: spec.alone === true,
    isCall,
  };
}

/** The plans that a task calls, directly or through graphs, without those that these plans call. */
function plansCalledBy({ plan }: PlanProgram, { spec, node }: TaskCode): readonly PlanTable[] {
  const { call } = spec;
  if (node.call.kind === "mock") return [];
  if (call.kind === "plan") return [plan.plans[call.plan]].filter((called) => called !== undefined);
  return graphsCalledBy(call).flatMap((graph) => plansWithin(plan.graphs[graph]));
}

function plansWithin(graph: Table | undefined): readonly PlanTable[] {
  if (graph === undefined) return [];
  return [...(graph.plans ?? []), ...graph.graphs.flatMap(plansWithin)];
}

/** The paths of a plan, and of all plans that it calls. */
function touchesWithin(plan: PlanTable): readonly TouchSpec[] {
  return [
    ...plan.tasks.flatMap(({ touches }) => touches),
    ...[...plan.plans, ...plan.graphs.flatMap(plansWithin)].flatMap(touchesWithin),
  ];
}
