import type { Diagnostic } from "../diagnostic.ts";
import { printable } from "./display-text.ts";
import { selectDiagnostics } from "./select.ts";
import { formatTraceOf } from "./trace.ts";

/**
 * A line for each diagnostic, `file(line,col): error NG101: message`, which the problem matchers of editors read as the
 * TypeScript compiler's output. Its label, trace, notes and help follow, indented by two spaces, on a line each.
 */
export function renderPlain(diagnostics: readonly Diagnostic[], options: { readonly max?: number } = {}): string {
  const { shown, hidden } = selectDiagnostics(diagnostics, options.max);
  const lines = shown.flatMap((diagnostic) => {
    const { line, column } = diagnostic.file.position(diagnostic.span.start);
    const place = `${printable(diagnostic.file.path)}(${line},${column})`;
    const trace = formatTraceOf(diagnostic);
    return [
      `${place}: ${diagnostic.severity} ${diagnostic.code}: ${oneLine(diagnostic.message)}`,
      ...(diagnostic.label === "" ? [] : [`  label: ${oneLine(diagnostic.label)}`]),
      ...(trace === undefined ? [] : [`  trace: ${oneLine(trace)}`]),
      ...diagnostic.notes.map((note) => `  note: ${oneLine(note)}`),
      ...(diagnostic.help === undefined ? [] : [`  help: ${oneLine(diagnostic.help)}`]),
    ];
  });
  if (hidden > 0) lines.push(`${hidden} more not shown (show them with --max-diagnostics ${diagnostics.length})`);
  return lines.join("\n");
}

function oneLine(text: string): string {
  return printable(text.replace(/\s*\n\s*/g, " "));
}
