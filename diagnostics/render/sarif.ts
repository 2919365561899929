import { DIAGNOSTIC_CODES, type DiagnosticCode, type Severity } from "../codes.ts";
import type { Diagnostic } from "../diagnostic.ts";
import type { SourceFile, Span } from "../source.ts";
import { formatTrace } from "./trace.ts";

const LEVELS: Readonly<Record<Severity, string>> = { error: "error", warning: "warning", info: "note" };

/** A SARIF 2.1.0 log of one run, for code scanning services. `version` is the version of this program. */
export function renderSarif(diagnostics: readonly Diagnostic[], options: { readonly version: string }): string {
  const codes = [...new Set(diagnostics.map((diagnostic) => diagnostic.code))].sort();
  const log = {
    $schema: "https://json.schemastore.org/sarif-2.1.0.json",
    version: "2.1.0",
    runs: [
      {
        tool: { driver: { name: "ngc", semanticVersion: options.version, rules: codes.map(rule) } },
        columnKind: "utf16CodeUnits",
        results: diagnostics.map((diagnostic) => result(diagnostic, codes.indexOf(diagnostic.code))),
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

function result(diagnostic: Diagnostic, ruleIndex: number): object {
  const { trace } = diagnostic;
  const text = [
    diagnostic.message,
    ...(trace === undefined || trace.length === 0 ? [] : [`trace: ${formatTrace(trace)}`]),
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
