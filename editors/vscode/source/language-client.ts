/** The client of `ngc lsp --stdio`. */
import * as vscode from "vscode";
import { LanguageClient } from "vscode-languageclient/node";
import type { Program } from "./find-ngc.ts";

export const LANGUAGES = ["ngraph", "ngraph-yaml"] as const;

export function createClient({ command, args }: Program, log: vscode.LogOutputChannel): LanguageClient {
  const cwd = vscode.workspace.workspaceFolders?.[0]?.uri.fsPath;
  return new LanguageClient(
    "ngraph",
    "ngraph",
    {
      command,
      args: [...args, "lsp", "--stdio"],
      options: { shell: false, ...(cwd === undefined ? {} : { cwd }) },
    },
    {
      documentSelector: LANGUAGES.map((language) => ({ scheme: "file", language })),
      outputChannel: log,
    },
  );
}
