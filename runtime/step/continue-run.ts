/** The continuation of a run that was restored from a checkpoint. */
import { taskOfSegment } from "../program/tool-segment.ts";
import type { Checkpoint, PauseItem } from "../interface/checkpoint.ts";
import { errorOf, isInFinally, isInStep, pausesByTask } from "../checkpoint/restore-run.ts";
import { someContinue } from "../checkpoint/waits.ts";
import { limitOfCode } from "../run/limits.ts";
import { replanUnrouted } from "../run/replan.ts";
import { inTurns } from "../run/cut-work.ts";
import type { Run, RunEnd } from "../run/run.ts";
import { entersFinally, nextStop, pausedEnd, saveBetweenSteps } from "../run/run-end.ts";
import { continueRollback, finish, loop, withFinally } from "./run-loop.ts";
import { readItemRecords } from "./item-numbers.ts";
import { keepRemovedUndos } from "./removed-items.ts";
import { tasksOf } from "./step-tasks.ts";
import { storedResultOf } from "./stored-outcome.ts";
import type { Task } from "./task.ts";

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
    run.stored?.has(taskOfSegment(namespace[run.path.length] ?? taskId)) === true;
  const isAnswered = (pause: PauseItem): boolean =>
    run.shared.answers.has(pause.id) || run.woken.has(pause.id) || isFinished(pause);
  // Mutation point: finished-pause
  const unanswered = head.pauses.filter((pause) => !isAnswered(pause));
  // Mutation point: waiting-pauses
  const waiting = unanswered.filter(({ id }) => !run.shared.openedGates.has(id));
  run.children = head.children ?? {};
  run.waiting = waitingTasks(run, head.pauses, waiting);
  const asksAgain = isEdited(run, head) && askAgain(run);
  run.itemRecords = await inTurns(run.shared, readItemRecords(run, head));
  if (run.program.hasUndo) await keepRemovedUndos(run, head);
  const ownGates = (pauses: readonly PauseItem[]): PauseItem[] =>
    pauses.filter((pause) => pause.taskId === undefined && pause.namespace.length === run.path.length);
  const released = ownGates(head.pauses).flatMap(({ kind, node }) => (kind === "before" ? [node] : []));
  run.passed = new Set([...passedGates(run, head), ...released]);

  const isUnanswered = waiting.length > 0 && waiting.length === head.pauses.length;
  const isWoken = isUnanswered && (await someContinue(waiting, run.shared.now(), () => run.readSignals()));
  const stillPaused = ownGates(waiting).length > 0 || (isUnanswered && !isWoken && !asksAgain && !hasOtherItems(run));
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

/** Continues a run that has ended, and whose `finally` part has not (F1). */
function resumeFinally(run: Run, head: Checkpoint): Promise<RunEnd> {
  run.children = head.children ?? {};
  run.endedAt = { phase: head.phase, step: head.step, current: head.currentNodes, keepsResults: isInStep(head) };
  return withFinally(run, restoredEnd(run, head), run.children);
}

/** How a run had ended whose `finally` part was interrupted. */
function restoredEnd(run: Run, { outcome, failure }: Checkpoint): RunEnd {
  const { status, error: cause } = outcome!;
  // A fork records the outcome only.
  const known = failure ?? (cause === null ? undefined : { ...cause, node: cause.node ?? undefined });
  const error = known === undefined ? null : errorOf(known, run.shared.threadId);
  const incompleteBarriers = status === "incomplete" ? run.incompleteBarriers() : [];
  return {
    status: status as RunEnd["status"],
    ...(status === "limit" ? { limit: limitOfCode(error?.code) } : {}),
    pauses: [],
    incompleteBarriers,
    error,
  };
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

/** Whether the state or the graph was edited after the pauses of a checkpoint were raised. */
function isEdited(run: Run, { phase, digest }: Checkpoint): boolean {
  return phase === "updated" || digest !== run.program.table.digest;
}

/**
 * Lets the waiting tasks run again that only repeat their questions, with their present arguments: those of `ask`, and of called
 * graphs, which continue where they wait. Returns whether there are any.
 */
function askAgain(run: Run): boolean {
  const { waiting, program } = run;
  if (waiting === undefined) return false;
  const kept = new Map<string, readonly PauseItem[]>();
  for (const [task, pauses] of waiting) {
    const node = program.nodes[program.nodeIndex.get(/^\w+/.exec(task)?.[0] ?? "") ?? -1];
    const asks = node?.spec.call.kind === "builtin" && node.spec.call.name === "ask" && pauses[0]?.kind === "interrupt";
    if (node?.call.kind !== "graph" && !asks) kept.set(task, pauses);
  }
  run.waiting = kept.size === 0 ? undefined : kept;
  return kept.size < waiting.size;
}

/**
 * Whether the items of a `for` node are others than those that wait or have a result: an edit of its list has replaced, removed or
 * added some.
 */
function hasOtherItems(run: Run): boolean {
  const { waiting } = run;
  if (waiting === undefined) return false;
  const items = new Map<string, Task>();
  for (const task of tasksOf(run)) {
    if (task.items === undefined || run.stored?.has(task.id) === true) continue;
    for (const item of task.items) {
      // Mutation point: added-item
      if (!waiting.has(item.id) && storedResultOf(run, item) === undefined) return true;
      items.set(item.id, item);
    }
  }
  return [...waiting].some(([task, pauses]) => {
    if (!task.includes("[")) return false;
    const item = items.get(task);
    return item === undefined || !pauses.every(({ id }) => run.isPauseOf(id, item));
  });
}
