import type { PauseItem } from "../interface/checkpoint.ts";
import type { NgraphError } from "../interface/errors.ts";
import { describeError } from "../event/run-events.ts";
import { runAttempt } from "../step/run-task.ts";
import { waitUnlessCancelled } from "../run/wait.ts";
import type { Run } from "../run/run.ts";
import type { JsonObject } from "../value/json.ts";
import type { Failure, Outcome, Update } from "../step/task.ts";
import { Attempt } from "../step/attempt.ts";
import type { CheckResult, TaskAttempt } from "./plan-events.ts";
import type { TaskCode } from "./plan-program.ts";
import type { PlanValues } from "./plan-values.ts";
import { runChecks } from "./run-checks.ts";
import { taskBackoff } from "./task-backoff.ts";
import type { MergeRefusal, TaskWorktrees } from "./task-worktrees.ts";
import { taskOf } from "./task-of.ts";

/** How a started task has ended. */
export type PlanTaskEnd =
  | { readonly kind: "done"; readonly updates: readonly Update[]; readonly attempts: number; readonly isCached?: true }
  | {
      readonly kind: "failed";
      readonly reason: string;
      readonly message: string;
      readonly error: NgraphError | undefined;
      readonly attempts: number;
      readonly children: Outcome["children"];
    }
  | {
      readonly kind: "waiting";
      readonly pauses: readonly PauseItem[];
      readonly attempts: number;
      readonly children: Outcome["children"];
    }
  | { readonly kind: "cancelled"; readonly attempts: number; readonly children: Outcome["children"] };

export interface TaskEnvironment {
  readonly run: Run;
  readonly values: PlanValues;
  /** The name of the task, after the names of the tasks that call its plan. */
  readonly holder: string;
  readonly worktrees: TaskWorktrees | undefined;
  readonly onAttempt: (attempt: TaskAttempt) => void;
  /** The task was done and runs again: completed runs of what it calls are not continued. */
  readonly renew: boolean;
  /** Its number in the ids of the task's questions, unless it is the first one. */
  readonly execution: number | undefined;
  /** Once it is aborted, the task starts no further attempt. */
  readonly drain?: AbortSignal | undefined;
  /** Called when a task with a `cache` policy has to run, with the changes. */
  readonly onChanged?: (task: string, changed: readonly string[]) => void;
  /** Called when the task has converged. Returns why the work of the task is not allowed. */
  readonly afterTask: ((task: string) => Promise<string | undefined> | string | undefined) | undefined;
}

/** How long an aborted body may take to end, before its paths are released. Commands end within three seconds. */
const GRACE_MS = 5000;

/**
 * Runs a task until it converges or has used up its tries (9.6): the body, then all checks. The checks decide; without
 * checks, the end of the body decides. Rejects only with an error that ends the whole run (the store failed, the claim
 * is lost).
 */
export async function runPlanTask(task: TaskCode, environment: TaskEnvironment): Promise<PlanTaskEnd> {
  const { run, worktrees, holder } = environment;
  if (task.spec.worktree !== true) return tryTask(task, environment);
  if (worktrees === undefined) {
    const why =
      "this run has no working trees for its tasks: run the plan with `ngc run`, or pass `worktrees` to the runner";
    return fail("worktree_failed", why, undefined, 0, undefined);
  }
  try {
    await worktrees.open(holder, task.spec.touches, task.spec.cache?.outputs);
  } catch (error) {
    return fail("worktree_failed", describeError(error, run.shared.redact), undefined, 0, undefined);
  }
  try {
    return await tryTask(task, environment);
  } finally {
    await worktrees.close(holder);
  }
}

