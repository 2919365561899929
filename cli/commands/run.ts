import { randomUUID } from "node:crypto";
import type { Engine, ExecuteOptions } from "../../runtime/interface/engine-options.ts";
import type { PlanExecuteOptions, PlanRunner } from "../../runtime/plan/plan-options.ts";
import { isGraphFile } from "../../compiler/load/find-file.ts";
import { defineCommand } from "../start/define-command.ts";
import { executeGraph } from "../run/execute-graph.ts";
import { addStoredOptions } from "../run/stored-options.ts";
import { addExecutionOptions, type ExecutionOptions } from "../run/execution-options.ts";
import { EXIT, type ExitCode } from "../process/exit-codes.ts";
import type { Output } from "../output/output.ts";
import type { PlanTable } from "../../runtime/table/plan-table.ts";
import { CommandError } from "../process/command-error.ts";
import { addHostOptions, checkHostFlags, openHost, refusePlanOnHost, type HostFlags } from "../hosts/open-host.ts";
import { loadGraphOrPlan } from "../sources/load-graph.ts";
import { withStore } from "../threads/open-store.ts";
import { quoteArgument } from "../output/quote-argument.ts";
import { parseConfig } from "../run/parse-config.ts";
import { parseInput, parseName } from "../run/parse-values.ts";
import { dryRun } from "../plan/dry-run.ts";
import { executePlan, type PlanExecution } from "../plan/execute-plan.ts";
import { refuseWithoutTerminal } from "../plan/terminal.ts";
import { addPlanOptions, refusePlanFlags, type PlanFlags } from "../plan/plan-flags.ts";

interface RunOptions extends ExecutionOptions, PlanFlags, HostFlags {
  readonly graph?: string;
  readonly input?: string;
  readonly thread?: string;
  readonly abandon?: boolean;
  readonly replayTrace?: string;
}

export const runCommand = defineCommand<RunOptions>({
  usage: "run <file>",
  summary: "run a graph or a plan",
  configure: (command) => {
    command
      .option("--graph <name>", "which graph or plan of the file (default: the one that no other calls)")
      .option("--input <json>", "the graph's inputs: JSON, @file, or - for standard input")
      .option("--thread <id>", "id of the thread that stores the run (default: generated)", parseName("--thread"));
    addExecutionOptions(command);
    addPlanOptions(command);
    addStoredOptions(command);
    command.option(
      "--affected [ref]",
      "plans: run only tasks that the changes since the branch left a commit concern, and their dependents (default: since the last commit)",
    );
    const parseOptions = command.parseOptions.bind(command);
    command.parseOptions = (args) => parseOptions(withFileFirst(args));
    command.option("--dry-run", "plans: print the order in which tasks would start, and run nothing");
    command.option("--watch", "plans: after the run, run tasks again when files change that they declare");
    command.option("--abandon", "discard the thread's last run if it is paused, failed or unfinished");
    addHostOptions(command, "graphs");
    command.option(
      "--replay-trace <file>",
      "replay a trace of `ngc check --json` with mocked nodes, and report whether its failure occurs",
    );
  },
  helpWith: ({ kind, args: [file = "FILE", ...rest] }) => {
    if (kind !== "too many arguments" && kind !== "unknown option") return undefined;
    const name = /^(?:--)?([A-Za-z_]\w*)/.exec(rest[0] ?? "")?.[1] ?? "name";
    return `inputs of the graph are one JSON value: \`ngc run ${quoteArgument(file)} --input '{"${name}": …}'\``;
  },
  examples: [
    `ngc run support.ngraph --input '{"ticket": "the API answers 500"}'`,
    "ngc run support.ngraph --input @ticket.json --thread 42 --allow net,person",
    "ngc run support.ngraph --input @ticket.json --host restate:http://localhost:8080",
    "ngc run ship.ngraph --max-parallel 8",
    "ngc run ship.ngraph --verify-touches",
    "ngc run ship.ngraph --watch",
    "ngc check review.ngraph --json > found.json; ngc run review.ngraph --replay-trace found.json",
  ],
  run: async ([file = ""], given, output) => {
    let options = given;
    checkHostFlags(options);
    if (options.replayTrace !== undefined) {
      const { runReplay } = await import("../replay/run-replay.ts");
      return runReplay(file, options.replayTrace, options.graph, output);
    }
    const table = await loadGraphOrPlan(file, options.graph, output);
    if (table === undefined) return EXIT.invalid;
    refusePlanFlags(table, options);
    if (options.watch === true) return watchRun(file, options, output);
    if (table.kind === "plan" && options.affected !== undefined) {
      const { affectedTasks } = await import("../plan/affected-tasks.ts");
      const only = affectedTasks(table, file, options.affected === true ? undefined : options.affected, process.cwd());
      if (only?.length === 0) {
        output.document({ version: 1, affected: [] });
        output.result("no task is affected");
        return EXIT.ok;
      }
      if (only !== undefined) options = { ...options, only };
    }
    if (table.kind === "plan" && options.dryRun === true) return dryRun(table, options, output);
    if (table.kind === "plan") refuseWithoutTerminal(table, options);
    const input = await parseInput(options.input);
    const config = parseConfig(options.config, table);
    const { host } = options;
    if (host !== undefined) {
      refusePlanOnHost(table);
      const { runOnHost } = await import("../hosts/run-on-host.ts");
      const place = {
        ...(options.thread && { thread: options.thread }),
        ...(options.abandon && { abandon: true }),
        ...config,
      };
      const start = (engine: Engine, common: ExecuteOptions) => engine.run(input, { ...common, ...place });
      const sameVersion = options.deployed !== true;
      return runOnHost({ table, file, host: await openHost(host, { sameVersion }), options, start }, output);
    }
    return withStore(options.store, { mustExist: false }, (store) => {
      const flags = options.builtins === undefined ? "" : ` --builtins ${quoteArgument(options.builtins)}`;
      const place = {
        ...(options.thread === undefined ? {} : { thread: options.thread }),
        ...(options.abandon === true ? { abandon: true } : {}),
        ...config,
      };
      if (table.kind === "plan") {
        const start = (runner: PlanRunner, common: PlanExecuteOptions) => runner.run(input, { ...common, ...place });
        return executePlan({ table, file, store, options, flags, start }, output);
      }
      const start = (engine: Engine, common: ExecuteOptions) => engine.run(input, { ...common, ...place });
      return executeGraph({ table, file, store, options, flags, start }, output);
    });
  },
});

