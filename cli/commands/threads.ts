import { isAnswer, withAnswers } from "../../runtime/checkpoint/restore-run.ts";
import type { Store, ThreadInfo } from "../../runtime/interface/store.ts";
import { CommandError } from "../process/command-error.ts";
import { defineCommand } from "../start/define-command.ts";
import { EXIT } from "../process/exit-codes.ts";
import { quoteArgument } from "../output/quote-argument.ts";
import { isDamage } from "../threads/damage.ts";
import { formatTable, formatTime } from "../output/format-values.ts";
import { withStore, STORE_FLAG, STORE_HELP } from "../threads/open-store.ts";
import { parseCount } from "../run/parse-values.ts";

interface ThreadsOptions {
  readonly store?: string;
  readonly limit?: number;
}

export const threadsCommand = defineCommand<ThreadsOptions>({
  usage: "threads",
  summary: "list the threads of a store, most recent first",
  configure: (command) => {
    command
      .option("--limit <n>", "list at most this number (default 100)", parseCount("--limit", 1))
      .option(STORE_FLAG, STORE_HELP);
  },
  run: async (_, options, output) => {
    const damaged: { readonly thread: string | null; readonly message: string }[] = [];
    const report = (error: Error, thread: string | undefined): void =>
      void damaged.push({ thread: thread ?? null, message: error.message });
    const threads = await withStore(options.store, { mustExist: true }, async ({ store }) => {
      if (store.threads === undefined) throw new CommandError("this store cannot list its threads");
      const list = await store.threads({ limit: options.limit ?? 100, onCorrupt: report });
      const read: ThreadInfo[] = [];
      for (const thread of list) {
        try {
          read.push({ ...thread, status: await statusOf(store, thread) });
        } catch (error) {
          if (!isDamage(error)) throw error;
          report(error, thread.threadId);
        }
      }
      return read;
    });
    output.document({
      version: 1,
      threads: threads.map((thread) => ({
        thread: thread.threadId,
        status: thread.status,
        step: thread.step,
        checkpoints: thread.checkpoints,
        head: thread.headId,
        timestamp: thread.timestamp,
        metadata: thread.metadata,
      })),
      ...(damaged.length === 0 ? {} : { damaged }),
    });
    for (const { thread, message } of damaged) {
      output.problem(`${output.stderrStyles.error("error")}: ${message}`);
      if (thread !== null) output.problem(`  = help: ngc delete ${quoteArgument(thread)}`);
    }
    if (threads.length === 0) output.note("no threads");
    else {
      output.result(
        formatTable(
          ["thread", "status", "step", "checkpoints", "graph", "time"],
          threads.map((thread) => [
            thread.threadId,
            thread.status,
            // A plan has no steps.
            typeof thread.metadata["plan"] === "string" ? "" : String(thread.step),
            String(thread.checkpoints),
            String(thread.metadata["graph"] ?? ""),
            formatTime(thread.timestamp),
          ]),
        ),
      );
    }
    return damaged.length === 0 ? EXIT.ok : EXIT.failed;
  },
});

/** A thread whose answers were all stored before a crash no longer waits. Only for such a thread its newest checkpoint is read. */
async function statusOf(store: Store, { threadId, headId, status }: ThreadInfo): Promise<ThreadInfo["status"]> {
  if (status !== "paused") return status;
  const writes = (await store.getWrites?.(threadId, headId)) ?? [];
  if (!writes.some(isAnswer)) return status;
  const head = await store.loadById(threadId, headId);
  return head === undefined ? status : withAnswers(head, writes).status;
}
