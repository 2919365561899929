import type { TokenList } from "./token-list.ts";

/** A token of the source. */
export interface SourceToken {
  readonly text: string;
  readonly start: number;
}

/**
 * Finds the token of the source for each token of the document. The source may have additional tokens (parentheses, a
 * name that is written twice) and may lack tokens (a trailing comma). Matching resynchronizes after each statement.
 */
export function matchTokens({ leaves, elements }: TokenList, tokens: readonly SourceToken[]): void {
  const { limits, resumes } = statementBounds(leaves.length, elements);
  let next = 0;
  leaves.forEach((leaf, index) => {
    const resume = resumes.get(index);
    if (resume !== undefined) next = Math.max(next, firstTokenFrom(tokens, resume));
    if (leaf.copied !== undefined) {
      const first = firstTokenFrom(tokens, leaf.copied.start);
      next = firstTokenFrom(tokens, leaf.copied.end);
      if (next > first) leaf.match = { first, last: next - 1 };
      return;
    }
    // No comment belongs to the `|` before the first member of a union: line breaks add and remove it.
    if (leaf.isOptional && leaf.text === "|") return;
    const limit = limits[index] ?? Number.POSITIVE_INFINITY;
    for (let found = next; found < tokens.length; found += 1) {
      const token = tokens[found] as SourceToken;
      if (token.start >= limit) return;
      if (isSame(leaf.text, token.text)) {
        leaf.match = { first: found, last: found };
        next = found + 1;
        return;
      }
      if (leaf.isOptional) return;
    }
  });
}

/** Whether two tokens match. The escapes of a string and the blanks of a documentation line may differ. */
function isSame(printed: string, written: string): boolean {
  if (printed === written) return true;
  if (printed.startsWith('"')) return written.startsWith('"');
  return printed.startsWith("///") && written.startsWith("///");
}

/**
 * `limits`: for each token, the end of the enclosing statement in the source. `resumes`: for the first token after a
 * statement, the end of that statement in the source.
 */
function statementBounds(length: number, elements: TokenList["elements"]) {
  const limits: (number | undefined)[] = Array.from({ length });
  const resumes = new Map<number, number>();
  for (const { from, to, span } of elements) {
    if (span === undefined) continue;
    for (let index = from; index < to; index += 1) limits[index] = span.end;
    resumes.set(to, Math.max(span.end, resumes.get(to) ?? 0));
  }
  return { limits, resumes };
}

/** The index of the first token at or after an offset, by binary search. */
function firstTokenFrom(tokens: readonly SourceToken[], offset: number): number {
  let low = 0;
  let high = tokens.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((tokens[middle] as SourceToken).start < offset) low = middle + 1;
    else high = middle;
  }
  return low;
}
