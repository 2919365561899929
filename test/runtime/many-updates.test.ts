/** 2.2, 5.12: many updates of one channel in a step, and what a checkpoint stores of a list that a reducer extends. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { ChannelChange } from "../../runtime/interface/checkpoint.ts";
import type { Claim, SaveRequest } from "../../runtime/interface/store.ts";
import type { Json, JsonObject } from "../../runtime/value/json.ts";
import {
  appendAll,
  mergeAll,
  reduceAppend,
  reduceMerge,
  reduceUnion,
  unionAll,
} from "../../runtime/program/reducers.ts";
import { MemoryStore } from "../../runtime/stores/memory.ts";
import { isOwnLong } from "../../runtime/value/own-values.ts";
import { numRuns } from "../support/depth.ts";
import { engineOf } from "../support/graph.ts";

const item = fc.oneof(fc.integer({ min: 0, max: 3 }), fc.constant({ a: 1, b: 2 }), fc.constant({ b: 2, a: 1 }));
const list = fc.oneof(fc.array(item, { maxLength: 4 }), fc.constant(null)) as fc.Arbitrary<Json>;
const record = fc.oneof(fc.dictionary(fc.constantFrom("a", "b", "__proto__"), item), fc.constant(null));

describe("updates that are applied together have the result of those that are applied one after the other", () => {
  test.each([
    ["append", appendAll, reduceAppend, list],
    ["union", unionAll, reduceUnion, list],
    ["merge", mergeAll, reduceMerge, record as fc.Arbitrary<Json>],
  ] as const)("%s", (_, all, one, value) => {
    fc.assert(
      fc.property(value, fc.array(value, { minLength: 1, maxLength: 6 }), (current, updates) => {
        expect(JSON.stringify(all(current, updates))).toBe(JSON.stringify(updates.reduce(one, current)));
      }),
      { numRuns: numRuns(500) },
    );
  });

  test("a record that is merged with an empty one is not built again", () => {
    const fields = { a: 1, b: 2 };
    for (const [current, updates] of [
      [{}, [fields]],
      [null, [null, fields, {}]],
      [fields, [{}, null]],
    ] as const) {
      expect(mergeAll(current, updates)).toBe(fields);
    }
    expect(mergeAll({}, [{}, null])).toEqual({});
  });

  test("a long record of short ones is a long record", () => {
    const fields = Array.from({ length: 1000 }, (_, n) => ({ [`k${n}`]: n }));
    expect(isOwnLong(mergeAll({}, fields) as object)).toBe(true);
  });

  test("2.2: in task order, with and without a listener", async () => {
    const names = Array.from({ length: 8 }, (_, index) => `n${index}`);
    const text = `graph g { output log: string[] = [] reduce append  output seen: int[] = [] reduce union
      output by: map<int> = {} reduce merge
      ${names.map((name, index) => `node ${name} = work(${index}) into { log: log, seen: seen, by: by }`).join("\n")}
      start -> ${names.join(", ")}  any(${names.join(", ")}) -> end }`;
    const functions = {
      work: async (index: number) => ({ log: `n${index}`, seen: [index % 3], by: { [`k${index % 2}`]: index } }),
    };
    const expected = { log: names, seen: [0, 1, 2], by: { k0: 6, k1: 7 } };
    expect((await engineOf(text, functions).run({})).output).toEqual(expected);
    const listening = engineOf(text, functions, { onEvent: () => {} });
    expect((await listening.run({})).output).toEqual(expected);
  });
});

/** A change as `append 2`, or `splice 4-1+2`: behind four items one is replaced with two. */
function shown(change: ChannelChange): string {
  if (change.kind === "append") return `append ${change.items.length}`;
  if (change.kind !== "splice") return change.kind;
  return `splice ${change.edits.map(({ at, remove, items }) => `${at}-${remove}+${items.length}`).join(" ")}`;
}

describe("5.12: a checkpoint stores the items that a reducer has appended", () => {
  class WatchedStore extends MemoryStore {
    readonly changes: ChannelChange[] = [];

    override save(claim: Claim, request: SaveRequest): void {
      this.changes.push(...request.changes.filter(({ channel }) => channel === "log"));
      super.save(claim, request);
    }
  }

  const text = (reducer: string): string => `graph g { output log: json[] = [] reduce ${reducer}  output n: int = 0
    node a = work(n) into log  node count = n + 1 into n
    start -> a  a -> count  count -> a when n < 3  count -> end otherwise }`;
  const kinds = async (reducer: string, functions: Record<string, unknown>): Promise<string[]> => {
    const store = new WatchedStore();
    const engine = engineOf(text(reducer), { work: (n: number) => [{ n }, "x"], ...functions }, { store });
    expect((await engine.run({}, { thread: "t" })).status).toBe("completed");
    expect((await engine.state("t"))?.state["log"]).toEqual(store.loadLatest("t")?.values["log"]);
    return store.changes.map(shown);
  };

  test("union", async () => {
    expect((await kinds("union", {})).slice(1)).toEqual(["append 1", "append 1"]);
  });

  test("an imported reducer that appends", async () => {
    const join = (current: Json[], update: Json[]): Json[] => [...current, ...update];
    expect((await kinds("join", { join })).slice(1)).toEqual(["append 2", "append 2"]);
  });

  test("an imported reducer that changes most of a list stores the whole list", async () => {
    const replace = (current: Json[], update: Json[]): Json[] => [
      ...current.map((_, n) => current.length + n),
      ...update,
    ];
    expect((await kinds("replace", { replace })).slice(1)).toEqual(["set", "set"]);
  });

  test("an imported reducer that replaces, removes and adds messages by id", async () => {
    interface Message {
      readonly id: string;
      readonly text?: string;
    }
    const byId = (current: Message[], update: Message[]): Message[] => {
      const messages = new Map(current.map((message) => [message.id, message]));
      for (const message of update) {
        if (message.text === undefined) messages.delete(message.id);
        else messages.set(message.id, message);
      }
      return [...messages.values()];
    };
    const work = (n: number) => [
      ...Array.from({ length: n === 0 ? 20 : 1 }, (_, i) => ({ id: `m${n * 100 + i}`, text: `${n}` })),
      ...(n === 1 ? [{ id: "m4", text: "replaced" }] : []),
      ...(n === 2 ? [{ id: "m7" }] : []),
    ];
    expect((await kinds("byId", { byId, work })).slice(1)).toEqual(["splice 4-1+1 20-0+1", "splice 7-1+0 21-0+1"]);
  });

  test("many neighbours that change are one edit, whose cost is linear", async () => {
    const [all, changed] = [60_000, 29_000];
    const rows = (from: number, to: number, text: string) =>
      Array.from({ length: to - from }, (_, n) => ({ id: `row ${from + n}`, text }));
    const work = (n: number) => (n === 0 ? rows(0, all, "first") : n === 1 ? rows(0, changed, "second") : []);
    expect((await kinds("merge", { work })).slice(1)).toEqual([`splice 0-${changed}+${changed}`, "append 0"]);
  });
});

