/** `engine.memory` and `context.memory`: items that outlive threads. */
import { describe, expect, test } from "vitest";
import { systemClock } from "../../runtime/interface/clock.ts";
import type { MemoryOptions, Namespace } from "../../runtime/interface/memory.ts";
import type { NodeContext } from "../../runtime/interface/context.ts";
import type { Store } from "../../runtime/interface/store.ts";
import { withCodec } from "../../runtime/stores/codec.ts";
import { MemoryStore } from "../../runtime/stores/memory.ts";
import { SqliteStore } from "../../runtime/stores/sqlite.ts";
import type { Json } from "../../runtime/value/json.ts";
import { engineOf } from "../support/graph.ts";

const GRAPH = `graph g { input user: string   output answer: string = ""
  node greet = greet(user) into answer   start -> greet }`;

const REVERSED = {
  keyId: "k",
  encode: (text: string) => [...text].reverse().join(""),
  decode: (text: string) => [...text].reverse().join(""),
};

const STORES: Readonly<Record<string, () => Store>> = {
  MemoryStore: () => new MemoryStore(),
  SqliteStore: () => new SqliteStore(":memory:"),
  "a store with a codec": () => withCodec(new MemoryStore(), REVERSED),
};

function setup(store: Store, memory: MemoryOptions = {}) {
  const clock = { ...systemClock, time: 1000, now: () => clock.time };
  const greet = async (user: string, { memory: items }: NodeContext): Promise<string> => {
    const known = (await items.get(["users", user], "visits"))?.value ?? 0;
    await items.put(["users", user], "visits", (known as number) + 1);
    return `visit ${(known as number) + 1}`;
  };
  const engine = engineOf(GRAPH, { greet }, { store, clock, memory });
  return { clock, engine, memory: engine.memory };
}

/** One dimension for each word of a small vocabulary. */
const WORDS = ["cat", "dog", "car", "bus"];
const vectors = (texts: readonly string[]): number[][] =>
  texts.map((text) => [...WORDS.map((word) => text.split(word).length - 1), 0.1]);

