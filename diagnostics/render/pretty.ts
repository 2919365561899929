import type { Diagnostic } from "../diagnostic.ts";
import type { SourceFile } from "../source.ts";
import { codeFrame, lastLineOf, type Mark } from "./code-frame.ts";
import { printable } from "./display-text.ts";
import { selectDiagnostics } from "./select.ts";
import { ansiStyles, plainStyles, type Styles } from "./styles.ts";
import { formatTraceOf } from "./trace.ts";

export interface PrettyOptions {
  /** Paint with `ansiStyles`. */
  readonly color?: boolean;
  /** Paint with these instead. */
  readonly styles?: Styles;
  /** Print at most so many; default 50. */
  readonly max?: number;
  /** Longer source lines are cut around their marks; default 120 columns. */
  readonly maxLineWidth?: number;
}

/**
 * Reports for people: message, code frame with all labelled places, trace, notes and help. Ends without a line break;
 * empty when there is nothing to report.
 *
 * ```text
 * error[NG101]: unknown node `drafts`
 *   --> support.ngraph:12:11
 *    |
 * 12 |   start -> drafts
 *    |            ^^^^^^ no node has this name
 *    = help: a node with a similar name exists: `draft`
 * ```
 */
export function renderPretty(diagnostics: readonly Diagnostic[], options: PrettyOptions = {}): string {
  const { shown, hidden } = selectDiagnostics(diagnostics, options.max);
  const reports = shown.map((diagnostic) => renderOne(diagnostic, options));
  if (hidden > 0) reports.push(`${hidden} more not shown (show them with --max-diagnostics ${diagnostics.length})`);
  return reports.join("\n\n");
}

function renderOne(diagnostic: Diagnostic, options: PrettyOptions): string {
  const styles = options.styles ?? (options.color === true ? ansiStyles : plainStyles);
  const primary = styles[diagnostic.severity];
  const files = marksByFile(diagnostic);
  const gutterWidth = String(
    [...files].reduce((most, [file, marks]) => Math.max(most, lastLineOf(file, marks)), 0),
  ).length;
  const indent = " ".repeat(gutterWidth);

  const lines = [
    primary(`${diagnostic.severity}[${diagnostic.code}]`) + styles.strong(`: ${oneLine(diagnostic.message)}`),
  ];
  for (const [file, marks] of files) {
    const isOwn = file === diagnostic.file;
    const first = isOwn ? diagnostic.span : (marks[0]?.span ?? diagnostic.span);
    const { line, column } = file.position(first.start);
    lines.push(`${indent}${styles.gutter(isOwn ? "-->" : ":::")} ${printable(file.path)}:${line}:${column}`);
    // An empty file has no line to show.
    if (file.text === "") continue;
    lines.push(styles.gutter(`${indent} |`));
    lines.push(
      ...codeFrame(file, marks, { styles, primary, gutterWidth, maxWidth: Math.max(20, options.maxLineWidth ?? 120) }),
    );
  }
  const remark = (kind: string, text: string): void => {
    const [first = "", ...rest] = text.split("\n").map(printable);
    lines.push(`${indent} ${styles.gutter("=")} ${styles.strong(`${kind}:`)} ${first}`);
    for (const line of rest) lines.push(`${indent}   ${" ".repeat(kind.length + 2)}${line}`.trimEnd());
  };
  const trace = formatTraceOf(diagnostic);
  if (trace !== undefined) remark("trace", trace);
  for (const note of diagnostic.notes) remark("note", note);
  if (diagnostic.help !== undefined) remark("help", diagnostic.help);
  return lines.join("\n");
}

/** The diagnostic's own file first, then those of its labels as they come. */
function marksByFile(diagnostic: Diagnostic): Map<SourceFile, Mark[]> {
  const files = new Map<SourceFile, Mark[]>([
    [diagnostic.file, [{ span: diagnostic.span, message: oneLine(diagnostic.label), primary: true }]],
  ]);
  for (const label of diagnostic.labels) {
    const mark: Mark = { span: label.span, message: oneLine(label.message), primary: false };
    const there = files.get(label.file);
    if (there === undefined) files.set(label.file, [mark]);
    else there.push(mark);
  }
  return files;
}

function oneLine(text: string): string {
  return printable(text.replace(/\s*\n\s*/g, " "));
}
