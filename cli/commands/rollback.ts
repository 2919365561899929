import { printable } from "../../diagnostics/render/index.ts";
import type { Engine, ExecuteOptions, RunResult } from "../../runtime/interface/engine-options.ts";
import { CommandError } from "../process/command-error.ts";
import { EXIT, type ExitCode } from "../process/exit-codes.ts";
import { executeGraph } from "../run/execute-graph.ts";
import { parseEffects } from "../run/execution-options.ts";
import { EFFECT_NAMES } from "../run/parse-effect.ts";
import { loadGraphOrPlan } from "../sources/load-graph.ts";
import { defineCommand } from "../start/define-command.ts";
import { STORE_FLAG, STORE_HELP, withStore, type OpenStore } from "../threads/open-store.ts";
import { latestOf, sourceOf } from "../threads/thread-source.ts";
import { quoteArgument } from "../output/quote-argument.ts";
import type { Output } from "../output/output.ts";
import type { Effect } from "../../runtime/table/effects.ts";

interface RollbackOptions {
  readonly store?: string;
  readonly file?: string;
  readonly graph?: string;
  readonly allow?: readonly Effect[];
  readonly builtins?: string;
  readonly events?: boolean;
}

export const rollbackCommand = defineCommand<RollbackOptions>({
  usage: "rollback <thread>",
  summary: "undo what a failed, paused or cancelled run has done",
  configure: (command) => {
    command
      .option(STORE_FLAG, STORE_HELP)
      .option("--allow <effects>", `allow only these effects: ${EFFECT_NAMES} or none`, parseEffects)
      .option("--builtins <file>", "a module whose exports supply built-in nodes, such as `llm`")
      .option("--file <file>", "the graph's file (default: the file that the run recorded)")
      .option("--graph <name>", "the graph's name (default: the name that the run recorded)")
      .option("--events", "print every event as a JSON line on stderr");
  },
  examples: ["ngc rollback 42", "ngc rollback 42 --json"],
  run: ([thread = ""], options, output) =>
    withStore(options.store, { mustExist: true }, (store) => rollBack(thread, store, options, output)),
});

async function rollBack(thread: string, store: OpenStore, options: RollbackOptions, output: Output): Promise<ExitCode> {
  const { file, graph } = sourceOf(await latestOf(store.store, thread), options);
  const table = await loadGraphOrPlan(file, graph, output);
  if (table === undefined) return EXIT.invalid;
  if (table.kind === "plan")
    throw new CommandError(`thread \`${printable(thread)}\` runs a plan, and tasks of a plan have no undo`);
  const flags = [
    options.file === undefined ? "" : ` --file ${quoteArgument(options.file)}`,
    options.builtins === undefined ? "" : ` --builtins ${quoteArgument(options.builtins)}`,
  ].join("");
  let status: RunResult["status"] | undefined;
  const start = async (engine: Engine, common: ExecuteOptions): Promise<RunResult> => {
    const { signal, onEvent, metadata, ttl } = common;
    const result = await engine.rollback(thread, {
      ...(signal === undefined ? {} : { signal }),
      ...(onEvent === undefined ? {} : { onEvent }),
      ...(metadata === undefined ? {} : { metadata }),
      ...(ttl === undefined ? {} : { ttl }),
    });
    status = result.status;
    return result;
  };
  const code = await executeGraph({ table, file, store, options, flags, start }, output);
  // The run has not completed, but the command has done its work.
  return status === "rolled_back" ? EXIT.ok : code;
}
