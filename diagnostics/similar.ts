/** "A node with a similar name exists": finds the known name that resembles an unknown one. */

/** The most comparisons of one search, so that a file of 100,000 typos takes linear time. */
const MAX_CANDIDATES = 2000;
const MAX_LENGTH = 60;

/**
 * The candidate that is most similar to `name`; `undefined` if none is similar. Two names are similar if they differ
 * only in case and underscores, or if the edit distance is at most a third of the length. An edit is an insertion, a
 * deletion, a replacement or a swap of neighbours (Damerau-Levenshtein).
 */
export function findSimilar(name: string, candidates: Iterable<string>): string | undefined {
  if (name.length === 0 || name.length > MAX_LENGTH) return undefined;
  const folded = fold(name);
  let best: string | undefined;
  let bestDistance = Math.max(1, Math.floor(name.length / 3)) + 1;
  let seen = 0;
  for (const candidate of candidates) {
    if (candidate === name || candidate.length === 0) continue;
    if (fold(candidate) === folded) return candidate;
    if (++seen > MAX_CANDIDATES) break;
    if (Math.abs(candidate.length - name.length) >= bestDistance) continue;
    const distance = editDistance(name.toLowerCase(), candidate.toLowerCase(), bestDistance);
    if (distance < bestDistance && distance < candidate.length) {
      best = candidate;
      bestDistance = distance;
    }
  }
  return best;
}

/** How much one compilation may still spend on looking for similar names: candidates, over all its messages. */
export interface Suggestions {
  left: number;
}

/** Enough for every message of a file written by hand; a generated file with thousands of errors exhausts it. */
export function newSuggestions(): Suggestions {
  return { left: 200_000 };
}

/** The suggestions for an unknown name: a similar one, and all known ones. Empty once the budget is spent. */
export function suggest(
  name: string,
  candidates: () => Iterable<string>,
  suggestions: Suggestions,
): { readonly similar: string | undefined; readonly known: readonly string[] } {
  if (suggestions.left <= 0) return { similar: undefined, known: [] };
  const known = [...candidates()];
  suggestions.left -= known.length;
  return { similar: findSimilar(name, known), known };
}

/** Names for a message: "`a`, `b` and `c`"; a long list is cut. */
export function listNames(names: Iterable<string>, most = 8): string {
  const shown: string[] = [];
  let more = 0;
  for (const name of names) {
    if (shown.length < most) shown.push(`\`${name}\``);
    else more++;
  }
  if (more > 0) return `${shown.join(", ")} and ${more} more`;
  const last = shown.pop();
  return last === undefined ? "" : shown.length === 0 ? last : `${shown.join(", ")} and ${last}`;
}

function fold(name: string): string {
  return name.toLowerCase().replaceAll("_", "");
}

/** Optimal string alignment distance; stops at `limit`. */
function editDistance(a: string, b: string, limit: number): number {
  let before: number[] = [];
  let previous = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    let smallest = i;
    for (let j = 1; j <= b.length; j++) {
      const replaced = (previous[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      let value = Math.min(replaced, (previous[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1);
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) {
        value = Math.min(value, (before[j - 2] ?? 0) + 1);
      }
      row.push(value);
      smallest = Math.min(smallest, value);
    }
    if (smallest >= limit) return limit;
    before = previous;
    previous = row;
  }
  return previous[b.length] ?? limit;
}
