import { compile, type CompileResult } from "../../compiler/compile.ts";
import { memoryHost } from "../../compiler/index.ts";
import type { PlanTable } from "../../runtime/table/plan-table.ts";

export function compilePlan(
  text: string,
  path = "plan.ngraph",
  files: Readonly<Record<string, string>> = {},
): CompileResult {
  return compile(text, { path, supports: ["plan"], host: memoryHost(files) });
}

/** The table of the first plan; throws the findings of a text with errors. */
export function planTable(text: string, path?: string, files?: Readonly<Record<string, string>>): PlanTable {
  const { plans, diagnostics } = compilePlan(text, path, files);
  const table = plans[0]?.table;
  if (table === undefined) throw new Error(diagnostics.map(({ code, message }) => `${code}: ${message}`).join("\n"));
  return table;
}

/** `CODE: message` of all errors and warnings, in order. */
export function findingsOf(text: string, path?: string): readonly string[] {
  return compilePlan(text, path)
    .diagnostics.filter(({ severity }) => severity !== "info")
    .map(({ code, message }) => `${code}: ${message}`);
}
