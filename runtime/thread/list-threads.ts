import type { Checkpoint } from "../interface/checkpoint.ts";
import type { ThreadListOptions, ThreadStatus, ThreadSummary } from "../interface/engine-options.ts";
import { StoreError } from "../interface/errors.ts";
import type { Store, ThreadInfo, ThreadsOptions } from "../interface/store.ts";
import { asStoreError } from "../checkpoint/journal.ts";
import { underPresentNames } from "../checkpoint/former-names.ts";
import { hasOpenWork, withAnswers } from "../checkpoint/restore-run.ts";
import type { Program } from "../program/program.ts";
import type { Table } from "../table/table.ts";
import { THREAD_STATUSES } from "../interface/known-phase.ts";
import { checkMetadata } from "../run/check-execute-options.ts";
import { checkChoice } from "../run/check-options.ts";
import { checkOptions } from "../run/option-names.ts";
import { takeFirstTurn } from "../run/take-turns.ts";
import { THREADS_OPTIONS } from "../run/thread-option-names.ts";
import type { EngineCore } from "../run/run-settings.ts";
import { isListed } from "../stores/contract/listed-thread.ts";
import { wholeStoreOf } from "./thread-access.ts";

/** Threads that are read from the store at a time. */
const PAGE = 100;

/**
 * The threads of a store, most recently written first. The status is the present one: a thread whose answers were all
 * stored no longer waits, and an unfinished thread without a runner is interrupted.
 *
 * @throws StoreError NG_STORE_FAILED for a store that cannot list its threads
 */
export async function listThreads(core: EngineCore, options: ThreadListOptions): Promise<readonly ThreadSummary[]> {
  checkOptions("a listing of threads", options, THREADS_OPTIONS);
  checkChoice("status", options.status, THREAD_STATUSES);
  checkMetadata(options.metadata);
  return threadsOf(wholeStoreOf(core), options, undefined, core.program, () => takeFirstTurn(core.clock, true));
}

/**
 * Like `listThreads`, for a store without an engine.
 *
 * @param onCorrupt receives the damage of threads that the listing omits; without it, damage fails the call
 * @param program the graph, which knows the former names of its nodes
 * @param takeTurn returns a promise if the listing has to wait for the next turn of the event loop
 */
export async function threadsOf(
  store: Store,
  options: ThreadListOptions,
  onCorrupt?: ThreadsOptions["onCorrupt"],
  program?: Program,
  takeTurn?: () => Promise<void> | undefined,
): Promise<readonly ThreadSummary[]> {
  const { limit = 100, status } = options;
  const reported = new Set<string>();
  // A store may report the same damage with each page.
  const report: typeof onCorrupt =
    onCorrupt &&
    ((error, thread) => {
      if (reported.has(error.message)) return;
      reported.add(error.message);
      onCorrupt(error, thread);
    });
  const found: ThreadSummary[] = [];
  let { after } = options;
  for (;;) {
    const page = await readPage(store, { ...options, after }, report);
    for (const info of page.threads) {
      const present = await statusOf(store, info, program).catch((error: unknown) => {
        if (report === undefined || !isDamage(error)) throw error;
        report(error, info.threadId);
        return undefined;
      });
      if (present === undefined) continue;
      const summary = summarise(info, present);
      if (status !== undefined && summary.status !== status) continue;
      // Threads of one place are listed together: the next page begins behind it.
      const isTied = found.length > 0 && summary.position === found.at(-1)!.position;
      if (found.length < limit || isTied) found.push(summary);
    }
    after = page.threads.at(-1)?.position;
    if (page.isLast || after === undefined || found.length >= limit) return found;
    await takeTurn?.();
  }
}

const DAMAGE: ReadonlySet<string> = new Set(["NG_CORRUPT_RECORD", "NG_UNKNOWN_VERSION"]);

/** Whether a thread cannot be read, as opposed to its store. */
export function isDamage(error: unknown): error is StoreError {
  return error instanceof StoreError && DAMAGE.has(error.code);
}

