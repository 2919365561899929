import { printable } from "../../diagnostics/render/index.ts";
import type { Checkpoint } from "../../runtime/interface/checkpoint.ts";
import { checkpointDocument } from "../../runtime/checkpoint/checkpoint-document.ts";
import { CommandError } from "../process/command-error.ts";
import { addPlaceOptions, withThreads, type ThreadsPlace } from "../hosts/with-threads.ts";
import { defineCommand } from "../start/define-command.ts";
import { EXIT } from "../process/exit-codes.ts";
import { migrateCheckpoint } from "../../runtime/checkpoint/restore-run.ts";
import { openUndosOf } from "../threads/checkpoint-undos.ts";
import { findCheckpoint } from "../threads/find-checkpoint.ts";
import { formatTable, formatTime } from "../output/format-values.ts";
import { quoteArgument } from "../output/quote-argument.ts";
import { parseCount } from "../run/parse-values.ts";
import { withStoredAnswers, latestOf } from "../threads/thread-source.ts";

interface HistoryOptions extends ThreadsPlace {
  readonly limit?: number;
  readonly before?: string;
  readonly namespace?: string;
}

export const historyCommand = defineCommand<HistoryOptions>({
  usage: "history <thread>",
  summary: "list the checkpoints of a thread, newest first; abandoned branches are marked",
  configure: (command) => {
    command
      .option("--limit <n>", "list at most this number (default 100)", parseCount("--limit", 1))
      .option("--before <checkpoint>", "only checkpoints older than this one")
      .option("--namespace <path>", "list the checkpoints of a called graph, such as `review` or `each[3]`");
    addPlaceOptions(command);
  },
  run: async ([thread = ""], options, output) => {
    const { checkpoints, undos, flag } = await withThreads(
      options,
      { mustExist: true, readOnly: true },
      async ({ store, flag }) => {
        const latest = await latestOf(store, thread);
        const { limit, namespace } = options;
        const before = options.before === undefined ? undefined : await findCheckpoint(store, options.before, thread);
        const found = await store.list(thread, {
          ...(limit === undefined ? {} : { limit }),
          ...(before === undefined ? {} : { before: before.id, namespace: before.namespace }),
          ...(namespace === undefined ? {} : { namespace }),
          all: true,
        });
        if (found.length === 0 && namespace !== undefined && before === undefined) {
          throw new CommandError(
            `thread \`${printable(thread)}\` has called no graph under \`${printable(namespace)}\``,
            {
              code: "NG_UNKNOWN_CHECKPOINT",
              help: "a namespace is the name of the calling task, such as `review` or `each[3]`; `ngc show` lists the namespaces of a checkpoint",
            },
          );
        }
        // Only the newest checkpoint can still wait for answers.
        const list = found.map((checkpoint) =>
          migrateCheckpoint(checkpoint, { threadId: thread, namespace: namespace ?? before?.namespace ?? "" }),
        );
        const [head] = list;
        return {
          checkpoints: head === undefined ? [] : [await withStoredAnswers(store, head), ...list.slice(1)],
          // A completed run keeps its log until the next one, and cannot be rolled back.
          undos: hasEnded(latest) || head?.id !== latest.id ? [] : await openUndosOf(store, latest),
          flag,
        };
      },
    );
    output.document({
      version: 1,
      thread,
      checkpoints: checkpoints.map(checkpointDocument),
      ...(undos.length === 0 ? {} : { openUndos: undos }),
    });
    output.result(
      isPlan(checkpoints)
        ? planHistory(checkpoints)
        : formatTable(
            ["checkpoint", "step", "phase", "status", "ran", "next", "label", "time"],
            checkpoints.map((checkpoint) => [
              checkpoint.id,
              String(checkpoint.step),
              checkpoint.phase,
              shownStatus(checkpoint),
              checkpoint.currentNodes.join(", "),
              checkpoint.nextNodes.join(", "),
              checkpoint.label ?? "",
              formatTime(checkpoint.timestamp),
            ]),
          ),
    );
    for (const { task, call } of undos) output.result(`open undo of ${printable(task)}: ${printable(call)}`);
    const oldest = checkpoints.at(-1);
    if (oldest !== undefined && oldest.parentId !== null && checkpoints.length >= (options.limit ?? DEFAULT_LIMIT)) {
      const { limit } = options;
      const more = `${limit === undefined ? "" : ` --limit ${limit}`}${flag}`;
      output.note(`older ones: ngc history ${quoteArgument(thread)} --before ${oldest.id}${more}`);
    }
    return EXIT.ok;
  },
});

/** The default limit of stores (`ListOptions`). */
const DEFAULT_LIMIT = 100;

function hasEnded({ status }: Checkpoint): boolean {
  return status === "completed" || status === "incomplete";
}

function shownStatus({ status, outcome, abandoned, rollsBack, finally: ended }: Checkpoint): string {
  if (abandoned === true) return `${status} (abandoned)`;
  if (rollsBack === true && status === "running" && outcome === undefined) return "running (rollback)";
  return outcome !== undefined && ended === undefined ? `${status} (finally after ${outcome.status})` : status;
}

/** A run of a plan has no steps: it has one checkpoint at its start and one at its end. */
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
