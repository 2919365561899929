import type {
  Engine,
  ExecuteOptions,
  ResumeOptions as EngineResumeOptions,
} from "../../runtime/interface/engine-options.ts";
import type { PlanExecuteOptions, PlanRunner } from "../../runtime/plan/plan-options.ts";
import { defineCommand } from "../start/define-command.ts";
import { executeGraph } from "../run/execute-graph.ts";
import { addStoredOptions } from "../run/stored-options.ts";
import { addExecutionOptions, type ExecutionOptions } from "../run/execution-options.ts";
import { EXIT, type ExitCode } from "../process/exit-codes.ts";
import { findOwnCheckpoint } from "../threads/find-checkpoint.ts";
import { loadGraphOrPlan } from "../sources/load-graph.ts";
import { withStore, type OpenStore } from "../threads/open-store.ts";
import { quoteArgument } from "../output/quote-argument.ts";
import { CommandError } from "../process/command-error.ts";
import { addHostOptions, checkHostFlags, openHost, refusePlanOnHost, type HostFlags } from "../hosts/open-host.ts";
import { atHost } from "../hosts/with-threads.ts";
import { parseConfig } from "../run/parse-config.ts";
import { parseCount } from "../run/parse-values.ts";
import { resumeThreads } from "../run/resume-threads.ts";
import { undoneNote, undoneSince } from "../threads/checkpoint-undos.ts";
import { parseAnswers } from "../threads/parse-answers.ts";
import type { Output } from "../output/output.ts";
import { executePlan } from "../plan/execute-plan.ts";
import {
  addPlanOptions,
  addRetryOption,
  refuseGraphFlags,
  refusePlanFlags,
  type PlanFlags,
} from "../plan/plan-flags.ts";
import { withStoredAnswers, latestOf, sourceOf } from "../threads/thread-source.ts";

interface ResumeOptions extends ExecutionOptions, PlanFlags, HostFlags {
  readonly answer?: readonly string[];
  readonly from?: string;
  readonly at?: string;
  readonly interrupted?: boolean;
  readonly due?: boolean;
  readonly limit?: number;
  readonly file?: string;
  readonly graph?: string;
}

export const resumeCommand = defineCommand<ResumeOptions>({
  usage: "resume [thread]",
  summary: "continue a run after a pause, a failure, an interruption or a crash",
  configure: (command) => {
    command
      .option("--answer <answer>", "VALUE if one pause waits for an answer, else ID=VALUE; may be repeated", collect)
      .option("--from <checkpoint>", "resume from this checkpoint or label instead of the newest")
      .option("--at <node>", "with --from: resume at this node instead of the nodes that were next")
      .option("--interrupted", "resume every run that no process continues, instead of one thread")
      .option("--due", "resume every thread whose timer or deadline has passed, or whose signal has come")
      .option(
        "--limit <n>",
        "with --interrupted or --due: resume at most this number of threads",
        parseCount("--limit", 1),
      )
      .option("--file <file>", "the graph's file (default: the file that the run recorded)")
      .option("--graph <name>", "the graph's name (default: the name that the run recorded)");
    addHostOptions(command, "graphs, with --file");
    addExecutionOptions(command);
    addPlanOptions(command);
    addRetryOption(command);
    addStoredOptions(command);
  },
  examples: [
    "ngc resume 42 --answer send",
    "ngc resume 42 --from after-validation",
    "ngc resume nightly --retry test,bench",
    "ngc resume --interrupted --store postgres:URL",
    "ngc resume --due",
  ],
  run: ([thread], options, output) => {
    checkUsage(thread, options);
    checkHostFlags(options);
    if (options.host !== undefined) return resumeOnHost(thread, options.host, options, output);
    const which = options.due === true ? "due" : "interrupted";
    return withStore(options.store, { mustExist: true }, (store) =>
      thread === undefined ? resumeThreads(which, store, options, output) : resume(thread, store, options, output),
    );
  },
});

