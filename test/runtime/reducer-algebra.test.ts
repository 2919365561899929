/** The laws of the reducers, as docs/language.md states them. Runs depend on them: the items of a `for` are combined before the channel is. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { compile } from "../../compiler/index.ts";
import { ChannelCode } from "../../runtime/program/channel-code.ts";
import { canonicalText } from "../../runtime/program/reducers.ts";
import type { Table } from "../../runtime/table/table.ts";
import type { Json } from "../../runtime/value/json.ts";
import { numRuns } from "../support/depth.ts";

const item: fc.Arbitrary<Json> = fc.oneof(
  fc.integer({ min: 0, max: 3 }),
  fc.constantFrom("a", "__proto__", null, true),
  fc.constantFrom<Json>({ a: 1, b: 2 }, { b: 2, a: 1 }, [1], []),
);
const list = fc.array(item, { maxLength: 4 });
const int = fc.integer({ min: -1000, max: 1000 });
const float = fc.double({ noNaN: true, noDefaultInfinity: true });
const record = fc.dictionary(fc.constantFrom("a", "b", "0", "__proto__"), item, { maxKeys: 3 });
const named = fc.uniqueArray(
  fc.oneof(
    fc.record({ id: fc.constantFrom("a", "b", "c"), n: int }),
    fc.record({ id: fc.constantFrom("a", "b", "c"), removed: fc.constant(true) }),
  ),
  { maxLength: 3 },
);

interface Law {
  readonly reducer: string;
  readonly type: string;
  readonly values: fc.Arbitrary<Json>;
  /** The value that changes nothing. */
  readonly neutral?: Json;
  readonly isCommutative?: true;
  /** Updates of which an equal one has no further effect. */
  readonly isIdempotent?: (update: Json) => boolean;
}

const LAWS: readonly Law[] = [
  { reducer: "append", type: "json[]", values: list, neutral: [] },
  { reducer: "union", type: "json[]", values: list, neutral: [], isIdempotent: () => true },
  { reducer: "sum", type: "int", values: int, neutral: 0, isCommutative: true },
  { reducer: "min", type: "float", values: float, isCommutative: true, isIdempotent: () => true },
  { reducer: "max", type: "float", values: float, isCommutative: true, isIdempotent: () => true },
  { reducer: "merge", type: "map<json>", values: record, neutral: {}, isIdempotent: () => true },
  {
    reducer: "merge",
    type: "{ id?: string, n?: int }[]",
    values: named as fc.Arbitrary<Json>,
    neutral: [],
    isIdempotent: hasDistinctIds,
  },
];

/** An item that an update removes and has again moves to the end. */
function hasDistinctIds(update: Json): boolean {
  const items = update as readonly { readonly id: string }[];
  return new Set(items.map(({ id }) => id)).size === items.length;
}

function channelOf({ reducer, type }: Pick<Law, "reducer" | "type">): ChannelCode {
  const { table, diagnostics } = compile(`graph g { output value: ${type} reduce ${reducer}  start -> end }`);
  expect(diagnostics.filter(({ severity }) => severity === "error")).toEqual([]);
  return new ChannelCode(table as Table, 0, undefined);
}

const text = (value: Json): string => (value === null ? "null" : JSON.stringify(value));

describe.each(LAWS)("$reducer of $type", (law) => {
  const { values, neutral, isCommutative = false, isIdempotent } = law;
  const channel = channelOf(law);
  const combine = (first: Json, second: Json): Json => (channel.reduce as (a: Json, b: Json) => Json)(first, second);
  const holds = (property: (a: Json, b: Json, c: Json) => void): void =>
    fc.assert(fc.property(values, values, values, property), { numRuns: numRuns(500) });
  /** A list of records: the order of the updates decides, so only whole updates are compared. */
  const removes = law.type.startsWith("{");

  test("no update changes nothing", () => {
    holds((a) => {
      expect(text(combine(a, null))).toBe(text(a));
      if (neutral !== undefined && !removes) expect(text(combine(a, neutral))).toBe(text(a));
      if (neutral !== undefined && !removes && isIdempotent === undefined)
        expect(text(combine(neutral, a))).toBe(text(a));
    });
  });

  test.runIf(!removes)("the grouping of updates has no effect (associative)", () => {
    holds((a, b, c) => {
      expect(text(combine(combine(a, b), c))).toBe(text(combine(a, combine(b, c))));
    });
  });

  test.runIf(isCommutative)("the order of updates has no effect (commutative)", () => {
    holds((a, b) => {
      expect(combine(a, b)).toBe(combine(b, a));
    });
  });

  test.runIf(isIdempotent !== undefined)("an equal update has no further effect (idempotent)", () => {
    holds((a, b) => {
      fc.pre(isIdempotent?.(b) === true);
      const once = combine(combine(neutral ?? a, a), b);
      expect(text(combine(once, b))).toBe(text(once));
    });
  });

  test("results of a `for` have the effect of one update for each item", () => {
    fc.assert(
      fc.property(values, fc.array(values, { maxLength: 4 }), (current, items) => {
        const start = combine(neutral ?? current, current);
        const together = channel.combineItems(items);
        expect(text(combine(start, together))).toBe(text(items.reduce(combine, start)));
      }),
      { numRuns: numRuns(500) },
    );
  });
});

test("`union` combines sets: another order of the updates has the same items", () => {
  const { reduce } = channelOf({ reducer: "union", type: "json[]" });
  const union = reduce as (a: Json, b: Json) => Json;
  const items = (value: Json): string[] => (value as readonly Json[]).map(canonicalText).sort();
  fc.assert(
    fc.property(list, list, (a, b) => {
      const [first, second] = [union(union([], a), b), union(union([], b), a)];
      expect(items(first)).toEqual(items(second));
      expect(new Set(items(first)).size).toBe(items(first).length);
    }),
    { numRuns: numRuns(500) },
  );
});
