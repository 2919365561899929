import { defineCommand } from "../start/define-command.ts";
import { addExecutionOptions, type ExecutionOptions } from "../run/execution-options.ts";
import { EXIT } from "../process/exit-codes.ts";
import { loadServedGraphs } from "../sources/load-served-graphs.ts";
import { withStore } from "../threads/open-store.ts";

export const mcpCommand = defineCommand<ExecutionOptions>({
  usage: "mcp <file...>",
  summary: "serve graphs as tools of an MCP server on standard input and output",
  configure: addExecutionOptions,
  examples: [
    "ngc mcp support.ngraph refunds.ngraph",
    "ngc mcp support.ngraph --store sqlite:runs.db --allow net,model",
  ],
  run: async (files, options, output) => {
    const graphs = await loadServedGraphs(files, output);
    if (graphs === undefined) return EXIT.invalid;
    const { serveGraphs } = await import("../mcp/serve-graphs.ts");
    return withStore(options.store, { mustExist: false }, (store) => serveGraphs(graphs, { store, options, output }));
  },
});
