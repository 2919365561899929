import { checkpointDocument } from "../checkpoint-document.ts";
import { defineCommand } from "../define-command.ts";
import { EXIT } from "../exit-codes.ts";
import { formatTable, formatTime } from "../format-values.ts";
import { withStore, STORE_FLAG, STORE_HELP } from "../open-store.ts";
import { parseCount } from "../parse-values.ts";
import { latestOf } from "../thread-source.ts";

interface HistoryOptions {
  readonly store?: string;
  readonly limit?: number;
  readonly before?: string;
  readonly namespace?: string;
}

export const historyCommand = defineCommand<HistoryOptions>({
  usage: "history <thread>",
  summary: "the checkpoints of a thread, newest first",
  configure: (command) => {
    command
      .option("--limit <n>", "at most so many (default 100)", parseCount("--limit", 1))
      .option("--before <checkpoint>", "only checkpoints older than this one")
      .option("--namespace <path>", "those of a graph called as a node")
      .option(STORE_FLAG, STORE_HELP);
  },
  run: async ([thread = ""], options, output) => {
    const checkpoints = await withStore(options.store, { mustExist: true }, async ({ store }) => {
      await latestOf(store, thread);
      return store.list(thread, {
        ...(options.limit === undefined ? {} : { limit: options.limit }),
        ...(options.before === undefined ? {} : { before: options.before }),
        ...(options.namespace === undefined ? {} : { namespace: options.namespace }),
      });
    });
    output.document({ version: 1, thread, checkpoints: checkpoints.map(checkpointDocument) });
    output.result(
      formatTable(
        ["checkpoint", "step", "phase", "status", "ran", "next", "label", "time"],
        checkpoints.map((checkpoint) => [
          checkpoint.id,
          String(checkpoint.step),
          checkpoint.phase,
          checkpoint.status,
          checkpoint.currentNodes.join(", "),
          checkpoint.nextNodes.join(", "),
          checkpoint.label ?? "",
          formatTime(checkpoint.timestamp),
        ]),
      ),
    );
    return EXIT.ok;
  },
});
