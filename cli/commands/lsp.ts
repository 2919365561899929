import { CommandError } from "../process/command-error.ts";
import { EXIT } from "../process/exit-codes.ts";
import { defineCommand } from "../start/define-command.ts";

export const lspCommand = defineCommand<{ readonly stdio?: boolean }>({
  usage: "lsp",
  summary: "serve editors: the language server protocol on standard input and output",
  configure: (command) => {
    command.option("--stdio", "use standard input and output (the only transport)");
  },
  examples: ["ngc lsp --stdio"],
  run: async (_, options) => {
    if (options.stdio !== true) throw new CommandError("name the transport", { help: "ngc lsp --stdio" });
    const { serveEditor } = await import("../editor/serve-editor.ts");
    const end = await serveEditor();
    if (end.kind === "exit") return end.isShutDown ? EXIT.ok : EXIT.failed;
    throw new CommandError(`standard input is not the language server protocol: ${end.reason}`, {
      help: "an editor starts this command; docs/editors.md describes the configuration",
    });
  },
});
