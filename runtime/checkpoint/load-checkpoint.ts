import type { Checkpoint, CheckpointId, PendingWrite, ThreadId } from "../interface/checkpoint.ts";
import { StoreError, ThreadError } from "../interface/errors.ts";
import type { Store } from "../interface/store.ts";
import type { Program } from "../program/program.ts";
import type { Durable } from "../run/shared.ts";
import { asStoreError } from "./journal.ts";
import { migrateCheckpoint } from "./restore-run.ts";

/** The newest checkpoint of a thread. @throws ThreadError NG_UNKNOWN_THREAD */
export async function loadHead(store: Store, threadId: ThreadId): Promise<Checkpoint> {
  const head = await asStoreError(() => store.loadLatest(threadId));
  if (head !== undefined) return migrateCheckpoint(head, { threadId });
  throw new ThreadError("NG_UNKNOWN_THREAD", threadId, `there is no thread \`${threadId}\` in this store`);
}

/** The newest checkpoint of a claimed thread. */
export interface LoadedHead {
  /** Absent if the thread has no checkpoint. */
  readonly head: Checkpoint | undefined;
  /** A run of this process has saved the head with this program, which has admitted its values. */
  readonly isOwn: boolean;
}

/** The newest checkpoint of a claimed thread, from this process or from the store. */
export async function loadClaimedHead(
  { store, threadId, headAtClaim, recentHeads }: Durable,
  program: Program,
): Promise<LoadedHead> {
  if (headAtClaim === null) return { head: undefined, isOwn: false };
  const recent = headAtClaim === undefined ? undefined : recentHeads?.get(threadId, headAtClaim);
  if (recent !== undefined) return { head: recent.head, isOwn: recent.program === program };
  const found = await asStoreError(() => store.loadLatest(threadId));
  return { head: found === undefined ? undefined : migrateCheckpoint(found, { threadId }), isOwn: false };
}

/** The newest checkpoint of a called graph or plan; `undefined` if it has none. */
export async function loadChildHead(
  { store, threadId }: Pick<Durable, "store" | "threadId">,
  namespace: string,
): Promise<Checkpoint | undefined> {
  const found = await asStoreError(() => store.loadLatest(threadId, namespace));
  return found === undefined ? undefined : migrateCheckpoint(found, { threadId, namespace });
}

/**
 * The newest checkpoint of a called graph in a run of its thread. A fork that died after it had copied the graph has left its
 * copy as the head of the namespace: then it is the checkpoint that the caller refers to.
 *
 * @param head the head of the namespace
 * @param runId the id of the outermost run
 * @param children the ids that the caller's checkpoint records, by namespace
 */
export async function loadCalled(
  { store, threadId }: Pick<Durable, "store" | "threadId">,
  head: Checkpoint,
  runId: string,
  children: Readonly<Record<string, CheckpointId>>,
): Promise<Checkpoint> {
  const { namespace } = head;
  if (head.runId.startsWith(`${runId}/`) || !Object.hasOwn(children, namespace)) return head;
  const recorded = children[namespace]!;
  const found = await asStoreError(() => store.loadById(threadId, recorded));
  if (found === undefined) return head;
  const called = migrateCheckpoint(found, { threadId, namespace, id: recorded });
  return called.runId.startsWith(`${runId}/`) ? called : head;
}

/** A checkpoint of the outermost graph, by id or label. @throws ThreadError NG_UNKNOWN_CHECKPOINT */
export async function findCheckpoint(store: Store, threadId: ThreadId, name: CheckpointId): Promise<Checkpoint> {
  if (typeof name !== "string") {
    const message = "a checkpoint is named by its id or its label, which are strings";
    throw new ThreadError("NG_UNKNOWN_CHECKPOINT", threadId, message);
  }
  const byId = await asStoreError(() => store.loadById(threadId, name));
  if (byId !== undefined && byId.id !== name) {
    const message = `the store returned checkpoint \`${byId.id}\` instead of \`${name}\` of thread \`${threadId}\``;
    throw new StoreError("NG_CORRUPT_RECORD", message);
  }
  const found = byId ?? (await asStoreError(() => store.loadByLabel?.(threadId, name)));
  if (found !== undefined && found.threadId === threadId && found.namespace === "") {
    return migrateCheckpoint(found, { threadId });
  }
  await loadHead(store, threadId);
  const message = `thread \`${threadId}\` has no checkpoint with the id or label \`${name}\`: its history lists them`;
  throw new ThreadError("NG_UNKNOWN_CHECKPOINT", threadId, message);
}

/** The pending writes of a checkpoint: results that were stored after it. */
export async function loadWrites(store: Store, threadId: ThreadId, id: CheckpointId): Promise<readonly PendingWrite[]> {
  return (await asStoreError(() => store.getWrites?.(threadId, id))) ?? [];
}
