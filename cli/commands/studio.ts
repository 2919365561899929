import { defineCommand } from "../start/define-command.ts";
import { findServedGraphs, loadServedGraphs } from "../sources/load-served-graphs.ts";
import { configureServer, serveGraphs, type ServeOptions } from "./serve.ts";

export const studioCommand = defineCommand<ServeOptions>({
  usage: "studio [file...]",
  summary: "serve a page on which people watch, answer and repair runs",
  configure: (command) => configureServer(command, 0),
  examples: ["ngc studio", "ngc studio support.ngraph --port 8080"],
  run: async (files, options, output) => {
    const graphs = files.length === 0 ? await findServedGraphs(output) : await loadServedGraphs(files, output);
    return serveGraphs(graphs, { ...options, studio: true }, output);
  },
});
