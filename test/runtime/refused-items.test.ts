/** 2.3, 7.1: a reducer that refuses what the items of a `for` node return fails the step, and the items keep their results. */
import { describe, expect, test } from "vitest";
import type { EngineOptions, FunctionRegistry, RunResult } from "../../runtime/interface/engine-options.ts";
import { MemoryStore } from "../../runtime/stores/memory.ts";
import { keyOf, loadGenerated } from "../fault/generated-tables.ts";
import { inFile, inMemory } from "../stores/each-store.ts";
import { engineOf, tableOf } from "../support/graph.ts";

/** Reducers that refuse what the items return. */
const CASES = [
  { name: "a sum that is not exact", channel: "int = 0 reduce sum", reason: "the sum 18014398509481982 is outside" },
  { name: "one that throws", channel: "json = null reduce join", reason: "no join", join: () => thrown("no join") },
  { name: "a result of another type", channel: "int[] = [] reduce join", reason: `found "x"`, join: () => "x" },
  { name: "a promise", channel: "int[] = [] reduce join", reason: "await it", join: async () => [1] },
  {
    name: "a promise that is rejected",
    channel: "int[] = [] reduce join",
    reason: "await it",
    join: async () => thrown("late"),
  },
];

function thrown(message: string): never {
  throw new Error(message);
}

/** A graph with a `for` node `every`, and a node `mend`. */
function textOf(channel: string, { xs = "[1, 2]", policies = "", edges = "start -> every" } = {}): string {
  return `graph g { output n: ${channel}  output seen: string = ""
    node every = body(x) for x in ${xs} into n ${policies}
    node mend = "mended" into seen
    ${edges} }`;
}

/** An engine that records the bodies it runs. `join` and `value`, the result of each item, can be mended. */
function recording(text: string, join?: () => unknown, options: EngineOptions = {}) {
  const ran: number[] = [];
  const user = { join: (join ?? (() => null)) as unknown, value: Number.MAX_SAFE_INTEGER };
  const body = (x: number): number => {
    ran.push(x);
    return user.value;
  };
  const functions = {
    body,
    join: (...values: unknown[]) => (user.join as (...of: unknown[]) => unknown)(...values),
  } as FunctionRegistry;
  return { ran, user, functions, engine: engineOf(text, functions, options) };
}

function expectRefused(result: RunResult, reason: string): void {
  expect(result).toMatchObject({ status: "failed", error: { code: "NG_REDUCER_FAILED", nodeIds: ["every"] } });
  const { message } = result.error!;
  expect(message.startsWith("the reducer of channel `n` failed on what node `every` wrote: ")).toBe(true);
  expect(message).toContain(reason);
}

