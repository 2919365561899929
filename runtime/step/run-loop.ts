/**
 * A run from where it stands to where it ends or stops: step after step, until nothing is ready, somebody is waited for, or
 * it cannot go on. Ends are values; only what leaves the thread's state unknown (a failed store, a lost claim) rejects.
 */
import type { Checkpoint, PauseItem, Phase } from "../interface/checkpoint.ts";
import { planStart } from "../routing/plan-step.ts";
import { commitStep } from "./commit-step.ts";
import { emitEvent, planObserver } from "../event/run-events.ts";
import { pausesByTask } from "../thread/restore-run.ts";
import type { Run, RunEnd } from "./run.ts";
import { replanUnrouted } from "./replan.ts";
import { isThenable } from "./is-thenable.ts";
import { settleFailure, settleResult, startAttempt } from "./run-task.ts";
import { isDirect, runTasks, tasksOf } from "./step-tasks.ts";
import { takeTurns } from "./take-turns.ts";
import type { Outcome } from "./task.ts";
import { Attempt } from "./task-context.ts";

/** A new run, its input applied. The input is durable before the first node runs (5.2). */
export function beginRun(run: Run): RunEnd | Promise<RunEnd> {
  // Given up before it began: nothing runs, and nothing is stored.
  if (run.cancellation.aborted) return stopped("cancelled", run.cancelled());
  if (run.path.length === 0) run.shared.onState?.(-1, () => run.values());
  const plan = planStart(run.program.routing, run.scope, run.listening ? planObserver(run, []) : undefined);
  run.ready = plan.ready;
  run.unrouted = plan.unrouted.map(({ cause }) => ({ node: -1, cause }));
  const end = standing(run);
  if (run.chain !== undefined) {
    const saved = saveStanding(run, end?.status === "paused" ? "before" : "input", -1, [], end);
    if (saved !== undefined) return saved.then(() => (end === undefined ? loop(run) : finish(run, end)));
  }
  return end === undefined ? loop(run) : finish(run, end);
}

/** Goes on with a restored run. `head` is the checkpoint it was restored from. */
export async function continueRun(run: Run, head: Checkpoint): Promise<RunEnd> {
  const open = head.pauses.filter(({ id }) => !run.shared.answers.has(id));
  const held = open.filter(({ id }) => !run.shared.openedGates.has(id));
  run.children = head.children ?? {};
  run.waiting = waitingTasks(run, head.pauses, held);
  const ownGates = (pauses: readonly PauseItem[]): PauseItem[] =>
    pauses.filter((pause) => pause.taskId === undefined && pause.namespace.length === run.path.length);
  const heldGates = ownGates(held);
  // In the middle of a step all its gates are behind.
  run.passed =
    head.phase === "interrupted"
      ? new Set([...run.ready, ...run.sends.map(({ node }) => node)].map((node) => run.nodeName(node)))
      : new Set(ownGates(head.pauses).flatMap(({ kind, node }) => (kind === "before" ? [node] : [])));

  const isHeld = heldGates.length > 0 || (held.length > 0 && held.length === head.pauses.length);
  if (isHeld) {
    // Nobody has answered what holds the run; where some did, the rest goes on waiting under a checkpoint that says so.
    if (held.length < head.pauses.length)
      await saveStanding(run, head.phase, head.step, head.currentNodes, paused(held), true);
    return finish(run, paused(held));
  }
  if (run.unrouted.length > 0) replanUnrouted(run);
  const end = standing(run);
  if (end === undefined) return loop(run);
  // Gates that hold the run now are others than those it has just passed.
  const isNew = end.status !== head.status || end.status === "paused";
  if (run.chain !== undefined && isNew && end.status !== "cancelled") {
    const isInside = head.phase === "interrupted";
    const phase = end.status === "paused" ? "before" : isInside ? "interrupted" : "completed";
    await saveStanding(run, phase, isInside ? head.step : run.step - 1, head.currentNodes, end, true);
  }
  return finish(run, end);
}

/** Pauses of tasks none of whose pauses was answered: their bodies are not run again. */
function waitingTasks(run: Run, all: readonly PauseItem[], held: readonly PauseItem[]): Run["waiting"] {
  const heldIds = new Set(held.map(({ id }) => id));
  const waiting = pausesByTask(run, all);
  for (const [task, pauses] of waiting) if (!pauses.every(({ id }) => heldIds.has(id))) waiting.delete(task);
  return waiting.size === 0 ? undefined : waiting;
}

