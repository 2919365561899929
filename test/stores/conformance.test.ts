/** Use and messages of the conformance suite. planted-faults.test.ts tests what it finds. */
import { describe, expect, it } from "vitest";
import { StoreError } from "../../runtime/interface/errors.ts";
import type { Store } from "../../runtime/interface/store.ts";
import {
  ConformanceError,
  describeStore,
  storeConformance,
  type MakeStore,
  type Need,
} from "../../runtime/stores/conformance/conformance.ts";
import { newDisk } from "./plain-disk.ts";
import { PlainStore } from "./plain-store.ts";

const REQUIRED = ["claim", "renew", "release", "save", "loadLatest", "loadById", "list", "deleteThread"] as const;
const TEST_FUNCTIONS: readonly Need[] = ["reopen", "crash", "secondProcess"];
const OPTIONAL = [
  "putWrites",
  "getWrites",
  "clearWrites",
  "putSignal",
  "getSignals",
  "label",
  "loadByLabel",
  "threads",
  "prune",
  "putItem",
  "getItem",
  "deleteItem",
  "listItems",
  "pruneItems",
  "close",
] as const;

describe("the suite of stores", () => {
  it("skips cases that need missing methods, and reports those", async () => {
    for (const { needs, run } of storeConformance) expect(await run(() => storeWith([]))).toEqual(needs);
  });

  it.each(OPTIONAL)("runs the other cases for a store without %s", async (lacking) => {
    const methods = OPTIONAL.filter((method) => method !== lacking);
    for (const { needs, run } of storeConformance) {
      const lacks = needs.filter((need) => need === lacking || TEST_FUNCTIONS.includes(need));
      expect(await run(() => storeWith(methods))).toEqual(lacks);
    }
  });

  it("has cases for all required methods, and for each optional one", () => {
    const needed = new Set<Need>(storeConformance.flatMap(({ needs }) => needs));
    expect([...needed].sort()).toEqual([...OPTIONAL, ...TEST_FUNCTIONS].sort());
    expect(storeConformance.filter(({ needs }) => needs.length === 0).length).toBeGreaterThan(30);
    expect(new Set(storeConformance.map(({ name }) => name)).size).toBe(storeConformance.length);
  });

  it("passes a store whose methods are asynchronous and overtake each other", async () => {
    const slow = (): Store => mapMethods(storeWith(OPTIONAL), (call) => async () => (await late(), await call()));
    for (const { run } of storeConformance) await run(slow);
  });

  it.each(REQUIRED)("reports an error of the wrong class thrown by %s", async (method) => {
    const broken: MakeStore = () => ({ ...storeWith(OPTIONAL), [method]: () => fail("out of order") });
    const errors = await failuresOf(broken);
    expect(errors.length).toBeGreaterThan(0);
    for (const { name, error } of errors) {
      expect(error).toBeInstanceOf(ConformanceError);
      expect(error.message.startsWith(`${name}: `), error.message).toBe(true);
      expect(error.message).toContain("out of order");
    }
  });
});

