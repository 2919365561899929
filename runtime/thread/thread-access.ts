import type { Checkpoint, CheckpointId, PendingWrite, ThreadId } from "../interface/checkpoint.ts";
import type { Durability, ExecuteOptions } from "../interface/engine-options.ts";
import { StoreError, ThreadError, type NgraphError } from "../interface/errors.ts";
import type { Store } from "../interface/store.ts";
import { Cancellation, linkSignal } from "../step/cancellation.ts";
import { withClaim } from "./claimed-thread.ts";
import { guardStore, isGivenUp } from "./guarded-store.ts";
import { asStoreError, Journal } from "./journal.ts";
import { migrateCheckpoint } from "./restore-run.ts";
import type { EngineCore } from "../engine/run-settings.ts";
import type { Durable } from "../step/shared.ts";

const DEFAULT_LEASE_MS = 30_000;

/** The engine's store, whose calls end (`guardStore`). @throws StoreError NG_NO_STORE */
export function storeOf(core: EngineCore, why: string, cancellation?: Cancellation): Store {
  const { store, storeTimeoutMs } = core.options;
  if (store === undefined) throw new StoreError("NG_NO_STORE", `${why}: give the engine a \`store\``);
  return guardStore(store, { clock: core.clock, timeoutMs: storeTimeoutMs, cancellation });
}

/** @throws ThreadError NG_UNKNOWN_THREAD */
export function checkThreadId(thread: unknown): ThreadId {
  if (typeof thread === "string" && thread !== "") return thread;
  throw new ThreadError("NG_UNKNOWN_THREAD", String(thread), "a thread's name is a string of at least one character");
}

/** Looks into the store before a thread is claimed; ends when the caller's signal aborts, as runs do. */
export async function beforeClaim<T>(
  core: EngineCore,
  { signal }: ExecuteOptions,
  look: (store: Store) => Promise<T>,
): Promise<T> {
  const cancellation = new Cancellation(signal !== undefined);
  const unlink = linkSignal(signal, cancellation);
  try {
    return await look(storeOf(core, "threads are kept in a store", cancellation));
  } finally {
    unlink();
  }
}

/** Does something as the one runner of a thread; what is in flight is given up when it fails. */
export async function asRunner<T>(
  core: EngineCore,
  threadId: ThreadId,
  options: ExecuteOptions,
  work: (durable: Durable, cancellation: Cancellation) => Promise<T>,
): Promise<T> {
  const durability: Durability = options.durability ?? core.options.durability ?? "sync";
  const cancellation = new Cancellation(true);
  const store = storeOf(core, "threads are kept in a store", cancellation);
  const settings = {
    leaseMs: core.options.leaseMs ?? DEFAULT_LEASE_MS,
    clock: core.clock,
    onLost: (fault: NgraphError) => cancellation.fail(fault),
  };
  const unlink = linkSignal(options.signal, cancellation);
  try {
    return await withClaim(store, threadId, settings, async (claim, ensureHeld) => {
      try {
        const journal = new Journal(durability === "async");
        return await work({ store, threadId, claim, ensureHeld, journal, durability }, cancellation);
      } catch (error) {
        cancellation.cancel(error);
        throw error;
      }
    });
  } catch (error) {
    // A store that did not answer to the end: why the run was given up says more than the call that was.
    throw isGivenUp(error) && cancellation.fault !== undefined ? cancellation.fault : error;
  } finally {
    unlink();
  }
}

/** @throws ThreadError NG_UNKNOWN_THREAD */
export async function loadHead(store: Store, threadId: ThreadId): Promise<Checkpoint> {
  const head = await asStoreError(() => store.loadLatest(threadId));
  if (head !== undefined) return migrateCheckpoint(head, { threadId });
  throw new ThreadError("NG_UNKNOWN_THREAD", threadId, `there is no thread \`${threadId}\` in this store`);
}

/** The newest checkpoint of a called graph. */
export async function loadChildHead(
  { store, threadId }: Pick<Durable, "store" | "threadId">,
  namespace: string,
): Promise<Checkpoint | undefined> {
  const found = await asStoreError(() => store.loadLatest(threadId, namespace));
  return found === undefined ? undefined : migrateCheckpoint(found, { threadId, namespace });
}

/** A checkpoint of the graph itself, by id or label. @throws ThreadError NG_UNKNOWN_CHECKPOINT */
export async function findCheckpoint(store: Store, threadId: ThreadId, name: CheckpointId): Promise<Checkpoint> {
  if (typeof name !== "string") {
    const message = "a checkpoint is named by its id or its label, which are strings";
    throw new ThreadError("NG_UNKNOWN_CHECKPOINT", threadId, message);
  }
  const byId = await asStoreError(() => store.loadById(threadId, name));
  if (byId !== undefined && byId.id !== name) {
    const message = `the store was asked for checkpoint \`${name}\` of thread \`${threadId}\` and gave \`${byId.id}\``;
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

export async function loadWrites(store: Store, threadId: ThreadId, id: CheckpointId): Promise<readonly PendingWrite[]> {
  return (await asStoreError(() => store.getWrites?.(threadId, id))) ?? [];
}
