/**
 * The loop of a run: step after step, until no node is ready, a pause waits for an answer, or the run has to stop.
 * Ends are values. The loop rejects only if the state of the thread is unknown: the store failed, or the claim is lost.
 */
import type { Checkpoint } from "../interface/checkpoint.ts";
import { planFinally, planStart } from "../routing/plan-step.ts";
import { emitEvent, eventError, planObserver } from "../event/run-events.ts";
import type { Run, RunEnd } from "../run/run.ts";
import { dropSignals } from "../run/drop-signals.ts";
import { entersFinally, isDraining, nextStop, saveBetweenSteps, setOutcome, stoppedEnd } from "../run/run-end.ts";
import { takeTurns } from "../run/take-turns.ts";
import { beginAttempt, settleFailure, settleResult } from "./run-task.ts";
import { commitStep } from "./commit-step.ts";
import { isDirectAlone, itemCounts, runTasks, tasksInTurns } from "./step-tasks.ts";
import { CANCELLED_OUTCOME, type Outcome, type Task } from "./task.ts";
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
      saveBetweenSteps(run, end?.status === "paused" ? "before" : "input", -1, NO_NODES, end);
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
export function loop(run: Run): Promise<RunEnd> {
  if (!run.cancellation.possible) return runSteps(run);
  return new Promise<RunEnd>((resolve, reject) => {
    new AwaitedAttempt(run, resolve, reject).loop();
  });
}

/**
 * The attempt that the loop of a run awaits. One listener serves all steps: a race with the body in each of them would cost as much as the
 * step. A cancellation leaves the loop at the body that it awaits, and another loop continues with the end of that step.
 */
class AwaitedAttempt {
  readonly #run: Run;
  readonly #resolve: (end: RunEnd | Promise<RunEnd>) => void;
  readonly #reject: (error: unknown) => void;
  #attempt: Attempt | undefined;
  #isListening = false;

  constructor(run: Run, resolve: (end: RunEnd | Promise<RunEnd>) => void, reject: (error: unknown) => void) {
    this.#run = run;
    this.#resolve = resolve;
    this.#reject = reject;
  }

