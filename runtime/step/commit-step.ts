import type { PauseItem, Phase, RunFailure } from "../interface/checkpoint.ts";
import type { Json, JsonObject } from "../value/json.ts";
import { lastExclusive, planStep, type Routing } from "../routing/plan-step.ts";
import { followErrorRoutes } from "../routing/error-routes.ts";
import { barrierOf, isBarrier, type Target } from "../routing/routes.ts";
import { applyUpdates, settleUpdates, undoUpdates, type Fault, type Write } from "./apply-updates.ts";
import { dropSignals } from "../run/drop-signals.ts";
import { emitEvent, planObserver } from "../event/run-events.ts";
import { cancelledEnd, gatePause, nextStop, pausedEnd, saveBetweenSteps, saveEnd, stoppedEnd } from "../run/run-end.ts";
import type { PendingTask, Run, RunEnd } from "../run/run.ts";
import { appendUndos } from "../checkpoint/undo-log.ts";
import { openCallsOf } from "./open-calls.ts";
import {
  allowsFailure,
  handlesFailure,
  takenOfAll,
  undosOfAll,
  type Failure,
  type Outcome,
  type Task,
} from "./task.ts";

type End = RunEnd | undefined;
/**
 * By task: the targets of the error edges that are taken; `undefined` if the task did not fail or takes no error edge.
 */
type ErrorTargets = readonly (readonly Target[] | undefined)[] | undefined;

/**
 * Ends a super-step: applies the updates, evaluates the edges on the new state, and writes one checkpoint (2.2 - 2.4,
 * 5.3). If the step cannot end, a checkpoint keeps its results. Returns the end of the run, or `undefined` if the run
 * continues. Returns a promise only if it waits for the store.
 */
export function commitStep(run: Run, tasks: readonly Task[], outcomes: readonly Outcome[]): End | Promise<End> {
  let pauses: PauseItem[] | undefined;
  let unhandled: { readonly task: Task; readonly failure: Failure } | undefined;
  let isCancelled = false;
  let hasFailures = false;
  for (let index = 0; index < tasks.length; index++) {
    const outcome = outcomes[index]!;
    if (outcome.failure !== undefined) {
      hasFailures = true;
      const task = tasks[index]!;
      if (!handlesFailure(task, outcome.failure)) unhandled ??= { task, failure: outcome.failure };
    }
    for (const pause of outcome.pauses ?? NO_GATES) (pauses ??= []).push(pause);
    isCancelled ||= outcome.cancelled;
  }
  if (unhandled !== undefined) return leaveStep(run, tasks, outcomes, failedEnd(unhandled.task, unhandled.failure));
  if (isCancelled) return leaveStep(run, tasks, outcomes, cancelledEnd(run));
  if (pauses !== undefined) return leaveStep(run, tasks, outcomes, pausedEnd(pauses));

  const applied = applyUpdates(run, tasks, outcomes);
  return applied instanceof Promise
    ? commitLater(run, tasks, outcomes, hasFailures, applied)
    : commitApplied(run, tasks, outcomes, hasFailures, applied);
}

// The closures of this function and those below are not in their callers, where each step would pay for them.
function commitLater(
  run: Run,
  tasks: readonly Task[],
  outcomes: readonly Outcome[],
  hasFailures: boolean,
  applied: Promise<readonly Write[] | Fault>,
): Promise<End> {
  return applied.then((done) => commitApplied(run, tasks, outcomes, hasFailures, done));
}

