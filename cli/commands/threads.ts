import { isAnswer, withAnswers } from "../../runtime/checkpoint/restore-run.ts";
import type { Store, ThreadInfo } from "../../runtime/interface/store.ts";
import { CommandError } from "../process/command-error.ts";
import { defineCommand } from "../start/define-command.ts";
import { EXIT } from "../process/exit-codes.ts";
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
    const threads = await withStore(options.store, { mustExist: true }, async ({ store }) => {
      if (store.threads === undefined) throw new CommandError("this store cannot list its threads");
      const list = await store.threads({ limit: options.limit ?? 100 });
      return Promise.all(list.map(async (thread) => ({ ...thread, status: await statusOf(store, thread) })));
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
    });
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
    return EXIT.ok;
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
