import { describe, expect, test } from "vitest";
import { compileExpression, type Scope } from "../../runtime/expression/compile-expression.ts";
import { ExpressionError } from "../../runtime/expression/expression-error.ts";
import type { BinaryOperator, Expression } from "../../runtime/expression/expression.ts";
import { MAX_EXPRESSION_DEPTH, MAX_ITEMS, MAX_TEXT } from "../../runtime/expression/limits.ts";
import type { Json } from "../../runtime/value/json.ts";
import { isDeep } from "../support/depth.ts";

const value = (json: Json): Expression => ({ op: "const", value: json });
const call = (name: string, ...args: Json[]): Expression => ({ op: "library", name, args: args.map(value) });
const binary = (operator: BinaryOperator, left: Json, right: Json, int?: true): Expression => ({
  op: "binary",
  operator,
  left: value(left),
  right: value(right),
  ...(int === undefined ? {} : { int }),
});

function evaluate(expression: Expression, scope: Partial<Scope> = {}): Json {
  return compileExpression(expression)({ state: [], ...scope });
}

function problem(expression: Expression, scope: Partial<Scope> = {}): string {
  try {
    return `value ${JSON.stringify(evaluate(expression, scope))}`;
  } catch (error) {
    return error instanceof ExpressionError ? error.problem : `not an ExpressionError: ${String(error)}`;
  }
}

describe("arithmetic", () => {
  test.each<[BinaryOperator, Json, Json, Json]>([
    ["+", 1, 2, 3],
    ["+", "a", "b", "ab"],
    ["-", 1, 2, -1],
    ["/", 1, 2, 0.5],
    ["%", -7, 3, -1],
    ["*", 0, -1, 0],
    ["<", "B", "a", true],
    [">=", 2, 2, true],
    ["==", { a: [1, null], b: "x" } as Json, { b: "x", a: [1, null] } as Json, true],
    ["==", { a: 1 }, { a: 1, b: 2 }, false],
    ["==", [1, 2], [2, 1], false],
    ["==", "1", 1, false],
    ["!=", null, {}, true],
    ["in", "a", ["a"], true],
    ["in", [1], [[1]], true],
    ["in", "a", { a: null }, true],
    ["in", "constructor", {}, false],
    ["in", "__proto__", {}, false],
    ["??", null, 1, 1],
    ["??", false, 1, false],
  ])("%s of %j and %j", (operator, left, right, expected) => {
    expect(evaluate(binary(operator, left, right))).toEqual(expected);
  });

  test("zero is never negative, so that stored state reads back as it was", () => {
    for (const expression of [
      binary("*", 0, -1),
      binary("%", -4, 2),
      { op: "negate", of: value(0) } as const,
      call("round", -0.2),
    ]) {
      expect(Object.is(evaluate(expression), 0)).toBe(true);
    }
  });

  test.each<[string, Expression, string]>([
    ["division by zero", binary("/", 1, 0), "division_by_zero"],
    ["remainder of zero", binary("%", 1, 0), "division_by_zero"],
    ["infinity", binary("*", 1e308, 10), "not_finite"],
    ["an int beyond the safe integers", binary("+", Number.MAX_SAFE_INTEGER, 1, true), "overflow"],
    ["string and number", binary("+", "a", 1), "wrong_type"],
    ["null operand", binary("-", null, 1), "null_value"],
    ["order of lists", binary("<", [1], [2]), "wrong_type"],
    ["order of unlike values", binary("<", "1", 2), "wrong_type"],
    ["a condition that is no bool", binary("&&", 1, true), "wrong_type"],
    ["a null condition", { op: "not", of: value(null) }, "null_value"],
    ["membership in a string", binary("in", "a", "abc"), "wrong_type"],
    ["a key that is no string", binary("in", 1, { 1: 1 }), "wrong_type"],
  ])("%s fails", (_, expression, expected) => {
    expect(problem(expression)).toBe(expected);
  });

  test("the right side of `&&`, `||` and `??` is evaluated only where it decides", () => {
    const fails = binary("/", 1, 0);
    const lazy = (operator: BinaryOperator, left: Json): Expression => ({
      op: "binary",
      operator,
      left: value(left),
      right: fails,
    });
    expect(evaluate(lazy("&&", false))).toBe(false);
    expect(evaluate(lazy("||", true))).toBe(true);
    expect(evaluate(lazy("??", 0))).toBe(0);
    expect(problem(lazy("&&", true))).toBe("division_by_zero");
  });
});

