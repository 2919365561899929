import { notProven } from "../../diagnostics/catalog/proofs.ts";
import type { DiagnosticCode } from "../../diagnostics/codes.ts";
import type { Diagnostic } from "../../diagnostics/diagnostic.ts";
import type { CheckContext } from "./check-context.ts";

/** A property that is neither proven nor refuted. */
export interface OpenProperty {
  readonly property: string;
  readonly why: string;
  /** Informational (a bound, a number): soundness does not depend on it. */
  readonly isMinor?: true;
  /** The graph is too large for a proof. Otherwise the property depends on unknown values. */
  readonly isLarge?: true;
}

/** The summary of all checks of a graph. */
export interface Verdict {
  readonly kind: "sound" | "unsound" | "not proven";
  /** `sound`, `unsound: …` or `not proven: …`. */
  readonly text: string;
  readonly open: readonly OpenProperty[];
  /** A finding refutes soundness, and not only an assertion or the absence of parallel writers. */
  readonly isRefuted: boolean;
}

/** Findings that refute soundness or an assertion. */
const REFUTES: ReadonlySet<DiagnosticCode> = new Set<DiagnosticCode>([
  ...(["NG201", "NG203", "NG204", "NG205", "NG208", "NG213", "NG301", "NG302", "NG303", "NG304"] as const),
  ...(["NG307", "NG309", "NG311", "NG316", "NG401", "NG501", "NG515"] as const),
]);

/** Of these, the findings that leave open whether the graph is sound. */
const OTHER_PROPERTIES: ReadonlySet<DiagnosticCode> = new Set<DiagnosticCode>(["NG213", "NG401"]);

/** Limit of the properties and reasons in the text of a verdict. */
const MAX_SHOWN = 3;

/**
 * Reports NG900 once for each reason. It is a warning if the graph is too large, and `info` if the property depends on
 * unknown values. Soundness is not reported as open if a finding refutes it.
 */
export function reportOpen(context: CheckContext, { isRefuted, open }: Verdict): void {
  const byReason = new Map<string, { readonly properties: Set<string>; isWarning: boolean }>();
  for (const { property, why, isMinor, isLarge } of open) {
    if (isRefuted && property === SOUNDNESS) continue;
    const key = isMinor === true ? `${why} ` : why;
    const known = byReason.get(key) ?? { properties: new Set<string>(), isWarning: false };
    known.properties.add(property);
    known.isWarning ||= isLarge === true;
    byReason.set(key, known);
  }
  for (const [why, { properties, isWarning }] of byReason) {
    context.report(
      notProven(context.graphPlace(), {
        properties: [...properties],
        why: why.trimEnd(),
        ...(isWarning ? { help: HELP } : { severity: "info" as const }),
      }),
    );
  }
}

const HELP =
  "fewer parallel branches with choices of their own, or a called graph for each of them, make a proof possible";

/** The property that NG310 proves. */
export const SOUNDNESS = "soundness";

/** @param undecided findings whose run may be impossible, because its conditions cannot be decided */
export function verdictOf(
  open: readonly OpenProperty[],
  diagnostics: readonly Diagnostic[],
  undecided: ReadonlySet<Diagnostic>,
): Verdict {
  const refuting = diagnostics.filter(
    (item) => REFUTES.has(item.code) && item.severity !== "info" && !undecided.has(item),
  );
  const [first] = refuting.toSorted((a, b) => Number(a.severity !== "error") - Number(b.severity !== "error"));
  if (first !== undefined) {
    const more = refuting.length > 1 ? `, and ${refuting.length - 1} more` : "";
    const isRefuted = refuting.some(({ code }) => !OTHER_PROPERTIES.has(code));
    return { kind: "unsound", text: `unsound: ${first.message} (${first.code}${more})`, open, isRefuted };
  }
  const major = open.filter((item) => item.isMinor !== true);
  if (major.length === 0) return { kind: "sound", text: "sound", open, isRefuted: false };
  const byReason = new Map<string, string[]>();
  for (const { property, why } of major) byReason.set(why, [...(byReason.get(why) ?? []), property]);
  const reasons = [...byReason].map(([why, properties]) => {
    const shown = properties.slice(0, MAX_SHOWN).join(", ");
    const more = properties.length > MAX_SHOWN ? ` and ${properties.length - MAX_SHOWN} more` : "";
    return `${shown}${more} (${why})`;
  });
  const more = reasons.length > MAX_SHOWN ? `; and ${reasons.length - MAX_SHOWN} more` : "";
  const text = `not proven: ${reasons.slice(0, MAX_SHOWN).join("; ")}${more}`;
  return { kind: "not proven", text, open, isRefuted: false };
}
