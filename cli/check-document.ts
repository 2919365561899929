import type { CompileResult } from "../compiler/compile.ts";
import type { DiagnosticCode } from "../diagnostics/codes.ts";
import type { Diagnostic } from "../diagnostics/diagnostic.ts";
import { toJson } from "../diagnostics/render/index.ts";
import { shownDiagnostics, uniqueDiagnostics } from "./print-diagnostics.ts";

/** Information that says what was proven: part of a graph's entry, not of the list of diagnostics. */
const PROOFS: ReadonlySet<DiagnosticCode> = new Set(["NG207", "NG210", "NG214", "NG310", "NG605", "NG609"]);

/** The document of `ngc check --json` (interface.md). */
export function diagnosticsDocument(compiled: readonly CompileResult[]): object {
  const all = uniqueDiagnostics(compiled.flatMap((result) => result.diagnostics));
  const count = (severity: Diagnostic["severity"]): number => all.filter((item) => item.severity === severity).length;
  return {
    version: 1,
    ok: count("error") === 0,
    errors: count("error"),
    warnings: count("warning"),
    graphs: compiled.flatMap(graphEntries),
    diagnostics: toJson(shownDiagnostics(all, true).filter((item) => !PROOFS.has(item.code))),
  };
}

function graphEntries(result: CompileResult): object[] {
  return result.graphs.map(({ bound, table }) => {
    const { start, end } = bound.declaration.span;
    const proofs = result.diagnostics.filter(
      (item) => PROOFS.has(item.code) && item.file === bound.file && item.span.start >= start && item.span.end <= end,
    );
    return {
      name: bound.name,
      kind: "graph",
      file: bound.file.path,
      digest: table?.digest ?? null,
      nodes: bound.nodes.length,
      edges: bound.edges.length,
      effects: table?.effects ?? [],
      proofs: proofs.map(({ code, message }) => ({ code, message })),
    };
  });
}