describe("fields and items", () => {
  const member = (of: Json, name: string, flags: { optional?: true; absent?: true } = {}): Expression => ({
    op: "member",
    of: value(of),
    name,
    ...flags,
  });
  const index = (of: Json, at: Json): Expression => ({ op: "index", of: value(of), at: value(at) });

  test("own fields only", () => {
    const hostile = JSON.parse('{"__proto__": 1, "a": 2}') as Json;
    expect(evaluate(member(hostile, "__proto__"))).toBe(1);
    expect(evaluate(member(hostile, "a"))).toBe(2);
    expect(problem(member({}, "constructor"))).toBe("missing_field");
    expect(problem(member({}, "__proto__"))).toBe("missing_field");
    expect(evaluate(member({}, "toString", { absent: true }))).toBe(null);
  });

  test("null", () => {
    expect(problem(member(null, "a"))).toBe("null_value");
    expect(evaluate(member(null, "a", { optional: true }))).toBe(null);
    expect(problem(member("text", "length"))).toBe("wrong_type");
    expect(problem(index(null, 0))).toBe("null_value");
  });

  test("index", () => {
    expect(evaluate(index(["a", "b"], 1))).toBe("b");
    expect(evaluate(index(["a", "b"], -1))).toBe("b");
    expect(evaluate(index(["a", "b"], 2))).toBe(null);
    expect(evaluate(index({ k: 1 }, "k"))).toBe(1);
    expect(evaluate(index({ k: 1 }, "constructor"))).toBe(null);
    expect(problem(index(["a"], 0.5))).toBe("bad_index");
    expect(problem(index(["a"], "0"))).toBe("wrong_type");
    expect(problem(index({}, 0))).toBe("wrong_type");
    expect(problem(index("text", 0))).toBe("wrong_type");
  });

  test("a field named __proto__ is data", () => {
    const made = evaluate({ op: "record", fields: [{ name: "__proto__", value: value({ polluted: true }) }] });
    expect(Object.getPrototypeOf(made)).toBe(Object.prototype);
    expect(JSON.stringify(made)).toBe('{"__proto__":{"polluted":true}}');
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
  });
});

describe("values", () => {
  test("new lists and records are frozen all through", () => {
    const made = evaluate({
      op: "list",
      items: [{ op: "record", fields: [{ name: "a", value: { op: "list", items: [value(1)] } }] }, call("range", 3)],
    }) as readonly { readonly a: unknown }[];
    expect([made, made[0], made[0]?.a, made[1]].every((part) => Object.isFrozen(part))).toBe(true);
  });

  test("templates take strings as they are and other values as JSON", () => {
    const parts = ["a ", value("x"), " ", value({ n: [1, null] } as Json), value(true)];
    expect(evaluate({ op: "template", parts })).toBe('a x {"n":[1,null]}true');
  });

  test("comprehension: a variable hides the one of the same name outside", () => {
    const item: Expression = { op: "local", name: "x" };
    const inner: Expression = { op: "comprehension", list: value([10, 20]), item: "x", value: item };
    const outer: Expression = {
      op: "comprehension",
      list: value([1, 2, 3]),
      item: "x",
      value: { op: "list", items: [item, inner, item] },
      condition: { op: "binary", operator: ">", left: item, right: value(1) },
    };
    expect(evaluate(outer)).toEqual([
      [2, [10, 20], 2],
      [3, [10, 20], 3],
    ]);
  });

  test("the variable of a `for`, the error, secrets", () => {
    const locals = new Map<string, Json>([["doc", "d"]]);
    expect(evaluate({ op: "local", name: "doc" }, { locals })).toBe("d");
    expect(evaluate({ op: "error" })).toBe(null);
    expect(evaluate({ op: "error" }, { error: { code: "NG_NODE_FAILED" } })).toEqual({ code: "NG_NODE_FAILED" });
    expect(evaluate({ op: "secret", name: "KEY" }, { secrets: new Map([["KEY", "s"]]) })).toBe("s");
    expect(problem({ op: "secret", name: "KEY" })).toBe("missing_secret");
  });
});

