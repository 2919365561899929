import { printable } from "../../diagnostics/render/index.ts";
import { CommandError } from "../process/command-error.ts";
import { parseCount } from "../run/parse-values.ts";
import { defineCommand } from "../start/define-command.ts";

interface ToolsOptions {
  readonly check?: boolean;
  readonly timeout: number;
}

export const toolsCommand = defineCommand<ToolsOptions>({
  usage: "tools <action> [directory]",
  summary: "sync: write the schemas of the MCP servers' tools to ngraph.lock.json, which calls are checked against",
  configure: (command) => {
    for (const argument of command.registeredArguments.slice(0, 1)) argument.argChoices = ["sync"];
    command
      .option("--check", "write nothing; exit 1 when a file is stale or missing")
      .option("--timeout <seconds>", "time for each server", parseCount("--timeout", 1), 30);
  },
  examples: ["ngc tools sync", "ngc tools sync services/shop --check"],
  run: async ([action = "", directory = "."], options, output) => {
    if (action !== "sync") {
      throw new CommandError(`unknown action \`${printable(action)}\` of \`ngc tools\``, {
        help: "`ngc tools sync` is the only one",
      });
    }
    const { syncTools } = await import("../tools/sync-tools.ts");
    return syncTools(directory, options, output);
  },
});
