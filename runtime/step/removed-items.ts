/**
 * The undos of items that are not in their list any more: an edit of the list has removed or replaced them while their step was
 * unfinished. What they have done is still to be undone (R2), so that their entries move to the log of the run.
 */
import type { Checkpoint } from "../interface/checkpoint.ts";
import type { UndoEntry } from "../interface/undo.ts";
import { loadCall, roundOf } from "../checkpoint/load-checkpoint.ts";
import { storedUndos } from "../checkpoint/stored-calls.ts";
import { appendUndos, NO_ENTRIES, openUndos, underCall, undoLog } from "../checkpoint/undo-log.ts";
import { digestOfIdentity } from "../run/item-identity.ts";
import type { Program } from "../program/program.ts";
import { nodeOfSegment } from "../program/tool-segment.ts";
import { inRunId, type Run, segmentOfCall } from "../run/run.ts";
import { unfinishedNodes } from "../run/run-end.ts";
import type { Durable } from "../run/shared.ts";
import { callParts } from "./call-parts.ts";
import { isOf, type ItemRecord } from "./item-numbers.ts";
import { tasksInTurns } from "./step-tasks.ts";
import type { Task } from "./task.ts";

/** The open undos of removed items that the log of the run does not have. The run has read which items have begun. */
export async function undosOfRemovedItems(run: Run): Promise<readonly UndoEntry[]> {
  const { itemRecords, program } = run;
  const { durable } = run.shared;
  if (itemRecords === undefined || durable === undefined || !program.hasUndo) return NO_ENTRIES;
  const lists = new Map((await tasksInTurns(run)).map(({ id, items }) => [id, items]));
  const tools = callParts(run);
  const entries: UndoEntry[] = [];
  for (const [node, numbers] of itemRecords) {
    const list = lists.get(node);
    // The list of a node may have failed.
    if (list === undefined) continue;
    const items = new Map(list.map((item) => [item.id, item]));
    for (const [number, records] of numbers) {
      const id = `${node}[${number}]`;
      for (const record of records) {
        if (!isOf([record], items.get(id))) entries.push(...(await undosOfItem(run, durable, node, id, record, tools)));
      }
    }
  }
  const known = new Set(undoLog(run).map(({ key }) => key));
  return openUndos(entries).filter(({ key }) => !known.has(key));
}

async function undosOfItem(
  run: Run,
  durable: Durable,
  node: Task["id"],
  id: string,
  { identity, digest = digestOfIdentity(identity!) }: ItemRecord,
  tools: ReturnType<typeof callParts>,
): Promise<readonly UndoEntry[]> {
  const stored = run.stored?.get(id);
  if (stored?.item !== undefined && digestOfIdentity(stored.item) === digest) return stored.undo ?? NO_ENTRIES;
  const call = run.program.nodes[run.program.nodeIndex.get(node) ?? -1]?.call;
  const name = `${id}#${digest}`;
  const runId = `${run.runId}/${name}@${run.step}`;
  if (call?.kind === "graph") return undosOfPlace(run, durable, call.graph, id, runId);
  if (call?.kind !== "builtin" || call.graphs === undefined) return NO_ENTRIES;
  const entries: UndoEntry[] = [];
  for (const tool of tools.get(name) ?? []) {
    const graph = call.graphs.get(tool.name);
    if (graph === undefined) continue;
    const segment = segmentOfCall({ id }, tool);
    entries.push(...(await undosOfPlace(run, durable, graph, segment, `${runId}${inRunId(tool)}`)));
  }
  return entries;
}

async function undosOfPlace(
  run: Run,
  durable: Durable,
  graph: Program,
  segment: string,
  runId: string,
): Promise<readonly UndoEntry[]> {
  if (!graph.hasUndo) return NO_ENTRIES;
  const place = { namespace: [...run.path, segment].join("/"), runId, shared: run.shared, formerPlaces: [] };
  const { head, writes } = await loadCall(durable, place, run.children);
  if (head === undefined || roundOf(head, runId) === undefined) return NO_ENTRIES;
  return underCall(await storedUndos(graph, durable.store, head, writes), nodeOfSegment(segment), segment);
}

/** Moves the undos of removed items to the log. Durable before an item that takes their place begins. */
export async function keepRemovedUndos(run: Run, head: Checkpoint): Promise<void> {
  const entries = await undosOfRemovedItems(run);
  if (entries.length === 0) return;
  appendUndos(run, entries);
  const pauses = head.pauses.filter(({ id }) => !run.shared.answers.has(id) && !run.woken.has(id));
  const isPaused = head.status === "paused";
  await run.writer?.save("updated", {
    status: isPaused && pauses.length === 0 ? "running" : head.status,
    step: run.step - 1,
    current: head.currentNodes,
    pauses,
    unfinished: { next: unfinishedNodes(run), children: run.children },
  });
}
