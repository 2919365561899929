import { defineCommand } from "../define-command.ts";
import { addExecutionOptions, execute, type ExecutionOptions } from "../execution.ts";
import { EXIT } from "../exit-codes.ts";
import { loadGraph } from "../load-graph.ts";
import { openStore, quoteArgument } from "../open-store.ts";
import { parseInput } from "../parse-values.ts";

interface RunOptions extends ExecutionOptions {
  readonly graph?: string;
  readonly input?: string;
  readonly thread?: string;
  readonly abandon?: boolean;
}

export const runCommand = defineCommand<RunOptions>({
  usage: "run <file>",
  summary: "run a graph",
  configure: (command) => {
    command
      .option("--graph <name>", "which graph of the file (default the first)")
      .option("--input <json>", "the graph's inputs: JSON, @file, or - for standard input")
      .option("--thread <id>", "where the run is kept; made up when absent");
    addExecutionOptions(command);
    command.option("--abandon", "give up the thread's last run where it is paused, failed or unfinished");
  },
  examples: [
    `ngc run support.ngraph --input '{"ticket": "the API answers 500"}'`,
    "ngc run support.ngraph --input @ticket.json --thread 42 --allow net,person",
  ],
  run: async ([file = ""], options, output) => {
    const table = await loadGraph(file, options.graph, output);
    if (table === undefined) return EXIT.invalid;
    const input = parseInput(options.input);
    const store = await openStore(options.store, { mustExist: false });
    return execute(
      {
        table,
        file,
        store,
        options,
        flags: options.builtins === undefined ? "" : ` --builtins ${quoteArgument(options.builtins)}`,
        start: (engine, common) =>
          engine.run(input, {
            ...common,
            ...(options.thread === undefined ? {} : { thread: options.thread }),
            ...(options.abandon === true ? { abandon: true } : {}),
          }),
      },
      output,
    );
  },
});
