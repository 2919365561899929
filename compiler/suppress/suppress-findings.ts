import { suppressedError, unusedSuppression } from "../../diagnostics/catalog/suppressions.ts";
import type { DiagnosticCode } from "../../diagnostics/codes.ts";
import { hasErrors, sortDiagnostics, type Diagnostic, type Fix } from "../../diagnostics/diagnostic.ts";
import type { Span } from "../../diagnostics/source.ts";
import type * as Ast from "../../grammar/ast.ts";
import type { Suppression, Suppressions } from "./read-suppressions.ts";

/** A finding that a comment in the text suppresses. */
export interface SuppressedDiagnostic {
  readonly diagnostic: Diagnostic;
  /** The reason in the comment. */
  readonly reason: string;
}

/**
 * Removes the warnings and remarks that comments suppress. Errors cannot be suppressed. Comments that cannot be read
 * are errors (NG118). Comments that suppress nothing are warnings (NG119). NG119 is not reported if the file has
 * errors, because some checks did not run, and not for the codes in `notLookedFor`.
 */
export function suppressFindings(
  found: readonly Diagnostic[],
  file: Ast.File,
  { suppressions, diagnostics: problems }: Suppressions,
  options: { readonly notLookedFor?: readonly DiagnosticCode[] } = {},
): { readonly diagnostics: readonly Diagnostic[]; readonly suppressed: readonly SuppressedDiagnostic[] } {
  if (suppressions.length === 0 && problems.length === 0) return { diagnostics: found, suppressed: [] };
  const find = createLookup(suppressions);
  const left: Diagnostic[] = [];
  const suppressed: SuppressedDiagnostic[] = [];
  const used = new Set<Suppression["codes"][number]>();
  const more: Diagnostic[] = [...problems];
  for (const diagnostic of found) {
    const match = diagnostic.file === file.source ? find(diagnostic) : undefined;
    if (match === undefined) {
      left.push(diagnostic);
      continue;
    }
    if (diagnostic.severity === "error") {
      left.push(diagnostic);
      if (!used.has(match.entry)) {
        const { code, file: at, span } = diagnostic;
        more.push(
          suppressedError({ file: file.source, span: match.entry.span }, { code, finding: { file: at, span } }),
        );
      }
    } else {
      suppressed.push({ diagnostic, reason: match.reason });
    }
    used.add(match.entry);
  }
  if (!hasErrors(left) && problems.length === 0) {
    for (const suppression of suppressions)
      for (const each of reportUnused(suppression, used, file, options.notLookedFor ?? [])) more.push(each);
  }
  return { diagnostics: sortDiagnostics([...left, ...more]), suppressed };
}

interface Match {
  readonly entry: Suppression["codes"][number];
  readonly reason: string;
}

/** Finds the suppression of a finding by code and place. If several match, the range that begins last wins. */
function createLookup(suppressions: readonly Suppression[]): (diagnostic: Diagnostic) => Match | undefined {
  const byCode = new Map<DiagnosticCode, (Match & { readonly range: Span; furthest: number })[]>();
  const inOrder = [...suppressions].sort((a, b) => a.range.start - b.range.start);
  for (const { codes, range, reason } of inOrder) {
    for (const entry of codes) {
      const known = byCode.get(entry.code) ?? [];
      known.push({ entry, reason, range, furthest: Math.max(range.end, known.at(-1)?.furthest ?? 0) });
      byCode.set(entry.code, known);
    }
  }
  return ({ code, span }) => {
    const candidates = byCode.get(code) ?? [];
    let low = 0;
    let high = candidates.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((candidates[middle]?.range.start ?? 0) <= span.start) low = middle + 1;
      else high = middle;
    }
    for (let at = low - 1; at >= 0 && (candidates[at]?.furthest ?? -1) >= span.start; at--) {
      const candidate = candidates[at];
      if (candidate !== undefined && span.start <= candidate.range.end) return candidate;
    }
    return undefined;
  };
}

function reportUnused(
  suppression: Suppression,
  used: ReadonlySet<Suppression["codes"][number]>,
  file: Ast.File,
  notLookedFor: readonly DiagnosticCode[],
): Diagnostic[] {
  const unused = suppression.codes.filter((entry) => !used.has(entry) && !notLookedFor.includes(entry.code));
  const isAll = unused.length === suppression.codes.length;
  return unused.map((entry, index) => {
    const { code, span } = entry;
    const fixes: Fix[] = isAll
      ? index > 0
        ? []
        : [{ title: "remove the comment", edits: [{ span: commentWithBlanks(suppression.comment, file), text: "" }] }]
      : [
          {
            title: `remove ${code}`,
            edits: [{ span: entryWithComma(suppression, entry, file.source.text), text: "" }],
          },
        ];
    return unusedSuppression({ file: file.source, span }, { code, fixes });
  });
}

/** The span of a comment and the blanks before it; the whole line if nothing else is on it. */
function commentWithBlanks({ span }: Ast.Comment, { source: { text } }: Ast.File): Span {
  let { start, end } = span;
  while (start > 0 && (text[start - 1] === " " || text[start - 1] === "\t")) start--;
  const isAlone = start === 0 || text[start - 1] === "\n";
  if (!isAlone) return { start, end };
  const lineBreak = /^[ \t]*\r?\n/.exec(text.slice(end, end + 80))?.[0];
  // Code follows on the line of a block comment: its indentation stays.
  if (lineBreak === undefined && end < text.length) return span;
  end += lineBreak?.length ?? 0;
  return { start, end };
}

/** The span of one code of several, with the comma that separates it from its neighbour. */
function entryWithComma({ codes }: Suppression, entry: Suppression["codes"][number], text: string): Span {
  const index = codes.indexOf(entry);
  const next = codes[index + 1];
  if (next !== undefined) return { start: entry.span.start, end: next.span.start };
  const before = codes[index - 1];
  return { start: before?.span.end ?? entry.span.start, end: Math.min(entry.span.end, text.length) };
}
