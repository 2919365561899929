import { NodeError, inspectable } from "../interface/errors.ts";
import { isThenable } from "../value/promise.ts";
import { emitNodeEvent, eventError } from "../event/run-events.ts";
import type { Run } from "../run/run.ts";
import { waitUnlessCancelled } from "../run/wait.ts";
import { isDraining } from "../run/run-end.ts";
import { ChildStopped } from "./child-stopped.ts";
import { Attempt, isCommand } from "./attempt.ts";
import { backoffDelay, DEFAULT_BACKOFF, readRetryAfter } from "./backoff.ts";
import { cacheResult, callBody } from "./call-body.ts";
import { brokenAssertion } from "./check-assertions.ts";
import { calledUndos, undosOf } from "./attempt-undos.ts";
import { updatesOf } from "./node-result.ts";
import { PauseSignal } from "./pause-signal.ts";
import { endsTheRun, failTask, isRetryable, isStoreFailure } from "./task-failure.ts";
import { setField } from "../expression/operations.ts";
import type { Json } from "../value/json.ts";
import {
  CANCELLED_OUTCOME,
  CUT_OFF_OUTCOME,
  doneOutcome,
  pausedOutcome,
  type Outcome,
  type Task,
  type Update,
} from "./task.ts";

/*
 * An attempt has two halves. `beginAttempt` calls the body. If the body returns a value, the attempt ends there. If the
 * body returns a promise, one of two drivers waits for it: `awaitBody` uses callbacks, and the loop of
 * `run-loop.ts` awaits the promise of a task that runs alone. The rows "chain of 3" and "5 and a join" of
 * `bench/engine.ts` measure the cost of both drivers.
 */

/**
 * Runs a task to its end: attempts, timeouts, backoff, pauses. Returns the outcome without a promise if the body is
 * synchronous. Rejects only with an error that ends the whole run (the store failed, the claim is lost).
 */
export function runTask(run: Run, task: Task): Outcome | Promise<Outcome> {
  if (task.broken !== undefined) return failTask(run, task, task.broken, 1);
  return runAttempt(new Attempt(run, task, 1));
}

/** Runs an attempt, and the retries that the policy `tries` of the node adds. */
export function runAttempt(attempt: Attempt): Outcome | Promise<Outcome> {
  const { run } = attempt;
  // A drained run starts no further body. The step keeps its results.
  if (isStopping(run)) return CANCELLED_OUTCOME;
  const outcome = beginAttempt(attempt);
  if (outcome !== undefined) return outcome;
  return new Promise((resolve, reject) => finishAttempt(attempt, resolve, reject));
}

function isStopping(run: Run): boolean {
  return run.cancellation.aborted || run.aborting || isDraining(run);
}

/** Calls the body. Returns the outcome if the body has ended, `undefined` if `attempt.body` is a promise to wait for. */
export function beginAttempt(attempt: Attempt): Outcome | Promise<Outcome> | undefined {
  if (attempt.task.node.asserted !== undefined) {
    const broken = brokenAssertion(attempt.run, attempt.task);
    if (broken !== undefined) {
      attempt.closed = true;
      return failTask(attempt.run, attempt.task, broken, attempt.number);
    }
  }
  try {
    if (attempt.run.listening) emitNodeEvent(attempt.run, attempt.task, attempt.number, { phase: "start" });
    const result = callBody(attempt);
    attempt.body = result;
    return isThenable(result) ? undefined : settleResult(attempt, result);
  } catch (error) {
    return settleFailure(attempt, error);
  }
}

/**
 * Waits for `attempt.body`, then for the retries if it fails.
 *
 * @param done receives the outcome
 * @param fail receives an error that ends the whole run
 */
function finishAttempt(attempt: Attempt, done: (outcome: Outcome) => void, fail: (error: unknown) => void): void {
  const { run, task } = attempt;
  if (task.node.timeout !== undefined || run.cancellation.possible) watchBody(attempt, done, fail);
  else awaitBody(attempt, done, fail);
}

