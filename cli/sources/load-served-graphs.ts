import type { Table } from "../../runtime/table/table.ts";
import type { Output } from "../output/output.ts";
import { CommandError } from "../process/command-error.ts";
import { loadGraph } from "./load-graph.ts";

/** A graph of a server, and its source file. */
export interface ServedGraph {
  readonly table: Table;
  readonly file: string;
}

/**
 * The graphs of the files of a server, which clients call by their names; `undefined` if one is invalid.
 *
 * @throws CommandError for two graphs with one name
 */
export async function loadServedGraphs(
  files: readonly string[],
  output: Output,
): Promise<readonly ServedGraph[] | undefined> {
  const graphs: ServedGraph[] = [];
  for (const file of files) {
    const table = await loadGraph(file, undefined, output);
    if (table === undefined) return undefined;
    const other = graphs.find((graph) => graph.table.name === table.name);
    if (other !== undefined) {
      throw new CommandError(`${other.file} and ${file} both have a graph \`${table.name}\``, {
        help: "serve graphs with different names",
      });
    }
    graphs.push({ table, file });
  }
  return graphs;
}
