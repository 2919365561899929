/**
 * How thorough the tests are, from the environment variable `NGRAPH_TEST_DEPTH`:
 *
 * - `quick` (default): a sample, for `npm test`.
 * - `broad`: all kinds of tests, a third of the random runs, a fifth of the kill points, for `npm run test:broad`.
 * - `full`: every random run and every kill point, for `npm run test:deep`.
 * - `soak`: `full`, and a kill at every point of every recovery. Takes hours.
 */
export type Depth = "quick" | "broad" | "full" | "soak";

const DEPTHS: ReadonlySet<string> = new Set<Depth>(["quick", "broad", "full", "soak"]);

export const depth: Depth = readDepth(process.env["NGRAPH_TEST_DEPTH"] || "quick");
/** The tests that only run beyond `quick` run, too. */
export const isDeep: boolean = depth !== "quick";
export const isBroad: boolean = depth === "broad";
export const isSoak: boolean = depth === "soak";

/** The value for the depth of this run: `broad` takes a third of a number that grows with the depth, and else what `full` takes. */
export function scale<T>(full: T, quick: T): T;
export function scale(full: unknown, quick: unknown): unknown {
  if (!isDeep) return quick;
  if (!isBroad || typeof full !== "number" || typeof quick !== "number" || full < quick) return full;
  return Math.max(quick, Math.ceil(full / 3));
}

/** The distance between the places of a sweep at the depth of this run: in `broad` three times that of `full`. */
export function stride(full: number, quick: number): number {
  if (!isDeep) return quick;
  return isBroad ? Math.min(quick, 3 * full) : full;
}

/** Runs of a property: `full`, or a tenth of it in `quick`, but at least 20 (or `full`, if that is less). */
export function numRuns(full: number): number {
  return scale(full, Math.min(full, Math.max(20, Math.ceil(full / 10))));
}

/** All items, or every tenth of them in `quick`, beginning with the first. */
export function sample<T>(items: readonly T[]): readonly T[] {
  return everyNth(items, isDeep ? 1 : 10);
}

/** The items at 0, `step`, twice `step` and so on. */
export function everyNth<T>(items: readonly T[], step: number): readonly T[] {
  return items.filter((_, index) => index % step === 0);
}

function readDepth(text: string): Depth {
  if (DEPTHS.has(text)) return text as Depth;
  throw new Error(`NGRAPH_TEST_DEPTH is "${text}"; it must be one of ${[...DEPTHS].join(", ")}`);
}
