import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { compare } from "../../runtime/expression/compare.ts";
import { compileExpression } from "../../runtime/expression/compile-expression.ts";
import { equal } from "../../runtime/expression/equal.ts";
import { ExpressionError } from "../../runtime/expression/expression-error.ts";
import { library } from "../../runtime/expression/library.ts";
import type { Json } from "../../runtime/value/json.ts";
import { numRuns } from "../support/depth.ts";

function run(name: string, ...args: Json[]): Json {
  const list = args.map((value) => ({ op: "const", value }) as const);
  return compileExpression({ op: "library", name, args: list })({ state: [] });
}

function fails(name: string, ...args: Json[]): string {
  try {
    run(name, ...args);
    return "no error";
  } catch (error) {
    return error instanceof ExpressionError ? error.problem : `not an ExpressionError: ${String(error)}`;
  }
}

test.each<[string, Json[], Json]>([
  ["len", ["é😀"], 3],
  ["len", [[1, 2]], 2],
  ["len", [{ a: 1, b: 2 }], 2],
  ["first", [[]], null],
  ["first", [[1, 2]], 1],
  ["last", [[1, 2]], 2],
  ["contains", ["abc", "bc"], true],
  ["contains", [[{ a: 1 }], { a: 1 }], true],
  ["startsWith", ["abc", "ab"], true],
  ["endsWith", ["abc", "ab"], false],
  ["lower", ["ÀB"], "àb"],
  ["upper", ["straße"], "STRASSE"],
  ["trim", [" a\n"], "a"],
  ["split", ["a,b,", ","], ["a", "b", ""]],
  ["split", ["ab", ""], ["a", "b"]],
  ["join", [["a", 1, null, { b: 2 }], "-"], 'a-1-null-{"b":2}'],
  ["join", [[], "-"], ""],
  ["keys", [{ b: 1, a: 2 }], ["b", "a"]],
  ["values", [{ b: 1, a: 2 }], [1, 2]],
  ["sum", [[]], 0],
  ["sum", [[1, 2.5]], 3.5],
  ["min", [[]], null],
  ["min", [[3, 1, 2]], 1],
  ["max", [3, 1, 7], 7],
  ["round", [2.5], 3],
  ["round", [-2.5], -2],
  ["abs", [-3], 3],
  ["range", [3], [0, 1, 2]],
  ["range", [1, 3], [1, 2]],
  ["range", [3, 0, -2], [3, 1]],
  ["range", [3, 1], []],
  ["unique", [[1, "1", 1, { a: [1] }, { a: [1] }, null, null]], [1, "1", { a: [1] }, null]],
  ["unique", [['{"a":1}', { a: 1 }]], ['{"a":1}', { a: 1 }]],
  [
    "sort",
    [[3, "b", null, [1], { a: 1 }, true, "a", -1, false, [0, 5]]],
    [null, false, true, -1, 3, "a", "b", [0, 5], [1], { a: 1 }],
  ],
  ["matches", ["order 66", "\\d+$"], true],
  ["slice", [[1, 2, 3, 4], 1, 3], [2, 3]],
  ["slice", [[1, 2, 3, 4], -2], [3, 4]],
  ["slice", ["abcd", 1, -1], "bc"],
  ["slice", [[1], 5], []],
  ["take", [[1, 2, 3], 2], [1, 2]],
  ["take", [[1], -1], []],
  ["drop", [[1, 2, 3], 2], [3]],
  ["drop", [[1], -1], [1]],
  ["some", [[false, true]], true],
  ["some", [[]], false],
  ["every", [[true, false]], false],
  ["every", [[]], true],
  ["flat", [[[1], [], [2, [3]]]], [1, 2, [3]]],
  ["reverse", [[1, 2]], [2, 1]],
  [
    "entries",
    [{ b: 1, __proto__: null, a: null }],
    [
      { key: "b", value: 1 },
      { key: "a", value: null },
    ],
  ],
  [
    "fromEntries",
    [
      [
        { key: "a", value: 1 },
        { key: "a", value: 2 },
      ],
    ],
    { a: 2 },
  ],
  ["replace", ["a.b.c", ".", "$&"], "a$&b$&c"],
  ["replace", ["abc", "", "x"], "abc"],
  ["padStart", ["7", 3, "0"], "007"],
  ["padStart", ["7", 3], "  7"],
  ["parseInt", [" -12 "], -12],
  ["parseInt", ["1.5"], null],
  ["parseInt", ["9007199254740993"], null],
  ["parseInt", [""], null],
  ["parseFloat", ["1.5e2"], 150],
  ["parseFloat", ["1e400"], null],
  ["parseFloat", ["0x10"], null],
  ["parseFloat", ["-0"], 0],
  ["toJson", [{ a: ["x", null] }], '{"a":["x",null]}'],
  ["toJson", ["x"], '"x"'],
  ["fromJson", ['{"a":[1,null]}'], { a: [1, null] }],
])("%s%j", (name, args, expected) => {
  expect(run(name, ...args)).toEqual(expected);
});

