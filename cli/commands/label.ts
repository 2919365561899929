import { printable } from "../../diagnostics/render/index.ts";
import { CommandError } from "../process/command-error.ts";
import { addPlaceOptions, withThreads, type ThreadsPlace } from "../hosts/with-threads.ts";
import { defineCommand } from "../start/define-command.ts";
import { EXIT } from "../process/exit-codes.ts";
import { findOwnCheckpoint } from "../threads/find-checkpoint.ts";
import { latestOf } from "../threads/thread-source.ts";

interface LabelOptions extends ThreadsPlace {
  readonly checkpoint?: string;
}

export const labelCommand = defineCommand<LabelOptions>({
  usage: "label <thread> <label>",
  summary: "label a checkpoint, for --from; moves the label if the thread already has it",
  configure: (command) => {
    command.option("--checkpoint <checkpoint>", "the checkpoint (default: the newest)");
    addPlaceOptions(command);
  },
  examples: ["ngc label 42 after-validation", "ngc resume 42 --from after-validation"],
  run: ([thread = "", label = ""], options, output) =>
    withThreads(options, { mustExist: true }, async ({ store }) => {
      if (label.trim() === "") throw new CommandError("a label must not be empty");
      if (store.label === undefined) throw new CommandError("this store does not support labels");
      const { checkpoint } = options;
      const head = await latestOf(store, thread);
      const { id } = checkpoint === undefined ? head : await findOwnCheckpoint(store, checkpoint, thread);
      await store.label(thread, id, label);
      output.document({ version: 1, thread, label, checkpoint: id });
      output.result(`label ${printable(label)}: checkpoint ${id} of thread ${printable(thread)}`);
      return EXIT.ok;
    }),
});
