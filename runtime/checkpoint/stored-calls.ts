/** The graphs that an open step has called, as they are stored, also for another version of the graph. */
import type { Checkpoint, CheckpointId, PendingWrite } from "../interface/checkpoint.ts";
import type { Store } from "../interface/store.ts";
import type { UndoEntry } from "../interface/undo.ts";
import type { Program } from "../program/program.ts";
import { CALL_PART, nodeOfSegment, programUnder } from "../program/tool-segment.ts";
import type { StoredOutcome } from "../run/shared.ts";
import type { Json } from "../value/json.ts";
import { ERROR_NAME, UNDO_NAME } from "../table/hidden-channels.ts";
import { formerNames, presentChannels } from "./former-names.ts";
import { loadChildHead, loadRecorded, loadWrites } from "./load-checkpoint.ts";
import { outermostRun } from "./move-called.ts";
import { isOver } from "./is-over.ts";
import { isPart, isResult, partOfWrite, resumeStep, undoneKeys } from "./restore-run.ts";
import { undosOfResults } from "./stored-undos.ts";
import { openUndos, readLog, underCall, withDone } from "./undo-log.ts";
import { visitItems } from "./visit-items.ts";

/**
 * The log of a checkpoint as it is stored, with the entries of the graphs that its open step has called. Reads logs of other versions
 * of the graph, too.
 *
 * @param program some version of the graph, if one is known
 */
export async function storedUndos(
  program: Program | undefined,
  store: Store,
  head: Checkpoint,
  writes: readonly PendingWrite[],
): Promise<readonly UndoEntry[]> {
  const results = [...(head.finished ?? []), ...writes]
    .filter(isResult)
    .map(({ taskId, result }) => ({ taskId, result: result as unknown as StoredOutcome }));
  const entries = [...readLog(head.values[UNDO_NAME]), ...undosOfResults(program ?? NO_PROGRAM, results)];
  for (const { segment, called, head: child } of await storedCalls(program, store, head, writes)) {
    const own = await storedUndos(called, store, child, await loadWrites(store, head.threadId, child.id));
    entries.push(...underCall(own, nodeOfSegment(segment), segment));
  }
  return withDone(entries, undoneKeys(writes));
}

/**
 * What an edit of the graph would leave undone without a word: results of calls in the open step whose node does not call the graph any
 * more. One line for each call. A node that is gone is another problem.
 *
 * @param stored the checkpoint as the store has it
 */
export async function lostUndos(
  program: Program,
  store: Store,
  stored: Checkpoint,
  writes: readonly PendingWrite[],
): Promise<string[]> {
  const lines: string[] = [];
  for (const { segment, called, head } of await storedCalls(program, store, stored, writes)) {
    const [former = "", tool] = nodeOfSegment(segment).split(".");
    const node = presentNode(program, former);
    const call = program.nodes[program.nodeIndex.get(node) ?? -1]?.call;
    if (call === undefined) continue;
    if (tool === undefined ? call.kind === "graph" : call.kind === "builtin" && call.graphs?.has(tool) === true)
      continue;
    const open = openUndos(await storedUndos(called, store, head, await loadWrites(store, head.threadId, head.id)));
    if (open.length === 0) continue;
    const results = [...new Set(open.map(({ task }) => `\`${segment}/${task}\``))].join(", ");
    const what = tool === undefined ? "calls no graph" : `has no graph \`${tool}\` among its \`tools\``;
    lines.push(`the results of ${results} are to be undone, but node \`${node}\` ${what} any more`);
  }
  return lines;
}

/**
 * The newest checkpoints of the graphs that the open step of a head has called, and of those that these have called, by namespace. The
 * head records only the calls that its process knew when it stored the head.
 *
 * @param namespace that of the head, under the names that its caller uses
 */
export async function newestCalls(
  program: Program | undefined,
  store: Store,
  head: Checkpoint,
  writes: readonly PendingWrite[],
  namespace = head.namespace,
): Promise<Record<string, CheckpointId>> {
  const found: Record<string, CheckpointId> = {};
  for (const { segment, called, head: child } of await storedCalls(program, store, head, writes)) {
    const place = namespace === "" ? segment : `${namespace}/${segment}`;
    const inner = await loadWrites(store, head.threadId, child.id);
    Object.assign(found, { [place]: child.id }, await newestCalls(called, store, child, inner, place));
  }
  return found;
}

const NO_PROGRAM = { nodeIndex: new Map<string, number>() };

/** The stored run of a graph that a task of the open step has called. */
interface StoredCall {
  /** The last part of its namespace. */
  readonly segment: string;
  /** The graph that runs there in the version that is known. */
  readonly called: Program | undefined;
  readonly head: Checkpoint;
}