test.each<[string, Json[], string]>([
  ["len", [1], "wrong_type"],
  ["len", [null], "null_value"],
  ["first", ["text"], "wrong_type"],
  ["split", ["a", 1], "wrong_type"],
  ["sum", [["a"]], "wrong_type"],
  ["sum", [[1e308, 1e308]], "not_finite"],
  ["max", [1, null], "null_value"],
  ["round", [1e300], "overflow"],
  ["range", [1.5], "wrong_type"],
  ["range", [1, 2, 0], "wrong_type"],
  ["join", [["a"]], "wrong_type"],
  ["matches", ["a", "("], "bad_pattern"],
  ["matches", ["a", "(?=a)"], "bad_pattern"],
  ["slice", [[1], 0.5], "wrong_type"],
  ["slice", [{ a: 1 }, 0], "wrong_type"],
  ["take", ["ab", 1], "wrong_type"],
  ["some", [[true, 1]], "wrong_type"],
  ["every", [[null]], "null_value"],
  ["flat", [[1]], "wrong_type"],
  ["fromEntries", [[{ key: 1, value: 1 }]], "wrong_type"],
  ["fromEntries", [[{ key: "a" }]], "missing_field"],
  ["padStart", ["", 2 ** 40], "too_large"],
  ["parseInt", [1], "wrong_type"],
  ["fromJson", ["{"], "not_json"],
  ["fromJson", ["[".repeat(300) + "]".repeat(300)], "not_json"],
  ["nothing", [], "unknown_operation"],
  ["constructor", [], "unknown_operation"],
  ["__proto__", [], "unknown_operation"],
])("%s%j fails", (name, args, expected) => {
  expect(fails(name, ...args)).toBe(expected);
});

test("results beyond the limits are too large", () => {
  const thousand = Array.from({ length: 1000 }, () => 0);
  expect(
    fails(
      "flat",
      Array.from({ length: 1001 }, () => thousand),
    ),
  ).toBe("too_large");
  expect(fails("replace", "a".repeat(5_000_000), "a", "aaaa")).toBe("too_large");
});

describe("any function with any arguments gives plain JSON or an ExpressionError", () => {
  const json = fc.jsonValue({ maxDepth: 2 }) as fc.Arbitrary<Json>;
  test.each(Object.keys(library))("%s", (name) => {
    fc.assert(
      fc.property(fc.array(json, { maxLength: 3 }), (args) => {
        const problem = fails(name, ...args);
        expect(problem).not.toContain("not an ExpressionError");
        if (problem === "no error") {
          const value = run(name, ...args);
          expect(JSON.parse(JSON.stringify(value))).toEqual(value);
        }
      }),
      { numRuns: numRuns(200), seed: 7 },
    );
  });
});

describe("compare", () => {
  const json = (fc.jsonValue({ maxDepth: 2 }) as fc.Arbitrary<Json>).map(
    (value) => JSON.parse(JSON.stringify(value)) as Json,
  );

  test("is a total order, 0 exactly for equal values", () => {
    fc.assert(
      fc.property(json, json, json, (a, b, c) => {
        expect(Math.sign(compare(a, b)) + Math.sign(compare(b, a))).toBe(0);
        expect(compare(a, b) === 0).toBe(equal(a, b));
        if (compare(a, b) <= 0 && compare(b, c) <= 0) expect(compare(a, c)).toBeLessThanOrEqual(0);
      }),
      { numRuns: numRuns(2000), seed: 11 },
    );
  });

  test("sort keeps equal values in their order and changes nothing", () => {
    const list = Object.freeze([{ k: 1, n: "b" }, 2, { n: "b", k: 1 }, 1]) as Json;
    const sorted = run("sort", list) as Json[];
    expect(sorted).toEqual([1, 2, { k: 1, n: "b" }, { k: 1, n: "b" }]);
    expect(Object.keys(sorted[2] as object)).toEqual(["k", "n"]);
  });
});
