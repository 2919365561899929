import type { CompileResult } from "../../compiler/compile.ts";
import type { Table } from "../../runtime/table/table.ts";
import type { Output } from "../output/output.ts";
import { hasErrors } from "../../diagnostics/diagnostic.ts";
import { CommandError } from "../process/command-error.ts";
import { compileSource } from "./compile-source.ts";
import { findSources } from "./source-files.ts";
import { calledBounds, loadGraphsWithSource } from "./load-graph.ts";

/** A graph of a server, and its source file. */
export interface ServedGraph {
  readonly table: Table;
  readonly file: string;
  /** What its picture states beside the table: facts of the source, findings. */
  readonly compiled: CompileResult;
}

/**
 * The graphs of the files of a server, which clients call by their names; `undefined` if a file is invalid. Of a file, they are the graphs
 * that no other graph of it calls.
 *
 * @throws CommandError for two graphs with one name
 */
export async function loadServedGraphs(
  files: readonly string[],
  output: Output,
): Promise<readonly ServedGraph[] | undefined> {
  const graphs = new Map<string, ServedGraph>();
  for (const file of files) {
    const loaded = await loadGraphsWithSource(file, output);
    if (loaded === undefined) return undefined;
    for (const table of loaded.tables) {
      const other = graphs.get(table.name);
      if (other !== undefined) {
        throw new CommandError(`${other.file} and ${file} both have a graph \`${table.name}\``, {
          help: "serve graphs with different names",
        });
      }
      graphs.set(table.name, { table, file, compiled: loaded.compiled });
    }
  }
  return [...graphs.values()];
}

/**
 * All graphs of the files in the working directory that no other graph calls. Files with errors are left out, which is said.
 *
 * @throws CommandError when there is neither a graph nor a plan
 */
export async function findServedGraphs(output: Output): Promise<readonly ServedGraph[]> {
  const graphs = new Map<string, ServedGraph>();
  let hasPlan = false;
  for (const file of findSources(["."])) {
    const compiled = await compileSource(file);
    if (hasErrors(compiled.diagnostics)) {
      output.note(`${file} has errors and is left out: ngc check ${file}`);
      continue;
    }
    hasPlan ||= compiled.plans.length > 0;
    const called = calledBounds(compiled);
    for (const { name, bound } of compiled.graphs) {
      const table = compiled.tables.get(name);
      if (table?.kind !== "graph" || called.has(bound)) continue;
      const first = graphs.get(name);
      if (first === undefined) graphs.set(name, { table, file, compiled });
      else output.note(`the graph \`${name}\` of ${file} is left out: ${first.file} has one of this name`);
    }
  }
  // The studio also shows the recorded runs of plans.
  if (graphs.size > 0 || hasPlan) return [...graphs.values()];
  throw new CommandError("no graph in the files of this directory can be served", {
    help: "`ngc new NAME` makes a project with a graph",
  });
}
