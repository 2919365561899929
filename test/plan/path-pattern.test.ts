import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { normalizePath, parsePathPattern, PathEscapesRoot, patternsOverlap } from "../../runtime/plan/path-pattern.ts";
import { numRuns } from "../support/depth.ts";

const overlap = (a: string, b: string): boolean =>
  patternsOverlap(parsePathPattern(normalizePath(a)), parsePathPattern(normalizePath(b)));

describe("normalising", () => {
  test.each([
    ["src/api.ts", "src/api.ts"],
    ["./src//a/../api.ts", "src/api.ts"],
    ["src\\api.ts", "src/api.ts"],
    ["src/", "src/**"],
    [".", "**"],
    ["", "**"],
  ])("%j is %j", (path, normal) => expect(normalizePath(path)).toBe(normal));
  test.each(["/etc/passwd", "../up", "a/../../up", "C:\\x", "~/x"])("%j leads out (NG707)", (path) => {
    expect(() => normalizePath(path)).toThrow(PathEscapesRoot);
  });
});

describe("overlap (K-09, 9.3)", () => {
  test.each([
    ["x", "x", true],
    ["x", "y", false],
    ["src/api.ts", "./src/api.ts", true],
    ["src/**", "src/a/b.ts", true],
    ["src/**", "docs/a", false],
    ["src/*.ts", "src/a.ts", true],
    ["src/*.ts", "src/a/b.ts", false],
    ["src/*.ts", "src/*.js", false],
    ["src/a*", "src/*b", true],
    ["**/*.sql", "migrations/0012_auth.sql", true],
    ["a?c", "abc", true],
    ["a[bx]c", "abc", true],
    ["{a,b}.ts", "b.ts", true],
    ["src/{a/b,c}.ts", "src/a/b.ts", true],
    ["src/", "src/deep/er.ts", true],
    ["src", "src/deep/er.ts", true],
    ["src", "srcs/a.ts", false],
    ["*/deep", "src/deep/er.ts", true],
    ["src", "src/*.ts", true],
    [".", "anything/at/all", true],
  ])("%s and %s: %s", (a, b, expected) => {
    expect(overlap(a, b)).toBe(expected);
    expect(overlap(b, a)).toBe(expected);
  });

  test("a pattern overlaps every path made from it, and overlap is symmetric", () => {
    const segment = fc
      .array(fc.constantFrom("a", "b", "*", "?"), { minLength: 1, maxLength: 4 })
      .map((parts) => parts.join(""));
    const pattern = fc.array(fc.oneof(segment, fc.constant("**")), { minLength: 1, maxLength: 4 });
    fc.assert(
      fc.property(
        pattern,
        fc.array(fc.constantFrom("a", "b", "ab"), { maxLength: 3 }),
        pattern,
        (segments, filler, other) => {
          const path = segments.flatMap((part) =>
            part === "**"
              ? filler
              : [part.replaceAll("**", "*").replaceAll("*", filler.join("")).replaceAll("?", "b") || "a"],
          );
          if (
            path.length > 0 &&
            !segments.some((part) => part !== "**" && part.replaceAll("*", filler.join("")) === "")
          )
            expect(overlap(segments.join("/"), path.join("/"))).toBe(true);
          expect(overlap(segments.join("/"), other.join("/"))).toBe(overlap(other.join("/"), segments.join("/")));
        },
      ),
      { numRuns: numRuns(3000), seed: 7 },
    );
  });

  test("long patterns cost their product, not more", () => {
    expect(overlap("*a".repeat(300), "*b".repeat(300))).toBe(false);
    expect(overlap("**/a/".repeat(100), "**/b/".repeat(100))).toBe(true);
  });
});
