/** Execution, 2.8, 4.3, 5.4, 5.8, 6.2, 7.1 and 7.2: resumes after earlier resumes. */
import { describe, expect, test } from "vitest";
import type { Json, NodeContext } from "../../runtime/index.ts";
import { MemoryStore } from "../../runtime/stores/memory.ts";
import { CrashingStore } from "../support/crashing-store.ts";
import { engineOf } from "../support/graph.ts";
import { settle, VirtualClock } from "../support/virtual-clock.ts";

describe("stored results", () => {
  const TEXT = `graph g { output log: string[] = [] reduce append
    node a = work("a") into log { pause before }  node b = work("b") into log { pause before }
    start -> a, b  any(a, b) -> end }`;

  test("5.4, 6.2: answers to several gates are kept with the results", async () => {
    const ran: string[] = [];
    const functions = { work: async (name: string) => (ran.push(name), name) };
    let now = 0;
    const store = new MemoryStore({ now: () => now });
    const { pauses } = await engineOf(TEXT, functions, { store }).run({}, { thread: "t" });
    const answers = Object.fromEntries(pauses.map(({ id }) => [id, true]));
    // Both gates are released, both bodies run, and one call stores both results. The process dies before the commit
    // of the step.
    const dying = engineOf(TEXT, functions, { store: new CrashingStore(store, 2), leaseMs: 1 });
    await expect(dying.resume("t", { answers })).rejects.toMatchObject({ code: "NG_STORE_FAILED" });
    expect(ran).toEqual(["a", "b"]);
    now = 2;
    const engine = engineOf(TEXT, functions, { store });
    expect((await engine.state("t"))!.pauses).toEqual([]);
    expect(await engine.resume("t")).toMatchObject({ status: "completed", output: { log: ["a", "b"] } });
    expect(ran).toEqual(["a", "b"]);
  });

  test("2.8, 5.4: a resume that meets its limit at once keeps them", async () => {
    const ran: string[] = [];
    const engine = engineOf(
      `graph g { output log: string[] = [] reduce append  node first = work("first") into log
        node a = work("a") into log  node b = ask("b?") into log  start -> first -> a, b  any(a, b) -> end }`,
      { work: (name: string) => (ran.push(name), name) },
      { store: new MemoryStore() },
    );
    const { pauses } = await engine.run({}, { thread: "t" });
    const answers = { [pauses[0]!.id]: "b" };
    expect((await engine.resume("t", { maxSteps: 1, answers })).status).toBe("limit");
    expect(await engine.resume("t")).toMatchObject({ status: "completed", output: { log: ["first", "a", "b"] } });
    expect(ran).toEqual(["first", "a"]);
  });

  test("5.8: with durability `exit` those of steps that are over do not come back", async () => {
    let round = 0;
    const engine = engineOf(
      `graph g { output log: int[] = [] reduce append  output said: string = ""
        node a = work() into log  node b = maybe(len(log)) into said
        start -> a, b  a -> a, b when len(log) < 3  a -> end otherwise  b -> end }`,
      {
        work: () => ++round,
        maybe: (count: number, context: NodeContext) => (count < 2 ? "" : context.interrupt<string>()),
      },
      { store: new MemoryStore(), durability: "exit" },
    );
    expect((await engine.run({}, { thread: "t" })).status).toBe("paused");
    expect(await engine.resume("t", { answer: "yes" })).toMatchObject({ output: { log: [1, 2, 3], said: "yes" } });
    expect(round).toBe(3);
  });
});