function checkUsage(
  thread: string | undefined,
  { interrupted, due, limit, answer, from, at, config, retry }: ResumeOptions,
): void {
  const isMany = interrupted === true || due === true;
  if (interrupted === true && due === true) throw new CommandError("--interrupted and --due exclude each other");
  if (thread === undefined && !isMany) {
    throw new CommandError("missing required argument 'thread'", {
      help: "ngc resume THREAD, or --interrupted for every run that no process continues, or --due",
    });
  }
  if (thread !== undefined && (isMany || limit !== undefined))
    throw new CommandError("--interrupted, --due and --limit resume many threads: they take no thread");
  if (isMany && (answer ?? from ?? at ?? config ?? retry) !== undefined)
    throw new CommandError(
      `--${due === true ? "due" : "interrupted"} answers no pause, and resumes each thread where it was: it takes no --answer, --from, --at, --config or --retry`,
    );
}

async function resume(thread: string, store: OpenStore, options: ResumeOptions, output: Output): Promise<ExitCode> {
  const head = await latestOf(store.store, thread);
  const { file, graph } = sourceOf(head, options);
  const table = await loadGraphOrPlan(file, graph, output);
  if (table === undefined) return EXIT.invalid;
  refusePlanFlags(table, options);
  if (table.kind === "plan") refuseGraphFlags(options);
  const from = options.from === undefined ? undefined : await findOwnCheckpoint(store.store, options.from, thread);
  const { pauses } = await withStoredAnswers(store.store, from ?? head);
  const answers = parseAnswers(options.answer ?? [], pauses);
  const config = parseConfig(options.config, table);
  const flags = [
    options.file === undefined ? "" : ` --file ${quoteArgument(options.file)}`,
    options.builtins === undefined ? "" : ` --builtins ${quoteArgument(options.builtins)}`,
  ].join("");
  if (table.kind === "plan") {
    const start = (runner: PlanRunner, common: PlanExecuteOptions) =>
      runner.resume(thread, {
        ...common,
        ...answers,
        ...config,
        ...(options.retry === undefined ? {} : { retry: options.retry }),
      });
    return executePlan({ table, file, store, options, flags, start }, output);
  }
  const undone = from === undefined ? [] : await undoneSince(store.store, from, head);
  if (undone.length > 0) output.note(`warning: ${undoneNote(undone)}`);
  const start = resumption(thread, { ...answers, ...config }, from?.id, options.at);
  return executeGraph({ table, file, store, options, flags, start }, output);
}

async function resumeOnHost(
  thread: string | undefined,
  given: string,
  options: ResumeOptions,
  output: Output,
): Promise<ExitCode> {
  const { file } = options;
  if (thread === undefined) throw new CommandError("with --host, threads are resumed by their host: name one thread");
  if (file === undefined) {
    throw new CommandError("--host needs --file", {
      help: "name the file of the graph: a host keeps threads by graph",
    });
  }
  const host = await openHost(given, { sameVersion: options.deployed !== true });
  const table = await loadGraphOrPlan(file, options.graph, output);
  if (table === undefined) return EXIT.invalid;
  refusePlanOnHost(table);
  refusePlanFlags(table, options);
  const store = host.store(table.name);
  const head = await atHost({ host: given, graph: table.name }, () => latestOf(store, thread));
  const from = options.from === undefined ? undefined : await findOwnCheckpoint(store, options.from, thread);
  const { pauses } = await withStoredAnswers(store, from ?? head);
  const answers = parseAnswers(options.answer ?? [], pauses);
  const config = parseConfig(options.config, table);
  const start = resumption(thread, { ...answers, ...config }, from?.id, options.at);
  const { runOnHost } = await import("../hosts/run-on-host.ts");
  return runOnHost({ table, file, host, options, start }, output);
}

/** How a thread of a graph is resumed, in a store or on a host. */
function resumption(thread: string, given: EngineResumeOptions, from: string | undefined, at: string | undefined) {
  const place = { ...(from === undefined ? {} : { from }), ...(at === undefined ? {} : { at }) };
  return (engine: Engine, common: ExecuteOptions) => engine.resume(thread, { ...common, ...given, ...place });
}

function collect(value: string, before: readonly string[] | undefined): readonly string[] {
  return [...(before ?? []), value];
}
