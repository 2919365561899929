/**
 * The loop of a run: step after step, until no node is ready, a pause waits for an answer, or the run has to stop.
 * Ends are values. The loop rejects only if the state of the thread is unknown: the store failed, or the claim is lost.
 */
import type { Checkpoint, PauseItem } from "../interface/checkpoint.ts";
import { planFinally, planStart } from "../routing/plan-step.ts";
import { emitEvent, eventError, planObserver } from "../event/run-events.ts";
import { isInFinally, isInStep, pausesByTask } from "../checkpoint/restore-run.ts";
import { replanUnrouted } from "../run/replan.ts";
import type { Run, RunEnd } from "../run/run.ts";
import { dropSignals } from "../run/drop-signals.ts";
import { entersFinally, nextStop, pausedEnd, saveBetweenSteps, setOutcome, stoppedEnd } from "../run/run-end.ts";
import { openFinally, restoredEnd, saveFinally } from "./finally-part.ts";
import { someContinue } from "../checkpoint/waits.ts";
import { takeTurns } from "../run/take-turns.ts";
import { beginAttempt, settleFailure, settleResult } from "./run-task.ts";
import { rollBack } from "./roll-back.ts";
import { commitStep } from "./commit-step.ts";
import { isDirect, runTasks, tasksOf } from "./step-tasks.ts";
import type { Outcome } from "./task.ts";
import { Attempt } from "./attempt.ts";

/** Starts a new run whose input is applied. The input is durable before the first node runs (5.2). */
export function beginRun(run: Run): RunEnd | Promise<RunEnd> {
  // A run that is cancelled before its start runs no node and stores nothing.
  if (run.cancellation.aborted) return stoppedEnd("cancelled", run.cancelled());
  if (run.path.length === 0) run.shared.onState?.(-1, () => run.values());
  const planEntry = run.isFinally ? planFinally : planStart;
  const plan = planEntry(run.program.routing, run.scope, run.listening ? planObserver(run, []) : undefined);
  run.ready = plan.ready;
  run.unrouted = plan.unrouted.map(({ cause }) => ({ node: -1, cause }));
  const end = nextStop(run);
  if (run.writer !== undefined) {
    const emptied = end === undefined ? undefined : dropSignals(run, end);
    const save = (): Promise<void> | undefined =>
      saveBetweenSteps(run, end?.status === "paused" ? "before" : "input", -1, [], end);
    const saved = emptied === undefined ? save() : emptied.then(save);
    // Mutation point: durable-input
    if (saved !== undefined) return saved.then(() => (end === undefined ? loop(run) : finish(run, end)));
  }
  return end === undefined ? loop(run) : finish(run, end);
}

/**
 * Continues a restored run.
 *
 * @param head the checkpoint that the run was restored from
 */
export async function continueRun(run: Run, head: Checkpoint): Promise<RunEnd> {
  if (isInFinally(head)) return resumeFinally(run, head);
  if (run.rollsBack) return continueRollback(run);
  // A process may have died after it had stored the result of a task that took a signal, or whose deadline had passed.
  const isFinished = ({ taskId = "", namespace }: PauseItem): boolean =>
    run.stored?.has(namespace[run.path.length] ?? taskId) === true;
  const isAnswered = (pause: PauseItem): boolean =>
    run.shared.answers.has(pause.id) || run.woken.has(pause.id) || isFinished(pause);
  // Mutation point: finished-pause
  const unanswered = head.pauses.filter((pause) => !isAnswered(pause));
  // Mutation point: waiting-pauses
  const waiting = unanswered.filter(({ id }) => !run.shared.openedGates.has(id));
  run.children = head.children ?? {};
  run.waiting = waitingTasks(run, head.pauses, waiting);
  const ownGates = (pauses: readonly PauseItem[]): PauseItem[] =>
    pauses.filter((pause) => pause.taskId === undefined && pause.namespace.length === run.path.length);
  const released = ownGates(head.pauses).flatMap(({ kind, node }) => (kind === "before" ? [node] : []));
  run.passed = new Set([...passedGates(run, head), ...released]);

  const isUnanswered = waiting.length > 0 && waiting.length === head.pauses.length;
  const isWoken = isUnanswered && (await someContinue(waiting, run.shared.now(), () => run.readSignals()));
  const stillPaused = ownGates(waiting).length > 0 || (isUnanswered && !isWoken && !hasOtherItems(run));
  if (stillPaused) {
    // Some pauses were answered, others still block the run: a new checkpoint records the remaining ones.
    if (waiting.length < head.pauses.length)
      await saveBetweenSteps(run, head.phase, head.step, head.currentNodes, pausedEnd(waiting), true);
    return finish(run, pausedEnd(waiting));
  }
  if (run.unrouted.length > 0) replanUnrouted(run);
  const end = nextStop(run);
  if (end === undefined) return loop(run);
  // A paused run stops here only at gates that it has not just passed.
  const isNew = end.status !== head.status || end.status === "paused";
  if (run.writer !== undefined && ((isNew && end.status !== "cancelled") || entersFinally(run, end))) {
    const isInsideStep = head.phase === "interrupted";
    // A gate that an edit of the graph has added holds an interrupted step before its remaining tasks.
    const phase = end.status === "paused" ? "before" : isInsideStep ? "interrupted" : "completed";
    await saveBetweenSteps(
      run,
      phase,
      phase === "interrupted" ? head.step : run.step - 1,
      head.currentNodes,
      end,
      true,
    );
  }
  return finish(run, end);
}

