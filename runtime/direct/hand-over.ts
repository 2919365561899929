/**
 * Ends a run in the engine that began without it: from its state, and from the tasks of the step in progress. Imports only types from the start of
 * a generated module: a bundler would keep the names of values apart, which is a part of the start's size.
 */
import type { RunResult } from "../interface/engine-options.ts";
import { locateError } from "../expression/locate-error.ts";
import { Cancellation } from "../run/cancellation.ts";
import { resultOf } from "../run/execute-run.ts";
import { Run, type RunEnd } from "../run/run.ts";
import { nextStop } from "../run/run-end.ts";
import { createShared, limitsOfCall, type EngineCore } from "../run/run-settings.ts";
import { Attempt } from "../step/attempt.ts";
import { commitStep } from "../step/commit-step.ts";
import { finish, loop } from "../step/run-loop.ts";
import { awaitBody, settleFailure, settleResult } from "../step/run-task.ts";
import { CANCELLED_OUTCOME, type Outcome, type Task } from "../step/task.ts";
import { plainTaskOf, runItems, runLeafOf, tasksOf, taskWithItems } from "../step/step-tasks.ts";
import type { NodeCode } from "../program/program.ts";
import { dropPromise } from "../value/promise.ts";
import type { Request } from "./direct-context.ts";
import type { DirectRun, DirectTask } from "./direct-run.ts";

/** @param begun the tasks of the step in progress, in task order; absent between two steps */
export async function takeOver(
  core: EngineCore,
  direct: DirectRun,
  begun: readonly DirectTask[] | undefined,
): Promise<RunResult> {
  const { options, barriers } = direct;
  const cancellation = new Cancellation(options.signal !== undefined);
  const run = new Run(core.program, createShared(core, options, { threadId: undefined, runId: direct.id }), {
    cancellation,
    limits: limitsOfCall(core, options),
  });
  for (const [channel, value] of direct.state.entries()) run.state[channel] = value;
  for (const names of direct.steps) run.steps.push(names);
  run.step = direct.step;
  run.ready = direct.ready;
  if (begun === undefined && direct.lists !== undefined) run.lists = new Map(direct.lists);
  for (const barrier of direct.code.barriers.keys()) {
    for (const node of barriers?.arrived(barrier) ?? []) run.barriers.signal(barrier, node);
  }
  // What has happened in the step came before an abort. The run learns of the abort afterwards.
  const outcomes = begun && outcomesOf(run, begun, direct);
  cancellation.link(options.signal, core.clock);
  if (options.signal?.aborted === true) cancellation.abort(options.signal.reason);
  try {
    const end = outcomes === undefined ? nextStop(run) : await commit(run, outcomes);
    return resultOf(run, await (end === undefined ? loop(run) : finish(run, end)));
  } finally {
    cancellation.unlink();
  }
}

interface BegunStep {
  readonly tasks: readonly Task[];
  readonly outcomes: readonly (Outcome | Promise<Outcome>)[];
}

function outcomesOf(run: Run, begun: readonly DirectTask[], direct: DirectRun): BegunStep {
  // The lists of `for` nodes are read once: what they call may have effects.
  const hasItems = begun.some(({ items }) => items !== undefined);
  const tasks = hasItems ? run.ready.map((index, at) => taskOf(run.program.nodes[index]!, begun[at]!)) : tasksOf(run);
  return { tasks, outcomes: tasks.map((task, at) => outcomeOfTask(run, task, begun[at]!, direct)) };
}

async function commit(run: Run, { tasks, outcomes }: BegunStep): Promise<RunEnd | undefined> {
  return commitStep(run, tasks, await Promise.all(outcomes));
}

function taskOf(node: NodeCode, { items }: DirectTask): Task {
  return items === undefined ? plainTaskOf(node) : taskWithItems(node, items);
}

