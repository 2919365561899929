import type { CompileResult } from "../../compiler/compile.ts";
import type { Diagnostic } from "../../diagnostics/diagnostic.ts";
import { toJson } from "../../diagnostics/render/index.ts";
import { shownDiagnostics, uniqueDiagnostics } from "../output/print-diagnostics.ts";

/** The document of `ngc check --json` (interface.md). */
export async function diagnosticsDocument(compiled: readonly CompileResult[]): Promise<object> {
  const { summariseGraph, summarisePlan } = await import("../../compiler/check.ts");
  const all = uniqueDiagnostics(compiled.flatMap((result) => result.diagnostics));
  const count = (severity: Diagnostic["severity"]): number => all.filter((item) => item.severity === severity).length;
  return {
    version: 1,
    ok: count("error") === 0,
    errors: count("error"),
    warnings: count("warning"),
    graphs: compiled.flatMap(({ path, graphs, plans }) =>
      [...graphs.map(summariseGraph), ...plans.map(summarisePlan)].map((summary) => ({ ...summary, file: path })),
    ),
    diagnostics: toJson(shownDiagnostics(all, true)),
    suppressed: suppressedDocument(compiled),
  };
}

function suppressedDocument(compiled: readonly CompileResult[]): object[] {
  return compiled.flatMap(({ suppressed }) =>
    suppressed.map(({ diagnostic: { code, name, message, file, span }, reason }) => ({
      code,
      name,
      message,
      file: file.path,
      range: file.range(span),
      reason,
    })),
  );
}
