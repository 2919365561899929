import { printable } from "../../diagnostics/render/index.ts";
import type { CompileResult } from "../../compiler/compile.ts";
import { NgraphError } from "../../runtime/interface/errors.ts";
import type { Store } from "../../runtime/interface/store.ts";
import type { Engine } from "../../runtime/interface/engine-options.ts";
import { unrunnableBindings } from "../sources/bind-functions.ts";
import { everyThread } from "./every-thread.ts";
import { drift } from "../../runtime/checkpoint/drift-problem.ts";
import { memoryProblems } from "../../runtime/run/follow-run.ts";
import type { Program } from "../../runtime/program/program.ts";
import { threadEngine, threadProgram } from "./thread-engine.ts";
import { latestOf } from "./thread-source.ts";

/** The threads of a store that the graphs of a file can resume, and those that they cannot. */
export interface ThreadCheck {
  /** Threads of the file's graphs. */
  readonly checked: number;
  /** Threads that a resume or a new run would refuse, with what does not fit. */
  readonly refused: readonly {
    readonly thread: string;
    readonly graph: string;
    readonly problems: readonly string[];
    /** The problems with the ways forward. */
    readonly message: string;
  }[];
}

/** Checks for each thread of a store whether it fits the compiled graphs. Writes nothing. */
export async function checkThreads(compiled: CompileResult, store: Store): Promise<ThreadCheck> {
  const graphs = new Map<string, { readonly engine: Engine; readonly program: Program }>();
  for (const table of compiled.tables.values()) {
    if (table.kind !== "graph") continue;
    const bindings = unrunnableBindings(table);
    const engine = await threadEngine(table, store, bindings);
    const program = await threadProgram(table, bindings);
    for (const name of [table.name, ...(table.was ?? [])]) graphs.set(name, { engine, program });
  }
  let checked = 0;
  const refuse = (thread: string, { table }: Engine, error: NgraphError): void => {
    const { details } = error as { details?: unknown };
    const problems = Array.isArray(details) ? details.map(String) : [error.message];
    refused.push({ thread, graph: table.name, problems, message: error.message });
  };
  const refused: ThreadCheck["refused"][number][] = [];
  for await (const { thread, graph, status, metadata } of everyThread(store)) {
    const name = graph ?? metadata["graph"];
    const own = metadata["plan"] === undefined && typeof name === "string" ? graphs.get(name) : undefined;
    if (own === undefined) continue;
    const { engine, program } = own;
    checked++;
    const isOver = status === "completed" || status === "incomplete";
    if (isOver) {
      // The next run keeps only the memory.
      const head = await latestOf(store, thread);
      const problems = memoryProblems(program, head);
      const what = `a new run on thread \`${printable(thread)}\` would lose its memory under this version of graph \`${engine.table.name}\``;
      if (problems.length > 0) refuse(thread, engine, drift(head, what, problems, "start another thread"));
      continue;
    }
    try {
      await engine.migrate(thread, { dryRun: true });
    } catch (error) {
      if (!(error instanceof NgraphError)) throw error;
      refuse(thread, engine, error);
    }
  }
  return { checked, refused };
}
