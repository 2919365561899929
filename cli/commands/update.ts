import { bindFunctions } from "../sources/bind-functions.ts";
import { CommandError } from "../process/command-error.ts";
import { defineCommand } from "../start/define-command.ts";
import { EXIT } from "../process/exit-codes.ts";
import { loadGraph } from "../sources/load-graph.ts";
import { STORE_FLAG, STORE_HELP, withStore } from "../threads/open-store.ts";
import { parseRecord } from "../run/parse-values.ts";
import { quoteArgument } from "../output/quote-argument.ts";
import { threadEngine } from "../threads/thread-engine.ts";
import { latestOf, refusePlanThread, sourceOf } from "../threads/thread-source.ts";

interface UpdateOptions {
  readonly as?: string;
  readonly replace?: boolean;
  readonly file?: string;
  readonly graph?: string;
  readonly store?: string;
}

export const updateCommand = defineCommand<UpdateOptions>({
  usage: "update <thread> <values>",
  summary: "edit the state of a thread in a new checkpoint; nothing runs until it is resumed",
  configure: (command) => {
    command
      .option("--as <node>", "resume as if this node had written the values")
      .option("--replace", "replace the old values instead of calling the reducers")
      .option("--file <file>", "the graph's file (default: the file that the run recorded)")
      .option("--graph <name>", "the graph's name (default: the name that the run recorded)")
      .option(STORE_FLAG, STORE_HELP);
  },
  examples: [`ngc update 42 '{"score": 1}'`, "ngc update 42 @values.json --as draft"],
  run: ([thread = "", given = ""], options, output) =>
    withStore(options.store, { mustExist: true }, async ({ store, flag }) => {
      const values = await parseRecord(given, "the values", "the graph's channels by name");
      if (Object.keys(values).length === 0 && options.as === undefined) {
        throw new CommandError("no values are given, so there is nothing to change");
      }
      const head = await latestOf(store, thread);
      refusePlanThread(head, "has no state to edit");
      const { file, graph } = sourceOf(head, options);
      const table = await loadGraph(file, graph, output);
      if (table === undefined) return EXIT.invalid;
      // Reducers may be the user's own.
      const { bindings } = await bindFunctions(table, undefined);
      const engine = await threadEngine(table, store, bindings);
      const { checkpointId } = await engine.update(thread, values, {
        ...(options.as === undefined ? {} : { as: options.as }),
        ...(options.replace === true ? { replace: true } : {}),
      });
      output.document({ version: 1, thread, checkpoint: checkpointId });
      output.result(`updated: checkpoint ${checkpointId} of thread ${thread}`);
      output.note(`resume with: ngc resume ${quoteArgument(thread)}${flag}`);
      return EXIT.ok;
    }),
});
