import type { DiagnosticCode, Severity } from "../codes.ts";
import type { Diagnostic, TraceStep } from "../diagnostic.ts";
import type { Range } from "../source.ts";

/** A diagnostic as every `--json` document shows it (interface.md). Lines and columns from 1, `end` exclusive. */
export interface DiagnosticJson {
  readonly code: DiagnosticCode;
  readonly name: string;
  readonly severity: Severity;
  readonly message: string;
  readonly file: string;
  readonly range: Range;
  /** The text under the primary range; may be empty. */
  readonly label: string;
  readonly labels: readonly { readonly file: string; readonly range: Range; readonly message: string }[];
  readonly notes: readonly string[];
  readonly help: string | null;
  readonly fixes: readonly {
    readonly title: string;
    readonly edits: readonly { readonly range: Range; readonly text: string }[];
  }[];
  readonly trace: readonly TraceStep[];
  /** How the run of `trace` ends. */
  readonly traceEnd: string | null;
  /** The page about the code, inside the package. */
  readonly url: string;
}

/** All diagnostics as plain data. */
export function toJson(diagnostics: readonly Diagnostic[]): DiagnosticJson[] {
  return diagnostics.map((diagnostic) => ({
    code: diagnostic.code,
    name: diagnostic.name,
    severity: diagnostic.severity,
    message: diagnostic.message,
    file: diagnostic.file.path,
    range: diagnostic.file.range(diagnostic.span),
    label: diagnostic.label,
    labels: diagnostic.labels.map((label) => ({
      file: label.file.path,
      range: label.file.range(label.span),
      message: label.message,
    })),
    notes: diagnostic.notes,
    help: diagnostic.help ?? null,
    fixes: diagnostic.fixes.map((fix) => ({
      title: fix.title,
      edits: fix.edits.map((edit) => ({ range: diagnostic.file.range(edit.span), text: edit.text })),
    })),
    trace: diagnostic.trace ?? [],
    traceEnd: diagnostic.traceEnd ?? null,
    url: pageOf(diagnostic.code),
  }));
}

/** The path of the page of a code, relative to the root of the package. */
export function pageOf(code: DiagnosticCode): string {
  return `docs/diagnostics/${code}.md`;
}
