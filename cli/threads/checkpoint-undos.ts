import { openUndos } from "../../runtime/checkpoint/undo-log.ts";
import type { Checkpoint } from "../../runtime/interface/checkpoint.ts";
import type { Store } from "../../runtime/interface/store.ts";
import { storedUndos } from "../../runtime/checkpoint/stored-calls.ts";

/** An undo that a rollback to come runs. */
interface OpenUndo {
  readonly task: string;
  readonly call: string;
}

/** What a rollback of a thread would undo, the newest last. Needs no graph: tasks of one step are in any order. */
export async function openUndosOf(store: Store, head: Checkpoint): Promise<readonly OpenUndo[]> {
  const writes = (await store.getWrites?.(head.threadId, head.id)) ?? [];
  const entries = openUndos(await storedUndos({ nodeIndex: new Map() }, store, head, writes));
  return entries.map(({ task, call }) => ({ task, call }));
}
