/** How the suite is used, and what it says. What it finds is in planted-faults.test.ts. */
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
const OPTIONAL = [
  "putWrites",
  "getWrites",
  "clearWrites",
  "label",
  "loadByLabel",
  "threads",
  "prune",
  "close",
] as const;

describe("the suite of stores", () => {
  it("asks a store for what it has, and says which cases it was not asked", async () => {
    for (const { needs, run } of storeConformance) expect(await run(() => storeWith([]))).toEqual(needs);
  });

  it.each(OPTIONAL)("asks the rest of a store that lacks %s", async (lacking) => {
    const methods = OPTIONAL.filter((method) => method !== lacking);
    for (const { needs, run } of storeConformance) {
      const lacks = needs.filter((need) => need === lacking || need === "reopen");
      expect(await run(() => storeWith(methods))).toEqual(lacks);
    }
  });

  it("has cases for all that is required, and for each optional method", () => {
    const needed = new Set<Need>(storeConformance.flatMap(({ needs }) => needs));
    expect([...needed].sort()).toEqual([...OPTIONAL, "reopen"].sort());
    expect(storeConformance.filter(({ needs }) => needs.length === 0).length).toBeGreaterThan(30);
    expect(new Set(storeConformance.map(({ name }) => name)).size).toBe(storeConformance.length);
  });

  it("passes a store whose methods all take their time", async () => {
    const slow = (): Store => mapMethods(storeWith(OPTIONAL), (call) => async () => (await late(), await call()));
    for (const { run } of storeConformance) await run(slow);
  });

  it.each(REQUIRED)("says so when %s throws what a store does not throw", async (method) => {
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

describe("a failure says the case, what was expected, and what was found", () => {
  const cases: readonly (readonly [string, string, Partial<Store>, string])[] = [
    [
      "a wrong value",
      "history is given in pages",
      { list: () => [] },
      "history is given in pages: `limit`, `before`, 100 by default: history without a limit: expected 100 items, got 0: []",
    ],
    [
      "an error that does not come",
      "5.6 a thread has one runner",
      { claim: (threadId, { owner }) => ({ threadId, owner, epoch: 1 }) },
      '5.6 a thread has one runner; the second is told who it is: a second claim: expected NG_THREAD_CONFLICT, but no error came; it gave {"threadId":"thread","owner":"second","epoch":1}',
    ],
    [
      "another error",
      "what is not there is absent",
      { list: (_, options) => (options?.before === undefined ? [] : fail("no such page")) },
      "what is not there is absent, not an error: history before an unknown one: expected NG_UNKNOWN_CHECKPOINT, got Error: no such page",
    ],
    [
      "an error of the right code that is none of ours",
      "what is not there is absent",
      { list: (_, options) => (options?.before === undefined ? [] : fail("gone", "NG_UNKNOWN_CHECKPOINT")) },
      'what is not there is absent, not an error: history before an unknown one: expected NG_UNKNOWN_CHECKPOINT, got Error: gone, which is no ThreadError of this package: import ThreadError from "ngraph/runtime", of the same installation as this suite',
    ],
    [
      "a value that is missing",
      "5.11 values come back",
      { loadLatest: () => ({ values: {} }) as never },
      "5.11 values come back as JSON gives them: no negative zero: the values.zero: missing, expected 0",
    ],
    [
      "negative zero",
      "5.11 values come back",
      { loadLatest: () => ({ values: { zero: -0, zeros: [0, { zero: 0 }] } }) as never },
      "5.11 values come back as JSON gives them: no negative zero: the values.zero: expected 0, got -0",
    ],
    [
      "a store that cannot be closed",
      "5.11 values come back",
      { close: () => fail("still busy") },
      "5.11 values come back as JSON gives them: no negative zero: closing it, or clearing up, failed: it threw Error: still busy",
    ],
  ];

  it.each(cases)("%s", async (_, begins, methods, message) => {
    const found = storeConformance.find(({ name }) => name.startsWith(begins))!;
    const error = await found.run(() => ({ ...storeWith(OPTIONAL), ...methods })).catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(ConformanceError);
    expect((error as ConformanceError).message).toBe(message);
  });

  it("with both values for the runner to compare, and the place in the case", async () => {
    const [first] = await failuresOf(() => ({ ...storeWith(OPTIONAL), loadLatest: () => undefined }));
    expect(first!.error).toMatchObject({ actual: undefined, expected: { phase: "updated" } });
    expect(first!.error.stack).toMatch(/-cases\.ts/);
  });

  it("with the store's own error as cause", async () => {
    const cause = new StoreError("NG_STORE_FAILED", "disk full");
    const [first] = await failuresOf(() => ({ ...storeWith(OPTIONAL), save: () => Promise.reject(cause) }));
    expect(first!.error.cause).toBe(cause);
    expect(first!.error.message).toContain("it threw StoreError: disk full");
  });
});

describe("a runner", () => {
  it("that hands over a context is told what was skipped; any other passes it", async () => {
    const skipped = new Map<string, string>();
    const bodies: [string, (...context: readonly unknown[]) => Promise<void>][] = [];
    const api = {
      describe: (_: string, body: () => void) => body(),
      it: (name: string, body: (...context: readonly unknown[]) => Promise<void>) => bodies.push([name, body]),
    };
    describeStore(api, "a store", () => storeWith([]));
    for (const [name, body] of bodies) {
      // Runners that look at the number of parameters take a test with one for a test with a callback.
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

/** Now none, now some turns of the event loop: calls that are made at the same time overtake each other. */
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
