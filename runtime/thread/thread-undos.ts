/** The undo log of a thread at its head: what its runs have done and no rollback has undone. */
import type { Checkpoint } from "../interface/checkpoint.ts";
import type { UndoEntry } from "../interface/undo.ts";
import { ThreadError } from "../interface/thread-error.ts";
import { refuseDrift } from "../checkpoint/drift.ts";
import { loadCall, loadWrites, roundOf } from "../checkpoint/load-checkpoint.ts";
import { restoreRun } from "../checkpoint/restore-run.ts";
import type { Program } from "../program/program.ts";
import { storedUndos } from "../checkpoint/stored-calls.ts";
import { nodeOfSegment, type ToolCallPlace } from "../program/tool-segment.ts";
import { inTurns } from "../run/cut-work.ts";
import { NO_LIMITS } from "../run/limits.ts";
import { Cancellation } from "../run/cancellation.ts";
import { createShared, type EngineCore } from "../run/run-settings.ts";
import { placeOfCall, Run, segmentOfCall } from "../run/run.ts";
import type { Durable } from "../run/shared.ts";
import { undosOfResults } from "../checkpoint/stored-undos.ts";
import { NO_ENTRIES, underCall, undoLog, withDone } from "../checkpoint/undo-log.ts";
import { UNDO_NAME } from "../table/hidden-channels.ts";
import { callParts } from "../step/call-parts.ts";
import { taskName } from "../run/item-identity.ts";
import { readItemRecords } from "../step/item-numbers.ts";
import { undosOfRemovedItems } from "../step/removed-items.ts";
import { tasksOf } from "../step/step-tasks.ts";
import type { Task } from "../step/task.ts";

/**
 * The log of a restored run: the entries of its finished steps, then those of the stored results of its open step, and of the
 * graphs that this step has called, in task order.
 *
 * @param head the checkpoint that the run was restored from
 * @throws ThreadError NG_DRIFT if a called graph was edited so that its run, or an undo of it, cannot continue
 */
export async function undosOfRun(run: Run, durable: Durable, head: Checkpoint): Promise<readonly UndoEntry[]> {
  const { digest } = head;
  const log = withDone(undoLog(run), run.undone);
  // The version that wrote it may have had undos where this one has none.
  const mayHaveUndos = run.program.hasUndo || digest !== run.program.table.digest;
  if (!mayHaveUndos || run.rollsBack || run.isOver) return [...log, ...run.unapplied];
  run.itemRecords = await inTurns(run.shared, readItemRecords(run, head));
  const removed = await undosOfRemovedItems(run);
  const called: UndoEntry[] = removed.filter(({ key }) => !run.unapplied.some((entry) => entry.key === key));
  const tools = callParts(run);
  for (const task of tasksOf(run)) {
    for (const leaf of task.items ?? [task]) {
      if (run.stored?.has(leaf.id) === true) continue;
      called.push(...(await undosOfCall(run, leaf, durable, tools)));
    }
  }
  if (called.length === 0) return [...log, ...run.unapplied];
  // Sorts both by task: a task has a stored result or an open call.
  const byTask = (entries: readonly UndoEntry[]) =>
    entries.map((entry) => ({ taskId: entry.task.split("/")[0] ?? entry.task, result: { undo: [entry] } }));
  return [...log, ...undosOfResults(run.program, byTask([...run.unapplied, ...called]))];
}

/** The entries of the unfinished graphs that a task has called. */
async function undosOfCall(
  caller: Run,
  task: Task,
  durable: Durable,
  tools: ReturnType<typeof callParts>,
): Promise<readonly UndoEntry[]> {
  const { call } = task.node;
  if (call.kind === "graph") return undosOfPlace(caller, task, call.graph, durable);
  if (call.kind !== "builtin" || call.graphs === undefined) return NO_ENTRIES;
  const entries: UndoEntry[] = [];
  for (const tool of tools.get(taskName(task)) ?? []) {
    const graph = call.graphs.get(tool.name);
    if (graph !== undefined) entries.push(...(await undosOfPlace(caller, task, graph, durable, tool)));
  }
  return entries;
}

async function undosOfPlace(
  caller: Run,
  task: Task,
  graph: Program,
  durable: Durable,
  tool?: ToolCallPlace,
): Promise<readonly UndoEntry[]> {
  const child = new Run(graph, caller.shared, {
    cancellation: new Cancellation(false),
    limits: NO_LIMITS,
    place: placeOfCall(caller, task, tool),
  });
  const { head, writes, stored } = await loadCall(durable, child, caller.children);
  if (head === undefined || roundOf(head, child.callId) === undefined) return NO_ENTRIES;
  if (!graph.hasUndo && head.digest === graph.table.digest) return NO_ENTRIES;
  const present = await refuseDrift(graph, durable.store, head, writes, { stored });
  restoreRun(child, present.head, present.writes, present.moved);
  child.children = present.head.children ?? {};
  const segment = segmentOfCall(task, tool);
  const open = await undosOfRun(child, durable, { ...present.head, digest: head.digest });
  return underCall(open, nodeOfSegment(segment), segment);
}

/** The log of a thread at its head, for a run that does not continue the head. */
export async function undosOfThread(
  core: EngineCore,
  durable: Durable,
  head: Checkpoint,
): Promise<readonly UndoEntry[]> {
  const { program } = core;
  if (!program.hasUndo && !Object.hasOwn(head.values, UNDO_NAME)) return NO_ENTRIES;
  const { store, threadId } = durable;
  const writes = await loadWrites(store, threadId, head.id);
  try {
    const present = await refuseDrift(program, store, head, writes);
    const shared = createShared(core, {}, { threadId, runId: head.runId, durable });
    const run = new Run(program, shared, { cancellation: new Cancellation(false), limits: NO_LIMITS });
    restoreRun(run, present.head, present.writes);
    run.children = present.head.children ?? {};
    return await undosOfRun(run, durable, { ...present.head, digest: head.digest });
  } catch (error) {
    if (!(error instanceof ThreadError) || error.code !== "NG_DRIFT") throw error;
    // The head does not fit this version of the graph: its log is read as it is stored.
    return storedUndos(program, store, head, writes);
  }
}