/** Like `finishAttempt`, for a body without a timeout. The caller aborts the attempt when the run is cancelled. */
export function awaitBody(attempt: Attempt, done: (outcome: Outcome) => void, fail: (error: unknown) => void): void {
  // `Promise.resolve`, because `then` of a foreign promise may throw.
  Promise.resolve(attempt.body).then(
    (value) => {
      if (!attempt.closed) deliver(() => settleResult(attempt, value), done, fail);
    },
    (error: unknown) => {
      if (!attempt.closed) deliver(() => settleFailure(attempt, error), done, fail);
    },
  );
}

function deliver(
  settle: () => Outcome | Promise<Outcome>,
  done: (outcome: Outcome) => void,
  fail: (error: unknown) => void,
): void {
  try {
    const outcome = settle();
    if (outcome instanceof Promise) outcome.then(done, fail);
    else done(outcome);
  } catch (error) {
    fail(error);
  }
}

/** Ends the attempt on timeout and cancellation too, so that no body can keep the run alive (4.4). */
function watchBody(attempt: Attempt, done: (outcome: Outcome) => void, fail: (error: unknown) => void): void {
  const { run, task } = attempt;
  const { cancellation, shared } = run;
  const { timeout } = task.node;
  const { kind } = task.node.call;
  let timer: unknown;
  let late: NodeError | undefined;
  const end = (settle: () => Outcome | Promise<Outcome>): void => {
    if (attempt.closed) return;
    if (timer !== undefined) shared.clock.clearTimeout(timer);
    cancellation.unlisten(onCancel);
    deliver(settle, done, fail);
  };
  /** Ends the attempt after the graphs that its body has called as tools have stopped: their last checkpoints are stored. */
  const stop = (reason: unknown, settle: () => Outcome | Promise<Outcome>): void => {
    if (attempt.stopCalls === undefined) return end(settle);
    attempt.interruptBody(reason);
    void attempt.stopCalls(reason).then(() => end(settle));
  };
  const onCancel = (reason: unknown): void => {
    if (kind === "graph" || kind === "plan") {
      // A called run stops by itself, and saves where it stopped.
      attempt.onAbort?.(reason);
      return;
    }
    stop(reason, () => {
      attempt.abort(reason);
      return cutOff(attempt);
    });
  };
  cancellation.listen(onCancel);
  if (timeout !== undefined) {
    timer = shared.clock.setTimeout(() => {
      const { name } = task.node.spec;
      const { threadId } = shared;
      const message = `node \`${name}\` did not finish within ${timeout} ms`;
      const error = new NodeError("NG_NODE_TIMEOUT", name, message, { attempts: attempt.number, threadId });
      if (kind === "graph") {
        // Waits until the called run has stopped: a retry must not start while its checkpoints are still being written.
        late = error;
        attempt.onAbort?.(error);
        return;
      }
      if (attempt.stopCalls !== undefined) late = error;
      stop(error, () => {
        attempt.abort(error);
        return settleFailure(attempt, error);
      });
    }, timeout);
  }
  Promise.resolve(attempt.body).then(
    (value) => end(() => (late === undefined ? settleResult(attempt, value) : settleFailure(attempt, late))),
    (error: unknown) => end(() => settleFailure(attempt, endsTheRun(task, error) ? error : (late ?? error))),
  );
  // The body may have cancelled the run before this function listened.
  if (cancellation.aborted) onCancel(cancellation.reason);
}