function outcomeOfTask(run: Run, task: Task, begun: DirectTask, direct: DirectRun): Outcome | Promise<Outcome> {
  const tasks = task.items;
  if (tasks === undefined) return outcomeOf(new Attempt(run, task, 1), begun, direct);
  return runItems(run, task, tasks, (index) => {
    const item = tasks[index]!;
    const known = begun.items![index]!.task;
    return known === undefined ? runLeafOf(run, item) : outcomeOf(new Attempt(run, item, 1), known, direct);
  });
}

function outcomeOf(
  attempt: Attempt,
  { context, state, value, isLate, timer }: DirectTask,
  direct: DirectRun,
): Outcome | Promise<Outcome> {
  const end = (error: unknown): Outcome | Promise<Outcome> => {
    repeatRequests(attempt, context, direct);
    if (isLate === true && attempt.violation === undefined) return CANCELLED_OUTCOME;
    return settleFailure(attempt, error);
  };
  if (state === "none") return CANCELLED_OUTCOME;
  if (state === "thrown") return end(located(attempt.run, value, direct));
  if (state === "value") {
    repeatRequests(attempt, context, direct);
    return settleValue(attempt, value);
  }
  const { cancellation } = attempt.run;
  const cancel = (reason: unknown): Outcome => {
    timer?.stop();
    dropPromise(value);
    // Usage that the body has reported before the abort counts.
    repeatRequests(attempt, context, direct);
    attempt.abort(reason);
    direct.abort(context, reason);
    return CANCELLED_OUTCOME;
  };
  if (timer?.error !== undefined) return end(timer.error);
  // What the body requests until it ends is known when it has ended.
  attempt.body = (value as Promise<unknown>).finally(() => repeatRequests(attempt, context, direct));
  return new Promise((resolve, reject) => {
    const settle = (outcome: Outcome | Promise<Outcome>): void => {
      cancellation.unlisten(onCancel);
      resolve(outcome);
    };
    const onCancel = (reason: unknown): void => {
      if (!attempt.closed) settle(cancel(reason));
    };
    if (cancellation.possible) cancellation.listen(onCancel);
    if (timer !== undefined) {
      timer.onLate = (error) => {
        if (attempt.closed) return;
        try {
          settle(end(error));
        } catch (thrown) {
          reject(thrown);
        }
      };
    }
    awaitBody(attempt, settle, reject);
  });
}

/** A result that cannot be read fails its node. */
function settleValue(attempt: Attempt, value: unknown): Outcome | Promise<Outcome> {
  try {
    return settleResult(attempt, value);
  } catch (error) {
    return settleFailure(attempt, error);
  }
}

function repeatRequests(attempt: Attempt, context: DirectTask["context"], direct: DirectRun): void {
  const requests = direct.close(context) ?? [];
  const jump = direct.code.module.jumps?.requestOf(context);
  for (const request of jump === undefined ? requests : [...requests, jump]) {
    try {
      repeatRequest(attempt, request);
    } catch {
      // The attempt has kept what is wrong with it, and fails.
    }
  }
}

function repeatRequest(attempt: Attempt, { method, args }: Request): void {
  switch (method) {
    case "goto":
      attempt.goto(args);
      break;
    case "send":
      attempt.send(args[0], args[1] as never);
      break;
    case "stop":
      attempt.stop();
      break;
    case "interrupt":
      attempt.interrupt(null, args[1] as never);
      break;
    case "emit":
      attempt.emit(args[0], args[1] as never);
      break;
    case "usage":
      attempt.report(args[0]);
      break;
  }
}

/** The error of an argument, with the text of its expression. */
function located({ program }: Run, thrown: unknown, direct: DirectRun): unknown {
  const unlocated = direct.unlocated(thrown);
  if (unlocated === undefined) return thrown;
  const { table } = program;
  const names = {
    channels: table.channels.map(({ name }) => name),
    functions: table.functions.map(({ name }) => name),
  };
  return locateError(unlocated.error, table.expressions[unlocated.expression]!, { names });
}
