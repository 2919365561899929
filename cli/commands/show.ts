import { printable } from "../../diagnostics/render/index.ts";
import { changedValues, describeChanges } from "../documents/changed-values.ts";
import { checkpointDocument } from "../../runtime/checkpoint/checkpoint-document.ts";
import { addPlaceOptions, withThreads, type ThreadsPlace } from "../hosts/with-threads.ts";
import { CommandError } from "../process/command-error.ts";
import { defineCommand } from "../start/define-command.ts";
import { EXIT } from "../process/exit-codes.ts";
import { findCheckpoint } from "../threads/find-checkpoint.ts";
import { formatRecord, formatTime } from "../output/format-values.ts";
import { printableText } from "../output/printable-text.ts";
import { describePause } from "../run/report-result.ts";
import { withStoredAnswers } from "../threads/thread-source.ts";
import { readLog } from "../../runtime/checkpoint/undo-log.ts";
import type { Checkpoint } from "../../runtime/interface/checkpoint.ts";
import { UNDO_NAME } from "../../runtime/table/hidden-channels.ts";
import { startValues, withStartValues } from "../threads/start-values.ts";

/** The values without the undo log, which is shown by itself. */
function withoutLog(values: Checkpoint["values"]): Checkpoint["values"] {
  return Object.fromEntries(Object.entries(values).filter(([name]) => name !== UNDO_NAME));
}

interface ShowOptions extends ThreadsPlace {
  readonly thread?: string;
}

export const showCommand = defineCommand<ShowOptions>({
  usage: "show <checkpoint>",
  summary: "print a checkpoint: the values of all channels, and the changes since its parent",
  configure: (command) => {
    command.option("--thread <id>", "the thread of the checkpoint (a label belongs to one thread)");
    addPlaceOptions(command);
  },
  run: async ([name = ""], options, output) => {
    if (options.host !== undefined && options.thread === undefined) {
      throw new CommandError("--host needs --thread", { help: "name the thread: a host keeps checkpoints by thread" });
    }
    const { checkpoint, parent } = await withThreads(
      options,
      { mustExist: true, readOnly: true },
      async ({ store }) => {
        const found = await findCheckpoint(store, name, options.thread);
        const before = found.parentId === null ? undefined : await store.loadById(found.threadId, found.parentId);
        return { checkpoint: await withStoredAnswers(store, found), parent: before };
      },
    );
    const start = await startValues(checkpoint);
    const undos = readLog(checkpoint.values[UNDO_NAME]).map(({ task, call, done }) => {
      return { task, call, status: done === true ? "done" : "open" };
    });
    const state = withStartValues({ ...withoutLog(checkpoint.values), ...checkpoint.finally?.values }, start);
    const before = parent && withStartValues(withoutLog(parent.values), start);
    const changes = before && changedValues(before, state);
    output.document({
      version: 1,
      ...checkpointDocument(checkpoint),
      values: state,
      changes: changes ?? null,
      ...(undos.length === 0 ? {} : { undos }),
    });
    const head: Record<string, string | number> = {
      checkpoint: checkpoint.id,
      thread: checkpoint.threadId,
      step: checkpoint.step,
      ...(checkpoint.namespace === "" ? {} : { namespace: checkpoint.namespace }),
      phase: checkpoint.phase,
      status: checkpoint.status,
      time: formatTime(checkpoint.timestamp),
    };
    if (checkpoint.label !== null) head["label"] = checkpoint.label;
    if (checkpoint.parentId !== null) head["parent"] = checkpoint.parentId;
    if (checkpoint.currentNodes.length > 0) head["ran"] = checkpoint.currentNodes.join(", ");
    if (checkpoint.nextNodes.length > 0) head["next"] = checkpoint.nextNodes.join(", ");
    output.result(formatRecord(head));
    for (const [barrier, arrived] of Object.entries(checkpoint.barrierState)) {
      output.result(`barrier ${barrier}: arrived: ${arrived.join(", ")}`);
    }
    for (const [namespace, id] of Object.entries(checkpoint.children ?? {})) {
      output.result(`called graph ${namespace}: ${id}`);
    }
    if (checkpoint.failure !== undefined) {
      output.result(`failure: ${printableText(checkpoint.failure.message)} [${checkpoint.failure.code}]`);
    }
    const { outcome, finally: ended } = checkpoint;
    if (outcome !== undefined) {
      const part = ended === undefined ? "has not ended" : `ended ${ended.status.replace("_", " ")}`;
      output.result(`the run ended ${outcome.status}; its \`finally\` part ${part}`);
    }
    if (ended?.failure !== undefined) {
      output.result(`failure in \`finally\`: ${printableText(ended.failure.message)} [${ended.failure.code}]`);
    }
    for (const { task, call, status } of undos)
      output.result(`undo ${printable(task)}: ${printable(call)} (${status})`);
    for (const pause of checkpoint.pauses) output.result(`\n${describePause(pause)}`);
    const values = formatRecord(state);
    output.result(`\n${values === "" ? "no values yet" : values}`);
    if (changes !== undefined && values !== "") output.result(`\n${describeChanges(changes)}`);
    return EXIT.ok;
  },
});
