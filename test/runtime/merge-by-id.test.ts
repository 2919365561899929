/** language.md, "Reducers": `merge` of a list of records works by their ids. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { mergeAllItems, mergeItems } from "../../runtime/program/merge-items.ts";
import { MemoryStore } from "../../runtime/stores/memory.ts";
import type { Json } from "../../runtime/value/json.ts";
import { numRuns } from "../support/depth.ts";
import { engineOf } from "../support/graph.ts";

const GRAPH = `type Message = { id?: string, text: string }
graph g {
  input  update: json
  memory messages: Message[] reduce merge
  output texts: string[]
  node change = change(update) into messages
  node read = [m.text for m in messages] into texts
  start -> change -> read
}`;

describe("merge by id", () => {
  test("replaces in place, appends, and removes", async () => {
    const engine = engineOf(GRAPH, { change: (update: unknown) => update }, { store: new MemoryStore() });
    const run = async (update: Json): Promise<unknown> =>
      (await engine.run({ update }, { thread: "t" })).output["texts"];
    expect(
      await run([
        { id: "a", text: "one" },
        { id: "b", text: "two" },
      ]),
    ).toEqual(["one", "two"]);
    expect(await run({ id: "a", text: "new" })).toEqual(["new", "two"]);
    expect(await run([{ id: "a", removed: true }, { text: "three" }])).toEqual(["two", "three"]);
    expect(await run([{ id: "unknown", removed: true }])).toEqual(["two", "three"]);
    expect(await run([])).toEqual(["two", "three"]);
  });

  test("derives equal ids when a step runs again, and in forks", async () => {
    const store = new MemoryStore();
    let isBroken = true;
    const engine = engineOf(
      `type M = { id?: string, text: string }
      graph g {
        output messages: M[] reduce merge
        node a = { text: "a" } into messages
        node b = work() into messages
        node c = [{ text: "a" }, { text: "c" }] into messages
        start -> a, b
        any(a, b) -> c
      }`,
      {
        work: () => {
          if (isBroken) throw new Error("no");
          return [{ text: "a" }];
        },
      },
      { store },
    );
    const failed = await engine.run({}, { thread: "t" });
    expect(failed.status).toBe("failed");
    isBroken = false;
    const resumed = await engine.resume("t");
    const other = await engine.run({}, { thread: "u" });
    expect(resumed.output).toEqual(other.output);
    const ids = (resumed.output["messages"] as { id: string }[]).map(({ id }) => id);
    expect(new Set(ids).size).toBe(4);
    await engine.fork("t", { as: "v" });
    expect((await engine.state("v"))?.state).toEqual((await engine.state("t"))?.state);
  });

  test("of a `for` node takes the results in item order", async () => {
    const engine = engineOf(
      `type M = { id: string, n: int }
      graph g {
        input xs: int[]  output ms: M[] reduce merge
        node a = make(x) for x in xs into ms
        start -> a
      }`,
      { make: (x: unknown) => ({ id: String((x as number) % 2), n: x }) },
    );
    expect((await engine.run({ xs: [1, 2, 3] })).output).toEqual({
      ms: [
        { id: "1", n: 3 },
        { id: "0", n: 2 },
      ],
    });
    expect((await engine.run({ xs: [] })).output).toEqual({ ms: [] });
  });

  test("refuses items that do not fit", async () => {
    const engine = engineOf(GRAPH, { change: (update: unknown) => update });
    for (const update of [{ id: "a" }, [{ id: 1, text: "x" }], { removed: true }, "x"]) {
      expect((await engine.run({ update })).error).toMatchObject({ code: "NG_BAD_RESULT" });
    }
  });
});

const DERIVED = [0, 1].map((n) => (mergeItems([], [{ n }]) as { id: string }[])[0]!.id);

test("several updates at once equal one after the other", () => {
  const item = fc.oneof(
    fc.record({ id: fc.constantFrom("a", "b", "c"), n: fc.nat(2) }, { requiredKeys: ["n"] }),
    fc.record({ id: fc.constantFrom("a", ...DERIVED), removed: fc.constant(true) }),
  );
  fc.assert(
    fc.property(fc.array(fc.array(item, { maxLength: 4 }), { maxLength: 4 }), (updates) => {
      const given = updates as Json[];
      const once = mergeAllItems([], given);
      const steps = given.reduce<Json>((list, update) => mergeItems(list, update), []);
      expect(once).toEqual(steps);
      const ids = (once as { id: string }[]).map(({ id }) => id);
      expect(new Set(ids).size).toBe(ids.length);
    }),
    { numRuns: numRuns(500), seed: 5 },
  );
});

test("merges a few items into a list of its own as into any equal list", () => {
  const item = fc.oneof(
    fc.record({ id: fc.constantFrom("a", "b", "c", "d", "__proto__"), n: fc.nat(3) }),
    fc.record({ n: fc.nat(3) }),
    fc.record({ id: fc.constantFrom("a", "b"), removed: fc.constant(true) }),
  );
  fc.assert(
    fc.property(fc.array(fc.array(item, { maxLength: 10 }), { maxLength: 8 }), (updates) => {
      let list: Json = Object.freeze([]);
      for (const update of updates) {
        // No merge has made the copy.
        const other = mergeItems(structuredClone(list), update);
        list = mergeItems(list, update);
        expect(list).toEqual(other);
        expect(Object.isFrozen(list)).toBe(true);
      }
    }),
    { numRuns: numRuns(200), seed: 5 },
  );
});
