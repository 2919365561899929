/** Inclusive ranges of code points: `[first, last, first, last, …]`. Sorted, neither overlapping nor adjacent. */
export type CodePointSet = readonly number[];

/** A pattern as a tree. Groups capture nothing, because `matches` returns only whether the pattern occurs. */
export type PatternNode =
  | { readonly kind: "set"; readonly set: CodePointSet }
  | { readonly kind: "sequence"; readonly parts: readonly PatternNode[] }
  | { readonly kind: "choice"; readonly parts: readonly PatternNode[] }
  | { readonly kind: "repeat"; readonly part: PatternNode; readonly min: number; readonly max: number }
  | { readonly kind: "assert"; readonly at: "start" | "end" | "boundary" | "inside" };

export interface PatternProblem {
  /** Begins with a lower-case letter and has no full stop. */
  readonly message: string;
  /** UTF-16 offset in the pattern. */
  readonly offset: number;
}

export const MAX_CODE_POINT = 0x10ffff;

/** Sorts ranges, and merges overlapping and adjacent ranges. */
export function normaliseSet(ranges: CodePointSet): CodePointSet {
  const pairs: [number, number][] = [];
  for (let i = 0; i < ranges.length; i += 2) pairs.push([ranges[i] as number, ranges[i + 1] as number]);
  pairs.sort((a, b) => a[0] - b[0]);
  const result: number[] = [];
  for (const [from, to] of pairs) {
    const end = result.at(-1);
    if (end !== undefined && from <= end + 1) result[result.length - 1] = Math.max(end, to);
    else result.push(from, to);
  }
  return result;
}

export function negateSet(set: CodePointSet): CodePointSet {
  const result: number[] = [];
  let next = 0;
  for (let i = 0; i < set.length; i += 2) {
    const from = set[i] as number;
    if (from > next) result.push(next, from - 1);
    next = (set[i + 1] as number) + 1;
  }
  if (next <= MAX_CODE_POINT) result.push(next, MAX_CODE_POINT);
  return result;
}

const DIGITS = [0x30, 0x39];
const WORD = [0x30, 0x39, 0x41, 0x5a, 0x5f, 0x5f, 0x61, 0x7a];
/** White space and line ends of ECMAScript. */
const SPACE = [
  0x09, 0x0d, 0x20, 0x20, 0xa0, 0xa0, 0x1680, 0x1680, 0x2000, 0x200a, 0x2028, 0x2029, 0x202f, 0x202f, 0x205f, 0x205f,
  0x3000, 0x3000, 0xfeff, 0xfeff,
];
/** `.` */
export const ANY_BUT_LINE_END = negateSet([0x0a, 0x0a, 0x0d, 0x0d, 0x2028, 0x2029]);
/** `\d` and its kind, by letter. */
export const CLASS_ESCAPES: ReadonlyMap<string, CodePointSet> = new Map([
  ["d", DIGITS],
  ["D", negateSet(DIGITS)],
  ["w", WORD],
  ["W", negateSet(WORD)],
  ["s", SPACE],
  ["S", negateSet(SPACE)],
]);

export function isWordCodePoint(code: number): boolean {
  return (
    (code >= 0x30 && code <= 0x39) || (code >= 0x41 && code <= 0x5a) || code === 0x5f || (code >= 0x61 && code <= 0x7a)
  );
}
