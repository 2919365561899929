import { resolve } from "node:path";
import type { Command } from "commander";
import type { Engine, ExecuteOptions, RunResult } from "../../runtime/interface/engine-options.ts";
import type { Effect, Table } from "../../runtime/table/table.ts";
import { createRedactor } from "../../runtime/event/redact.ts";
import { bindFunctions } from "../sources/bind-functions.ts";
import { llmFromEnvironment } from "./llm-from-environment.ts";
import type { ExitCode } from "../process/exit-codes.ts";
import { withInterruption } from "../process/interruption.ts";
import type { RunEvent } from "../../runtime/interface/events.ts";
import { STORE_FLAG, STORE_HELP, type OpenStore } from "../threads/open-store.ts";
import { quoteArgument } from "../output/quote-argument.ts";
import { quietly, type Output } from "../output/output.ts";
import { parseChoice, parseCount, parseStepLimit, stepLimits, type StepLimitFlags } from "./parse-values.ts";
import { printableText } from "../output/printable-text.ts";
import { createProgress, eventLines } from "./progress.ts";
import { reportResult } from "./report-result.ts";
import { secretNames } from "../sources/secret-names.ts";
import { enterStage } from "../process/run-under-way.ts";

/** Options that `run` and `resume` have in common. */
export interface ExecutionOptions {
  readonly store?: string;
  readonly maxSteps?: StepLimitFlags;
  readonly maxParallel?: number;
  readonly allow?: readonly Effect[];
  readonly events?: boolean;
  readonly builtins?: string;
}

const EFFECTS = ["net", "shell", "files", "code", "model", "person"] as const satisfies readonly Effect[];

export function addExecutionOptions(command: Command): void {
  command
    .option(STORE_FLAG, STORE_HELP)
    .option(
      "--max-steps <n>",
      "steps of the run, resumes included; replaces `limit steps`; GRAPH=N for a graph that it calls",
      parseStepLimit,
    )
    .option("--max-parallel <n>", "tasks in flight at once", parseCount("--max-parallel", 1))
    .option("--allow <effects>", `refuse every effect but these: ${EFFECTS.join(",")} or none`, parseEffects)
    .option("--builtins <file>", "a module whose exports supply built-in nodes, such as `llm`")
    .option("--events", "print every event as a JSON line on stderr");
}

function parseEffects(text: string): readonly Effect[] {
  if (text === "none") return [];
  return text.split(",").map((part) => parseChoice("--allow", EFFECTS, part.trim()));
}

export interface Execution {
  readonly table: Table;
  /** The file that the graph came from; the run remembers it for `ngc resume`. */
  readonly file: string;
  readonly store: OpenStore;
  readonly options: ExecutionOptions;
  /** Further flags for the command that goes on with the run. */
  readonly flags: string;
  readonly start: (engine: Engine, options: ExecuteOptions) => Promise<RunResult>;
}

/** Loads the user's code, runs, shows progress and result, and closes the store. */
export async function execute(execution: Execution, output: Output): Promise<ExitCode> {
  const { table, store, options } = execution;
  const [{ createEngine }, { builtinNodes }, { createPrint }, code] = await Promise.all([
    import("../../runtime/index.ts"),
    import("../../stdlib/builtin-nodes.ts"),
    import("../../stdlib/nodes/print.ts"),
    bindFunctions(table, options.builtins),
  ]);
  const progress = options.events === true ? eventLines() : createProgress(output);
  // Lines for machines are not mixed with remarks for people.
  const say = options.events === true ? quietly(output) : output;
  const print = createPrint((line) => {
    const text = printableText(line);
    progress.above(() => (output.json ? output.problem(text) : output.result(text)));
  });
  const onEvent = (event: RunEvent): void => {
    progress.onEvent(event);
    if (event.type === "run" && event.phase === "start" && event.namespace.length === 0)
      announce(event, execution, say);
  };
  const engine = createEngine(table, {
    ...code.bindings,
    builtins: { ...builtinNodes, ...(await llmFromEnvironment(process.env)), print, ...code.builtins },
    store: store.store,
    secrets: (name) => process.env[name],
    onEvent,
    ...(options.allow === undefined ? {} : { allow: options.allow }),
  });
  enterStage({ name: "running" });
  const result = await withInterruption((signal) =>
    execution.start(engine, {
      signal,
      metadata: { file: resolve(execution.file), graph: table.name },
      ...maxStepsOf(options, table.name),
      ...(options.maxParallel === undefined ? {} : { maxParallel: options.maxParallel }),
    }),
  ).finally(() => {
    progress.stop();
    enterStage({ name: "over" });
  });
  // Promises that a node has left alone are heard of now, before the result is told.
  await new Promise((resolve) => setImmediate(resolve));
  // Closed before anything is said, so that whoever reads it finds the store at rest.
  await store.store.close?.();
  const redact = createRedactor(new Map(secretNames(table).map((name) => [name, process.env[name] ?? ""])));
  return reportResult(result, { flags: store.flag + execution.flags, isMemory: store.isMemory, redact }, say);
}

/** `--max-steps` as an option of runs. */
export function maxStepsOf({ maxSteps }: ExecutionOptions, graph: string): Pick<ExecuteOptions, "maxSteps"> {
  const limits = maxSteps === undefined ? undefined : stepLimits(maxSteps, graph);
  return limits === undefined ? {} : { maxSteps: limits };
}

/** A node may take the process down with it: how to find the run again is said before the first one starts. */
function announce(
  { thread, resumed }: RunEvent & { type: "run"; phase: "start" },
  execution: Execution,
  output: Output,
): void {
  const { store, flags } = execution;
  if (thread === undefined || store.isMemory) return;
  output.note(`${resumed ? "going on with" : "running as"} thread ${thread}`);
  enterStage({ name: "running", thread, command: `ngc resume ${quoteArgument(thread)}${store.flag}${flags}` });
}
