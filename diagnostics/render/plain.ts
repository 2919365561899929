import type { Diagnostic } from "../diagnostic.ts";
import { printable } from "./display-text.ts";
import { selectDiagnostics } from "./select.ts";

/**
 * A line a diagnostic, `file(line,col): error NG101: message`, which the problem matchers of editors read as the
 * TypeScript compiler's output.
 */
export function renderPlain(diagnostics: readonly Diagnostic[], options: { readonly max?: number } = {}): string {
  const { shown, hidden } = selectDiagnostics(diagnostics, options.max);
  const lines = shown.map((diagnostic) => {
    const { line, column } = diagnostic.file.position(diagnostic.span.start);
    const message = printable(diagnostic.message.replace(/\s*\n\s*/g, " "));
    return `${printable(diagnostic.file.path)}(${line},${column}): ${diagnostic.severity} ${diagnostic.code}: ${message}`;
  });
  if (hidden > 0) lines.push(`${hidden} more not shown (show them with --max-diagnostics ${diagnostics.length})`);
  return lines.join("\n");
}
