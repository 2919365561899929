import { defineCommand } from "../start/define-command.ts";
import { addExecutionOptions, type ExecutionOptions } from "../run/execution-options.ts";
import { EXIT } from "../process/exit-codes.ts";
import { CommandError } from "../process/command-error.ts";
import { loadGraph } from "../sources/load-graph.ts";
import { withStore } from "../threads/open-store.ts";
import type { ServedGraph } from "../mcp/serve-graphs.ts";

export const mcpCommand = defineCommand<ExecutionOptions>({
  usage: "mcp <file...>",
  summary: "serve graphs as tools of an MCP server on standard input and output",
  configure: addExecutionOptions,
  examples: [
    "ngc mcp support.ngraph refunds.ngraph",
    "ngc mcp support.ngraph --store sqlite:runs.db --allow net,model",
  ],
  run: async (files, options, output) => {
    const graphs: ServedGraph[] = [];
    for (const file of files) {
      const table = await loadGraph(file, undefined, output);
      if (table === undefined) return EXIT.invalid;
      const other = graphs.find((graph) => graph.table.name === table.name);
      if (other !== undefined) {
        throw new CommandError(`${other.file} and ${file} both have a graph \`${table.name}\``, {
          help: "serve graphs with different names",
        });
      }
      graphs.push({ table, file });
    }
    const { serveGraphs } = await import("../mcp/serve-graphs.ts");
    return withStore(options.store, { mustExist: false }, (store) => serveGraphs(graphs, { store, options, output }));
  },
});
