import type { Engine, ExecuteOptions } from "../../runtime/interface/engine-options.ts";
import type { PlanExecuteOptions, PlanRunner } from "../../runtime/plan/plan-options.ts";
import { defineCommand } from "../start/define-command.ts";
import { executeGraph } from "../run/execute-graph.ts";
import { addStoredOptions } from "../run/stored-options.ts";
import { addExecutionOptions, type ExecutionOptions } from "../run/execution-options.ts";
import { EXIT } from "../process/exit-codes.ts";
import { HOST_FLAG, HOST_HELP, openHost, refusePlanOnHost } from "../hosts/open-host.ts";
import { loadGraphOrPlan } from "../sources/load-graph.ts";
import { withStore } from "../threads/open-store.ts";
import { quoteArgument } from "../output/quote-argument.ts";
import { parseConfig } from "../run/parse-config.ts";
import { parseInput, parseName } from "../run/parse-values.ts";
import { dryRun } from "../plan/dry-run.ts";
import { executePlan } from "../plan/execute-plan.ts";
import { addPlanOptions, refusePlanFlags, type PlanFlags } from "../plan/plan-flags.ts";

interface RunOptions extends ExecutionOptions, PlanFlags {
  readonly graph?: string;
  readonly input?: string;
  readonly thread?: string;
  readonly abandon?: boolean;
  readonly replayTrace?: string;
  readonly host?: string;
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
    command.option("--dry-run", "plans: print the order in which tasks would start, and run nothing");
    command.option("--abandon", "discard the thread's last run if it is paused, failed or unfinished");
    command.option(HOST_FLAG, `graphs: ${HOST_HELP}`);
    command.option(
      "--replay-trace <file>",
      "replay a trace of `ngc check --json` with mocked nodes, and report whether its failure occurs",
    );
  },
  examples: [
    `ngc run support.ngraph --input '{"ticket": "the API answers 500"}'`,
    "ngc run support.ngraph --input @ticket.json --thread 42 --allow net,person",
    "ngc run support.ngraph --input @ticket.json --host restate:http://localhost:8080",
    "ngc run ship.ngraph --max-parallel 8 --verify-touches",
    "ngc check review.ngraph --json > found.json; ngc run review.ngraph --replay-trace found.json",
  ],
  run: async ([file = ""], given, output) => {
    let options = given;
    if (options.replayTrace !== undefined) {
      const { runReplay } = await import("../replay/run-replay.ts");
      return runReplay(file, options.replayTrace, options.graph, output);
    }
    const table = await loadGraphOrPlan(file, options.graph, output);
    if (table === undefined) return EXIT.invalid;
    refusePlanFlags(table, options);
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
      return runOnHost({ table, file, host: await openHost(host), options, start }, output);
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