describe("5.12 a list that an imported reducer returns", () => {
  const text = `type Message = { id: string, text: string }
    graph g { input more: json  memory list: Message[] = [] reduce add  node a = give(more) into list  start -> a }`;
  const give = (more: Json): Json => more;
  const build = (add: (now: readonly Json[], more: Json) => unknown) =>
    engineOf(text, { add, give }, { store: new MemoryStore() });
  const message = (n: number): Json => ({ id: `${n}`, text: `text ${n}` });
  class Message {
    readonly id = "1";
    readonly text = "text 1";
  }

  test("keeps the items that it had, even if the reducer returns copies of them", async () => {
    const seen: (readonly Json[])[] = [];
    const engine = build((now, more) => {
      seen.push(now);
      return [...now, ...(more as Json[])].map((item) => ({ ...(item as JsonObject) }));
    });
    for (let n = 0; n < 3; n++) await engine.run({ more: [message(n)] }, { thread: "t" });
    expect((await engine.state("t"))!.state).toMatchObject({ list: [0, 1, 2].map(message) });
    expect(seen[2]).toHaveLength(2);
    expect(seen[2]![0]).toBe(seen[1]![0]);
  });

  test("has new items in any place, with the fields in the order of the reducer", async () => {
    const results = [
      [message(1), message(2), message(3)],
      [message(1), { id: "2", text: "edited" }, message(3)],
      [{ text: "text 1", id: "1" }, message(3)],
      [message(0), { text: "text 1", id: "1" }],
      [],
    ];
    let turn = 0;
    const engine = build(() => results[turn]);
    for (; turn < results.length; turn++) {
      await engine.run({ more: [] }, { thread: "t" });
      const { list } = (await engine.state("t"))!.state;
      expect(JSON.stringify(list)).toBe(JSON.stringify(results[turn]));
    }
  });

  test.each([
    [
      "a wrong type behind equal items",
      [message(1), { id: "2", text: 3 }],
      /expected string at `\[1\]\.text`, found 3/,
    ],
    ["an instance with equal fields", [new Message()], /an instance of Message/],
    [
      "a getter that throws",
      [
        {
          ...(message(1) as JsonObject),
          get text(): string {
            throw new Error("no");
          },
        },
      ],
      /cannot be read: no/,
    ],
  ])("is refused with %s", async (_, result, problem) => {
    let turn = 0;
    const engine = build(() => (turn++ === 0 ? [message(1)] : result));
    await engine.run({ more: [] }, { thread: "t" });
    expect((await engine.run({ more: [] }, { thread: "t" })).error?.message).toMatch(problem);
  });
});

describe("a long list is copied once, where it comes from outside", () => {
  const text = `type Row = { id: string, n: int }
    graph inner { input rows: Row[]  output found: Row[] = []  node find = rows into found  start -> find }
    graph g { input rows: Row[]  output all: Row[] = [] reduce merge  output found: Row[] = []  output made: Row[] = []
      node keep = rows into all  node ask = inner(rows: rows) into { found: found }  node make = make() into made
      start -> keep -> ask -> make }`;
  const rowsOf = (count: number) => Array.from({ length: count }, (_, n) => ({ id: `row ${n}`, n }));

  test.each([
    ["without a store", () => undefined],
    ["with a store", () => new MemoryStore()],
  ])("%s", async (_, open) => {
    const store = open();
    const [given, made] = [rowsOf(1000), rowsOf(500)];
    const engine = engineOf(text, { make: async () => made }, store === undefined ? {} : { store });
    const running = engine.run({ rows: given });
    given[7]!.n = -1;
    const { state, output } = await running;
    made[7]!.n = -1;
    expect(state).toEqual({ rows: rowsOf(1000), all: rowsOf(1000), found: rowsOf(1000), made: rowsOf(500) });
    const { rows, all, found } = state as Record<string, JsonObject[]>;
    expect(found).toBe(rows);
    expect(output["found"]).toBe(rows);
    expect(all!.every((row, at) => row === rows![at])).toBe(true);
    expect([rows, rows![7], all, all![7]].every((part) => Object.isFrozen(part))).toBe(true);
  });
});
