import { hasErrors } from "../../diagnostics/diagnostic.ts";
import { findSimilar, listNames } from "../../diagnostics/similar.ts";
import type { BoundGraph } from "../../compiler/bind/bound-graph.ts";
import type { BoundPlan } from "../../compiler/bind/plan/bound-plan.ts";
import type { CompileResult } from "../../compiler/compile.ts";
import type { PlanTable } from "../../runtime/table/plan-table.ts";
import type { Table } from "../../runtime/table/table.ts";
import { diagnosticsDocument } from "../documents/check-document.ts";
import { CommandError } from "../process/command-error.ts";
import { compileSource } from "./compile-source.ts";
import type { Output } from "../output/output.ts";
import { withKnownOrder } from "./plan-order.ts";
import { printDiagnostics } from "../output/print-diagnostics.ts";

/**
 * The table of one graph or plan of a file. The default is the graph or plan that no other one of the file calls. The table of a
 * plan has the order that `ngc plan --optimize` stored. If the file is invalid, prints its diagnostics (with `--json`, the document of `ngc check`) and returns `undefined`.
 *
 * @throws CommandError when the file cannot be read or has no such graph or plan
 */
export async function loadGraphOrPlan(
  file: string,
  name: string | undefined,
  output: Output,
  choice?: string,
): Promise<Table | PlanTable | undefined> {
  return (await loadCompiled(file, name, "graph or plan", output, choice))?.table;
}

/** As `loadGraphOrPlan`, with all that the compiler knows about the file. */
export async function loadGraphOrPlanWithSource(
  file: string,
  name: string | undefined,
  output: Output,
  choice?: string,
): Promise<{ readonly table: Table | PlanTable; readonly compiled: CompileResult } | undefined> {
  return loadCompiled(file, name, "graph or plan", output, choice);
}

/**
 * The graphs of a file that no other graph or plan of the file calls, with all that the compiler knows about the file. If the file is
 * invalid, prints its diagnostics and returns `undefined`, as `loadGraphOrPlan` does.
 *
 * @throws CommandError when the file cannot be read or has no graph
 */
export async function loadGraphsWithSource(
  file: string,
  output: Output,
): Promise<{ readonly tables: readonly Table[]; readonly compiled: CompileResult } | undefined> {
  const compiled = await compileValid(file, output);
  if (compiled === undefined) return undefined;
  const graphs = new Map<string, Table>();
  for (const [name, table] of compiled.tables) if (table.kind === "graph") graphs.set(name, table);
  if (graphs.size === 0) throw new CommandError(`${file} contains no graph`);
  const tables = uncalledOf([...graphs.keys()], compiled).map((name) => graphs.get(name)!);
  return { tables, compiled };
}

/** The table of one graph of a file; see `loadGraphOrPlan`. */
export async function loadGraph(file: string, name: string | undefined, output: Output): Promise<Table | undefined> {
  const loaded = await loadCompiled(file, name, "graph", output);
  return loaded?.table.kind === "graph" ? loaded.table : undefined;
}

/** The bound graph of one graph of a file; see `loadGraphOrPlan`. */
export async function loadBoundGraph(
  file: string,
  name: string | undefined,
  output: Output,
  choice?: string,
): Promise<BoundGraph | undefined> {
  const loaded = await loadCompiled(file, name, "graph", output, choice);
  return loaded?.compiled.graphs.find((graph) => graph.name === loaded.table.name)?.bound;
}

/** The table of one plan of a file, with the order that was found for it; see `loadGraphOrPlan`. */
export async function loadPlan(file: string, name: string | undefined, output: Output): Promise<PlanTable | undefined> {
  const loaded = await loadCompiled(file, name, "plan", output);
  return loaded?.table.kind === "plan" ? loaded.table : undefined;
}

/**
 * The default graph or plan of a file: the only one, else the only one that no other graph or plan of the file calls.
 *
 * @throws CommandError when several remain
 */
function entryOf(names: readonly string[], compiled: CompileResult, file: string, how: string): string | undefined {
  if (names.length <= 1) return names[0];
  const entries = uncalledOf(names, compiled);
  if (entries.length === 1) return entries[0];
  throw new CommandError(`${file} contains several: ${listNames(entries)}`, {
    help: `choose one with ${how}`,
  });
}

/** Of the names of graphs and plans, those that no other graph or plan of the file calls; all of them if each is called. */
function uncalledOf(names: readonly string[], compiled: CompileResult): readonly string[] {
  const called = calledBounds(compiled);
  const uncalled = new Set<string>();
  for (const { name, bound } of [...compiled.graphs, ...compiled.plans]) if (!called.has(bound)) uncalled.add(name);
  const entries = names.filter((name) => uncalled.has(name));
  return entries.length === 0 ? names : entries;
}

/** What the graphs and plans of a file call. */
export function calledBounds({ graphs, plans }: CompileResult): ReadonlySet<BoundGraph | BoundPlan> {
  const callsOf = (bound: BoundGraph | BoundPlan) => [...bound.graphs, ...(bound.plans ?? [])];
  const called = new Set([...graphs, ...plans].flatMap(({ bound }) => callsOf(bound)));
  // A matrix over a run-time list is a plan of its own, which calls for its task.
  for (const bound of called) for (const each of callsOf(bound)) called.add(each);
  return called;
}

/** The graph with this earlier name (`was`), which a thread may contain. */
function formerlyNamed({ tables }: CompileResult, name: string): Table | PlanTable | undefined {
  return [...tables.values()].find((table) => table.kind === "graph" && table.was?.includes(name) === true);
}

/** Compiles a file. If it is invalid, prints its diagnostics and returns `undefined`. */
async function compileValid(file: string, output: Output): Promise<CompileResult | undefined> {
  const compiled = await compileSource(file);
  // `ngc check` prints the warnings: they do not concern the run.
  printDiagnostics(
    compiled.diagnostics.filter(({ severity }) => severity === "error"),
    {},
    output,
  );
  if (!hasErrors(compiled.diagnostics)) return compiled;
  if (output.json) output.document(await diagnosticsDocument([compiled]));
  return undefined;
}

type Wanted = "graph" | "plan" | "graph or plan";

async function loadCompiled(
  file: string,
  name: string | undefined,
  wanted: Wanted,
  output: Output,
  /** How the command line names a graph. */
  choice = "--graph",
): Promise<{ readonly table: Table | PlanTable; readonly compiled: CompileResult } | undefined> {
  const compiled = await compileValid(file, output);
  if (compiled === undefined) return undefined;
  const fits = (table: Table | PlanTable): boolean => wanted === "graph or plan" || table.kind === wanted;
  const names = [...compiled.tables].flatMap(([key, table]) => (fits(table) ? [key] : []));
  const wantedName = name ?? entryOf(names, compiled, file, choice) ?? "";
  const table = compiled.tables.get(wantedName) ?? formerlyNamed(compiled, wantedName);
  if (table !== undefined && fits(table)) {
    return { table: table.kind === "plan" ? withKnownOrder(table, file) : table, compiled };
  }
  if (name === undefined) throw new CommandError(`${file} contains no ${wanted}`);
  if (table !== undefined) throw new CommandError(`\`${name}\` of ${file} is a ${table.kind}, not a ${wanted}`);
  const similar = findSimilar(name, names);
  throw new CommandError(`${file} has no ${wanted} \`${name}\``, {
    help:
      similar !== undefined
        ? `a ${wanted} with a similar name exists: \`${similar}\``
        : names.length === 0
          ? `it contains no ${wanted}`
          : `it contains ${listNames(names)}`,
  });
}
