import type { Checkpoint } from "../../runtime/checkpoint.ts";
import { checkpointDocument } from "../checkpoint-document.ts";
import { defineCommand } from "../define-command.ts";
import { EXIT } from "../exit-codes.ts";
import { formatTable, formatTime } from "../format-values.ts";
import { withStore, STORE_FLAG, STORE_HELP } from "../open-store.ts";
import { parseCount } from "../parse-values.ts";
import { asItStands, latestOf } from "../thread-source.ts";

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
      const list = await store.list(thread, {
        ...(options.limit === undefined ? {} : { limit: options.limit }),
        ...(options.before === undefined ? {} : { before: options.before }),
        ...(options.namespace === undefined ? {} : { namespace: options.namespace }),
      });
      // What others have followed is over.
      return Promise.all(list.map((checkpoint, index) => (index === 0 ? asItStands(store, checkpoint) : checkpoint)));
    });
    output.document({ version: 1, thread, checkpoints: checkpoints.map(checkpointDocument) });
    output.result(
      isPlan(checkpoints)
        ? planHistory(checkpoints)
        : formatTable(
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

/** Runs of a plan have no steps: a checkpoint at the start of each, and one at its end. */
function isPlan(checkpoints: readonly Checkpoint[]): boolean {
  return checkpoints.length > 0 && checkpoints.every(({ metadata }) => typeof metadata["plan"] === "string");
}

function planHistory(checkpoints: readonly Checkpoint[]): string {
  return formatTable(
    ["checkpoint", "run", "at", "status", "done", "left", "time"],
    checkpoints.map((checkpoint) => [
      checkpoint.id,
      String(checkpoint.metadata["run"] ?? ""),
      checkpoint.phase === "input" ? "start" : "end",
      checkpoint.status,
      checkpoint.currentNodes.join(", "),
      checkpoint.nextNodes.join(", "),
      formatTime(checkpoint.timestamp),
    ]),
  );
}
