/** NG511: what `matches` accepts runs in linear time, and means what ECMAScript means by it. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { checkPattern, matchesPattern } from "../../runtime/expression/pattern/matches-pattern.ts";
import { ExpressionError } from "../../runtime/expression/expression-error.ts";
import { numRuns } from "../support/depth.ts";

test.each([
  ["^abc$", "abc", true],
  ["abc", "xxabcxx", true],
  ["^$", "", true],
  ["", "anything", true],
  ["a|b|", "zzz", true],
  ["^(?:a|b)+$", "abba", true],
  ["^(?<year>\\d{4})-(\\d\\d)$", "2024-05", true],
  ["\\bcat\\b", "a cat sat", true],
  ["\\bcat\\b", "concat", false],
  ["\\Bcat", "concat", true],
  ["^x.$", "x😀", true],
  ["^[^a-c]$", "d", true],
  ["^[\\]\\-^]+$", "]-^", true],
  ["^\\u{1F600}\\x41\\u0042\\ud83d\\ude00$", "😀AB😀", true],
  ["^a{2,3}?$", "aaaa", false],
  ["a$b", "ab", false],
  [".", "\n", false],
  ["\\s", "\u2028", true],
  ["[]", "a", false],
  ["[^]", "\n", true],
])("%s on %j", (pattern, text, expected) => {
  expect(checkPattern(pattern)).toBeUndefined();
  expect(matchesPattern(text, pattern)).toBe(expected);
  expect(new RegExp(pattern, "u").test(text)).toBe(expected);
});

test.each([
  ["(a)\\1", /back to a group is not linear-time/, 3],
  ["(?<n>a)\\k<n>", /not linear-time/, 7],
  ["x(?=a)", /looking ahead or behind is not linear-time/, 1],
  ["(?!a)", /looking ahead or behind/, 0],
  ["(?<=a)b", /looking ahead or behind/, 0],
  ["(?<!a)b", /looking ahead or behind/, 0],
  ["(a", /not closed/, 0],
  ["a)", /closes no group/, 1],
  ["[a", /not closed/, 0],
  ["*a", /repeats nothing/, 0],
  ["a**", /repeats nothing/, 2],
  ["a{2,1}", /wrong way round/, 0],
  ["a{1001}", /more than 1000/, 0],
  ["a{", /has to be written/, 1],
  ["[z-a]", /runs backwards/, 2],
  ["[\\d-z]", /from one character/, 3],
  ["\\q", /unknown escape/, 0],
  ["\\", /ends with a backslash/, 0],
  ["\\p{L}", /not supported/, 0],
  ["(?i)a", /unknown kind of group/, 0],
  ["^*", /anchor cannot be repeated/, 0],
  ["((a{100}){100}){100}", /instructions/, 0],
  ["(".repeat(60), /nest deeper/, 50],
  ["a".repeat(3000), /longer than/, 0],
])("%s is refused", (pattern, message, offset) => {
  const problem = checkPattern(pattern);
  expect(problem?.message).toMatch(message);
  expect(problem?.offset).toBe(offset);
});

describe("random patterns", () => {
  const atom = fc.oneof(
    fc.constantFrom("a", "b", ".", "\\w", "\\d", "[ab]", "[^a]", "\\.", "😀", "[^\\s]", "(?:)", "\\b"),
    fc.constantFrom("^", "$"),
  );
  const pattern: fc.Arbitrary<string> = fc.letrec<{ pattern: string }>((tie) => ({
    pattern: fc.oneof(
      { maxDepth: 4, withCrossShrink: true },
      atom,
      fc.tuple(tie("pattern"), tie("pattern")).map(([left, right]) => left + right),
      fc.tuple(tie("pattern"), tie("pattern")).map(([left, right]) => `(${left}|${right})`),
      fc
        .tuple(tie("pattern"), fc.constantFrom("*", "+", "?", "{2}", "{0,2}", "{1,}", "*?"))
        .map(([part, count]) => `(?:${part})${count}`),
    ),
  })).pattern;
  const text = fc.string({ unit: fc.constantFrom("a", "b", "1", " ", ".", "\n", "😀"), maxLength: 8 });

  test("are understood as ECMAScript does", () => {
    fc.assert(
      fc.property(pattern, fc.array(text, { minLength: 1, maxLength: 6 }), (source, texts) => {
        expect(checkPattern(source)).toBeUndefined();
        const expected = new RegExp(source, "u");
        for (const one of texts)
          expect({ source, one, found: matchesPattern(one, source) }).toEqual({
            source,
            one,
            found: expected.test(one),
          });
      }),
      { numRuns: numRuns(3000), seed: 5 },
    );
  });

  test("every text is either a pattern or a problem with a position", () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(..."ab()[]{}*+?|\\^$.-,1<>=!:ux😀") }), (source) => {
        const problem = checkPattern(source);
        if (problem === undefined) return new RegExp(source, "u") instanceof RegExp;
        return problem.offset >= 0 && problem.offset <= source.length;
      }),
      { numRuns: numRuns(5000), seed: 3 },
    );
  });
});

describe("patterns that a backtracking engine never finishes", () => {
  const long = "a".repeat(50_000);
  test.each(["^(a+)+$", "^(a|a)*$", "^(a|aa)+$", "^(a*)*b?$", "^(.*)*x$", "^(([a-z])+.)+[A-Z]$"])("%s", (pattern) => {
    expect(matchesPattern(`${long}!`, pattern)).toBe(false);
  });

  test("a text too long for a large pattern is refused", () => {
    expect(() => matchesPattern("ab".repeat(2_000_000), "(a|b){900}")).toThrow(ExpressionError);
  });

  test("many different sets of states do not pile up", () => {
    // The matcher tracks the position of the last `a`: 2^15 sets of states, more than its cache keeps.
    const random = Array.from({ length: 60_000 }, (_, i) => ((i * 7919) % 13 < 6 ? "a" : "b")).join("");
    expect(matchesPattern(random, "a(a|b){15}c")).toBe(false);
    expect(matchesPattern(`${random}c`, "(a|b){15}c$")).toBe(true);
  });
});
