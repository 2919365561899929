import { printable } from "../../diagnostics/render/index.ts";
import type { Engine, ExecuteOptions, RunResult } from "../../runtime/interface/engine-options.ts";
import { CommandError } from "../process/command-error.ts";
import { EXIT, type ExitCode } from "../process/exit-codes.ts";
import { executeGraph } from "../run/execute-graph.ts";
import { parseEffects } from "../run/execution-options.ts";
import { EFFECT_NAMES } from "../run/parse-effect.ts";
import { loadGraphOrPlan } from "../sources/load-graph.ts";
import { defineCommand } from "../start/define-command.ts";
import { withStore, type OpenStore } from "../threads/open-store.ts";
import { refusePlanOnHost } from "../hosts/open-host.ts";
import { addPlaceOptions, atHost, hostOf, type ThreadsPlace } from "../hosts/with-threads.ts";
import { latestOf, sourceOf } from "../threads/thread-source.ts";
import { quoteArgument } from "../output/quote-argument.ts";
import type { Output } from "../output/output.ts";
import type { Effect } from "../../runtime/table/effects.ts";

interface RollbackOptions extends ThreadsPlace {
  readonly file?: string;
  readonly allow?: readonly Effect[];
  readonly builtins?: string;
  readonly events?: boolean;
}

export const rollbackCommand = defineCommand<RollbackOptions>({
  usage: "rollback <thread>",
  summary: "undo what a failed, paused or cancelled run has done",
  configure: (command) => {
    command
      .option("--allow <effects>", `allow only these effects: ${EFFECT_NAMES} or none`, parseEffects)
      .option("--builtins <file>", "a module whose exports supply built-in nodes, such as `llm`")
      .option("--file <file>", "the graph's file (default: the file that the run recorded)")
      .option("--graph <name>", "the graph's name (default: the name that the run recorded)")
      .option("--events", "print every event as a JSON line on stderr");
    addPlaceOptions(command);
  },
  examples: ["ngc rollback 42", "ngc rollback 42 --json"],
  run: ([thread = ""], options, output) =>
    options.host === undefined
      ? withStore(options.store, { mustExist: true }, (store) => rollBack(thread, store, options, output))
      : rollBackOnHost(thread, { ...options, host: options.host }, output),
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
  const rollback = startRollback(thread);
  const target = { table, file, store, options, flags, start: rollback.start, isRollback: true };
  const code = await executeGraph(target, output);
  // The run has not completed, but the command has done its work.
  return rollback.isDone() ? EXIT.ok : code;
}

/** Workers run the undos of a thread on a host. */
async function rollBackOnHost(
  thread: string,
  options: RollbackOptions & { readonly host: string },
  output: Output,
): Promise<ExitCode> {
  const { name, opened: host } = await hostOf(options);
  const head = await atHost({ host: options.host, graph: name }, () => latestOf(host.store(name), thread));
  const { file } = sourceOf(head, options);
  const table = await loadGraphOrPlan(file, name, output);
  if (table === undefined) return EXIT.invalid;
  refusePlanOnHost(table);
  const rollback = startRollback(thread);
  const { runOnHost } = await import("../hosts/run-on-host.ts");
  const code = await runOnHost({ table, file, host, options, start: rollback.start }, output);
  return rollback.isDone() ? EXIT.ok : code;
}

function startRollback(thread: string) {
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
  return { start, isDone: () => status === "rolled_back" };
}
