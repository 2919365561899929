import type { ThreadId } from "../interface/checkpoint.ts";
import type {
  DueOptions,
  RecoverOptions,
  RecoverResult,
  RunResult,
  ThreadListOptions,
  ThreadSummary,
} from "../interface/engine-options.ts";
import { NgraphError } from "../interface/errors.ts";
import type { Store } from "../interface/store.ts";
import type { Table } from "../table/table.ts";
import { checkCount } from "../run/check-numbers.ts";
import { checkOptions } from "../run/option-names.ts";
import { RECOVER_OPTIONS } from "../run/thread-option-names.ts";
import type { EngineCore } from "../run/run-settings.ts";
import { listThreads, namesOf } from "./list-threads.ts";
import { RunError } from "../interface/errors.ts";
import { checkThreadId } from "../run/check-thread-id.ts";
import { shown } from "../value/shown.ts";
import { resumeDue, resumeInterrupted, type NotResumed } from "./resume-thread.ts";

const DEFAULT_CONCURRENCY = 4;

/**
 * Resumes the interrupted threads of a graph, the longest interrupted first. A thread that another process holds or has resumed is
 * counted and left alone; the claim decides.
 */
export async function recoverThreads(core: EngineCore, options: RecoverOptions): Promise<RecoverResult> {
  checkOptions("a recovery", options, RECOVER_OPTIONS);
  core.drain.refuseNewRun();
  return resumeAll(core, { status: "interrupted" }, options, (thread, signal) =>
    resumeInterrupted(core, thread, signal),
  );
}

/** Resumes the paused threads of a graph whose timers or deadlines have passed, or whose signals have come. */
export async function wakeThreads(
  core: EngineCore,
  now: number = core.clock.now(),
  options: DueOptions,
): Promise<RecoverResult> {
  checkOptions("`due`", options, RECOVER_OPTIONS);
  core.drain.refuseNewRun();
  if (typeof now !== "number" || !Number.isFinite(now)) {
    throw new RunError("NG_BAD_INPUT", `the time of \`due\` is a number of milliseconds since 1970, not ${shown(now)}`);
  }
  // Includes an interrupted thread with another pause that is due.
  return resumeAll(core, dueFilter(core.options.store, now), options, (thread, signal) =>
    resumeDue(core, thread, now, signal),
  );
}

type Filter = Pick<ThreadListOptions, "status" | "due">;

/** Lists the threads that may be due. A store without inboxes may not know due times either. */
export function dueFilter(store: Store | undefined, now: number): Filter {
  return store?.putSignal === undefined ? { status: "paused" } : { due: now };
}

/** Resumes threads, the longest unwritten first. */
async function resumeAll(
  core: EngineCore,
  filter: Filter,
  options: RecoverOptions,
  resume: (thread: string, options: Pick<RecoverOptions, "signal">) => Promise<RunResult | NotResumed>,
): Promise<RecoverResult> {
  const { limit = null, concurrency = DEFAULT_CONCURRENCY, signal } = options;
  const most = checkCount("limit", limit, 0) ?? Number.MAX_SAFE_INTEGER;
  const parallel = checkCount("concurrency", concurrency, 1) ?? Number.MAX_SAFE_INTEGER;
  const list: Lister = (settings) => listThreads(core, settings);
  const open = options.threads?.map(checkThreadId) ?? [...(await ownThreads(core.program.table, filter, list))];
  const results: RunResult[] = [];
  const failures: { readonly thread: string; readonly error: NgraphError }[] = [];
  let conflicts = 0;
  let started = 0;
  const work = async (): Promise<void> => {
    for (;;) {
      const thread = open.shift();
      if (thread === undefined || started >= most || signal?.aborted === true || core.drain.requested) return;
      started++;
      let result: RunResult | NotResumed = "conflict";
      try {
        result = await resume(thread, signal === undefined ? {} : { signal });
      } catch (error) {
        if (!(error instanceof NgraphError)) throw error;
        if (error.code !== "NG_THREAD_CONFLICT") {
          failures.push({ thread, error });
          continue;
        }
      }
      if (typeof result !== "string") {
        results.push(result);
        continue;
      }
      // A thread that is not resumed here does not count.
      started--;
      if (result === "conflict") conflicts++;
    }
  };
  await Promise.all(Array.from({ length: Math.min(parallel, open.length) }, work));
  return { results, conflicts, failures };
}

type Lister = (options: ThreadListOptions) => Promise<readonly ThreadSummary[]>;

/** The threads of a graph, under its present name and its former ones. The longest unwritten is the first. */
export async function ownThreads(table: Table, filter: Filter, list: Lister): Promise<readonly ThreadId[]> {
  const found: ThreadSummary[] = [];
  for (const graph of namesOf(table)) {
    const threads = await list({ graph, ...filter, limit: Number.MAX_SAFE_INTEGER });
    for (const thread of threads) found.push(thread);
  }
  return found.sort((a, b) => a.position - b.position).map(({ thread }) => thread);
}