describe.each(Object.entries(STORES))("the long-term memory in %s", (_, make) => {
  test("neither reads nor writes what the project keeps there, such as the events of webhooks", async () => {
    const store = make();
    const { memory } = setup(store);
    const own = { namespace: ["ngraph", "webhooks", "a"], key: "event", value: { text: "secret" } };
    await store.putItem!({ ...own, created: 1, updated: 1, expires: null, vector: null });
    await memory.put(["users"], "event", { text: "open" });
    expect((await memory.list([], { limit: 1 })).map(({ namespace }) => namespace)).toEqual([["users"]]);
    expect((await memory.search([])).map(({ namespace }) => namespace)).toEqual([["users"]]);
    const refused = { code: "NG_BAD_INPUT", message: "namespaces that begin with `ngraph` are reserved" };
    await expect(memory.get(own.namespace, own.key)).rejects.toMatchObject(refused);
    await expect(memory.put(own.namespace, "forged", 1)).rejects.toMatchObject(refused);
    await expect(memory.put("ngraph", "forged", 1)).rejects.toMatchObject(refused);
    await expect(memory.delete(own.namespace, own.key)).rejects.toMatchObject(refused);
    await expect(memory.list(["ngraph"])).rejects.toMatchObject(refused);
    await expect(memory.search("ngraph")).rejects.toMatchObject(refused);
  });

  test("is shared by threads, and reachable from nodes", async () => {
    const store = make();
    const { engine } = setup(store);
    expect((await engine.run({ user: "ann" }, { thread: "1" })).output).toEqual({ answer: "visit 1" });
    expect((await engine.run({ user: "ann" }, { thread: "2" })).output).toEqual({ answer: "visit 2" });
    expect((await engine.run({ user: "bob" }, { thread: "3" })).output).toEqual({ answer: "visit 1" });
    const other = setup(store).memory;
    expect((await other.get(["users", "ann"], "visits"))?.value).toBe(2);
    expect((await other.list(["users"])).map(({ namespace, key }) => [...namespace, key])).toEqual([
      ["users", "ann", "visits"],
      ["users", "bob", "visits"],
    ]);
    expect(await other.delete(["users", "ann"], "visits")).toBe(true);
    expect(await other.delete(["users", "ann"], "visits")).toBe(false);
  });

  test("items expire", async () => {
    const { clock, memory } = setup(make(), { ttl: 500 });
    await memory.put("a", "usual", 1);
    await memory.put("a", "long", 2, { ttl: 5000 });
    await memory.put("a", "never", 3, { ttl: null });
    expect(await memory.get("a", "usual")).toEqual({
      ...{ namespace: ["a"], key: "usual", value: 1 },
      ...{ created: 1000, updated: 1000, expires: 1500 },
    });
    clock.time = 1500;
    expect(await memory.get("a", "usual")).toBeUndefined();
    expect((await memory.list("a")).map(({ key }) => key)).toEqual(["long", "never"]);
    await memory.put("a", "long", 4, { ttl: 5000 });
    expect(await memory.get("a", "long")).toMatchObject({ created: 1000, updated: 1500, expires: 6500 });
    expect(await memory.prune()).toBe(1);
    expect(await memory.prune()).toBe(0);
  });

  test("lists have pages and filters", async () => {
    const { memory } = setup(make());
    for (let n = 0; n < 7; n++) await memory.put(["n", `${n % 2}`], `${n}`, { n, even: n % 2 === 0 });
    const keys = async (...args: Parameters<typeof memory.list>) => (await memory.list(...args)).map(({ key }) => key);
    expect(await keys(["n"])).toEqual(["0", "2", "4", "6", "1", "3", "5"]);
    expect(await keys()).toHaveLength(7);
    expect(await keys("n", { limit: 2 })).toEqual(["0", "2"]);
    expect(await keys("n", { limit: 2, after: { namespace: ["n", "0"], key: "6" } })).toEqual(["1", "3"]);
    expect(await keys("n", { filter: { even: false } })).toEqual(["1", "3", "5"]);
    expect(await keys("n", { filter: { even: true, n: 4 } })).toEqual(["4"]);
    expect(await keys("n", { limit: 0 })).toEqual([]);
  });

  test("searches by meaning", async () => {
    const { memory } = setup(make(), { vectors });
    await memory.put(["facts", "a"], "1", "the cat sleeps");
    await memory.put(["facts", "a"], "2", { text: "a dog and a cat" });
    await memory.put(["facts", "b"], "3", "the bus is late");
    await memory.put(["facts", "b"], "4", "no vector: cat cat cat", { text: false });
    await memory.put(["facts", "b"], "5", 42, { text: "car" });
    const found = await memory.search("facts", "cat");
    expect(found.map(({ key }) => key)).toEqual(["1", "2", "3", "5"]);
    expect(found[0]!.score).toBeCloseTo(1, 5);
    expect(found[0]).not.toHaveProperty("vector");
    const keys = async (...args: Parameters<typeof memory.search>) =>
      (await memory.search(...args)).map(({ key }) => key);
    expect(await keys(["facts", "b"], "cat")).toEqual(["3", "5"]);
    expect(await keys("facts", { query: "cat", limit: 1 })).toEqual(["1"]);
    expect(await keys("facts", { query: "cat", minScore: 0.5 })).toEqual(["1", "2"]);
    expect(await keys("facts", { query: "cat", filter: { text: "a dog and a cat" } })).toEqual(["2"]);
    expect(await keys("facts", { limit: 3 })).toEqual(["1", "2", "3"]);
    expect((await memory.search("facts"))[0]!.score).toBeNull();
  });
});

