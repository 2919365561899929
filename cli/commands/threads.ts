import type { ThreadStatus, ThreadSummary } from "../../runtime/interface/engine-options.ts";
import { threadsOf } from "../../runtime/thread/list-threads.ts";
import type { JsonObject } from "../../runtime/value/json.ts";
import { CommandError } from "../process/command-error.ts";
import { defineCommand } from "../start/define-command.ts";
import { EXIT } from "../process/exit-codes.ts";
import { quoteArgument } from "../output/quote-argument.ts";
import { formatTable, formatTime } from "../output/format-values.ts";
import { addListedPlaceOptions, withThreads, type ThreadsPlace } from "../hosts/with-threads.ts";
import { choiceOption, parseCount } from "../run/parse-values.ts";
import { collectMetadata } from "../run/stored-options.ts";

interface ThreadsOptions extends ThreadsPlace {
  readonly limit?: number;
  readonly after?: number;
  readonly status?: ThreadStatus;
  readonly label?: string;
  readonly metadata?: JsonObject;
}

const STATUSES = [
  ...(["running", "interrupted", "paused", "completed", "incomplete"] as const),
  ...(["failed", "limit", "cancelled", "rolled_back"] as const),
] satisfies readonly ThreadStatus[];

export const threadsCommand = defineCommand<ThreadsOptions>({
  usage: "threads",
  summary: "list the threads of a store or of a host, most recent first",
  configure: (command) => {
    command
      .option("--limit <n>", "list at most this number (default 100)", parseCount("--limit", 1))
      .option(
        "--after <position>",
        "list threads after this position, which the previous listing printed",
        parseCount("--after", 0),
      )
      .addOption(choiceOption("--status <status>", "only threads with this status", STATUSES))
      .option("--graph <name>", "only threads of this graph")
      .option("--label <label>", "only threads whose newest checkpoint has this label")
      .option("--metadata <key=value>", "only threads with this metadata; may be repeated", collectMetadata);
    addListedPlaceOptions(command);
  },
  examples: [
    "ngc threads --status interrupted",
    "ngc threads --graph support --metadata tenant=acme",
    "ngc threads --host restate:http://localhost:8080 --graph support",
  ],
  run: async (_, { store: where, host, admin, limit = 100, ...filter }, output) => {
    const damaged: { readonly thread: string | null; readonly message: string }[] = [];
    const report = (error: Error, thread: string | undefined): void =>
      void damaged.push({ thread: thread ?? null, message: error.message });
    const place = Object.fromEntries(
      Object.entries({ store: where, host, admin, graph: filter.graph }).filter(([, value]) => value !== undefined),
    );
    const threads = await withThreads(place, { mustExist: true, readOnly: true }, async ({ store }) => {
      if (store.threads === undefined) throw new CommandError("this store cannot list its threads");
      return threadsOf(store, { ...filter, limit }, report);
    });
    output.document({
      version: 1,
      threads: threads.map((thread) => ({
        thread: thread.thread,
        status: thread.status,
        step: thread.step,
        checkpoints: thread.checkpoints,
        head: thread.checkpointId,
        timestamp: thread.timestamp,
        metadata: thread.metadata,
        label: thread.label,
        position: thread.position,
        due: thread.due,
        graph: graphOf(thread),
        expires: thread.expires ?? null,
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
            thread.thread,
            thread.due === null ? thread.status : `${thread.status} until ${formatTime(thread.due)}`,
            // A plan has no steps.
            typeof thread.metadata["plan"] === "string" ? "" : String(thread.step),
            String(thread.checkpoints),
            graphOf(thread) ?? "",
            formatTime(thread.timestamp),
          ]),
        ),
      );
    }
    if (threads.length >= limit) output.note(`more: --after ${threads.at(-1)!.position}`);
    return damaged.length === 0 ? EXIT.ok : EXIT.failed;
  },
});

/** Checkpoints of older versions and of plans have the name in their metadata alone. */
function graphOf({ graph, metadata }: ThreadSummary): string | null {
  return graph ?? (typeof metadata["graph"] === "string" ? metadata["graph"] : null);
}
