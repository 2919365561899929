import { sortDiagnostics, type Diagnostic, type Fix } from "../diagnostic.ts";
import { SourceFile } from "../source.ts";
import type { DiagnosticCode } from "../codes.ts";
import type { Position } from "../source.ts";
import { applyEdits, editsCollide, type Edit } from "./apply-edits.ts";
import { introducesErrors, isBetter } from "./compare-findings.ts";

/** A fix that was made. */
export interface AppliedFix {
  readonly code: DiagnosticCode;
  readonly title: string;
  /** Where the finding stood when it was fixed; fixes made before it may have moved the text. */
  readonly position: Position;
}

export interface FixedText {
  readonly text: string;
  readonly applied: readonly AppliedFix[];
  /** What is left, of the fixed text. */
  readonly diagnostics: readonly Diagnostic[];
}

/** Checks of one text in all: a file that needs more is left as far as it has got. */
const MAX_CHECKS = 500;

/**
 * Makes the fixes that findings offer, again and again until nothing is left to fix: mending one error lets the compiler see the
 * next. What is made never leaves the text worse: after each round it is checked again, and fixes that do not help are taken back.
 * Of several fixes of one finding the first counts; remarks (information) are left alone.
 *
 * @param check the findings of a text, all of them placed in it
 */
export function fixText(text: string, check: (text: string) => readonly Diagnostic[]): FixedText {
  const applied: AppliedFix[] = [];
  let checks = 0;
  let current = { text, found: check(text) };

  /** Makes these fixes together, or as many of them as help. */
  const attempt = (batch: readonly Candidate[]): boolean => {
    if (batch.length === 0 || checks >= MAX_CHECKS) return false;
    checks++;
    const changed = applyEdits(
      current.text,
      batch.flatMap(({ edits }) => edits),
    );
    const found = check(changed);
    const fixed = batch.map(({ diagnostic }) => diagnostic);
    if (changed !== current.text && isBetter(found, current.found) && !introducesErrors(found, current.found, fixed)) {
      const source = new SourceFile("", current.text);
      for (const { diagnostic, fix } of batch) {
        applied.push({ code: diagnostic.code, title: fix.title, position: source.position(diagnostic.span.start) });
      }
      current = { text: changed, found };
      return true;
    }
    if (batch.length === 1) return false;
    const middle = batch.length >> 1;
    // Where the first half was made, the places of the second have moved: it comes in the next round.
    return attempt(batch.slice(0, middle)) || attempt(batch.slice(middle));
  };

  while (attempt(chooseFixes(current.found))) {
    // Each round leaves fewer findings, so this ends.
  }
  return { text: current.text, applied, diagnostics: current.found };
}

interface Candidate {
  readonly diagnostic: Diagnostic;
  readonly fix: Fix;
  readonly edits: readonly Edit[];
}

/** One fix a finding, in the order of the text, as far as their edits do not collide. */
function chooseFixes(diagnostics: readonly Diagnostic[]): Candidate[] {
  const chosen: Candidate[] = [];
  const taken: Edit[] = [];
  for (const diagnostic of sortDiagnostics(diagnostics)) {
    const [fix] = diagnostic.fixes;
    if (diagnostic.severity === "info" || fix === undefined || fix.edits.length === 0) continue;
    if (fix.edits.some((edit) => taken.some((other) => editsCollide(edit, other)))) continue;
    chosen.push({ diagnostic, fix, edits: fix.edits });
    for (const each of fix.edits) taken.push(each);
    if (chosen.length >= MAX_AT_ONCE) break;
  }
  return chosen;
}

/** Fixes of one round: all are compared with all. The next round has the rest. */
const MAX_AT_ONCE = 200;
