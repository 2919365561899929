import type { Diagnostic as ProtocolDiagnostic, DiagnosticRelatedInformation } from "vscode-languageserver-protocol";
import type { Diagnostic, Place } from "../diagnostics/diagnostic.ts";
import { readSyntax } from "../compiler/load/read-syntax.ts";
import type { CheckedDocument } from "./document.ts";
import { toRange } from "./positions.ts";

/** How diagnostics name other files and their pages. */
export interface Links {
  /** The URI of a file that a finding names. */
  uriOf(path: string): string;
  /** The URI of the page of a code; `undefined` if the page is not installed. */
  pageOf(code: string): string | undefined;
}

/** `DiagnosticSeverity` of the protocol. */
const SEVERITY = { error: 1, warning: 2, info: 3 } as const;

/** The findings of a document. Errors of a file that it imports are placed at the import. */
export function findDiagnostics(checked: CheckedDocument, links: Links): ProtocolDiagnostic[] {
  const { document, result } = checked;
  const own: ProtocolDiagnostic[] = [];
  const foreign = new Map<string, Diagnostic[]>();
  for (const each of result.diagnostics) {
    if (each.file.path === document.path) own.push(toProtocol(each, links));
    else {
      const found = foreign.get(each.file.path);
      if (found === undefined) foreign.set(each.file.path, [each]);
      else found.push(each);
    }
  }
  for (const [path, found] of foreign) own.push(ofImport(checked, path, found, links));
  return own;
}

/** The diagnostic in the shape of the protocol: labels and their places become related information. */
export function toProtocol(diagnostic: Diagnostic, links: Links): ProtocolDiagnostic {
  const { code, severity, message, label, labels, notes, help, traceEnd } = diagnostic;
  const lines = [
    label === "" ? message : `${message}: ${label}`,
    ...notes.map((note) => `note: ${note}`),
    ...(traceEnd === undefined ? [] : [`run: ${traceEnd}`]),
    ...(help === undefined ? [] : [`help: ${help}`]),
  ];
  const page = links.pageOf(code);
  return {
    range: toRange(diagnostic.file, diagnostic.span),
    severity: SEVERITY[severity],
    code,
    source: "ngraph",
    message: lines.join("\n"),
    ...(page === undefined ? {} : { codeDescription: { href: page } }),
    ...(labels.length === 0 ? {} : { relatedInformation: labels.map((each) => related(each, each.message, links)) }),
  };
}

function related(place: Place, message: string, links: Links): DiagnosticRelatedInformation {
  return { location: { uri: links.uriOf(place.file.path), range: toRange(place.file, place.span) }, message };
}

function ofImport(
  { document, source }: CheckedDocument,
  path: string,
  found: readonly Diagnostic[],
  links: Links,
): ProtocolDiagnostic {
  const { items } = readSyntax(document.text, document.path, document.spelling).file;
  const name = path.slice(path.lastIndexOf("/") + 1);
  const declaration = items.find((item) => item.kind === "Import" && item.from.value.endsWith(name));
  const span = declaration?.kind === "Import" ? declaration.from.span : { start: 0, end: 0 };
  const first = found[0];
  return {
    range: toRange(source, span),
    severity: found.some(({ severity }) => severity === "error") ? SEVERITY.error : SEVERITY.warning,
    source: "ngraph",
    message: `${name} has ${found.length === 1 ? "a finding" : `${found.length} findings`}: ${first?.message ?? ""}`,
    relatedInformation: found.map((each) => related(each, each.message, links)),
  };
}
