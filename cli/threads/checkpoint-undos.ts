import { printable } from "../../diagnostics/render/index.ts";
import { openUndos } from "../../runtime/checkpoint/undo-log.ts";
import type { Checkpoint } from "../../runtime/interface/checkpoint.ts";
import type { UndoEntry } from "../../runtime/interface/undo.ts";
import type { Store } from "../../runtime/interface/store.ts";
import { storedUndos } from "../../runtime/checkpoint/stored-calls.ts";

/** An undo that a rollback to come runs, or that one has run. */
interface Undo {
  readonly task: string;
  readonly call: string;
}

/** What a rollback of a thread would undo, the newest last. Needs no graph: tasks of one step are in any order. */
export async function openUndosOf(store: Store, head: Checkpoint): Promise<readonly Undo[]> {
  return shown(openUndos(await undosOf(store, head)));
}

/**
 * Results of a checkpoint that a rollback has undone since. Its values may still name what no longer exists, so a run that continues it
 * has to know.
 */
export async function undoneSince(store: Store, checkpoint: Checkpoint, head: Checkpoint): Promise<readonly Undo[]> {
  if (checkpoint.id === head.id) return [];
  const done = new Set((await undosOf(store, head)).flatMap((entry) => (entry.done === true ? [entry.key] : [])));
  if (done.size === 0) return [];
  return shown(openUndos(await undosOf(store, checkpoint)).filter(({ key }) => done.has(key)));
}

/** The warning about results that a rollback has undone. */
export function undoneNote(undone: readonly Undo[]): string {
  const tasks = undone.map(({ task }) => `\`${printable(task)}\``).join(", ");
  return `a rollback has undone results of this checkpoint, which its values still have: ${tasks}`;
}

async function undosOf(store: Store, head: Checkpoint): Promise<readonly UndoEntry[]> {
  const writes = (await store.getWrites?.(head.threadId, head.id)) ?? [];
  return storedUndos(undefined, store, head, writes);
}

function shown(entries: readonly UndoEntry[]): readonly Undo[] {
  return entries.map(({ task, call }) => ({ task, call }));
}
