import type { ThreadId } from "../interface/checkpoint.ts";
import type { Durability, ExecuteOptions } from "../interface/engine-options.ts";
import { StoreError } from "../interface/errors.ts";
import { recentHeadsOf } from "../checkpoint/recent-heads.ts";
import { claimedHead } from "../interface/claimed-heads.ts";
import { runViewOf } from "../interface/run-view.ts";
import type { Store } from "../interface/store.ts";
import { Cancellation } from "../run/cancellation.ts";
import { claimThread, type HeldClaim } from "./claimed-thread.ts";
import { DURABLE_CODE } from "./durable-code.ts";
import { isAbandoned } from "../checkpoint/abandoned-call.ts";
import { guardStore } from "../checkpoint/guarded-store.ts";
import { Journal } from "../checkpoint/journal.ts";
import { isThenable } from "../value/promise.ts";
import type { EngineCore } from "../run/run-settings.ts";
import type { Durable } from "../run/shared.ts";

export const DEFAULT_LEASE_MS = 30_000;

/** The engine's store, guarded so that its calls end (`guardStore`). @throws StoreError NG_NO_STORE */
export function storeOf(core: EngineCore, why: string, cancellation?: Cancellation): Store {
  const { store, storeTimeoutMs } = core.options;
  if (store === undefined) throw noStore(why);
  return guardStore(runViewOf(store), { clock: core.clock, timeoutMs: storeTimeoutMs, cancellation });
}

/**
 * The engine's store with the calls that no run makes, such as the listing of threads. It is guarded, too.
 *
 * @throws StoreError NG_NO_STORE
 */
export function wholeStoreOf(core: EngineCore): Store {
  const { store, storeTimeoutMs } = core.options;
  if (store === undefined) throw noStore("threads are kept in a store");
  return guardStore(store, { clock: core.clock, timeoutMs: storeTimeoutMs, cancellation: undefined });
}

function noStore(why: string): StoreError {
  return new StoreError("NG_NO_STORE", `${why}: give the engine a \`store\``);
}

/** Reads from the store before a thread is claimed. The read ends when the caller's signal aborts. */
export async function beforeClaim<T>(
  core: EngineCore,
  { signal }: ExecuteOptions,
  look: (store: Store) => Promise<T>,
): Promise<T> {
  const cancellation = new Cancellation(signal !== undefined);
  cancellation.link(signal, core.clock);
  try {
    return await look(storeOf(core, "threads are kept in a store", cancellation));
  } finally {
    cancellation.unlink();
  }
}

/** Runs `work` as the only runner of a thread. If it fails, tasks in flight are aborted. */
export async function asRunner<T>(
  core: EngineCore,
  threadId: ThreadId,
  options: ExecuteOptions,
  work: (durable: Durable, cancellation: Cancellation) => Promise<T>,
): Promise<T> {
  const durability: Durability = options.durability ?? core.options.durability ?? "sync";
  const cancellation = new Cancellation(true);
  const store = storeOf(core, "threads are kept in a store", cancellation);
  cancellation.link(options.signal, core.clock);
  const entry = core.drain.enter(cancellation, threadId);
  let held: HeldClaim | undefined;
  try {
    const claiming = claimThread(store, threadId, {
      leaseMs: core.options.leaseMs ?? DEFAULT_LEASE_MS,
      clock: core.clock,
      onLost: (fault) => cancellation.fail(fault),
    });
    held = isThenable(claiming) ? await claiming : claiming;
    const { claim, ensureHeld: ensureClaimed, lease } = held;
    const journal = new Journal(durability === "async", core.later);
    const headAtClaim = claimedHead(core.options.store, claim);
    const recentHeads = headAtClaim === undefined ? undefined : recentHeadsOf(core.options.store!);
    const code = DURABLE_CODE;
    return await work(
      { store, threadId, claim, headAtClaim, recentHeads, lease, ensureClaimed, journal, durability, code },
      cancellation,
    );
  } catch (error) {
    if (held !== undefined) cancellation.cancel(error);
    // The cause of the cancellation is more specific than the store call that was abandoned after it.
    throw isAbandoned(error) && cancellation.fault !== undefined ? cancellation.fault : error;
  } finally {
    const released = held?.end();
    if (released !== undefined) await released;
    core.drain.leave(entry);
    cancellation.unlink();
  }
}
