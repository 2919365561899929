/**
 * How thorough the tests are, from the environment variable `NGRAPH_TEST_DEPTH`:
 *
 * - `quick` (default): a sample, for `npm test`.
 * - `full`: every random run and every kill point, for `npm run test:deep`.
 * - `soak`: `full`, and a kill at every point of every recovery. Takes hours.
 */
export type Depth = "quick" | "full" | "soak";

export const depth: Depth = readDepth(process.env["NGRAPH_TEST_DEPTH"] || "quick");
export const isFull: boolean = depth !== "quick";
export const isSoak: boolean = depth === "soak";

/** The value for the depth of this run; `soak` takes that of `full`. */
export function scale<T>(full: T, quick: T): T {
  return isFull ? full : quick;
}

/** Runs of a property: `full`, or a tenth of it in `quick`, but at least 20 (or `full`, if that is less). */
export function numRuns(full: number): number {
  return scale(full, Math.min(full, Math.max(20, Math.ceil(full / 10))));
}

/** All items, or every tenth of them, beginning with the first. */
export function sample<T>(items: readonly T[]): readonly T[] {
  return isFull ? items : items.filter((_, index) => index % 10 === 0);
}

function readDepth(text: string): Depth {
  if (text === "quick" || text === "full" || text === "soak") return text;
  throw new Error(`NGRAPH_TEST_DEPTH is "${text}"; it must be "quick", "full" or "soak"`);
}
