import { CommandError } from "../process/command-error.ts";
import { withThreadClaimed } from "../threads/claim-thread.ts";
import { defineCommand } from "../start/define-command.ts";
import { EXIT } from "../process/exit-codes.ts";
import { STORE_FLAG, STORE_HELP, withStore } from "../threads/open-store.ts";
import { parseCount } from "../run/parse-values.ts";
import { latestOf } from "../threads/thread-source.ts";

interface PruneOptions {
  readonly keepLast: number;
  readonly olderThan?: number;
  readonly labelled?: boolean;
  readonly store?: string;
}

const DAY_MS = 86_400_000;

export const pruneCommand = defineCommand<PruneOptions>({
  usage: "prune <thread...>",
  summary: "delete old checkpoints of threads; keeps the newest and those with a label",
  configure: (command) => {
    command
      .requiredOption("--keep-last <n>", "keep this number of the newest checkpoints", parseCount("--keep-last", 1))
      .option(
        "--older-than <days>",
        "delete only checkpoints that are older than this number of days",
        parseCount("--older-than", 0),
      )
      .option("--labelled", "also delete old checkpoints that have a label")
      .option(STORE_FLAG, STORE_HELP);
  },
  examples: ["ngc prune 42 --keep-last 20", "ngc prune 42 43 --keep-last 1 --older-than 30"],
  run: (threads, options, output) =>
    withStore(options.store, { mustExist: true }, async ({ store }) => {
      const { prune } = store;
      if (prune === undefined) throw new CommandError("this store does not support pruning");
      const { keepLast, olderThan, labelled } = options;
      const policy = {
        keepLast,
        ...(labelled === true ? { keepLabelled: false } : {}),
        ...(olderThan === undefined ? {} : { olderThan: Date.now() - olderThan * DAY_MS }),
      };
      for (const thread of threads) await latestOf(store, thread);
      const pruned: { thread: string; checkpoints: number }[] = [];
      for (const thread of new Set(threads)) {
        const checkpoints = await withThreadClaimed(store, thread, () => prune.call(store, thread, policy));
        pruned.push({ thread, checkpoints });
        output.result(`thread ${thread}: ${checkpoints} checkpoint${checkpoints === 1 ? "" : "s"} deleted`);
      }
      output.document({ version: 1, pruned });
      return EXIT.ok;
    }),
});