function commitApplied(
  run: Run,
  tasks: readonly Task[],
  outcomes: readonly Outcome[],
  hasFailures: boolean,
  applied: readonly Write[] | Fault,
): End | Promise<End> {
  if ("error" in applied) {
    const { atFault, keepsItems } = applied;
    const dropped = keepsItems ? atFault.filter(({ items }) => items === undefined) : atFault;
    // The results of the tasks at fault are dropped, so that a resume runs exactly these tasks again. A `for` node itself has a result
    // if it was written by hand.
    const without = [...atFault, ...dropped.flatMap(({ items }) => items ?? NO_TASKS)];
    // Mutation point: dropped-results
    for (const { id } of without) run.writer?.results.delete(id);
    // Mutation point: returned-signals
    if (takenOfAll(outcomes) !== undefined) returnSignals(run, tasks, outcomes, dropped);
    // Mutation point: step-at-fault
    return leaveStep(run, tasks, outcomes, stoppedEnd("failed", applied.error), dropped);
  }
  let errorTargets: (readonly Target[] | undefined)[] | undefined;
  let faults: EdgeFault[] | undefined;
  if (hasFailures) {
    errorTargets = tasks.map((task, index) => {
      try {
        return errorTargetsOf(run, task, outcomes[index]!.failure);
      } catch (cause) {
        // The step is applied, and the run fails at this edge (E2).
        (faults ??= []).push({ task, cause, error: errorValue(task, outcomes[index]!.failure!) });
        return NO_TARGETS;
      }
    });
    const missed = tasks.filter(
      (task, index) =>
        outcomes[index]!.failure !== undefined && errorTargets![index] === undefined && !allowsFailure(task),
    );
    if (missed.length > 0) {
      undoUpdates(run, applied);
      const failure = outcomes[tasks.indexOf(missed[0]!)]!.failure!;
      // A task that failed without an applicable error edge is unfinished: a resume runs it again.
      for (const task of missed) {
        run.writer?.results.delete(task.id);
        const failed = new Set(outcomes[tasks.indexOf(task)]!.failure!.items);
        for (const { id, itemIndex } of task.items ?? []) if (failed.has(itemIndex)) run.writer?.results.delete(id);
      }
      return leaveStep(run, tasks, outcomes, failedEnd(missed[0]!, failure), missed);
    }
  }
  // Mutation point: settled-updates
  settleUpdates(run, tasks, applied);
  // E1: of several failures, the first in task order is `error`.
  // Mutation point: first-error
  const first = hasFailures ? outcomes.findIndex(({ failure }) => failure !== undefined) : -1;
  if (first !== -1) run.setError(errorValue(tasks[first]!, outcomes[first]!.failure!));
  advance(run, tasks, outcomes, errorTargets);
  if (faults !== undefined) failAtEdges(run, faults);
  return settleStep(run, tasks, outcomes, errorTargets);
}

/** A failed task with a condition of an `on error` edge that has no value. */
interface EdgeFault {
  readonly task: Task;
  readonly cause: unknown;
  /** The value of `error` in the condition. */
  readonly error: Json;
}

/**
 * Records that the run fails at `on error` edges. The failure is kept for the resume, which evaluates the edges again,
 * instead of one that leads to the same node.
 */
function failAtEdges(run: Run, faults: readonly EdgeFault[]): void {
  const unrouted = faults.map(({ task: { node }, cause }) => ({ node: node.index, cause, hasFailed: true }));
  run.unrouted = [...run.unrouted, ...unrouted];
  run.errors = new Map([...(run.errors ?? []), ...faults.map(({ task, error }) => [task.node.index, error] as const)]);
}

/**
 * The targets of a failed task's `on error` edges, on the state after the step's updates.
 * @throws ExpressionError if a condition has no value
 */
function errorTargetsOf(run: Run, task: Task, failure: Failure | undefined): readonly Target[] | undefined {
  if (failure === undefined) return undefined;
  const { state, secrets, outcome } = run.scope;
  return followErrorRoutes(run.program.routing.errors[task.node.index]!, {
    state,
    secrets,
    outcome,
    error: errorValue(task, failure),
  });
}

function failedEnd(task: Task, failure: Failure): RunEnd {
  return { ...stoppedEnd("failed", failure.error), failure: errorValue(task, failure) };
}

/** The value of `error` after a failure. */
function errorValue(
  task: Task,
  { error, reason, thrown, attempts, failedItems = [] }: Failure,
): RunFailure & JsonObject {
  return Object.freeze({
    code: error.code,
    name: thrown.name,
    status: thrown.status,
    message: reason,
    node: task.node.spec.name,
    attempts,
    ...(task.items === undefined ? {} : { items: failedItems }),
  });
}

/** Advances the run to the next step: determines which nodes run next on the new state. */
function advance(
  run: Run,
  tasks: readonly Task[],
  outcomes: readonly Outcome[],
  errorTargets: readonly (readonly Target[] | undefined)[] | undefined,
): void {
  const routings = routingsOf(tasks, outcomes, errorTargets);
  const observer = run.listening ? planObserver(run, tasks) : undefined;
  const { routing } = run.program;
  const sentTo = routing.settled === undefined ? NO_NODES : nodesSentTo(outcomes, lastExclusive(routings));
  const plan = planStep(routing, routings, run.scope, run.barriers, observer, sentTo);
  if (run.errors !== undefined || errorTargets !== undefined) carryErrors(run, tasks, outcomes, errorTargets);
  run.ready = plan.ready;
  // The `finally` part of a run that has ended cannot roll it back: the branch ends.
  run.rollsBack = plan.rollsBack && !run.isFinally;
  // R3: a rollback drops what the step has sent.
  // Mutation point: dropped-sends
  run.sends = plan.rollsBack ? NO_SENDS : sendsOf(run, tasks, outcomes, plan.winner);
  if (plan.rollsBack) run.errors = undefined;
  if (plan.unrouted.length > 0) {
    run.unrouted = plan.unrouted.map(({ routing, cause }) => ({ node: tasks[routing]!.node.index, cause }));
  }
  // Mutation point: applied-undos
  if (run.program.hasUndo) appendUndos(run, undosOfAll(outcomes) ?? []);
  run.unapplied = NO_SENDS;
  run.passed = undefined;
  run.stored = undefined;
  run.waiting = undefined;
  run.dues = undefined;
  run.parts = undefined;
  run.itemRecords = undefined;
  run.signals = undefined;
  run.children = NO_CHILDREN;
}