/** The calls that the checkpoint records, and those that only a process which has died knew of. */
async function storedCalls(
  program: Program | undefined,
  store: Store,
  caller: Checkpoint,
  writes: readonly PendingWrite[],
): Promise<readonly StoredCall[]> {
  const { threadId, namespace, children = {} } = caller;
  const depth = namespace === "" ? 0 : namespace.split("/").length;
  const found = new Map<string, Checkpoint>();
  const all = [...(caller.finished ?? []), ...writes];
  const done = new Set(all.filter(isResult).map(({ taskId }) => taskId));
  const inRun = `${caller.runId}/`;
  const step = String(resumeStep(caller));
  const visit = async (segment: string): Promise<boolean> => {
    if (found.has(segment)) return true;
    const head = await loadChildHead({ store, threadId }, namespace === "" ? segment : `${namespace}/${segment}`);
    if (head?.runId.startsWith(inRun) !== true) return false;
    if (CALL_IN_STEP.exec(head.runId.slice(inRun.length))?.[1] !== step) return false;
    found.set(segment, head);
    return true;
  };
  for (const [place, id] of Object.entries(children)) {
    const path = place.split("/");
    // The called graph may have progressed since its caller recorded it.
    if (path.length !== depth + 1 || (!isOver(caller) && (await visit(path.at(-1)!)))) continue;
    const head = await loadRecorded({ store, threadId }, id, outermostRun(caller));
    if (head !== undefined) found.set(path.at(-1)!, head);
  }
  if (isOver(caller)) return callsOf(program, found);
  for (const task of [...caller.nextNodes, ...caller.pendingSends.map(({ taskId }) => taskId)]) {
    if (!done.has(task)) await visit(task);
  }
  const lastNumbers = new Map<string, number>();
  for (const id of [...done, ...found.keys()]) {
    const [, node, number] = ITEM.exec(id) ?? [];
    if (node !== undefined) lastNumbers.set(node, Math.max(lastNumbers.get(node) ?? -1, Number(number)));
  }
  for (const node of caller.nextNodes) {
    const length = listLength(program, caller, node);
    if (length === undefined) continue;
    const isBegun = async (id: string): Promise<boolean> => done.has(id) || (await visit(id));
    await visitItems((item) => isBegun(`${node}[${item}]`), Math.max(length, 1 + (lastNumbers.get(node) ?? -1)));
  }
  for (const { task, tool, number } of all.filter(isPart).flatMap(toolCallOf)) {
    if (!done.has(task)) await visit(`${task}.${tool}.${number}`);
  }
  for (const segment of done) found.delete(segment);
  return callsOf(program, found);
}

/** The run id of a call without that of its caller: `agent@3`, `agent@3.charge.0#…`, and `.2` behind it for its second run. */
const CALL_IN_STEP = /^[^/@]+@(\d+)(?:\.[^/]*)?$/;

/** A task or a segment of an item. */
const ITEM = /^(\w+)\[(\d+)\]/;

function callsOf(program: Program | undefined, found: ReadonlyMap<string, Checkpoint>): readonly StoredCall[] {
  return [...found].map(([segment, head]) => {
    const called =
      program &&
      programUnder(
        program,
        segment.replace(/^\w+/, (node) => presentNode(program, node)),
      );
    return { segment, called, head };
  });
}

function presentNode(program: Program, node: string): string {
  return formerNames(program)?.nodes.get(node) ?? node;
}

/**
 * How many items a next node has, as far as the known version of the graph can tell: 0 if it cannot, `undefined` for a node that calls no graph
 * for each item.
 */
function listLength(
  program: Program | undefined,
  { values, errors, digest, outcome }: Checkpoint,
  name: string,
): number | undefined {
  const node = program?.nodes[program.nodeIndex.get(presentNode(program, name)) ?? -1];
  if (program === undefined || node === undefined) return 0;
  // An edit may have removed the `for`, or what it calls.
  if (node.list === undefined || node.call.kind !== "graph") return digest === program.table.digest ? undefined : 0;
  const state = program.initial.slice();
  for (const [channel, value] of Object.entries(presentChannels(program, values))) {
    const index = program.channelIndex.get(channel);
    if (index !== undefined) state[index] = value;
  }
  const error = (Object.hasOwn(errors, name) ? errors[name] : values[ERROR_NAME]) ?? null;
  try {
    const list = node.list({ state, secrets: program.secrets, outcome: (outcome ?? null) as unknown as Json, error });
    return Array.isArray(list) ? list.length : 0;
  } catch {
    // The list of an edited graph need not have a value here.
    return 0;
  }
}

/** The call of a graph as a tool that a part of a body records. */
function toolCallOf(write: PendingWrite): { readonly task: string; readonly tool: string; readonly number: number }[] {
  const [id, value] = partOfWrite(write);
  const task = /^[^/#]+/.exec(id)?.[0];
  if (task === undefined || !id.endsWith(CALL_PART)) return [];
  return [{ task, ...(value as { readonly tool: string; readonly number: number }) }];
}
