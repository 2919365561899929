/** "A node with a similar name exists": which of the known names somebody may have meant. */

/** Comparisons of one search; beyond it names that merely resemble are not looked for (a file of 100,000 typos stays linear). */
const MAX_CANDIDATES = 2000;
const MAX_LENGTH = 60;

/**
 * The candidate closest to `name`, if one is close: equal but for case and underscores, or at most a third of its
 * letters away (insertions, deletions, replacements and swaps of neighbours). `undefined` when none is.
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

/** Enough for every message of a file that people write; a generated one with thousands of mistakes gets no more after that. */
export function newSuggestions(): Suggestions {
  return { left: 200_000 };
}

/** What to say of an unknown name: a similar one, and all there are. Nothing of either once `suggestions` are spent. */
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

/** Names for a message: "`a`, `b` and `c`", the first ones of many. */
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
