import { DIAGNOSTIC_CODES, type DiagnosticCode, type Severity } from "../codes.ts";
import type { Diagnostic, Place, TraceStep } from "../diagnostic.ts";
import type { SourceFile, Span } from "../source.ts";
import { formatTrace, formatTraceEnd, formatTraceOf } from "./trace.ts";

const LEVELS: Readonly<Record<Severity, string>> = { error: "error", warning: "warning", info: "note" };

export interface SarifOptions {
  /** Of this program. */
  readonly version: string;
  /** The findings that comments suppress: included with the reason. */
  readonly suppressed?: readonly { readonly diagnostic: Diagnostic; readonly reason: string }[];
  /** Where a node of a diagnostic's trace is declared. Without it code flows name nodes and have no places. */
  readonly placeOfNode?: (diagnostic: Diagnostic, node: string) => Place | undefined;
}

/** A SARIF 2.1.0 log of one run, for code scanning services. Traces are code flows, fixes are fixes. */
export function renderSarif(diagnostics: readonly Diagnostic[], options: SarifOptions): string {
  const suppressed = options.suppressed ?? [];
  const all = [...diagnostics, ...suppressed.map(({ diagnostic }) => diagnostic)];
  const codes = [...new Set(all.map((diagnostic) => diagnostic.code))].sort();
  const indexes = new Map(codes.map((code, index) => [code, index]));
  const write = (diagnostic: Diagnostic): object => result(diagnostic, indexes.get(diagnostic.code) ?? 0, options);
  const log = {
    $schema: "https://json.schemastore.org/sarif-2.1.0.json",
    version: "2.1.0",
    runs: [
      {
        tool: { driver: { name: "ngc", semanticVersion: options.version, rules: codes.map(rule) } },
        columnKind: "utf16CodeUnits",
        results: [
          ...diagnostics.map(write),
          ...suppressed.map(({ diagnostic, reason }) => ({
            ...write(diagnostic),
            suppressions: [{ kind: "inSource", justification: reason }],
          })),
        ],
      },
    ],
  };
  return JSON.stringify(log, null, 2);
}

function rule(code: DiagnosticCode): object {
  const { name, severity, title } = DIAGNOSTIC_CODES[code];
  return {
    id: code,
    name,
    shortDescription: { text: title },
    defaultConfiguration: { level: LEVELS[severity] },
    help: { text: `ngc explain ${code}` },
  };
}

function result(diagnostic: Diagnostic, ruleIndex: number, options: SarifOptions): object {
  const trace = diagnostic.trace ?? [];
  const traceText = formatTraceOf(diagnostic);
  const text = [
    diagnostic.message,
    ...(traceText === undefined ? [] : [`trace: ${traceText}`]),
    ...diagnostic.notes,
    ...(diagnostic.help === undefined ? [] : [`help: ${diagnostic.help}`]),
  ].join("\n");
  return {
    ruleId: diagnostic.code,
    ruleIndex,
    level: LEVELS[diagnostic.severity],
    message: { text },
    locations: [location(diagnostic.file, diagnostic.span)],
    relatedLocations: diagnostic.labels.map((label, index) => ({
      id: index,
      ...location(label.file, label.span),
      message: { text: label.message },
    })),
    ...(trace.length === 0 ? {} : { codeFlows: [codeFlow(diagnostic, trace, options)] }),
    fixes: diagnostic.fixes.map((fix) => ({
      description: { text: fix.title },
      artifactChanges: [
        {
          artifactLocation: artifact(diagnostic.file),
          replacements: fix.edits.map((edit) => ({
            deletedRegion: region(diagnostic.file, edit.span),
            insertedContent: { text: edit.text },
          })),
        },
      ],
    })),
  };
}

/** The run that shows the problem: a location for each node that ran, numbered by its step. */
function codeFlow(diagnostic: Diagnostic, trace: readonly TraceStep[], { placeOfNode }: SarifOptions): object {
  const locations = trace.flatMap(({ step, ran, chose }) =>
    ran.map((node) => {
      const choice = Object.hasOwn(chose, node) ? ` chooses ${chose[node]}` : "";
      const place = placeOfNode?.(diagnostic, node);
      return {
        executionOrder: step + 1,
        location: {
          ...(place === undefined ? {} : location(place.file, place.span)),
          logicalLocations: [{ name: node, kind: "node" }],
          message: { text: `step ${step}: ${node}${choice}` },
        },
      };
    }),
  );
  const end = formatTraceEnd(diagnostic);
  const last = {
    location: {
      ...location(diagnostic.file, diagnostic.span),
      message: { text: end === "" ? diagnostic.message : end },
    },
  };
  return { message: { text: formatTrace(trace) }, threadFlows: [{ locations: [...locations, last] }] };
}

function location(file: SourceFile, span: Span): object {
  return { physicalLocation: { artifactLocation: artifact(file), region: region(file, span) } };
}

function region(file: SourceFile, span: Span): object {
  const { start, end } = file.range(span);
  return { startLine: start.line, startColumn: start.column, endLine: end.line, endColumn: end.column };
}

/** A relative URI for a relative path; a `file:` URI otherwise. */
function artifact(file: SourceFile): { uri: string } {
  const path = file.path.replaceAll("\\", "/");
  const encoded = path.split("/").map(encodeURIComponent).join("/");
  if (path.startsWith("/")) return { uri: `file://${encoded}` };
  if (/^[A-Za-z]:\//.test(path)) return { uri: `file:///${encoded.replace("%3A", ":")}` };
  return { uri: encoded };
}