async function tryTask(task: TaskCode, environment: TaskEnvironment): Promise<PlanTaskEnd> {
  const { run, values, drain } = environment;
  const { clock } = run.shared;
  const { spec } = task;
  let lastFailure: JsonObject | null = null;
  for (let attempt = 1; ; attempt++) {
    const backoff = attempt === 1 ? 0 : taskBackoff(task.backoff, attempt);
    if (attempt > 1 && (drain?.aborted === true || !(await waitUnlessCancelled(run, backoff, drain)))) {
      return { kind: "cancelled", attempts: attempt - 1, children: undefined };
    }
    const begin = clock.now();
    try {
      values.show(task);
    } catch (error) {
      return fail("reducer_failed", describeError(error, run.shared.redact), undefined, attempt - 1, undefined);
    }
    const trying = new Attempt(run, taskOf(task.node, task, lastFailure, environment), attempt);
    const started = runAttempt(trying);
    const outcome = started instanceof Promise ? await started : started;
    // A resumed call of a graph or plan continues the attempt that an earlier run was on.
    attempt = Math.max(attempt, trying.number);
    if (outcome.pauses !== undefined) {
      return { kind: "waiting", pauses: outcome.pauses, attempts: attempt, children: outcome.children };
    }
    if (outcome.cancelled) {
      await waitForBody(run, trying.body);
      return { kind: "cancelled", attempts: attempt, children: outcome.children };
    }
    const { failure, updates } = outcome;
    if (failure?.error.code === "NG_NODE_TIMEOUT") await waitForBody(run, trying.body);
    const checks =
      task.checks.length === 0
        ? undefined
        : await runChecks(run, task, { attempt, failure: lastFailure }, () => values.showWith(task, updates));
    if (checks?.cancelled === true) return { kind: "cancelled", attempts: attempt, children: undefined };
    const isDone = checks === undefined ? failure === undefined : checks.passed;
    const merging = clock.now();
    const refusal = isDone ? await mergeOf(task, environment) : undefined;
    const converged = isDone && refusal === undefined;
    const results: readonly CheckResult[] = [
      ...(checks?.results ?? []),
      ...(refusal === undefined
        ? []
        : [{ cmd: "merge of the worktree", rc: 1, duration_s: (clock.now() - merging) / 1000, tail: refusal.message }]),
    ];
    environment.onAttempt({
      node_id: spec.name,
      attempt,
      duration_s: (clock.now() - begin) / 1000,
      converged,
      ...(attempt === 1 ? {} : { backoff_s: backoff / 1000 }),
      done_when_results: results,
      ...(failure === undefined ? {} : { error: failure.reason }),
    });
    if (converged) {
      const problem = await environment.afterTask?.(spec.name);
      if (problem === undefined) return { kind: "done", updates, attempts: attempt };
      return fail(problem, problem, undefined, attempt, undefined);
    }
    const message = refusal?.message ?? failure?.reason ?? failedChecks(results);
    lastFailure = feedbackOf(attempt, run.shared.redact(message), results);
    const hopeless = checks === undefined && failure !== undefined && !failure.retryable;
    if (attempt >= spec.tries || hopeless) {
      if (refusal !== undefined) return fail(refusal.reason, message, undefined, attempt, undefined);
      const reason = checks !== undefined || (attempt > 1 && !hopeless) ? "max_tries_reached" : kindOf(failure);
      return fail(reason, message, failure?.error, attempt, outcome.children);
    }
  }
}

function fail(
  reason: string,
  message: string,
  error: NgraphError | undefined,
  attempts: number,
  children: Outcome["children"],
): PlanTaskEnd {
  return { kind: "failed", reason, message, error, attempts, children };
}

/** Merges what a task has changed in its own working tree. Returns why it cannot be merged. */
async function mergeOf(
  { spec }: TaskCode,
  { run, worktrees, holder }: TaskEnvironment,
): Promise<MergeRefusal | undefined> {
  if (spec.worktree !== true) return undefined;
  try {
    return await worktrees?.merge(holder);
  } catch (error) {
    return { reason: "worktree_failed", message: describeError(error, run.shared.redact) };
  }
}

/** The value of `failure` in the next attempt. */
function feedbackOf(attempt: number, message: string, results: readonly CheckResult[]): JsonObject {
  const checks = results
    .filter(({ rc }) => rc !== 0)
    .map(({ cmd, rc, tail = "" }) => ({ command: cmd, code: rc, output: tail }));
  return { attempt, message, checks };
}

function failedChecks(results: readonly { readonly cmd: string; readonly rc: number }[]): string {
  const failed = results.filter(({ rc }) => rc !== 0);
  return `not done: ${failed.map(({ cmd, rc }) => `\`${cmd}\` ended with ${rc}`).join(", ")}`;
}

function kindOf(failure: Failure | undefined): string {
  switch (failure?.error.code) {
    case "NG_NODE_TIMEOUT":
      return "timeout";
    case "NG_BAD_RESULT":
      return "bad_result";
    default:
      return "task_failed";
  }
}

/** Waits until an aborted body has ended, at most `GRACE_MS`: it may still use the paths that the task locks. */
async function waitForBody(run: Run, body: unknown): Promise<void> {
  if (typeof body !== "object" || body === null || !("then" in body)) return;
  const { clock } = run.shared;
  let timer: unknown;
  const grace = new Promise<void>((resolve) => {
    timer = clock.setTimeout(resolve, GRACE_MS);
  });
  const end = Promise.resolve(body).then(
    () => undefined,
    () => undefined,
  );
  await Promise.race([end, grace]);
  clock.clearTimeout(timer);
}
