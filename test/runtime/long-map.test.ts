/** A `LongMap` compared with a `Map`. */
import fc from "fast-check";
import { expect, it } from "vitest";
import { LongMap } from "../../runtime/value/long-map.ts";

interface Value {
  readonly n: number;
}

/** @param prefilled names that have a value at the start */
function compare(prefilled: number, operations: readonly (readonly [string, string, number])[]): void {
  const map = new LongMap<Value>();
  const model = new Map<string, Value>();
  const set = (name: string, n: number): void => {
    map.set(name, { n });
    model.set(name, { n });
  };
  for (let n = 0; n < prefilled; n++) set(`each[${n}]`, n);
  for (const [kind, name, n] of operations) {
    if (kind === "set") set(name, n);
    else if (kind === "delete") {
      map.delete(name);
      model.delete(name);
    } else {
      map.clear();
      model.clear();
    }
    expect(map.has(name)).toBe(model.has(name));
    expect(map.size).toBe(model.size);
  }
  expect(map.values()).toEqual([...model.values()]);
}

it("has the newest value of each name, in the order of the first ones", () => {
  const name = fc.oneof(
    fc.constantFrom("", "a", "each"),
    fc.integer({ min: 0, max: 9 }).map((n) => `each[${n}]`),
  );
  const kind = fc.constantFrom("set", "set", "set", "delete", "clear");
  fc.assert(fc.property(fc.array(fc.tuple(kind, name, fc.integer())), (operations) => compare(0, operations)));
});

it("does so for many names", () => {
  for (const prefilled of [4095, 4096, 20_000]) {
    compare(prefilled, [
      ["set", "each[7]", 1],
      ["delete", "each[4000]", 0],
      ["set", "each[4000]", 2],
      ["set", "other", 3],
      ["delete", "unknown", 0],
      ["delete", "each[4094]", 0],
    ]);
    compare(prefilled, [
      ["clear", "each[7]", 0],
      ["set", "each[7]", 1],
    ]);
  }
});