function routingsOf(
  tasks: readonly Task[],
  outcomes: readonly Outcome[],
  errorTargets: readonly (readonly Target[] | undefined)[] | undefined,
): readonly Routing[] {
  const isPlain = ({ goto, stopped }: Outcome): boolean => goto === undefined && !stopped && errorTargets === undefined;
  if (tasks.length === 1 && isPlain(outcomes[0]!)) return tasks[0]!.node.plainRoutings;
  return tasks.map((task, index): Routing => {
    const outcome = outcomes[index]!;
    if (isPlain(outcome)) return task.node.plainRouting;
    const { goto, exclusive, stopped } = outcome;
    return { node: task.node.index, goto, exclusive, stopped, errorTargets: errorTargets?.[index] };
  });
}

/**
 * Keeps the error values until the targets of the error edges run. The target of a barrier may run several steps later.
 */
function carryErrors(
  run: Run,
  tasks: readonly Task[],
  outcomes: readonly Outcome[],
  errorTargets: readonly (readonly Target[] | undefined)[] | undefined,
): void {
  const errors = new Map(run.errors);
  for (const { node } of tasks) errors.delete(node.index);
  const { barriers } = run.program.table;
  const fresh = new Set<number>();
  errorTargets?.forEach((targets, index) => {
    for (const target of targets ?? []) {
      // An error edge cannot lead to a `settled`, the only barrier with several targets.
      const node = isBarrier(target) ? barriers[barrierOf(target)]!.target : target;
      // A target of several failures reads the first one.
      if (node < 0 || fresh.has(node)) continue;
      fresh.add(node);
      errors.set(node, errorValue(tasks[index]!, outcomes[index]!.failure!));
    }
  });
  run.errors = errors.size === 0 ? undefined : errors;
}

/** The nodes of the items that `sendsOf` returns. */
function nodesSentTo(outcomes: readonly Outcome[], winner: number): readonly number[] {
  const kept = winner === -1 ? outcomes : outcomes.slice(winner, winner + 1);
  return kept.flatMap(({ sends }) => sends.map(({ node }) => node));
}

/** Items that were sent run in the next step (2.9). With an exclusive `goto`, only those that its own node has sent. */
function sendsOf(
  run: Run,
  tasks: readonly Task[],
  outcomes: readonly Outcome[],
  winner: number,
): readonly PendingTask[] {
  let sends: PendingTask[] | undefined;
  for (let index = 0; index < tasks.length; index++) {
    const isDropped = winner !== -1 && winner !== index;
    if (isDropped && !run.listening) continue;
    for (const { node, item } of outcomes[index]!.sends) {
      const name = run.nodeName(node);
      if (!isDropped) {
        sends ??= [];
        sends.push({ taskId: `${name}~${run.step}.${sends.length}`, node, item });
      }
      if (run.listening) {
        const dropped = isDropped ? { discarded: true as const } : {};
        emitEvent(run, { type: "route", node: tasks[index]!.node.spec.name, via: "send", targets: [name], ...dropped });
      }
    }
  }
  return sends ?? NO_SENDS;
}

/** Counts the step, and writes the checkpoint that supersedes its results. */
function settleStep(
  run: Run,
  tasks: readonly Task[],
  outcomes: readonly Outcome[],
  errorTargets: ErrorTargets,
): End | Promise<End> {
  const names = namesOf(tasks);
  run.steps.push(names);
  if (run.listening) emitEvent(run, { type: "step", phase: "end", nodes: names });
  if (run.path.length === 0 && run.shared.onState !== undefined) reportState(run);
  const step = run.step++;
  const gates =
    run.unrouted.length === 0 && !run.rollsBack ? gatesAfter(run, tasks, outcomes, errorTargets, step) : NO_GATES;
  const end = gates.length > 0 ? pausedEnd(gates) : nextStop(run);
  if (run.writer === undefined) return end;
  const phase = gates.length > 0 ? "after" : end?.status === "paused" ? "before" : "completed";
  const emptied = end === undefined ? undefined : dropSignals(run, end);
  return emptied === undefined
    ? saveStep(run, phase, step, names, end)
    : saveStepAfter(emptied, run, phase, step, names, end);
}

