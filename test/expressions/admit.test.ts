/** 2.3: a result that does not fit is never stored. What is stored is a frozen plain-JSON copy. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { compileAdmit, compileValidator, MAX_VALUE_DEPTH, Mismatch, admitJson } from "../../runtime/value/validate.ts";
import type { ValueType } from "../../runtime/table/value-type.ts";
import { numRuns } from "../support/depth.ts";

const INT: ValueType = { kind: "int" };
const STRING: ValueType = { kind: "string" };
const JSON_TYPE: ValueType = { kind: "json" };
const literal = (value: string | number | boolean): ValueType => ({ kind: "literal", value });
const list = (item: ValueType): ValueType => ({ kind: "list", item });
const record = (fields: Record<string, ValueType>, optional: readonly string[] = []): ValueType => ({
  kind: "record",
  fields: Object.entries(fields).map(([name, type]) => ({
    name,
    type,
    ...(optional.includes(name) ? { optional: true as const } : {}),
  })),
});
const union = (...members: ValueType[]): ValueType => ({ kind: "union", members });
const NULL: ValueType = { kind: "null" };

const admitted = (type: ValueType, value: unknown): unknown => {
  const result = compileAdmit(type)(value);
  return result instanceof Mismatch ? result.describe() : result;
};

describe("values that fit", () => {
  test.each<[ValueType, unknown]>([
    [STRING, "a"],
    [INT, -5],
    [{ kind: "float" }, 0.5],
    [{ kind: "float" }, 5],
    [{ kind: "bool" }, false],
    [NULL, null],
    [JSON_TYPE, { a: [1, { b: null }] }],
    [{ kind: "opaque", name: "Ticket", module: "./nodes.ts" }, { anything: true }],
    [literal("a"), "a"],
    [list(list(INT)), [[1], []]],
    [{ kind: "map", value: INT }, { a: 1 }],
    [record({ a: INT }), { a: 1, further: ["kept"] }],
    [record({ a: INT }, ["a"]), {}],
    [union(literal("a"), literal("b"), NULL), null],
    [union(list(INT), STRING, NULL), [1]],
    [union(record({ kind: literal("x"), n: INT }), record({ kind: literal("y"), s: STRING })), { kind: "y", s: "" }],
  ])("%j takes %j", (type, value) => {
    expect(admitted(type, value)).toEqual(value);
    expect(compileValidator(type)(value)).toBeUndefined();
  });
});

describe("values that do not fit", () => {
  test.each<[ValueType, unknown, string]>([
    [INT, 1.5, "expected int, found 1.5"],
    [INT, 2 ** 53, "expected int, found 9007199254740992"],
    [INT, null, "expected int, found null"],
    [INT, undefined, "expected int, found nothing (undefined)"],
    [{ kind: "float" }, Number.NaN, "expected float, found NaN (use null or a string)"],
    [STRING, ["a"], "expected string, found a list"],
    [STRING, 1n, "expected string, found a bigint (use a number or a string)"],
    [literal("yes"), "maybe", 'expected "yes", found "maybe"'],
    [union(literal("yes"), literal("no")), "maybe", 'expected "yes" | "no", found "maybe"'],
    [list(INT), [1, "2"], 'expected int at `[1]`, found "2"'],
    [list(INT), { 0: 1 }, "expected int[], found a record"],
    [record({ a: record({ b: INT }) }), { a: { b: true } }, "expected int at `a.b`, found true"],
    [record({ a: INT }), {}, "expected int at `a`, found nothing"],
    [record({ a: INT }), { a: undefined }, "expected int at `a`, found nothing"],
    [record({ a: INT }), [1], "expected { a: int }, found a list"],
    [record({ "odd name": INT }), { "odd name": "x" }, 'expected int at `["odd name"]`, found "x"'],
    [{ kind: "map", value: INT }, { a: "x" }, 'expected int at `a`, found "x"'],
    [
      union(record({ kind: literal("x"), n: INT }), record({ kind: literal("y"), s: STRING })),
      { kind: "y", s: 1 },
      "expected string at `s`, found 1",
    ],
    [union(record({ kind: literal("x") }), STRING), { kind: "z" }, 'expected { kind: "x" } | string, found a record'],
  ])("%#: %o refuses %o", (type, value, message) => {
    expect(admitted(type, value)).toBe(message);
    expect(compileValidator(type)(value)?.describe()).toBe(message);
  });
});

describe("what JSON cannot hold", () => {
  class Ticket {
    readonly id = 1;
  }
  test.each<[string, unknown, RegExp]>([
    ["undefined", undefined, /nothing \(undefined\) \(use null\)/],
    ["a function", () => 1, /a function/],
    ["a symbol", Symbol("x"), /a symbol/],
    ["NaN inside", { a: [Number.NaN] }, /at `a\[0\]`, found NaN/],
    ["a Date", { at: new Date(0) }, /at `at`, found an instance of Date \(use `\.toISOString\(\)`\)/],
    ["a Map", new Map(), /instance of Map \(use `Object\.fromEntries\(map\)`\)/],
    ["a Set", new Set(), /instance of Set \(use `\[\.\.\.set\]`\)/],
    ["an Error", new RangeError("x"), /instance of RangeError \(throw it instead\)/],
    ["a promise", Promise.resolve(1), /instance of Promise \(await it\)/],
    ["an instance", new Ticket(), /instance of Ticket \(return a plain object instead\)/],
    ["a list with a hole", [1, , 2], /at `\[1\]`, found nothing/], // eslint-disable-line no-sparse-arrays
    ["a getter that throws", { get a(): number { throw new Error("no"); } }, /cannot be read: no/], // prettier-ignore
    ["a proxy that throws", new Proxy({}, { ownKeys: () => { throw new Error("no"); } }), /cannot be read: no/], // prettier-ignore
  ])("%s", (_, value, message) => {
    for (const type of [JSON_TYPE, record({}), union(record({ a: INT }), JSON_TYPE)]) {
      const result = compileAdmit(type)(value);
      expect(result).toBeInstanceOf(Mismatch);
    }
    expect((admitJson(value) as Mismatch).describe()).toMatch(message);
  });

  test("a value that contains itself, and one that is nested too deep", () => {
    const cycle: { next?: unknown } = {};
    cycle.next = { next: cycle };
    expect((admitJson(cycle) as Mismatch).describe()).toMatch(/found a value that contains itself/);
    const nest = (depth: number): unknown => {
      let value: unknown = 1;
      for (let i = 0; i < depth; i++) value = [value];
      return value;
    };
    expect(admitJson(nest(MAX_VALUE_DEPTH))).not.toBeInstanceOf(Mismatch);
    expect((admitJson(nest(MAX_VALUE_DEPTH + 1)) as Mismatch).describe()).toMatch(/at most 200 levels/);
    expect(admitJson(nest(100_000))).toBeInstanceOf(Mismatch);
  });

  test("a value that is far larger than it looks", () => {
    let value: unknown = "x";
    for (let i = 0; i < 40; i++) value = [value, value];
    expect((admitJson(value) as Mismatch).describe()).toMatch(/at most 2000000 values/);
  });
});

describe("the copy", () => {
  test("is a deeply frozen copy", () => {
    const given = { a: [{ b: 1 }] };
    const copy = compileAdmit(record({ a: list(record({ b: INT })) }))(given) as typeof given;
    expect(copy).toEqual(given);
    expect([copy, copy.a, copy.a[0]].every((part) => Object.isFrozen(part))).toBe(true);
    given.a.push({ b: 2 });
    expect(copy.a).toHaveLength(1);
  });

  test("keeps `__proto__` and `constructor` as fields", () => {
    const given = JSON.parse('{"__proto__": {"polluted": true}, "constructor": 1, "toString": null}') as unknown;
    const copy = admitJson(given);
    expect(Object.getPrototypeOf(copy)).toBe(Object.prototype);
    expect(JSON.stringify(copy)).toBe(JSON.stringify(given));
    expect(({} as { polluted?: true }).polluted).toBeUndefined();
    expect(admitted(record({ __proto__x: INT }, ["__proto__x"]), given)).toEqual(given);
  });

  test("leaves out what is undefined, as JSON does, and takes records without a prototype", () => {
    const given = Object.assign(Object.create(null) as object, { a: 1, b: undefined });
    expect(JSON.stringify(admitJson(given))).toBe('{"a":1}');
    expect(admitted(record({ a: INT, b: INT }, ["b"]), given)).toEqual({ a: 1 });
  });

  test("has no negative zero", () => {
    expect(admitJson([-0])).toEqual([0]);
    expect(Object.is((admitJson([-0]) as number[])[0], 0)).toBe(true);
    expect(Object.is(compileAdmit(INT)(-0), 0)).toBe(true);
  });

  test("equals every JSON value it was made from", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const text = JSON.stringify(value);
        expect(JSON.stringify(admitJson(value))).toBe(text);
        expect(JSON.stringify(compileAdmit(union(JSON_TYPE, NULL))(value))).toBe(text);
      }),
      { numRuns: numRuns(500), seed: 1 },
    );
  });
});

describe("named types", () => {
  const tree = { name: "Tree", type: record({ value: INT, children: list({ kind: "ref", name: "Tree" }) }) };

  test("may contain themselves", () => {
    const admit = compileAdmit({ kind: "ref", name: "Tree" }, [tree]);
    expect(admit({ value: 1, children: [{ value: 2, children: [] }] })).not.toBeInstanceOf(Mismatch);
    expect((admit({ value: 1, children: [{ value: 2, children: [3] }] }) as Mismatch).describe()).toMatch(
      /at `children\[0\]\.children\[0\]`, found 3/,
    );
  });

  test("that are nothing but themselves, or unknown, fit nothing", () => {
    const loop = { name: "Loop", type: union({ kind: "ref", name: "Loop" }, NULL) };
    expect(compileAdmit({ kind: "ref", name: "Loop" }, [loop])(1)).toBeInstanceOf(Mismatch);
    expect(compileAdmit({ kind: "ref", name: "Loop" }, [loop])(null)).toBe(null);
    expect(compileAdmit({ kind: "ref", name: "Nobody" })(1)).toBeInstanceOf(Mismatch);
  });

  test("a union with indistinguishable members is validated in bounded time", () => {
    const wide = {
      name: "Wide",
      type: union(
        record({ a: { kind: "ref", name: "Wide" }, x: INT }),
        record({ a: { kind: "ref", name: "Wide" } }),
        INT,
      ),
    };
    let value: unknown = 1;
    for (let i = 0; i < 60; i++) value = { a: value };
    expect(compileAdmit({ kind: "ref", name: "Wide" }, [wide])(value)).toBeDefined();
  });
});
