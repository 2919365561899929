import { sortDiagnostics, type Diagnostic, type Fix } from "../diagnostic.ts";
import { SourceFile } from "../source.ts";
import type { DiagnosticCode } from "../codes.ts";
import type { Position } from "../source.ts";
import { applyEdits, editsCollide, type Edit } from "./apply-edits.ts";
import { introducesErrors, isBetter } from "./compare-findings.ts";

/** A fix that was applied. */
export interface AppliedFix {
  readonly code: DiagnosticCode;
  readonly title: string;
  /** The place of the finding when it was fixed; earlier fixes may have moved the text. */
  readonly position: Position;
}

export interface FixedText {
  readonly text: string;
  readonly applied: readonly AppliedFix[];
  /** The findings of the fixed text. */
  readonly diagnostics: readonly Diagnostic[];
}

/** The most checks of one text; fixing stops after them. */
const MAX_CHECKS = 500;

/**
 * Applies suggested fixes that reduce the number of findings, in rounds: fixing one error lets the compiler report the
 * next. The text is checked after each round, and fixes that do not help are reverted. Of several fixes of one finding
 * the first is used. Findings of severity `info` are not fixed.
 *
 * @param check the findings of a text, all of them placed in it
 */
export function fixText(text: string, check: (text: string) => readonly Diagnostic[]): FixedText {
  const applied: AppliedFix[] = [];
  let checks = 0;
  let current = { text, found: check(text) };

  /** Applies these fixes together, or the part of them that helps. */
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
    // The first half has moved the places of the second, which is left for the next round.
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

/** One fix for each finding, in the order of the text, without colliding edits. */
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

/** The most fixes of one round, because all are compared with each other. */
const MAX_AT_ONCE = 200;