describe("bounds", () => {
  test("a long range, split, join or text fails instead of filling the memory", () => {
    expect(problem(call("range", MAX_ITEMS + 1))).toBe("too_large");
    expect(problem(call("range", Number.MAX_SAFE_INTEGER))).toBe("too_large");
    expect((evaluate(call("range", MAX_ITEMS)) as Json[]).length).toBe(MAX_ITEMS);
    const long = "x".repeat(MAX_TEXT - 1);
    expect(problem(binary("+", long, "yy"))).toBe("too_large");
    expect(problem(call("split", long, ""))).toBe("too_large");
    expect(problem(call("join", [long, "x", "x"], ""))).toBe("too_large");
    expect(problem(call("join", ["", "", ""], long))).toBe("too_large");
    expect(problem(call("upper", "ß".repeat(MAX_TEXT)))).toBe("too_large");
    expect(problem({ op: "template", parts: [value(long), "yy"] })).toBe("too_large");
  });

  test("nested comprehensions share one budget", () => {
    const many = call("range", 100_000);
    const inner: Expression = { op: "comprehension", list: many, item: "y", value: value(0), condition: value(false) };
    expect(problem({ op: "comprehension", list: many, item: "x", value: inner })).toBe("too_large");
  });

  const of = (name: string, ...args: Expression[]): Expression => ({ op: "library", name, args });
  const operation = (operator: BinaryOperator, left: Expression, right: Expression): Expression => ({
    op: "binary",
    operator,
    left,
    right,
  });

  test("work within a round of a comprehension counts", () => {
    const numbers: Json = Array.from({ length: 100_000 }, (_, index) => index);
    const records: Json = numbers.map((n) => ({ n }));
    const text = value("ab".repeat(50_000));
    const x: Expression = { op: "local", name: "x" };
    const record: Expression = { op: "record", fields: [{ name: "n", value: { op: "negate", of: x } }] };
    const rounds: readonly Expression[] = [
      operation("in", { op: "negate", of: x }, value(numbers)),
      operation("in", record, value(records)),
      operation("==", value(numbers), value([...numbers])),
      of("sort", value(records)),
      of("unique", value(records)),
      of("contains", value(records), record),
      of("contains", text, value("ba".repeat(1000) + "c")),
      of("matches", text, value("b+c")),
      of("join", value(numbers), value(",")),
      of("upper", text),
      of("sum", value(numbers)),
      of("keys", value(Object.fromEntries(numbers.map((n) => [`k${n}`, n])))),
      { op: "template", parts: [value(numbers)] },
    ];
    for (const round of isDeep ? rounds : rounds.filter((_, index) => index % 4 === 0)) {
      const all: Expression = {
        op: "comprehension",
        list: value(numbers),
        item: "x",
        value: of("len", { op: "list", items: [round] }),
      };
      expect(problem(all), JSON.stringify(round).slice(0, 60)).toBe("too_large");
    }
  });

  test("costly items of a list count", () => {
    const item = operation("in", value(-1), call("range", 1_000_000));
    expect(problem({ op: "list", items: Array.from({ length: 5000 }, () => item) })).toBe("too_large");
  });

  test("an evaluation inside of an imported function has its own budget, and does not change the outer one", () => {
    const inner = compileExpression(of("len", call("range", 1_000_000)));
    const outer: Expression = {
      op: "list",
      items: Array.from({ length: 20 }, () => ({ op: "call", function: 0, args: [] })),
    };
    const run = compileExpression(outer, { functions: [() => inner({ state: [] })] });
    expect(run({ state: [] })).toHaveLength(20);
  });

  test("an expression nested beyond the bound is refused before it runs", () => {
    let deep = value(true);
    for (let i = 0; i < MAX_EXPRESSION_DEPTH - 1; i++) deep = { op: "not", of: deep };
    expect(typeof evaluate(deep)).toBe("boolean");
    for (let i = 0; i < 100_000; i++) deep = { op: "not", of: deep };
    expect(problem(deep)).toBe("too_large");
  });
});

