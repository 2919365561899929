import type { ThreadId } from "../interface/checkpoint.ts";
import type { PruneOptions, PruneResult, ThreadListOptions, ThreadSummary } from "../interface/engine-options.ts";
import { NgraphError, RunError, StoreError } from "../interface/errors.ts";
import type { Store } from "../interface/store.ts";
import { asStoreError } from "../checkpoint/journal.ts";
import { checkCount } from "../run/check-numbers.ts";
import { checkOptions } from "../run/option-names.ts";
import { takeFirstTurn } from "../run/take-turns.ts";
import { PRUNE_OPTIONS } from "../run/thread-option-names.ts";
import type { EngineCore } from "../run/run-settings.ts";
import type { MaybePromise } from "../value/json.ts";
import { shown } from "../value/shown.ts";
import { threadsOf } from "./list-threads.ts";
import { checkThreadId } from "../run/check-thread-id.ts";
import { asRunner, wholeStoreOf } from "./thread-access.ts";

/** Threads that are listed at a time. */
const PAGE = 500;

/** Runs work on a thread under its claim. @throws ThreadError NG_THREAD_CONFLICT if a runner holds the thread */
export type UnderClaim = (thread: ThreadId, work: (store: Store) => MaybePromise<void>) => Promise<void>;

/** Prunes the threads of an engine's graph, under its present name and its former ones. */
export function pruneOwnThreads(core: EngineCore, options: PruneOptions): Promise<PruneResult> {
  const { name, was = [] } = core.program.table;
  const store = wholeStoreOf(core);
  const underClaim: UnderClaim = (thread, work) =>
    asRunner(core, thread, { durability: "sync" }, async (durable) => work(durable.store));
  const takeTurn = () => takeFirstTurn(core.clock, true);
  return pruneThreads(store, underClaim, options, { graphs: [name, ...was], takeTurn });
}

/**
 * Deletes expired threads, or removes old checkpoints, of many threads. Threads that a runner holds are counted and left alone.
 * Reads the listing in pages, and works on one thread at a time.
 *
 * @param own `graphs`: only threads of these graphs; default: all threads of the store. `takeTurn` returns a promise if the next thread
 *   has to wait for a turn of the event loop
 */
export async function pruneThreads(
  store: Store,
  underClaim: UnderClaim,
  options: PruneOptions,
  {
    graphs,
    takeTurn,
  }: { readonly graphs?: readonly string[]; readonly takeTurn?: () => Promise<void> | undefined } = {},
): Promise<PruneResult> {
  const { expiredAt, keepLast, dryRun = false, signal } = checked(options);
  if (keepLast !== undefined && store.prune === undefined) {
    throw new StoreError("NG_STORE_FAILED", "this store does not support pruning");
  }
  const most = checkCount("limit", options.limit ?? null, 0) ?? Number.MAX_SAFE_INTEGER;
  const isPaged = options.limit !== undefined && options.threads === undefined;
  const deleted: ThreadId[] = [];
  const pruned: { readonly thread: ThreadId; readonly checkpoints: number }[] = [];
  const failures: { readonly thread: ThreadId | undefined; readonly error: NgraphError }[] = [];
  let held = 0;

  const prune = async ({
    thread,
    status,
    checkpoints = Number.POSITIVE_INFINITY,
  }: Pick<ThreadSummary, "thread"> & Partial<ThreadSummary>): Promise<void> => {
    // The next call with a limit continues behind the threads that the calls before it have pruned.
    if (isPaged && keepLast !== undefined && checkpoints <= keepLast) return;
    try {
      // A report does not disturb a run.
      if (dryRun) {
        if (status === "running") held++;
        else if (await isExpired(store, thread, expiredAt!)) deleted.push(thread);
        return;
      }
      await underClaim(thread, async (claimed) => {
        if (keepLast !== undefined) {
          const { keepLabelled, olderThan } = options;
          const policy = {
            keepLast,
            ...(keepLabelled === undefined ? {} : { keepLabelled }),
            ...(olderThan === undefined ? {} : { olderThan }),
          };
          const removed = await asStoreError(() => store.prune!(thread, policy));
          if (removed > 0 || !isPaged) pruned.push({ thread, checkpoints: removed });
          return;
        }
        // Another process may have written the thread after the listing, which renews the thread.
        if (!(await isExpired(claimed, thread, expiredAt!))) return;
        await asStoreError(() => claimed.deleteThread(thread));
        deleted.push(thread);
      });
    } catch (error) {
      if (!(error instanceof NgraphError)) throw error;
      if (error.code === "NG_THREAD_CONFLICT") held++;
      else failures.push({ thread, error });
    }
  };

  const report = (error: Error, thread: ThreadId | undefined): void => {
    if (error instanceof NgraphError) failures.push({ thread, error });
  };
  const listed =
    options.threads?.map((thread) => ({ thread: checkThreadId(thread) })) ??
    everyThread(store, { graphs, expiredAt, takeTurn }, report);
  for await (const thread of listed) {
    await takeTurn?.();
    if (deleted.length + pruned.length >= most || signal?.aborted === true) break;
    await prune(thread);
  }
  return { deleted, pruned, held, failures };
}

function checked(options: PruneOptions): PruneOptions {
  checkOptions("a prune", options, PRUNE_OPTIONS);
  const { expiredAt, keepLast, keepLabelled, olderThan, dryRun } = options;
  if ((expiredAt === undefined) === (keepLast === undefined)) {
    const message =
      "a prune needs either `expiredAt`, to delete expired threads, or `keepLast`, to remove old checkpoints";
    throw new RunError("NG_BAD_INPUT", message);
  }
  if (expiredAt !== undefined && (typeof expiredAt !== "number" || !Number.isFinite(expiredAt))) {
    throw new RunError("NG_BAD_INPUT", `\`expiredAt\` is a time in milliseconds since 1970, not ${shown(expiredAt)}`);
  }
  if (keepLast === undefined && (keepLabelled !== undefined || olderThan !== undefined)) {
    throw new RunError("NG_BAD_INPUT", "`keepLabelled` and `olderThan` belong to `keepLast`");
  }
  if (keepLast !== undefined && dryRun === true) {
    throw new RunError("NG_BAD_INPUT", "`dryRun` belongs to `expiredAt`: what `keepLast` removes is not known before");
  }
  return options;
}

/** Whether a thread exists and has expired. */
async function isExpired(store: Store, thread: ThreadId, at: number): Promise<boolean> {
  const head = await asStoreError(() => store.loadLatest(thread));
  return head?.ttl !== undefined && head.timestamp + head.ttl <= at;
}

/** Threads of a store, in pages: memory does not grow with their number. */
async function* everyThread(
  store: Store,
  {
    graphs,
    expiredAt,
    takeTurn,
  }: {
    readonly graphs: readonly string[] | undefined;
    readonly expiredAt: number | undefined;
    readonly takeTurn: (() => Promise<void> | undefined) | undefined;
  },
  report: (error: Error, thread: ThreadId | undefined) => void,
): AsyncGenerator<ThreadSummary> {
  for (const graph of graphs ?? [undefined]) {
    const filter: ThreadListOptions = {
      limit: PAGE,
      ...(graph === undefined ? {} : { graph }),
      ...(expiredAt === undefined ? {} : { expiredAt }),
    };
    let after: number | undefined;
    for (;;) {
      const page = await threadsOf(
        store,
        { ...filter, ...(after === undefined ? {} : { after }) },
        report,
        undefined,
        takeTurn,
      );
      yield* page;
      after = page.at(-1)?.position;
      if (page.length < PAGE || after === undefined) break;
    }
  }
}