/** Runs the open undos of a run whose checkpoint says that it rolls back, and ends it. */
export async function continueRollback(run: Run): Promise<RunEnd> {
  return finish(run, await rollBack(run));
}

/** Gates that were released before the checkpoint. Records of older versions do not list them: their step has passed all its gates. */
function passedGates(run: Run, head: Checkpoint): readonly string[] {
  if (head.graph !== undefined || head.phase !== "interrupted") return head.passedGates ?? [];
  return [...run.ready, ...run.sends.map(({ node }) => node)].map((node) => run.nodeName(node));
}

/** Pauses by task, for tasks with no answered pause: their bodies do not run again. */
function waitingTasks(run: Run, all: readonly PauseItem[], unanswered: readonly PauseItem[]): Run["waiting"] {
  const ids = new Set(unanswered.map(({ id }) => id));
  const waiting = pausesByTask(run, all);
  for (const [task, pauses] of waiting) if (!pauses.every(({ id }) => ids.has(id))) waiting.delete(task);
  return waiting.size === 0 ? undefined : waiting;
}

/**
 * Whether a pause of the next step belongs to an item that the list of its `for` node no longer has at the same index.
 */
function hasOtherItems(run: Run): boolean {
  const { waiting } = run;
  if (waiting === undefined) return false;
  const nodes = new Set([...waiting.keys()].map((task) => task.slice(0, task.indexOf("[") + 1)).filter(Boolean));
  if (nodes.size === 0) return false;
  const items = new Map(tasksOf(run).flatMap((task) => (task.items ?? []).map((item) => [item.id, item] as const)));
  return [...waiting].some(([task, pauses]) => {
    if (!task.includes("[")) return false;
    const item = items.get(task);
    return item === undefined || !pauses.every(({ id }) => run.isPauseOf(id, item));
  });
}

async function loop(run: Run): Promise<RunEnd> {
  for (;;) {
    if (run.rollsBack) return continueRollback(run);
    const turn = takeTurns(run.shared);
    if (turn !== undefined) await turn;
    const tasks = tasksOf(run);
    if (run.listening) emitEvent(run, { type: "step", phase: "start", nodes: tasks.map(({ node }) => node.spec.name) });
    const renewed = run.shared.durable?.ensureClaimed();
    if (renewed !== undefined) await renewed;
    let outcomes: readonly Outcome[] | Promise<readonly Outcome[]>;
    if (tasks.length === 1 && isDirect(run, tasks[0]!)) {
      // Awaits the body itself instead of calling `runTasks`: one promise less in each step. The rows "chain of 3" of
      // `bench/engine.ts` measure it.
      const attempt = new Attempt(run, tasks[0]!, 1);
      let outcome = beginAttempt(attempt);
      if (outcome === undefined) {
        try {
          const value = await attempt.body;
          outcome = settleResult(attempt, value);
        } catch (error) {
          outcome = settleFailure(attempt, error);
        }
      }
      outcomes = [outcome instanceof Promise ? await outcome : outcome];
    } else outcomes = runTasks(run, tasks);
    const committed = commitStep(run, tasks, outcomes instanceof Promise ? await outcomes : outcomes);
    if (committed === undefined) continue;
    const end = committed instanceof Promise ? await committed : committed;
    if (end !== undefined) return finish(run, end);
  }
}

/**
 * Ends a run: with its `finally` part, if it has one and the run does not pause. Returns the end once everything the run
 * has written is durable, in every durability mode (5.8).
 */
function finish(run: Run, end: RunEnd): RunEnd | Promise<RunEnd> {
  if (!entersFinally(run, end)) return report(run, end);
  setOutcome(run, end);
  return withFinally(run, end);
}

/** Runs the `finally` part from its first step, or continues it. */
async function withFinally(run: Run, end: RunEnd, children: Checkpoint["children"] = {}): Promise<RunEnd> {
  const part = await openFinally(run, children);
  const { child, head } = part;
  if (child.listening) emitEvent(child, { type: "finally", phase: "start", outcome: run.outcome! });
  const ended = part.ended ?? (await (head === undefined ? beginRun(child) : continueRun(child, head)));
  part.close();
  if (child.listening) {
    const error = ended.error === null ? {} : { error: eventError(child, ended.error) };
    emitEvent(child, { type: "finally", phase: "end", status: ended.status, ...error });
  }
  return report(run, await saveFinally(run, end, child, ended));
}

/** Continues a run that has ended, and whose `finally` part has not (F1). */
function resumeFinally(run: Run, head: Checkpoint): Promise<RunEnd> {
  run.children = head.children ?? {};
  run.endedAt = { phase: head.phase, step: head.step, current: head.currentNodes, keepsResults: isInStep(head) };
  return withFinally(run, restoredEnd(run, head), head.children);
}

function report(run: Run, end: RunEnd): RunEnd | Promise<RunEnd> {
  const reported = (): RunEnd => {
    if (run.listening && end.status === "paused") emitEvent(run, { type: "pause", pauses: end.pauses });
    return end;
  };
  // Mutation point: durable-end
  const written = run.shared.durable?.journal.flush();
  return written === undefined ? reported() : written.then(reported);
}