test("5.7: stored results that have no place any more are listed, and nothing runs", async () => {
  const store = new MemoryStore();
  const before = engineOf(
    `graph g { output log: string[] = [] reduce append  output n: int = 0  output m: int = 0
       node a = "a" into log  node b = 3 into n  node c = 4 into m  node d = d() { goes e }  node e = 1  node q = ask("?")
       start -> a, b, c, d, q  any(a, b, c, d, e, q) -> end }`,
    { d: (context: NodeContext) => context.goto("e") },
    { store },
  );
  await before.run({}, { thread: "t" });
  const after = engineOf(
    `graph g { output log: string[] = [] reduce append  output n: string = ""
       node b = "x" into n  node c = 4  node d = 1  node q = ask("?")  start -> b, c, d, q  any(b, c, d, q) -> end }`,
    {},
    { store },
  );
  for (const call of [
    () => after.resume("t", { answer: "x" }),
    () => after.fork("t", { as: "u" }),
    () => after.update("t", { log: "more" }),
  ]) {
    await expect(call()).rejects.toMatchObject({
      code: "NG_DRIFT",
      details: [
        "node `a` no longer exists, but its result is stored",
        expect.stringContaining("channel `n` does not accept the stored result of node `b`") as string,
        "channel `m` no longer exists, but the stored result of node `c` writes it",
        "node `e` no longer exists, but the stored result of node `d` leads to it",
      ],
    });
  }
  expect(await before.resume("t", { answer: "x" })).toMatchObject({ status: "completed", output: { n: 3, m: 4 } });
});

test("4.3, 7.1: an error edge of a `for` node is taken once all its items have ended", async () => {
  const engine = engineOf(
    `graph g { output bad: int[] = []  output log: string[] = [] reduce append
      node every = each(i) for i in [0, 1, 2] into log  node mend = [item.index for item in error.items ?? []] into bad
      start -> every  every -> end  every -> mend on error  mend -> end }`,
    {
      each: (item: number, context: NodeContext) => {
        if (item === 1) context.interrupt(null);
        throw new Error("no");
      },
    },
    { store: new MemoryStore() },
  );
  expect(await engine.run({}, { thread: "t" })).toMatchObject({ status: "paused", pauses: [{ node: "every" }] });
  expect(await engine.resume("t", { answer: true })).toMatchObject({ status: "completed", output: { bad: [0, 1, 2] } });
});

describe("7.2 tries of a called graph", () => {
  test("count over pauses", async () => {
    const engine = engineOf(
      `graph child { output m: int = 0  node q = question() into m  node broken = fail("no")  start -> q -> broken }
       graph parent { output m: int = 0  node call = child() into { m } { tries 2 backoff 1ms..1ms }  start -> call }`,
      { question: (context: NodeContext) => context.interrupt<number>(context.attempt) },
      { store: new MemoryStore() },
    );
    let result = await engine.run({}, { thread: "t" });
    let rounds = 0;
    while (result.status === "paused" && rounds++ < 10) result = await engine.resume("t", { answer: 1 });
    expect(result).toMatchObject({ status: "failed", error: { nodeId: "call", attempts: 2 } });
  });

  test("a timeout waits for it to stop, so that the next try finds its checkpoints at rest", async () => {
    const clock = new VirtualClock();
    const store = slowToSave(new MemoryStore());
    let calls = 0;
    const engine = engineOf(
      `graph child { output m: int = 0  node a = a() into m  node b = b(m) into m  start -> a -> b }
       graph parent { output m: int = 0  node call = child() into { m } { tries 3 backoff 1ms..1ms  timeout 100ms }  start -> call }`,
      { a: () => ++calls, b: (m: number) => (m < 3 ? new Promise<Json>(() => undefined) : m) },
      { store, clock },
    );
    let result: unknown;
    engine.run({}, { thread: "t" }).then(
      (ended) => (result = ended),
      (error: unknown) => (result = error),
    );
    for (let turn = 0; turn < 2000 && result === undefined; turn++) {
      await settle();
      const [next] = clock.waiting;
      if (next !== undefined && (next < 3 || (next < 5000 && turn % 40 === 39))) await clock.advance(next);
    }
    expect(result).toMatchObject({ status: "completed", output: { m: 3 } });
  });
});

/** Reads return at once, saves some turns later. */
function slowToSave(store: MemoryStore): MemoryStore {
  const save = store.save.bind(store);
  return Object.assign(store, {
    save: async (...args: Parameters<typeof save>) => {
      for (let turn = 0; turn < 10; turn++) await settle();
      save(...args);
    },
  });
}
