/**
 * The undo log of a run (10.6): one entry for each stored result of a node with `undo`, in the order of the steps and of the
 * tasks in them. It is stored as a channel is, and belongs to the thread: a fork inside the thread continues the log of the
 * thread's head.
 */
import type { UndoEntry } from "../interface/undo.ts";
import type { Json } from "../value/json.ts";
import type { NodeCode, Program } from "../program/program.ts";
import { programUnder } from "../program/tool-segment.ts";
import { undoChannel } from "../table/hidden-channels.ts";
import type { Run } from "../run/run.ts";

/** All entries of a run, those that are done included. */
export function undoLog(run: Run): readonly UndoEntry[] {
  return readLog(run.state[undoChannel(run.program)]);
}

/** The undo log as a checkpoint stores it. */
export function readLog(value: Json | undefined): readonly UndoEntry[] {
  return Array.isArray(value) ? (value as unknown as readonly UndoEntry[]) : NO_ENTRIES;
}

/** Appends entries to the log. */
export function appendUndos(run: Run, entries: readonly UndoEntry[]): void {
  if (entries.length === 0) return;
  const channel = undoChannel(run.program);
  const before = undoLog(run);
  run.writer?.touch(channel, before as unknown as Json, true);
  run.state[channel] = Object.freeze([...before, ...entries]) as unknown as Json;
}

/** Replaces the log. */
export function setUndos(run: Run, entries: readonly UndoEntry[]): void {
  const channel = undoChannel(run.program);
  if (undoLog(run).length === 0 && entries.length === 0) return;
  run.writer?.touch(channel, null, false);
  run.state[channel] = Object.freeze([...entries]) as unknown as Json;
}

/** Marks entries as done. They keep only what identifies them. */
export function withDone(entries: readonly UndoEntry[], done: ReadonlySet<string>): readonly UndoEntry[] {
  return entries.map(({ key, nodes, task, step, call, ...rest }) =>
    done.has(key) ? { key, nodes, task, step, call, done: true as const } : { key, nodes, task, step, call, ...rest },
  );
}

/**
 * The entries that are not done, without those that a later entry with the same key replaces: a task that ran again after its
 * result was dropped.
 */
export function openUndos(entries: readonly UndoEntry[]): readonly UndoEntry[] {
  if (entries.length === 0) return entries;
  const done = new Set(entries.flatMap((entry) => (entry.done === true ? [entry.key] : [])));
  const last = new Map(entries.map((entry, at) => [entry.key, at]));
  return entries.filter(({ key }, at) => !done.has(key) && last.get(key) === at);
}

/** The entries of a called graph in the log of its caller. */
export function underCall(entries: readonly UndoEntry[], node: string, task: string): readonly UndoEntry[] {
  return entries.map((entry) => ({ ...entry, nodes: [node, ...entry.nodes], task: `${task}/${entry.task}` }));
}

/** The node of an entry, with the program that it belongs to; `undefined` if it has no such `undo`. */
export function findUndo(
  outermost: Program,
  { nodes, call }: UndoEntry,
): { readonly program: Program; readonly node: NodeCode } | undefined {
  let program: Program | undefined = outermost;
  for (const [depth, segment] of nodes.entries()) {
    const [name = "", tool] = segment.split(".");
    const node: NodeCode | undefined = program.nodes.find(
      ({ spec }) => spec.name === name || (spec.was?.includes(name) === true && !program!.nodeIndex.has(name)),
    );
    if (node === undefined) return undefined;
    if (depth === nodes.length - 1) return node.undo?.name === call ? { program, node } : undefined;
    program = programUnder(program, tool === undefined ? node.spec.name : `${node.spec.name}.${tool}`);
    if (program === undefined) return undefined;
  }
  return undefined;
}

export const NO_ENTRIES: readonly never[] = Object.freeze([]);