type ListedThread = ThreadInfo & { readonly position: number };

async function readPage(
  store: Store,
  {
    status,
    after,
    graph,
    label,
    metadata,
    due,
    expiredAt,
  }: Omit<ThreadListOptions, "after"> & { readonly after: number | undefined },
  onCorrupt: ThreadsOptions["onCorrupt"],
): Promise<{ readonly threads: readonly ListedThread[]; readonly isLast: boolean }> {
  if (store.threads === undefined) throw new StoreError("NG_STORE_FAILED", "this store cannot list its threads");
  const isStored = status !== "interrupted" && status !== "running" && status !== undefined;
  const filter: ThreadsOptions = {
    ...(after === undefined ? {} : { after }),
    ...(graph === undefined ? {} : { graph }),
    ...(label === undefined ? {} : { label }),
    ...(metadata === undefined ? {} : { metadata }),
    ...(due === undefined ? {} : { due }),
    ...(expiredAt === undefined ? {} : { expiredAt }),
    // Whether a run continues is only known after its answers and its claim have been read.
    ...(isStored ? { status } : {}),
    ...(onCorrupt === undefined ? {} : { onCorrupt }),
  };
  const page = await asStoreError(() => store.threads!({ ...filter, limit: PAGE }));
  if (page.every(({ position }) => position !== undefined)) {
    return { threads: page as readonly ListedThread[], isLast: page.length < PAGE };
  }
  // A store of an older version knows only `limit`. The position of a thread is then its place among all, from the oldest.
  const all = await asStoreError(() => store.threads!({ limit: Number.MAX_SAFE_INTEGER }));
  const threads = all.map((info, index) => ({ ...info, position: all.length - index }));
  const isBehind = ({ position }: ListedThread): boolean => after === undefined || position < after;
  return { threads: threads.filter((info) => isBehind(info) && isListed(info, filter)), isLast: true };
}

function summarise(info: ListedThread, status: ThreadStatus): ThreadSummary {
  const {
    threadId,
    headId,
    step,
    checkpoints,
    timestamp,
    metadata,
    label = null,
    graph = null,
    position,
    due = null,
    expires,
  } = info;
  return {
    thread: threadId,
    checkpointId: headId,
    status,
    step,
    checkpoints,
    timestamp,
    metadata,
    label,
    graph,
    position,
    due: status === "paused" ? due : null,
    ...(expires === undefined ? {} : { expires }),
  };
}

async function statusOf(
  store: Store,
  { threadId, headId, status, held, prepared }: ThreadInfo,
  program?: Program,
): Promise<ThreadStatus> {
  // A fork also prepares paused threads. Their stored answers come from a run, so `prepared` does not count.
  const isPrepared = prepared === true && status !== "paused";
  const running = held === false && !isPrepared ? "interrupted" : "running";
  if (status !== "paused") return status === "running" ? running : status;
  // The newest checkpoint is read only if the thread has answers that were stored before a crash.
  const found = (await asStoreError(() => store.getWrites?.(threadId, headId))) ?? [];
  if (found.length === 0) return status;
  const latest = await asStoreError(() => store.loadById(threadId, headId));
  if (latest === undefined) return status;
  // Mutation point: listed-names
  const isOwn = program !== undefined && isOf(program, latest);
  const { head, writes } = isOwn ? underPresentNames(program, latest, found) : { head: latest, writes: found };
  if (withAnswers(head, writes).status !== "paused") return running;
  return held === false && hasOpenWork(head, writes) ? "interrupted" : status;
}

function isOf({ table }: Program, { graph }: Checkpoint): boolean {
  return graph !== undefined && namesOf(table).includes(graph);
}

/** The present name of a graph and its former ones: stored threads have the name of their time. */
export function namesOf({ name, was = [] }: Table): readonly string[] {
  return [name, ...was];
}