function reportState(run: Run): void {
  run.shared.onState?.(run.step, () => run.values());
}

function saveStepAfter(emptied: Promise<unknown>, ...saved: Parameters<typeof saveStep>): Promise<End> {
  return emptied.then(() => saveStep(...saved));
}

function saveStep(run: Run, phase: Phase, step: number, names: readonly string[], end: End): End | Promise<End> {
  const saved = saveBetweenSteps(run, phase, step, names, end);
  // Answers belong to the step that consumed them. The checkpoint has recorded them.
  if (run.path.length === 0 && run.shared.hasAnswers) run.shared.answers.clear();
  return saved === undefined ? end : endAfter(saved, end);
}

function endAfter(saved: Promise<void>, end: End): Promise<End> {
  return saved.then(() => end);
}

/** Puts the signals of dropped results back into the inbox. */
function returnSignals(run: Run, tasks: readonly Task[], outcomes: readonly Outcome[], dropped: readonly Task[]): void {
  const isDropped = new Set(dropped);
  run.shared.inbox.giveBack(takenOfAll(outcomes.filter((_, index) => isDropped.has(tasks[index]!))) ?? []);
}

function namesOf(tasks: readonly Task[]): readonly string[] {
  return tasks.length === 1 ? tasks[0]!.node.stepNames : tasks.map(({ node }) => node.spec.name);
}

function gatesAfter(
  run: Run,
  tasks: readonly Task[],
  outcomes: readonly Outcome[],
  errorTargets: ErrorTargets,
  step: number,
): readonly PauseItem[] {
  if (!run.mayPause) return NO_GATES;
  const names = new Set<string>();
  for (let index = 0; index < tasks.length; index++) {
    const { spec, index: node } = tasks[index]!.node;
    const { failure } = outcomes[index]!;
    const isDone = failure === undefined || (allowsFailure(tasks[index]!) && errorTargets?.[index] === undefined);
    if (run.pausesAt("after", node) && isDone) names.add(spec.name);
  }
  const gates = [...names].map((name) => gatePause(run, name, "after", step));
  // A retry of a called graph meets the gates of the previous attempt again: answered gates stay open.
  return gates.filter(({ id }) => !run.shared.answers.has(id));
}

/**
 * Ends the run inside the step: no update is applied, and the results of the step are kept for the resume (4.3, 6.3).
 */
async function leaveStep(
  run: Run,
  tasks: readonly Task[],
  outcomes: readonly Outcome[],
  end: RunEnd,
  dropped: readonly Task[] = [],
): Promise<End> {
  const { writer } = run;
  if (run.program.hasUndo) {
    run.unapplied = undosOfAll(outcomes) ?? NO_SENDS;
    // R2: the results are dropped, and what their tasks have done remains.
    // Mutation point: dropped-undos
    appendUndos(run, undosOfAll(outcomes.filter((_, index) => dropped.includes(tasks[index]!))) ?? []);
  }
  if (writer === undefined) return end;
  run.children = openCallsOf(run, tasks, outcomes);
  const isDropped = new Set(dropped);
  tasks.forEach((task, index) => {
    if (isDropped.has(task)) return;
    const { pauses, onlyItem } = outcomes[index]!;
    if (pauses !== undefined && end.status !== "paused") run.shared.durable!.code.recordAskingItems(run, pauses);
    const outcome = task.items === undefined ? outcomes[index]! : onlyItem;
    if (outcome === undefined) return;
    const write = run.shared.durable!.code.storeOutcome(run, task.items?.[0] ?? task, outcome);
    if (write !== undefined) writer.results.set(write.taskId, write);
  });
  const finished = tasks.filter((task) => writer.results.has(task.id)).map(({ node }) => node.spec.name);
  const saved = saveEnd(run, "interrupted", run.step, finished, end, true);
  if (saved !== undefined) await saved;
  return end;
}

const NO_NODES: readonly number[] = Object.freeze([]);
const NO_GATES: readonly PauseItem[] = Object.freeze([]);
const NO_TARGETS: readonly Target[] = Object.freeze([]);
const NO_SENDS: readonly never[] = Object.freeze([]);
const NO_TASKS: readonly Task[] = Object.freeze([]);
const NO_CHILDREN: Readonly<Record<string, string>> = Object.freeze({});
