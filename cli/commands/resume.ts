import type { PauseItem } from "../../runtime/checkpoint.ts";
import { defineCommand } from "../define-command.ts";
import { addExecutionOptions, execute, type ExecutionOptions } from "../execution.ts";
import { EXIT } from "../exit-codes.ts";
import { loadGraph } from "../load-graph.ts";
import { openStore, quoteArgument } from "../open-store.ts";
import { parseAnswers } from "../parse-values.ts";
import { latestOf, sourceOf } from "../thread-source.ts";

interface ResumeOptions extends ExecutionOptions {
  readonly answer?: readonly string[];
  readonly from?: string;
  readonly at?: string;
  readonly file?: string;
  readonly graph?: string;
}

export const resumeCommand = defineCommand<ResumeOptions>({
  usage: "resume <thread>",
  summary: "go on with a run: after a pause, a failure, an interruption or a crash",
  configure: (command) => {
    command
      .option("--answer <answer>", "VALUE where one item waits, else ID=VALUE; may be repeated", collect)
      .option("--from <checkpoint>", "go on from this checkpoint or label instead of the newest")
      .option("--at <node>", "with --from: go on at this node instead of what was next")
      .option("--file <file>", "the graph's file, where it is not the one that the run recorded")
      .option("--graph <name>", "the graph's name, where it is not the one that the run recorded");
    addExecutionOptions(command);
  },
  examples: ["ngc resume 42 --answer send", "ngc resume 42 --from after-validation"],
  run: async ([thread = ""], options, output) => {
    const store = await openStore(options.store, { mustExist: true });
    const head = await latestOf(store.store, thread);
    const { file, graph } = sourceOf(head, options);
    const table = await loadGraph(file, graph, output);
    if (table === undefined) return EXIT.invalid;
    const answers = parseAnswers(options.answer ?? [], new Set(head.pauses.map((pause: PauseItem) => pause.id)));
    return execute(
      {
        table,
        file,
        store,
        options,
        flags: [
          options.file === undefined ? "" : ` --file ${quoteArgument(options.file)}`,
          options.builtins === undefined ? "" : ` --builtins ${quoteArgument(options.builtins)}`,
        ].join(""),
        start: (engine, common) =>
          engine.resume(thread, {
            ...common,
            ...answers,
            ...(options.from === undefined ? {} : { from: options.from }),
            ...(options.at === undefined ? {} : { at: options.at }),
          }),
      },
      output,
    );
  },
});

function collect(value: string, before: readonly string[] | undefined): readonly string[] {
  return [...(before ?? []), value];
}
