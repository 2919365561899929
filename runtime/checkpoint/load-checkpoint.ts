import type { Checkpoint, CheckpointId, PendingWrite, ThreadId } from "../interface/checkpoint.ts";
import { StoreError } from "../interface/errors.ts";
import { ThreadError } from "../interface/thread-error.ts";
import type { Store } from "../interface/store.ts";
import type { Program } from "../program/program.ts";
import type { Durable } from "../run/shared.ts";
import type { MaybePromise } from "../value/json.ts";
import { isThenable } from "../value/promise.ts";
import { asStoreError, storeAnswer } from "./journal.ts";
import { moveCalled, moveCalledWrites, outermostRun } from "./move-called.ts";
import { refuseEncoded } from "./refuse-encoded.ts";
import { migrateCheckpoint } from "./restore-run.ts";
import { keyOfEncoded } from "../stores/contract/encoded-text.ts";

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
export function loadClaimedHead(
  { store, threadId, headAtClaim, recentHeads }: Durable,
  program: Program,
): MaybePromise<LoadedHead> {
  if (headAtClaim === null) return { head: undefined, isOwn: false };
  const recent = headAtClaim === undefined ? undefined : recentHeads?.get(threadId, headAtClaim);
  if (recent !== undefined) return { head: recent.head, isOwn: recent.program === program };
  const loaded = (found: Checkpoint | undefined): LoadedHead => ({
    head: found === undefined ? undefined : migrateCheckpoint(found, { threadId }),
    isOwn: false,
  });
  const answer = storeAnswer(() => store.loadLatest(threadId));
  return isThenable(answer) ? answer.then(loaded) : loaded(answer);
}

/** The newest checkpoint of a called graph or plan; `undefined` if it has none. */
export async function loadChildHead(
  { store, threadId }: Pick<Durable, "store" | "threadId">,
  namespace: string,
): Promise<Checkpoint | undefined> {
  const found = await asStoreError(() => store.loadLatest(threadId, namespace));
  return found === undefined ? undefined : migrateCheckpoint(found, { threadId, namespace });
}

/** The stored run of a called graph. */
export interface StoredCall {
  /** The head of the namespace, which the next checkpoint replaces. */
  readonly latest: Checkpoint | undefined;
  /** The newest checkpoint of the call, or that of an earlier call in the namespace; `undefined` if there is neither. */
  readonly head: Checkpoint | undefined;
  /** `head` as it is stored: in another namespace or by another run, if a caller was renamed or the run was forked. */
  readonly stored: Checkpoint | undefined;
  /** The results that were stored after `head`. */
  readonly writes: readonly PendingWrite[];
}

/**
 * Finds the stored run of a call: in its namespace; in a namespace that earlier versions of the graphs used (`was`); or by the id
 * that the caller recorded, if the caller was forked or renamed since.
 *
 * @param call the new run of the called graph
 * @param children the ids that the caller's checkpoint records, by namespace
 */
export async function loadCall(
  durable: Pick<Durable, "store" | "threadId">,
  call: CalledRun,
  children: Readonly<Record<string, CheckpointId>>,
): Promise<StoredCall> {
  const { namespace, runId } = call;
  const latest = await loadChildHead(durable, namespace);
  if (latest !== undefined && isRoundOf(latest, runId)) return storedCall(durable, call, latest, latest);
  for (const place of call.formerPlaces) {
    const former = await loadChildHead(durable, place.namespace);
    if (former !== undefined && isRoundOf(former, place.runId)) return storedCall(durable, call, latest, former);
  }
  const recorded = Object.hasOwn(children, namespace)
    ? await loadRecorded(durable, children[namespace]!, call.shared.runId)
    : undefined;
  return storedCall(durable, call, latest, recorded ?? latest);
}

/** The called graph of a run: what `loadCall` reads of it. */
interface CalledRun {
  readonly namespace: string;
  readonly runId: string;
  readonly shared: { readonly runId: string };
  readonly formerPlaces: readonly { readonly namespace: string; readonly runId: string }[];
}

async function storedCall(
  durable: Pick<Durable, "store" | "threadId">,
  { namespace, runId, shared }: CalledRun,
  latest: Checkpoint | undefined,
  stored: Checkpoint | undefined,
): Promise<StoredCall> {
  if (stored === undefined) return { latest, head: undefined, stored, writes: [] };
  const place = { namespace, runId: shared.runId };
  const moved = stored === latest ? stored : moveCalled(stored, place);
  if (!isRoundOf(moved, runId)) return { latest, head: latest, stored: latest, writes: [] };
  const writes = await loadWrites(durable.store, durable.threadId, stored.id);
  return { latest, head: moved, stored, writes: moved === stored ? writes : moveCalledWrites(writes, stored, place) };
}

/**
 * The checkpoint of an unfinished called graph that a run continues, by the id that its caller recorded.
 *
 * @param runId the outermost run
 */
export async function loadRecorded(
  durable: Pick<Durable, "store" | "threadId">,
  id: CheckpointId,
  runId: string,
): Promise<Checkpoint | undefined> {
  const { store, threadId } = durable;
  const found = await asStoreError(() => store.loadById(threadId, id));
  if (found === undefined) return undefined;
  const recorded = migrateCheckpoint(found, { threadId, namespace: found.namespace, id });
  // The called graph may have progressed since its caller recorded it. A fork continues at the recorded checkpoint.
  // Mutation point: recorded-checkpoint
  if (outermostRun(recorded) !== runId) return recorded;
  const latest = await loadChildHead(durable, recorded.namespace);
  return latest?.runId === recorded.runId ? latest : recorded;
}

/** Whether a checkpoint belongs to a call: to its first run, or to a later one (`.2`). */
export function isRoundOf(checkpoint: Pick<Checkpoint, "runId">, runId: string): boolean {
  return roundOf(checkpoint, runId) !== undefined;
}

/** The number of the run of a call that a checkpoint belongs to, 1-based; `undefined` for another call. */
export function roundOf(checkpoint: Pick<Checkpoint, "runId">, runId: string): number | undefined {
  if (!checkpoint.runId.startsWith(runId)) return undefined;
  const round = ROUND.exec(checkpoint.runId.slice(runId.length));
  return round === null ? undefined : Number(round[1] ?? 1);
}

/** Suffix of the run id from the second run of a call on. */
const ROUND = /^(?:\.(\d+))?$/;

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
  const writes = (await asStoreError(() => store.getWrites?.(threadId, id))) ?? [];
  // A process with the codec may have stored them after a checkpoint in plain text.
  for (const { result } of writes) refuseEncoded(threadId, keyOfEncoded(result));
  return writes;
}
