import { printable } from "../../diagnostics/render/index.ts";
import type { Engine, ThreadSummary } from "../../runtime/interface/engine-options.ts";
import { NgraphError } from "../../runtime/interface/errors.ts";
import { threadsOf } from "../../runtime/thread/list-threads.ts";
import type { Output } from "../output/output.ts";
import { CommandError } from "../process/command-error.ts";
import { EXIT, type ExitCode } from "../process/exit-codes.ts";
import { withInterruption } from "../process/interruption.ts";
import { callsPlans } from "../sources/called-tables.ts";
import { loadGraph } from "../sources/load-graph.ts";
import type { OpenStore } from "../threads/open-store.ts";
import { latestOf, sourceOf } from "../threads/thread-source.ts";
import { DRAIN_SECONDS } from "./execute-graph.ts";
import type { ExecutionOptions } from "./execution-options.ts";
import { eventLines } from "./progress.ts";
import { exitCodeOf } from "./report-result.ts";
import { openRunSession } from "./run-session.ts";

export interface ManyOptions extends ExecutionOptions {
  readonly limit?: number;
  readonly file?: string;
  readonly graph?: string;
}

/** Threads that run at once. */
const CONCURRENCY = 4;

interface Report {
  readonly resumed: { readonly thread: string; readonly status: string }[];
  /** Threads that another process has resumed first. */
  readonly conflicts: string[];
  readonly failed: { readonly thread: string; readonly code: string; readonly message: string }[];
}

/** Which threads a command resumes: runs that no process continues, or runs that continue without an answer. */
export type Which = "interrupted" | "due";

/** Resumes many threads, the longest unwritten first, whatever graph they belong to. */
export async function resumeThreads(
  which: Which,
  store: OpenStore,
  options: ManyOptions,
  output: Output,
): Promise<ExitCode> {
  if (store.store.threads === undefined) throw new CommandError("this store cannot list its threads");
  const filter = which === "due" ? { status: "paused" as const, due: Date.now() } : { status: which };
  const listed = await threadsOf(store.store, { ...filter, limit: Number.MAX_SAFE_INTEGER });
  const own = listed.filter(
    ({ graph, metadata }) => options.graph === undefined || nameOf(graph, metadata) === options.graph,
  );
  const open = own.reverse();
  const report: Report = { resumed: [], conflicts: [], failed: [] };
  const engines = new Engines(store, options, output);
  await withInterruption(
    async (signal) => {
      const work = async (): Promise<void> => {
        for (;;) {
          const next = open.shift();
          if (next === undefined || signal.aborted || engines.isDraining) return;
          // A thread that another process has taken does not count.
          if (report.resumed.length + report.failed.length >= (options.limit ?? Infinity)) return;
          await resumeOne(which, next, store, options, engines, signal, report);
        }
      };
      await Promise.all(Array.from({ length: Math.min(CONCURRENCY, options.limit ?? CONCURRENCY) }, work));
    },
    () => engines.drain(),
  );
  output.document({ version: 1, ...report });
  for (const { thread, status } of report.resumed)
    output.result(`thread ${printable(thread)}: ${status.replace("_", " ")}`);
  for (const thread of report.conflicts) output.note(`thread ${printable(thread)}: resumed by another process`);
  for (const { thread, code, message } of report.failed)
    output.problem(`error: thread ${printable(thread)}: ${message.replaceAll(thread, printable(thread))} [${code}]`);
  if (report.resumed.length + report.failed.length + report.conflicts.length === 0) output.note(`no ${which} threads`);
  if (engines.isDraining) return EXIT.interrupted;
  const isFine = ({ status }: Report["resumed"][number]): boolean => status === "completed" || status === "paused";
  const worst = report.resumed.find((each) => !isFine(each));
  if (worst !== undefined) return exitCodeOf(worst.status as Parameters<typeof exitCodeOf>[0]);
  return report.failed.length === 0 ? EXIT.ok : EXIT.failed;
}

function nameOf(graph: string | null, metadata: ThreadSummary["metadata"]): unknown {
  return graph ?? metadata["graph"];
}

async function resumeOne(
  which: Which,
  { thread, metadata }: ThreadSummary,
  { store }: OpenStore,
  options: ManyOptions,
  engines: Engines,
  signal: AbortSignal,
  report: Report,
): Promise<void> {
  try {
    if (metadata["plan"] !== undefined) {
      throw new CommandError("it is a run of a plan: resume it by its name, `ngc resume THREAD`", {
        code: "NG_BAD_INPUT",
      });
    }
    const { file, graph } = sourceOf(await latestOf(store, thread), options);
    const engine = await engines.of(file, graph);
    const one = { threads: [thread], signal };
    const { results, failures, conflicts } =
      which === "due" ? await engine.due(undefined, one) : await engine.recover(one);
    for (const { status } of results) report.resumed.push({ thread, status });
    for (const { error } of failures) report.failed.push({ thread, code: error.code, message: error.message });
    if (conflicts > 0) report.conflicts.push(thread);
  } catch (error) {
    if (!(error instanceof NgraphError) && !(error instanceof CommandError)) throw error;
    // The process ends: the thread waits for another one.
    if (error.code === "NG_DRAINED") return;
    report.failed.push({ thread, code: error.code ?? "NG_BAD_INPUT", message: error.message });
  }
}

/** One engine for each graph. */
class Engines {
  isDraining = false;
  readonly #known = new Map<string, Promise<Engine>>();
  readonly #store: OpenStore;
  readonly #options: ManyOptions;
  readonly #output: Output;

  constructor(store: OpenStore, options: ManyOptions, output: Output) {
    this.#store = store;
    this.#options = options;
    this.#output = output;
  }

  of(file: string, graph: string | undefined): Promise<Engine> {
    const key = JSON.stringify([file, graph]);
    const known = this.#known.get(key) ?? this.#create(file, graph);
    this.#known.set(key, known);
    return known;
  }

  drain(): void {
    this.isDraining = true;
    const seconds = this.#options.drain ?? DRAIN_SECONDS;
    for (const known of this.#known.values())
      void known.then((engine) => engine.drain({ deadline: seconds * 1000 })).catch(() => undefined);
  }

  async #create(file: string, graph: string | undefined): Promise<Engine> {
    const output = this.#output;
    const table = await loadGraph(
      file,
      graph,
      output.json ? { ...output, json: false, document: () => undefined } : output,
    );
    if (table === undefined) throw new CommandError(`${file} is invalid`, { code: "NG_BAD_INPUT" });
    // Runs of plans claim the working tree, which only one of the threads could have.
    if (callsPlans(table)) {
      throw new CommandError(
        `graph \`${table.name}\` calls plans: resume its threads by their names, \`ngc resume THREAD\``,
        {
          code: "NG_BAD_INPUT",
        },
      );
    }
    const { createEngine } = await import("../../runtime/index.ts");
    const display = eventLines();
    const target = { table, file, store: this.#store, options: this.#options, flags: "" };
    const { engineOptions } = await openRunSession(target, display, output);
    const { onEvent } = display;
    return createEngine(table, {
      ...engineOptions,
      wake: false,
      ...(this.#options.events === true ? { onEvent } : {}),
    });
  }
}