async function loop(run: Run): Promise<RunEnd> {
  for (;;) {
    const turn = takeTurns(run.shared);
    if (turn !== undefined) await turn;
    const tasks = tasksOf(run);
    if (run.listening) emitEvent(run, { type: "step", phase: "start", nodes: tasks.map(({ node }) => node.spec.name) });
    const held = run.shared.durable?.ensureHeld();
    if (held !== undefined) await held;
    let outcomes: readonly Outcome[] | Promise<readonly Outcome[]>;
    if (tasks.length === 1 && isDirect(run, tasks[0]!)) {
      // The same as `runTasks`, with nothing between the body's promise and this loop.
      const attempt = new Attempt(run, tasks[0]!, 1);
      let outcome: Outcome | Promise<Outcome>;
      let value: unknown;
      let hasFailed = false;
      try {
        value = startAttempt(attempt);
        if (isThenable(value)) value = await value;
      } catch (error) {
        value = error;
        hasFailed = true;
      }
      outcome = hasFailed ? settleFailure(attempt, value) : settleResult(attempt, value);
      outcomes = [outcome instanceof Promise ? await outcome : outcome];
    } else outcomes = runTasks(run, tasks);
    const committed = commitStep(run, tasks, outcomes instanceof Promise ? await outcomes : outcomes);
    if (committed === undefined) continue;
    const end = committed instanceof Promise ? await committed : committed;
    if (end !== undefined) return finish(run, end);
  }
}

/** What the caller hears of is durable in every mode (5.8). */
function finish(run: Run, end: RunEnd): RunEnd | Promise<RunEnd> {
  const told = (): RunEnd => {
    if (run.listening && end.status === "paused") emitEvent(run, { type: "pause", pauses: end.pauses });
    return end;
  };
  const written = run.shared.durable?.journal.flush();
  return written === undefined ? told() : written.then(told);
}

/** Whether the run can go on with the step to come; if not, how it ends. */
export function standing(run: Run): RunEnd | undefined {
  if (run.unrouted.length > 0) return stopped("failed", run.noRoute());
  if (run.isOver) {
    if (run.barriers.isClear) return COMPLETED;
    const incompleteBarriers = run.incompleteBarriers();
    const status = incompleteBarriers.length === 0 ? "completed" : "incomplete";
    return { status, pauses: [], incompleteBarriers, error: null };
  }
  if (run.cancellation.aborted) return stopped("cancelled", run.cancelled());
  if (run.maxSteps !== null && run.step >= run.maxSteps) return stopped("step_limit", run.stepLimit());
  const gates = gatesOf(run);
  return gates.length === 0 ? undefined : paused(gates);
}

function gatesOf(run: Run): readonly PauseItem[] {
  if (!run.program.hasGates) return NO_GATES;
  let gates: PauseItem[] | undefined;
  const hold = (node: number): void => {
    const { spec } = run.program.nodes[node]!;
    if (spec.pauseBefore !== true || run.passed?.has(spec.name) === true) return;
    if (gates?.some((gate) => gate.node === spec.name) === true) return;
    const gate = gateItem(run, spec.name, "before", run.step);
    if (!run.shared.answers.has(gate.id)) (gates ??= []).push(gate);
  };
  for (const node of run.ready) hold(node);
  for (const { node } of run.sends) hold(node);
  return gates ?? NO_GATES;
}

export function gateItem(run: Run, node: string, kind: "before" | "after", step: number): PauseItem {
  return { id: run.pauseId(`${kind}:${node}`, step, 0), node, kind, payload: null, namespace: run.path };
}

export function stopped(status: "cancelled" | "step_limit" | "failed", error: RunEnd["error"]): RunEnd {
  return { status, pauses: [], incompleteBarriers: [], error };
}

export function paused(pauses: readonly PauseItem[]): RunEnd {
  return { status: "paused", pauses, incompleteBarriers: [], error: null };
}

/**
 * A checkpoint between two steps, which says whether and how the run goes on.
 *
 * @param keeps results of the step to come that are stored already stay with it: the run stops before that step has ended
 */
export function saveStanding(
  run: Run,
  phase: Phase,
  step: number,
  current: readonly string[],
  end: RunEnd | undefined,
  keeps = false,
): Promise<void> | undefined {
  return run.chain?.save(phase, {
    status: end?.status ?? "running",
    step,
    current,
    pauses: end?.pauses ?? [],
    error: end?.status === "failed" ? (end.error ?? undefined) : undefined,
    ...(keeps ? { unfinished: { next: unfinishedNodes(run), children: run.children } } : {}),
  });
}

/** Nodes of the step to come but the plain ones that have finished: `for` nodes are always asked again. */
export function unfinishedNodes(run: Run): string[] {
  const results = run.chain?.results;
  return run.ready.map((node) => run.nodeName(node)).filter((name) => results?.has(name) !== true);
}

const NO_GATES: readonly PauseItem[] = Object.freeze([]);
const COMPLETED: RunEnd = Object.freeze({
  status: "completed",
  pauses: Object.freeze([]),
  incompleteBarriers: Object.freeze([]),
  error: null,
});