describe.each(CASES)("$name", ({ channel, reason, join }) => {
  test("without a store", async () => {
    const { ran, engine } = recording(textOf(channel), join);
    expectRefused(await engine.run({}), reason);
    expect(ran).toEqual([1, 2]);
  });

  test("nothing of the step is applied", async () => {
    const { engine } = recording(textOf(channel, { edges: "start -> every, mend" }), join);
    const result = await engine.run({});
    expectRefused(result, reason);
    expect(result.state["seen"]).toBe("");
  });

  test("no error edge is taken, and no item is tried again", async () => {
    const policies = "{ tries 3 backoff 1ms..1ms  allow failure }";
    const { ran, engine } = recording(textOf(channel, { policies, edges: "start -> every -> mend on error" }), join);
    const result = await engine.run({});
    expectRefused(result, reason);
    expect(result.state["seen"]).toBe("");
    expect(ran).toEqual([1, 2]);
  });

  test("a generated module ends the same way", async () => {
    const table = tableOf(textOf(channel, { xs: "[1, 2, 3]", policies: "{ max parallel 1 }" }), ["body", "join"]);
    const { ran, functions } = recording(textOf(channel), join);
    const create = (await loadGenerated([table])).get(keyOf(table))!;
    expectRefused(await create({ functions }).run({}), reason);
    expect(ran).toEqual([1, 2, 3]);
  });

  test("a called graph fails its caller's node, which has its error edges", async () => {
    const store = new MemoryStore();
    const { ran, functions } = recording(textOf(channel), join);
    const caller = `${textOf(channel)}
      graph main { output said: string = ""
        node call = g()
        node rescue = error?.message ?? "none" into said
        start -> call -> rescue on error }`;
    const result = await engineOf(caller, functions, { store }).run({}, { thread: "t" });
    expect(result).toMatchObject({ status: "completed" });
    expect(result.output["said"]).toContain(reason);
    expect(ran).toEqual([1, 2]);
  });

  for (const [kind, open] of Object.entries({ memory: inMemory, SQLite: inFile })) {
    describe.each(["sync", "async", "exit"] as const)(`${kind}, %s`, (durability) => {
      test.each(["[1]", "[1, 2]"])("the thread has failed; no item of %s runs again", async (xs) => {
        const opened = open();
        try {
          const list = join === undefined ? "[1, 2]" : xs;
          const text = textOf(channel, { xs: list });
          const first = recording(text, join, { store: opened.store, durability });
          expectRefused(await first.engine.run({}, { thread: "t" }), reason);
          const [thread] = await first.engine.threads();
          expect(thread).toMatchObject({ thread: "t", status: "failed" });

          const next = recording(text, join, { store: await opened.reopen(), durability });
          expectRefused(await next.engine.resume("t"), reason);
          expect(next.ran).toEqual([]);
          // The sum has no other reducer: its items run again with a body that is mended.
          next.user.join = () => [7];
          next.user.value = 4;
          const resumed = await next.engine.resume("t", join === undefined ? { at: "every" } : {});
          expect(resumed.output["n"]).toEqual(join === undefined ? 8 : [7]);
          expect(next.ran).toEqual(join === undefined ? [1, 2] : []);
        } finally {
          await opened.dispose();
        }
      });
    });
  }
});

test("items that failed by permission are part of what the mended reducer reads", async () => {
  const text = `graph g { output n: json = null reduce join
    node every = body(x) for x in [1, 2, 3] into n { allow failure }
    start -> every }`;
  const ran: number[] = [];
  let isMended = false;
  const body = (x: number): number => {
    ran.push(x);
    return x === 2 ? thrown("not two") : x * 10;
  };
  const join = (_current: unknown, update: unknown): unknown => (isMended ? update : thrown("no join"));
  const engine = engineOf(text, { body, join }, { store: new MemoryStore() });
  expectRefused(await engine.run({}, { thread: "t" }), "no join");
  isMended = true;
  expect(await engine.resume("t")).toMatchObject({ status: "completed", output: { n: [10, 30] } });
  expect(ran).toEqual([1, 2, 3]);
});

test("a value that was written by hand, and is refused, is dropped: the items run", async () => {
  const text = `graph g { output n: json = null reduce join  output seen: string = ""
    node every = body(x) for x in [1, 2] into n
    node other = fails() into seen
    start -> every, other }`;
  const ran: number[] = [];
  let isDown = true;
  const functions = {
    body: (x: number) => (ran.push(x), x),
    join: (_current: unknown, update: unknown) => (!isDown && update === "by hand" ? thrown("not by hand") : update),
    fails: () => (isDown ? thrown("down") : "up"),
  } as FunctionRegistry;
  const engine = engineOf(text, functions, { store: new MemoryStore() });
  expect(await engine.run({}, { thread: "t" })).toMatchObject({ status: "failed" });
  await engine.update("t", { n: "by hand" }, { as: "every" });
  isDown = false;
  expectRefused(await engine.resume("t"), "not by hand");
  expect(await engine.resume("t")).toMatchObject({ status: "completed", output: { n: [1, 2], seen: "up" } });
  expect(ran).toEqual([1, 2, 1, 2]);
});

test("a rollback undoes each item once", async () => {
  const text = `graph g { output n: json = null reduce join
    node every = body(x) for x in [1, 2] into n { undo unbook(x) }
    start -> every }`;
  const undone: unknown[] = [];
  const functions = {
    body: (x: number) => x,
    unbook: (x: unknown) => void undone.push(x),
    join: () => thrown("no join"),
  } as FunctionRegistry;
  const engine = engineOf(text, functions, { store: new MemoryStore() });
  expectRefused(await engine.run({}, { thread: "t" }), "no join");
  await engine.resume("t");
  expect(await engine.rollback("t")).toMatchObject({ status: "rolled_back" });
  expect(undone).toEqual([2, 1]);
});
