import type { Severity } from "../codes.ts";
import type { Diagnostic } from "../diagnostic.ts";
import { selectDiagnostics } from "./select.ts";
import { formatTraceOf } from "./trace.ts";

const COMMANDS: Readonly<Record<Severity, string>> = { error: "error", warning: "warning", info: "notice" };

/** Workflow commands that GitHub Actions shows as annotations at the lines of a change. */
export function renderGithub(diagnostics: readonly Diagnostic[], options: { readonly max?: number } = {}): string {
  return selectDiagnostics(diagnostics, options.max)
    .shown.map((diagnostic) => {
      const { start, end } = diagnostic.file.range(diagnostic.span);
      const properties = {
        file: diagnostic.file.path.replaceAll("\\", "/"),
        line: start.line,
        col: start.column,
        endLine: end.line,
        // Theirs is inclusive, and only read where the annotation stays on one line.
        endColumn: end.line === start.line ? Math.max(start.column, end.column - 1) : end.column,
        title: `${diagnostic.code} ${diagnostic.name}`,
      };
      const list = Object.entries(properties).map(([key, value]) => `${key}=${escapeProperty(String(value))}`);
      const trace = formatTraceOf(diagnostic);
      const text = [
        diagnostic.message,
        ...(trace === undefined ? [] : [`trace: ${trace}`]),
        ...diagnostic.notes,
        ...(diagnostic.help === undefined ? [] : [`help: ${diagnostic.help}`]),
      ];
      return `::${COMMANDS[diagnostic.severity]} ${list.join(",")}::${escapeData(text.join("\n"))}`;
    })
    .join("\n");
}

function escapeData(text: string): string {
  return text.replaceAll("%", "%25").replaceAll("\r", "%0D").replaceAll("\n", "%0A");
}

function escapeProperty(text: string): string {
  return escapeData(text).replaceAll(":", "%3A").replaceAll(",", "%2C");
}
