import { DIAGNOSTIC_CODES, type DiagnosticCode, type Severity } from "./codes.ts";
import type { SourceFile, Span } from "./source.ts";

/** A place in a file. */
export interface Place {
  readonly file: SourceFile;
  readonly span: Span;
}

/** A further place that explains the primary one. */
export interface Label extends Place {
  readonly message: string;
}

/** A change that a tool may apply: every edit lies in the diagnostic's own file. Edits never overlap. */
export interface Fix {
  /** Imperative, lower case: "rename to `draft`". */
  readonly title: string;
  readonly edits: readonly { readonly span: Span; readonly text: string }[];
}

/** One super-step of a run that shows the problem. */
export interface TraceStep {
  readonly step: number;
  /** Of the first step: the trace begins at `finally`, not at `start`. */
  readonly entry?: "finally";
  readonly ran: readonly string[];
  /** Which way a choice went: node -> the arm, in source form. */
  readonly chose: Readonly<Record<string, string>>;
  /** Barrier id -> the members that have signalled after this step. */
  readonly barriers: Readonly<Record<string, readonly string[]>>;
}

/**
 * A finding about a source text. `message` states the problem (lower case, no full stop, names in
 * backticks), `label` explains the primary span, `help` states the change that fixes it.
 */
export interface Diagnostic extends Place {
  readonly code: DiagnosticCode;
  /** Stable kebab-case name of the code. */
  readonly name: string;
  readonly severity: Severity;
  readonly message: string;
  /** Text under the primary span; may be empty. */
  readonly label: string;
  readonly labels: readonly Label[];
  readonly notes: readonly string[];
  readonly help?: string;
  readonly fixes: readonly Fix[];
  readonly trace?: readonly TraceStep[];
  /** How the run of `trace` ends, in a few words: "stuck: publish has 1 of 2 (waits for rewrite)". */
  readonly traceEnd?: string;
}

export interface DiagnosticDetails {
  readonly label?: string;
  readonly labels?: readonly Label[];
  readonly notes?: readonly string[];
  readonly help?: string | undefined;
  readonly fixes?: readonly Fix[];
  readonly trace?: readonly TraceStep[];
  readonly traceEnd?: string | undefined;
  /** Overrides the severity of the code where the catalog has two of them. */
  readonly severity?: Severity;
}

/** Builds a diagnostic. Only catalog functions (`diagnostics/catalog/`) call this. */
export function diagnostic(
  code: DiagnosticCode,
  place: Place,
  message: string,
  details: DiagnosticDetails = {},
): Diagnostic {
  const { name, severity } = DIAGNOSTIC_CODES[code];
  return {
    code,
    name,
    severity: details.severity ?? severity,
    message,
    file: place.file,
    span: place.span,
    label: details.label ?? "",
    labels: details.labels ?? [],
    notes: details.notes ?? [],
    ...(details.help === undefined ? {} : { help: details.help }),
    fixes: details.fixes ?? [],
    ...(details.trace === undefined ? {} : { trace: details.trace }),
    ...(details.traceEnd === undefined ? {} : { traceEnd: details.traceEnd }),
  };
}

/** Errors first decide; a list without one is a valid file. */
export function hasErrors(diagnostics: readonly Diagnostic[]): boolean {
  return diagnostics.some((item) => item.severity === "error");
}

/** Sorted as they are printed: by file, then position, then code. Does not change its argument. */
export function sortDiagnostics(diagnostics: readonly Diagnostic[]): Diagnostic[] {
  return [...diagnostics].sort(
    (a, b) =>
      (a.file.path < b.file.path ? -1 : a.file.path > b.file.path ? 1 : 0) ||
      a.span.start - b.span.start ||
      a.span.end - b.span.end ||
      (a.code < b.code ? -1 : a.code > b.code ? 1 : 0),
  );
}
