import type { DiagnosticCode } from "../codes.ts";
import type { Diagnostic } from "../diagnostic.ts";

/**
 * Whether a text has improved. Errors of an earlier stage count before errors of a later one: a text with fixed syntax
 * is better although its unknown names are reported now. Warnings count last.
 */
export function isBetter(after: readonly Diagnostic[], before: readonly Diagnostic[]): boolean {
  const [a, b] = [countByStage(after), countByStage(before)];
  for (const [stage, count] of a.entries()) {
    const other = b[stage] ?? 0;
    if (count !== other) return count < other;
  }
  return false;
}

/** Whether there are errors that were not there before, and that the fixed findings cannot have hidden. */
export function introducesErrors(
  after: readonly Diagnostic[],
  before: readonly Diagnostic[],
  fixed: readonly Diagnostic[],
): boolean {
  // Math.min of nothing is infinite: without a fixed finding any new error counts.
  const hiding = fixed.reduce((least, finding) => Math.min(least, stageOf(finding)), Infinity);
  const known = new Map<string, number>();
  for (const item of before) known.set(keyOf(item), (known.get(keyOf(item)) ?? 0) + 1);
  return after.some((item) => {
    if (item.severity !== "error" || stageOf(item) > hiding) return false;
    const left = known.get(keyOf(item)) ?? 0;
    known.set(keyOf(item), left - 1);
    return left <= 0;
  });
}

function keyOf({ code, message }: Diagnostic): string {
  return `${code} ${message}`;
}

function countByStage(diagnostics: readonly Diagnostic[]): number[] {
  const counts = [0, 0, 0, 0];
  for (const item of diagnostics) {
    if (item.severity !== "info") counts[stageOf(item)] = (counts[stageOf(item)] ?? 0) + 1;
  }
  return counts;
}

/** 0 syntax, 1 names and types, 2 checks, 3 warnings. An error of one stage hides those of the next. */
function stageOf({ code, severity }: Diagnostic): number {
  if (severity !== "error") return 3;
  if (code.startsWith("NG0")) return 0;
  return code.startsWith("NG1") || FOUND_WHILE_BINDING.has(code) ? 1 : 2;
}

const FOUND_WHILE_BINDING: ReadonlySet<DiagnosticCode> = new Set<DiagnosticCode>([
  ...(["NG403", "NG408", "NG508", "NG509", "NG510", "NG511", "NG513", "NG514"] as const),
]);