describe("a failure reports the case, what was expected, and what was found", () => {
  const cases: readonly (readonly [string, string, Partial<Store>, string])[] = [
    [
      "a wrong value",
      "history is paged",
      { list: () => [] },
      "history is paged: `limit`, `before`, 100 by default: history without a limit: expected 100 items, got 0: []",
    ],
    [
      "a missing error",
      "5.6 a thread has one runner",
      { claim: (threadId, { owner }) => ({ threadId, owner, epoch: 1 }) },
      '5.6 a thread has one runner; a second claim fails with an error that names the holder: a second claim: expected NG_THREAD_CONFLICT, but the call returned {"threadId":"thread","owner":"second","epoch":1}',
    ],
    [
      "another error",
      "a missing record is",
      { list: (_, options) => (options?.before === undefined ? [] : fail("no such page")) },
      "a missing record is `undefined` or an empty list, not an error: history before an unknown one: expected NG_UNKNOWN_CHECKPOINT, got Error: no such page",
    ],
    [
      "an error with the right code and the wrong class",
      "a missing record is",
      { list: (_, options) => (options?.before === undefined ? [] : fail("gone", "NG_UNKNOWN_CHECKPOINT")) },
      'a missing record is `undefined` or an empty list, not an error: history before an unknown one: expected NG_UNKNOWN_CHECKPOINT, got Error: gone, which is not a ThreadError of this package: import ThreadError from "ngraph/runtime" of the same installation as this suite',
    ],
    [
      "a missing value",
      "5.11 numbers are read",
      { loadLatest: () => ({ values: {} }) as never },
      "5.11 numbers are read as JSON holds them: -0 becomes 0: the values.zero: missing, expected 0",
    ],
    [
      "negative zero",
      "5.11 numbers are read",
      { loadLatest: () => ({ values: { zero: -0, zeros: [0, { zero: 0 }] } }) as never },
      "5.11 numbers are read as JSON holds them: -0 becomes 0: the values.zero: expected 0, got -0",
    ],
    [
      "a store that cannot be closed",
      "5.11 numbers are read",
      { close: () => fail("still busy") },
      "5.11 numbers are read as JSON holds them: -0 becomes 0: `close` or `dispose` failed: it threw Error: still busy",
    ],
  ];

  it.each(cases)("%s", async (_, begins, methods, message) => {
    const found = storeConformance.find(({ name }) => name.startsWith(begins))!;
    const error = await found.run(() => ({ ...storeWith(OPTIONAL), ...methods })).catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(ConformanceError);
    expect((error as ConformanceError).message).toBe(message);
  });

  it("contains both values for the runner to compare, and a stack that starts in the case", async () => {
    const [first] = await failuresOf(() => ({ ...storeWith(OPTIONAL), loadLatest: () => undefined }));
    expect(first!.error).toMatchObject({ actual: undefined, expected: { phase: "updated" } });
    expect(first!.error.stack).toMatch(/-cases\.ts/);
  });

  it("contains the store's own error as its cause", async () => {
    const cause = new StoreError("NG_STORE_FAILED", "disk full");
    const [first] = await failuresOf(() => ({ ...storeWith(OPTIONAL), save: () => Promise.reject(cause) }));
    expect(first!.error.cause).toBe(cause);
    expect(first!.error.message).toContain("it threw StoreError: disk full");
  });
});

describe("a runner", () => {
  it("reports skipped cases to a test context, and lets them pass without one", async () => {
    const skipped = new Map<string, string>();
    const bodies: [string, (...context: readonly unknown[]) => Promise<void>][] = [];
    const api = {
      describe: (_: string, body: () => void) => body(),
      it: (name: string, body: (...context: readonly unknown[]) => Promise<void>) => bodies.push([name, body]),
    };
    describeStore(api, "a store", () => storeWith([]));
    for (const [name, body] of bodies) {
      // Some runners inspect the number of parameters: a test with one parameter is then a test with a callback.
      expect(body).toHaveLength(0);
      await body({ skip: (reason: string) => skipped.set(name, reason) });
      await body(() => {});
      await body();
    }
    const optional = storeConformance.filter(({ needs }) => needs.length > 0);
    expect([...skipped.keys()]).toEqual(optional.map(({ name }) => name));
    expect(skipped.get("threads are listed, most recently written first")).toBe("the store has no threads");
  });
});

function storeWith(optional: readonly (typeof OPTIONAL)[number][]): Store {
  const store: Store = new PlainStore(newDisk());
  const methods = [...REQUIRED, ...optional];
  return Object.fromEntries(methods.map((method) => [method, store[method]!.bind(store)])) as unknown as Store;
}

function mapMethods(store: Store, wrap: (call: () => unknown) => () => unknown): Store {
  const methods = Object.entries(store) as [string, (...given: unknown[]) => unknown][];
  return Object.fromEntries(
    methods.map(([name, method]) => [name, (...given: unknown[]) => wrap(() => method(...given))()]),
  ) as unknown as Store;
}

/** Waits for 0 to 3 turns of the event loop, so that concurrent calls overtake each other. */
let turns = 1;
async function late(): Promise<void> {
  turns = (turns * 48_271) % 2_147_483_647;
  for (let n = turns % 4; n > 0; n--) await new Promise((resolve) => setImmediate(resolve));
}

async function failuresOf(makeStore: MakeStore) {
  const failures: { readonly name: string; readonly error: ConformanceError }[] = [];
  for (const { name, run } of storeConformance) {
    await run(makeStore).catch((error: unknown) => failures.push({ name, error: error as ConformanceError }));
  }
  return failures;
}

function fail(message: string, code?: string): never {
  throw Object.assign(new Error(message), code === undefined ? {} : { code });
}