describe("the long-term memory", () => {
  test("needs a store that has one", async () => {
    const none = engineOf(GRAPH, { greet: () => "" }).memory;
    await expect(none.get("a", "b")).rejects.toMatchObject({ code: "NG_NO_STORE" });
    const base = new MemoryStore();
    const store: Store = Object.assign(Object.create(base) as Store, { listItems: undefined });
    await expect(engineOf(GRAPH, { greet: () => "" }, { store }).memory.list()).rejects.toMatchObject({
      code: "NG_STORE_FAILED",
      message: "this store has no long-term memory: it lacks `listItems`",
    });
  });

  const memory = setup(new MemoryStore()).memory;
  const cycle: { self?: unknown } = {};
  cycle.self = cycle;
  test.each<[string, () => Promise<unknown>, string]>([
    ["an empty namespace", () => memory.put([], "k", 1), "the namespace of an item has at least one part"],
    ["an empty part", () => memory.put(["a", ""], "k", 1), "strings of at least one character"],
    ["a part that is no string", () => memory.get([1] as unknown as Namespace, "k"), "strings of at least one"],
    ["too many parts", () => memory.list(Array.from({ length: 17 }, () => "a")), "a list of at most 16 strings"],
    ["an empty key", () => memory.put("a", "", 1), "the key of an item is a string of at least one character"],
    ["a long key", () => memory.put("a", "k".repeat(500), 1), "have at most 500 characters together, not 501"],
    ["a large value", () => memory.put("a", "k", "x".repeat(1_000_001)), "at most 1000000 characters as JSON"],
    ["a value that is not JSON", () => memory.put("a", "k", new Date() as unknown as Json), "is not plain JSON"],
    ["a cyclic value", () => memory.put("a", "k", cycle as Json), "is not plain JSON"],
    ["an unknown option", () => memory.put("a", "k", 1, { tll: 5 } as object), "did you mean `ttl`?"],
    ["a ttl beyond all dates", () => memory.put("a", "k", 1, { ttl: 1e308 }), "`ttl` is too large"],
    [
      "a ttl beyond safe integers",
      () => memory.put("a", "k", 1, { ttl: Number.MAX_SAFE_INTEGER }),
      "`ttl` is too large",
    ],
    ["a ttl without a text", () => memory.put("a", "k", 1, { ttl: Object.create(null) as number }), "not an object"],
    ["a limit without a text", () => memory.list("a", { limit: Object.create(null) as number }), "not an object"],
    ["no place after which a list begins", () => memory.list("a", { after: null as never }), "a namespace is a list"],
    ["a ttl of 0", () => memory.put("a", "k", 1, { ttl: 0 }), "`ttl` is a number of milliseconds above 0, not 0"],
    ["a large limit", () => memory.list("a", { limit: 1001 }), "`limit` is a whole number up to 1000, not 1001"],
    ["a filter that is no record", () => memory.list("a", { filter: [] as unknown as {} }), "`filter` is a record"],
    ["a query without vectors", () => memory.search("a", "cat"), "give the engine `memory: { vectors }`"],
  ])("refuses %s", async (_, call, message) => {
    await expect(call()).rejects.toMatchObject({ code: "NG_BAD_INPUT", message: expect.stringContaining(message) });
  });

  test("refuses vectors that are not lists of numbers", async () => {
    for (const wrong of [() => [], () => [[]], () => [[Number.NaN]], () => [["1"]], () => "x"]) {
      const { memory: items } = setup(new MemoryStore(), { vectors: wrong as unknown as typeof vectors });
      await expect(items.put("a", "k", "text")).rejects.toMatchObject({
        code: "NG_BAD_INPUT",
        message: "`vectors` returns a list of 1 to 65536 finite 32-bit numbers for each text",
      });
    }
  });

  test("values cannot be changed from outside, and names of prototypes are plain names", async () => {
    const value = { list: [1] };
    await memory.put("__proto__", "constructor", value);
    value.list.push(2);
    const item = (await memory.get("__proto__", "constructor"))!;
    expect(item.value).toEqual({ list: [1] });
    expect(Object.isFrozen(item.value)).toBe(true);
    expect(await memory.get("a", "constructor")).toBeUndefined();
    expect(await memory.list("__proto__", { filter: { toString: 1 } as never })).toEqual([]);
  });
});
