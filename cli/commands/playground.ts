import { defineCommand } from "../start/define-command.ts";
import { EXIT } from "../process/exit-codes.ts";
import { parseCount } from "../run/parse-values.ts";

export interface PlaygroundOptions {
  readonly port: number;
  readonly output?: string;
}

export const playgroundCommand = defineCommand<PlaygroundOptions>({
  usage: "playground",
  summary: "serve a page to write, check and run graphs in a browser",
  configure: (command) => {
    command
      .option("--port <n>", "the port; 0 chooses a free one", parseCount("--port", 0), 0)
      .option("-o, --output <directory>", "write the files of the page instead, for any server of static files");
  },
  examples: ["ngc playground", "ngc playground --port 8080", "ngc playground -o public"],
  run: async (_, options, output) => {
    const { servePlayground, writePlayground } = await import("../serve/playground-pages.ts");
    if (options.output === undefined) return servePlayground(options.port, output);
    writePlayground(options.output, output);
    return EXIT.ok;
  },
});