/** `--affected FILE`: a graph file behind the option is the argument of the command, and not a commit. `--affected=NAME` is always one. */
function withFileFirst(args: readonly string[]): string[] {
  const at = args.indexOf("--affected");
  const isBeforeFile = at !== -1 && !args.slice(0, at).includes("--") && isGraphFile(args[at + 1] ?? "");
  if (!isBeforeFile) return [...args];
  const rest = args.toSpliced(at, 1);
  const end = rest.indexOf("--");
  return rest.toSpliced(end === -1 ? rest.length : end, 0, "--affected");
}

/** `--watch`: all rounds are runs of one thread, so that tasks whose files have not changed keep their results. */
async function watchRun(file: string, options: RunOptions, output: Output): Promise<ExitCode> {
  for (const option of ["only", "fromTask", "affected", "dryRun", "host"] as const) {
    const name = option.replace(/[A-Z]/, (letter) => `-${letter.toLowerCase()}`);
    if (options[option] !== undefined) throw new CommandError(`--watch and --${name} exclude each other`);
  }
  if (output.json) throw new CommandError("--watch and --json exclude each other");
  if (options.store === "memory")
    throw new CommandError("--watch needs a store that keeps the results between two runs: omit `--store memory`");
  const input = await parseInput(options.input);
  const thread = options.thread ?? randomUUID();
  const { watchPlan } = await import("../plan/watch-plan.ts");
  const flags = options.builtins === undefined ? "" : ` --builtins ${quoteArgument(options.builtins)}`;
  let isFirst = true;
  const execute = (table: PlanTable, start: PlanExecution["start"]): Promise<ExitCode> =>
    withStore(options.store, { mustExist: false }, (store) =>
      executePlan({ table, file, store, options, flags, start }, output),
    );
  return watchPlan(
    file,
    process.cwd(),
    {
      load: async () => {
        const table = await loadGraphOrPlan(file, options.graph, output);
        if (table?.kind === "graph") throw new CommandError(`--watch: \`${table.name}\` is a graph, not a plan`);
        return table;
      },
      start: (table) => {
        const abandon = options.abandon === true || !isFirst;
        isFirst = false;
        const config = parseConfig(options.config, table);
        return execute(table, (runner, common) =>
          runner.run(input, { ...common, ...config, thread, ...(abandon ? { abandon } : {}) }),
        );
      },
      repeat: (table, tasks) => execute(table, (runner, common) => runner.resume(thread, { ...common, retry: tasks })),
    },
    output,
  );
}