/** The outcome of an attempt whose body returned `value`. */
export function settleResult(attempt: Attempt, value: unknown): Outcome {
  const { run, task } = attempt;
  attempt.closed = true;
  if (attempt.pause !== undefined) return pauseTask(attempt, attempt.pause);
  if (attempt.violation !== undefined) return failTask(run, task, attempt.violation, attempt.number);
  const result = isCommand(value) ? undefined : value;
  // A jump replaces the result. A node that only sends takes its own edges, where its channels count as written.
  const updates = result === undefined && attempt.hasJump ? [] : updatesOf(run, task, result);
  // A signal that does not fit is taken too: it would fail the node again.
  if (updates instanceof NodeError) return withTaken(attempt, failTask(run, task, updates, attempt.number));
  const undo = undosOf(attempt, updates);
  cacheResult(attempt, value);
  if (run.listening) {
    emitNodeEvent(run, task, attempt.number, attempt.cached ? { phase: "end", cached: true } : { phase: "end" });
  }
  if (run.shared.onResult !== undefined) reportResult(run, task, updates);
  const done = undo === undefined ? doneOutcome(updates) : { ...doneOutcome(updates), undo };
  if (!attempt.hasRequests) return withTaken(attempt, done);
  const { gotos, exclusive, stopped, sends } = attempt;
  return withTaken(attempt, { ...done, goto: gotos, exclusive, stopped, sends: sends ?? [] });
}

/** The outcome of an attempt that has ended, with the signals that it has taken. */
function withTaken({ run, taken }: Attempt, outcome: Outcome): Outcome {
  if (taken === undefined) return outcome;
  run.shared.inbox.keep(taken);
  return { ...outcome, taken };
}

/** The outcome of an attempt that a cancellation has ended after its body had begun. */
function cutOff(attempt: Attempt): Outcome {
  return { ...CUT_OFF_OUTCOME, children: attempt.children, undo: calledUndos(attempt) };
}

/** For streams of results. */
function reportResult(run: Run, task: Task, updates: readonly Update[]): void {
  const record: Record<string, Json> = {};
  for (const { channel, value } of updates) setField(record, run.program.channels[channel]!.name, value);
  run.shared.onResult!({
    step: run.step,
    namespace: run.path,
    node: task.node.spec.name,
    taskId: task.id,
    ...(task.itemIndex === -1 ? {} : { item: task.itemIndex }),
    updates: record,
  });
}

function pauseTask(attempt: Attempt, signal: PauseSignal): Outcome {
  const { run, task } = attempt;
  attempt.closed = true;
  if (run.listening) emitNodeEvent(run, task, attempt.number, { phase: "end", paused: true });
  return { ...pausedOutcome(signal.pauses, attempt.children), undo: calledUndos(attempt) };
}

/** The retry of an attempt. What the graph that it called has done remains to be undone. */
function nextAttempt({ run, task, number, called, toolUndos }: Attempt): Attempt {
  const next = new Attempt(run, task, number + 1);
  next.called = called;
  if (toolUndos !== undefined) next.addToolUndos(toolUndos);
  return next;
}

/** The outcome of an attempt whose body threw: a pause, a failure, or the outcome of the next attempt. */
export function settleFailure(attempt: Attempt, thrown: unknown): Outcome | Promise<Outcome> {
  const error = attempt.ending ?? inspectable(thrown);
  const { run, task, number } = attempt;
  attempt.closed = true;
  if (attempt.pause !== undefined) return pauseTask(attempt, attempt.pause);
  if (error instanceof PauseSignal) return pauseTask(attempt, error);
  if (attempt.violation !== undefined) return failTask(run, task, attempt.violation, number);
  if (endsTheRun(task, error) || isStoreFailure(attempt.ending)) throw error;
  const isDrained = error instanceof ChildStopped && error.error.code === "NG_DRAINED";
  if (run.cancellation.aborted || run.aborting || isDrained) return cutOff(attempt);
  const { tries } = task.node.spec;
  // Mutation point: attempts-left
  if (tries === undefined || number >= tries.attempts || !isRetryable(error)) {
    const failed = failTask(run, task, error, number, attempt.children);
    return withTaken(attempt, { ...failed, undo: calledUndos(attempt) });
  }
  const backoff = backoffDelay(tries.backoff ?? DEFAULT_BACKOFF, number, run.shared.random);
  const delay = Math.max(backoff, readRetryAfter(error));
  if (run.listening) {
    emitNodeEvent(run, task, number, { phase: "retry", error: eventError(run, error), delayMs: delay });
  }
  return waitUnlessCancelled(run, delay).then((hasElapsed) =>
    hasElapsed && !isStopping(run) ? runAttempt(nextAttempt(attempt)) : cutOff(attempt),
  );
}
