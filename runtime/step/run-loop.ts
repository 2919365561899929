/**
 * The loop of a run: step after step, until no node is ready, a pause waits for an answer, or the run has to stop.
 * Ends are values. The loop rejects only if the state of the thread is unknown: the store failed, or the claim is lost.
 */
import type { Checkpoint } from "../interface/checkpoint.ts";
import { planFinally, planStart } from "../routing/plan-step.ts";
import { emitEvent, eventError, planObserver } from "../event/run-events.ts";
import type { Run, RunEnd } from "../run/run.ts";
import { dropSignals } from "../run/drop-signals.ts";
import { entersFinally, nextStop, saveBetweenSteps, setOutcome, stoppedEnd } from "../run/run-end.ts";
import { takeTurns } from "../run/take-turns.ts";
import { beginAttempt, settleFailure, settleResult } from "./run-task.ts";
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

/** Runs the open undos of a run whose checkpoint says that it rolls back, and ends it. */
export async function continueRollback(run: Run): Promise<RunEnd> {
  return finish(run, await run.program.linker.rollBack(run));
}

/** Runs the steps of a run, and ends it. */
export async function loop(run: Run): Promise<RunEnd> {
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
export function finish(run: Run, end: RunEnd): RunEnd | Promise<RunEnd> {
  if (!entersFinally(run, end)) return report(run, end);
  setOutcome(run, end);
  return withFinally(run, end);
}

/** Runs the `finally` part from its first step, or continues it. */
export async function withFinally(run: Run, end: RunEnd, children: Checkpoint["children"] = {}): Promise<RunEnd> {
  const { finallyPart } = run.program.linker;
  const part = await finallyPart.open(run, children);
  const { child, head } = part;
  if (child.listening) emitEvent(child, { type: "finally", phase: "start", outcome: run.outcome! });
  const ended =
    part.ended ?? (await (head === undefined ? beginRun(child) : run.shared.durable!.code.continueRun(child, head)));
  part.close();
  if (child.listening) {
    const error = ended.error === null ? {} : { error: eventError(child, ended.error) };
    emitEvent(child, { type: "finally", phase: "end", status: ended.status, ...error });
  }
  return report(run, await finallyPart.save(run, end, child, ended));
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
