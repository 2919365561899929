/** 9.3: the index of paths finds the same overlaps as the comparison of each pattern with each other. */
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { overlappingPatterns } from "../../runtime/plan/overlapping-patterns.ts";
import { parsePathPattern, patternsOverlap } from "../../runtime/plan/path-pattern.ts";
import { numRuns } from "../support/depth.ts";

const segment = fc.constantFrom("a", "b", "c", "*", "**", "a*", "?", "{a,b}", "x.ts");
const path = fc.array(segment, { minLength: 1, maxLength: 4 }).map((parts) => parts.join("/"));

test("the same pairs as the comparison of each with each", () => {
  fc.assert(
    fc.property(fc.uniqueArray(path, { minLength: 1, maxLength: 25 }), (texts) => {
      const patterns = texts.map(parsePathPattern);
      const expected = patterns.map((one, at) =>
        patterns.flatMap((other, index) => (index === at || patternsOverlap(one, other) ? [index] : [])),
      );
      expect(overlappingPatterns(patterns).map((list) => [...list].sort((a, b) => a - b))).toEqual(expected);
    }),
    { seed: 31, numRuns: numRuns(400) },
  );
});

test("10,000 globs in separate folders are not compared with each other", () => {
  const patterns = Array.from({ length: 10_000 }, (_, at) => parsePathPattern(`src/f${at}/**/*.ts`));
  expect(overlappingPatterns(patterns).every((list) => list.length === 1)).toBe(true);
});
