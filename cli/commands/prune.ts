import { setImmediate } from "node:timers/promises";
import { printable } from "../../diagnostics/render/index.ts";
import type { PruneOptions, PruneResult } from "../../runtime/interface/engine-options.ts";
import type { Store } from "../../runtime/interface/store.ts";
import { pruneThreads } from "../../runtime/thread/prune-threads.ts";
import type { Output } from "../output/output.ts";
import { CommandError } from "../process/command-error.ts";
import { EXIT, type ExitCode } from "../process/exit-codes.ts";
import { withInterruption } from "../process/interruption.ts";
import { parseCount } from "../run/parse-values.ts";
import { defineCommand } from "../start/define-command.ts";
import { withThreadClaimed } from "../threads/claim-thread.ts";
import { addListedPlaceOptions, withThreads, type ThreadsPlace } from "../hosts/with-threads.ts";
import { latestOf } from "../threads/thread-source.ts";

interface PruneFlags extends ThreadsPlace {
  readonly keepLast?: number;
  readonly olderThan?: number;
  readonly labelled?: boolean;
  readonly all?: boolean;
  readonly expired?: boolean;
  readonly limit?: number;
  readonly dryRun?: boolean;
}

const DAY_MS = 86_400_000;

export const pruneCommand = defineCommand<PruneFlags>({
  usage: "prune [thread...]",
  summary:
    "delete old checkpoints of threads, except the newest and those with a label; --expired deletes expired threads",
  configure: (command) => {
    command
      .option("--keep-last <n>", "keep this number of the newest checkpoints", parseCount("--keep-last", 1))
      .option(
        "--older-than <days>",
        "delete only checkpoints that are older than this number of days",
        parseCount("--older-than", 0),
      )
      .option("--labelled", "also delete old checkpoints that have a label")
      .option("--all", "prune every thread of the store, except those that a run holds")
      .option("--expired", "delete every thread that has expired, except those that a run holds")
      .option("--limit <n>", "with --all or --expired: at most this number of threads", parseCount("--limit", 1))
      .option("--dry-run", "with --expired: list the threads, and delete none");
    addListedPlaceOptions(command);
  },
  examples: [
    "ngc prune 42 --keep-last 20",
    "ngc prune --all --keep-last 1 --older-than 30",
    "ngc prune --expired --dry-run",
  ],
  run: (threads, flags, output) =>
    withThreads(flags, { mustExist: true, readOnly: flags.dryRun === true }, ({ store }) =>
      prune(threads, store, flags, output),
    ),
});

async function prune(threads: readonly string[], store: Store, flags: PruneFlags, output: Output): Promise<ExitCode> {
  const options = pruneOptions(threads, flags);
  if (options.keepLast !== undefined && store.prune === undefined)
    throw new CommandError("this store does not support pruning");
  if (threads.length > 0) {
    report(await pruneNamed(threads, store, options), flags, output);
    return EXIT.ok;
  }
  // What is deleted is reported, also by a command that is interrupted.
  const [result, isInterrupted] = await withInterruption(async (signal) => {
    const pruned = await pruneThreads(
      store,
      async (thread, work) => {
        // A signal arrives between two turns of the event loop.
        await setImmediate();
        await withThreadClaimed(store, thread, () => work(store));
      },
      { ...options, signal },
    );
    return [pruned, signal.aborted] as const;
  });
  report(result, flags, output);
  if (isInterrupted) {
    output.note("interrupted: all other threads are left as they are");
    return EXIT.interrupted;
  }
  return result.failures.length === 0 ? EXIT.ok : EXIT.failed;
}

/**
 * Prunes the threads that the command names. A thread that a run holds, or a damaged thread, ends the command with its
 * error.
 */
async function pruneNamed(
  threads: readonly string[],
  store: Store,
  { keepLast = 1, ...policy }: PruneOptions,
): Promise<PruneResult> {
  // If one of them does not exist, none is pruned.
  for (const thread of threads) await latestOf(store, thread);
  const pruned: { thread: string; checkpoints: number }[] = [];
  for (const thread of new Set(threads)) {
    const checkpoints = await withThreadClaimed(store, thread, () => store.prune!(thread, { keepLast, ...policy }));
    pruned.push({ thread, checkpoints });
  }
  return { deleted: [], pruned, held: 0, failures: [] };
}

function pruneOptions(threads: readonly string[], flags: PruneFlags): PruneOptions {
  const { keepLast, olderThan, labelled, all = false, expired = false, limit, dryRun = false } = flags;
  if (threads.length === 0 && !all && !expired) {
    throw new CommandError("name the threads to prune, or use --all or --expired");
  }
  if (threads.length > 0 && (all || expired || limit !== undefined)) {
    throw new CommandError("--all, --expired and --limit select the threads: name none");
  }
  const bound = limit === undefined ? {} : { limit };
  if (expired) {
    if (all || keepLast !== undefined || olderThan !== undefined || labelled === true)
      throw new CommandError("--expired deletes whole threads: it takes --limit and --dry-run only");
    return { expiredAt: Date.now(), ...bound, ...(dryRun ? { dryRun } : {}) };
  }
  if (keepLast === undefined) throw new CommandError("say how many checkpoints to keep: --keep-last N");
  if (dryRun) throw new CommandError("--dry-run belongs to --expired");
  return {
    keepLast,
    ...bound,
    ...(labelled === true ? { keepLabelled: false } : {}),
    ...(olderThan === undefined ? {} : { olderThan: Date.now() - olderThan * DAY_MS }),
  };
}

function report({ deleted, pruned, held, failures }: PruneResult, flags: PruneFlags, output: Output): void {
  const { dryRun = false, expired = false, all = false } = flags;
  output.document({
    version: 1,
    pruned,
    ...(expired ? { dryRun, deleted } : {}),
    ...(expired || all ? { held } : {}),
    ...(failures.length === 0
      ? {}
      : { failed: failures.map(({ thread = null, error: { code, message } }) => ({ thread, code, message })) }),
  });
  for (const { thread, checkpoints } of pruned)
    output.result(`thread ${printable(thread)}: ${checkpoints} checkpoint${checkpoints === 1 ? "" : "s"} deleted`);
  for (const thread of deleted) output.result(`thread ${printable(thread)}: ${dryRun ? "has expired" : "deleted"}`);
  for (const { error } of failures) output.problem(`${output.stderrStyles.error("error")}: ${error.message}`);
  if (held > 0) output.note(`${held} thread${held === 1 ? " is" : "s are"} held by a run`);
  if (expired && deleted.length === 0) output.note("no expired threads");
  if (flags.limit !== undefined && !expired && pruned.length === 0) output.note("no thread has more to delete");
}