  /** Runs the steps to the end of the run. @param cancelled the tasks of the current step, if it is cancelled */
  loop(cancelled?: readonly Task[]): void {
    void runSteps(this.#run, this, cancelled);
  }

  finish(end: RunEnd | Promise<RunEnd>): void {
    this.#close();
    this.#resolve(end);
  }

  fail(error: unknown): void {
    this.#close();
    this.#reject(error);
  }

  /** A cancellation may outlive the loop, and would keep what listens to it. */
  #close(): void {
    if (this.#isListening) this.#run.cancellation.unlisten(this.#abort);
  }

  begin(attempt: Attempt): void {
    this.#attempt = attempt;
    if (this.#isListening) return;
    this.#isListening = true;
    this.#run.cancellation.listen(this.#abort);
  }

  /** The body has settled. Returns `false` if another loop has continued without it. */
  end(attempt: Attempt): boolean {
    if (this.#attempt !== attempt) return false;
    this.#attempt = undefined;
    return true;
  }

  readonly #abort = (reason: unknown): void => {
    const cancelled = this.#attempt;
    if (cancelled === undefined) return;
    this.#attempt = undefined;
    cancelled.abort(reason);
    this.loop([cancelled.task]);
  };
}

/**
 * @param awaited where the loop leaves the attempt that it awaits, if the run can be cancelled
 * @param cancelled the tasks of the current step, if it is cancelled
 * @returns the end of the run; nothing if `awaited` is given: it receives the end, which saves a promise
 */
function runSteps(run: Run): Promise<RunEnd>;
function runSteps(run: Run, awaited: AwaitedAttempt, cancelled?: readonly Task[]): Promise<void>;
async function runSteps(run: Run, awaited?: AwaitedAttempt, cancelled?: readonly Task[]): Promise<RunEnd | void> {
  try {
    // The caller who cancels the run does not wait for its end.
    if (cancelled !== undefined) await undefined;
    for (;;) {
      let tasks = cancelled;
      let outcomes: readonly Outcome[] | Promise<readonly Outcome[]> = CANCELLED_STEP;
      if (tasks === undefined) {
        if (run.rollsBack) return endOf(continueRollback(run), awaited);
        const turn = takeTurns(run.shared);
        if (turn !== undefined) await turn;
        const made = tasksInTurns(run);
        tasks = made instanceof Promise ? await made : made;
        if (run.listening) {
          const nodes = tasks.map(({ node }) => node.spec.name);
          emitEvent(run, { type: "step", phase: "start", nodes, ...itemCounts(tasks) });
        }
        const renewed = run.shared.durable?.ensureClaimed();
        if (renewed !== undefined) await renewed;
        if (run.itemRecords !== undefined) await run.shared.durable!.code.keepNumbers(run, tasks);
        if (tasks.length === 1 && isDirectAlone(run, tasks[0]!)) {
          // Awaits the body itself instead of calling `runTasks`: one promise less in each step. The rows "chain of 3" of
          // `bench/engine.ts` measure it.
          const attempt = new Attempt(run, tasks[0]!, 1);
          // A drained run starts no further body.
          let outcome = run.cancellation.aborted || isDraining(run) ? CANCELLED_OUTCOME : beginAttempt(attempt);
          if (outcome === undefined && run.cancellation.aborted) {
            // The body has cancelled the run before it returned.
            Promise.resolve(attempt.body).catch(ignore);
            attempt.abort(run.cancellation.reason);
            outcome = CANCELLED_OUTCOME;
          }
          if (outcome === undefined) {
            awaited?.begin(attempt);
            let value: unknown;
            let thrown: { readonly error: unknown } | undefined;
            try {
              value = await attempt.body;
            } catch (error) {
              thrown = { error };
            }
            if (awaited?.end(attempt) === false) return;
            outcome = thrown === undefined ? settled(attempt, value) : settleFailure(attempt, thrown.error);
          }
          outcomes = [outcome instanceof Promise ? await outcome : outcome];
        } else outcomes = runTasks(run, tasks);
      }
      cancelled = undefined;
      if (outcomes instanceof Promise) outcomes = await outcomes;
      const committed = commitStep(run, tasks, outcomes);
      if (committed === undefined) continue;
      const end = committed instanceof Promise ? await committed : committed;
      if (end !== undefined) return endOf(finish(run, end), awaited);
    }
  } catch (error) {
    if (awaited === undefined) throw error;
    awaited.fail(error);
  }
}

function endOf(end: RunEnd | Promise<RunEnd>, awaited: AwaitedAttempt | undefined): RunEnd | Promise<RunEnd> | void {
  return awaited === undefined ? end : awaited.finish(end);
}

/** A result that cannot be read fails its node. */
function settled(attempt: Attempt, value: unknown): Outcome | Promise<Outcome> {
  try {
    return settleResult(attempt, value);
  } catch (error) {
    return settleFailure(attempt, error);
  }
}

const CANCELLED_STEP: readonly Outcome[] = [CANCELLED_OUTCOME];
const NO_NODES: readonly string[] = Object.freeze([]);
const ignore = (): void => undefined;

/**
 * Ends a run: with its `finally` part, if it has one and the run does not pause. Returns the end once everything the run
 * has written is durable, in every durability mode (5.8).
 */
export function finish(run: Run, end: RunEnd): RunEnd | Promise<RunEnd> {
  if (!entersFinally(run, end)) return report(run, end);
  setOutcome(run, end);
  return withFinally(run, end);
}

/**
 * Runs the `finally` part from its first step, or continues it.
 *
 * @param children the unfinished runs of the checkpoint that has recorded the end; absent for an end that was reached just now
 */
export async function withFinally(run: Run, end: RunEnd, children?: Checkpoint["children"]): Promise<RunEnd> {
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
