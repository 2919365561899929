import type { Diagnostic } from "../diagnostic.ts";

/** The default of `--max-diagnostics`. */
export const DEFAULT_MAX_DIAGNOSTICS = 50;

/**
 * The diagnostics to print, in their order, and how many are left out. Where not all fit, errors stay before warnings
 * and warnings before information: fifty remarks must not hide the one error.
 */
export function selectDiagnostics(
  diagnostics: readonly Diagnostic[],
  max: number = DEFAULT_MAX_DIAGNOSTICS,
): { readonly shown: readonly Diagnostic[]; readonly hidden: number } {
  if (diagnostics.length <= max) return { shown: diagnostics, hidden: 0 };
  const chosen = new Set<Diagnostic>();
  for (const severity of ["error", "warning", "info"] as const) {
    for (const diagnostic of diagnostics) {
      if (chosen.size >= max) break;
      if (diagnostic.severity === severity) chosen.add(diagnostic);
    }
  }
  return { shown: diagnostics.filter((item) => chosen.has(item)), hidden: diagnostics.length - chosen.size };
}