describe("imported functions", () => {
  const callFirst: Expression = { op: "call", function: 0, args: [value([1])] };
  const run = (fn: (...args: never[]) => unknown): Json =>
    compileExpression(callFirst, { functions: [fn] })({ state: [] });
  const failure = (fn: ((...args: never[]) => unknown) | undefined): string => {
    try {
      compileExpression(callFirst, { functions: [fn], names: { channels: [], functions: ["rank"] } })({ state: [] });
      return "no error";
    } catch (error) {
      return error instanceof ExpressionError ? `${error.problem}: ${error.message}` : `not an ExpressionError`;
    }
  };

  test("what they return is copied and frozen", () => {
    const kept = { list: [1] };
    const found = run(() => kept) as { readonly list: readonly number[] };
    expect(found).toEqual(kept);
    expect(found).not.toBe(kept);
    expect(Object.isFrozen(found.list)).toBe(true);
  });

  test("what is no JSON, and what they throw, is an error that names the function", () => {
    expect(failure(() => undefined)).toMatch(
      /^not_json: `rank` returned a value that is not plain JSON: .*undefined.* in `rank\(\[1\]\)`$/,
    );
    expect(failure(() => Promise.resolve(1))).toMatch(/^not_json: .*Promise \(await it\)/);
    expect(failure(() => Number.NaN)).toMatch(/^not_json/);
    expect(failure(() => 1n)).toMatch(/^not_json/);
    expect(failure(() => new Date(0))).toMatch(/^not_json: .*toISOString/);
    expect(
      failure(() => {
        throw new Error("no index");
      }),
    ).toBe("call_failed: `rank` failed: no index in `rank([1])`");
    expect(failure(undefined)).toMatch(/^missing_function: the function `rank` was not given/);
    const throwing = {
      get field(): number {
        throw new Error("locked");
      },
    };
    expect(failure(() => throwing)).toMatch(/^not_json: .*cannot be read: locked/);
  });
});

test("an error names the smallest part at fault, with the names of the graph", () => {
  const names = { channels: ["doc", "total"], functions: [] };
  const channel = (index: number): Expression => ({ op: "channel", channel: index });
  const expression: Expression = {
    op: "if",
    condition: value(true),
    then: {
      op: "binary",
      operator: "/",
      left: { op: "binary", operator: "+", left: { op: "member", of: channel(0), name: "words" }, right: value(1) },
      right: channel(1),
    },
    else: value(0),
  };
  const message = (state: Json[]): string => {
    try {
      return String(compileExpression(expression, { names })({ state }));
    } catch (error) {
      return (error as Error).message;
    }
  };
  expect(message([{ words: 3 }, 2])).toBe("2");
  expect(message([{ words: 3 }, 0])).toBe("division by zero in `(doc.words + 1) / total`");
  expect(message([{}, 1])).toBe("no field `words` in `doc.words`");
  expect(message([null, 1])).toBe("`.words` of null in `doc.words`");
  expect(message([{ words: "3" }, 1])).toBe("expected a string, found a number in `doc.words + 1`");
});
