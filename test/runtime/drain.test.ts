/** A drained engine: its runs end at a step boundary, and the next process takes them up. */
import { describe, expect, test } from "vitest";
import type { Durability } from "../../runtime/interface/engine-options.ts";
import { MemoryStore } from "../../runtime/stores/memory.ts";
import { deferred } from "../support/deferred.ts";
import { engineOf } from "../support/graph.ts";
import { VirtualClock } from "../support/virtual-clock.ts";

const TEXT = `graph g { output log: string[] = [] reduce append
  node a = a() into log  node b = b() into log  node c = c() into log  start -> a, b  all(a, b) -> c }`;

describe("drain", () => {
  for (const durability of ["sync", "async", "exit"] as readonly Durability[]) {
    test(`a run ends after its step, and is resumed without repetition (${durability})`, async () => {
      const store = new MemoryStore();
      const ran: string[] = [];
      const [started, release] = [deferred<void>(), deferred<void>()];
      const functions = {
        a: async () => {
          ran.push("a");
          started.resolve();
          await release.promise;
          return "a";
        },
        b: () => (ran.push("b"), "b"),
        c: () => (ran.push("c"), "c"),
      };
      const engine = engineOf(TEXT, functions, { store });
      const run = engine.run({}, { thread: "t", durability });
      await started.promise;
      const drain = engine.drain();
      await expect(engine.run({}, { thread: "u" })).rejects.toMatchObject({ code: "NG_DRAINED" });
      await expect(engine.resume("t")).rejects.toMatchObject({ code: "NG_DRAINED" });
      release.resolve();
      expect(await run).toMatchObject({ status: "cancelled", steps: [["a", "b"]], error: { code: "NG_DRAINED" } });
      expect(await drain).toEqual({ drained: 1, cancelled: 0 });
      expect(await engine.threads()).toMatchObject([{ thread: "t", status: "interrupted" }]);
      const next = engineOf(TEXT, functions, { store });
      const { results } = await next.recover();
      expect(results).toMatchObject([{ status: "completed", output: { log: ["a", "b", "c"] } }]);
      expect(ran).toEqual(["a", "b", "c"]);
    });
  }

  test("a called graph ends at its own step, and its caller keeps what has finished", async () => {
    const store = new MemoryStore();
    const ran: string[] = [];
    const [started, release] = [deferred<void>(), deferred<void>()];
    const functions = {
      one: async () => {
        ran.push("one");
        started.resolve();
        await release.promise;
        return "one";
      },
      two: () => (ran.push("two"), "two"),
      beside: () => (ran.push("beside"), "beside"),
    };
    const text = `graph inner { output text: string | null  state first: string | null
        node one = one() into first  node two = two() into text  start -> one -> two }
      graph main { output text: string | null  output side: string | null  node call = inner() into { text } { tries 3 }
        node beside = beside() into side  start -> call, beside }`;
    const engine = engineOf(text, functions, { store });
    const run = engine.run({}, { thread: "t" });
    await started.promise;
    const drain = engine.drain();
    release.resolve();
    expect(await run).toMatchObject({ status: "cancelled", error: { code: "NG_DRAINED" } });
    await drain;
    const { results } = await engineOf(text, functions, { store }).recover();
    expect(results).toMatchObject([{ status: "completed", output: { text: "two", side: "beside" } }]);
    expect(ran.toSorted()).toEqual(["beside", "one", "two"]);
  });

  test("items that have not started wait for the resume", async () => {
    const store = new MemoryStore();
    const ran: number[] = [];
    const [started, release] = [deferred<void>(), deferred<void>()];
    const functions = {
      work: async (item: number) => {
        ran.push(item);
        started.resolve();
        await release.promise;
        return item;
      },
    };
    const text = `graph g { output out: int[] = []  node every = work(x) for x in [1, 2, 3] into out { max parallel 1 }  start -> every }`;
    const engine = engineOf(text, functions, { store });
    const run = engine.run({}, { thread: "t" });
    await started.promise;
    void engine.drain();
    release.resolve();
    expect((await run).status).toBe("cancelled");
    expect(ran).toEqual([1]);
    const { results } = await engineOf(text, functions, { store }).recover();
    expect(results).toMatchObject([{ status: "completed", output: { out: [1, 2, 3] } }]);
    expect(ran).toEqual([1, 2, 3]);
  });

  test("the deadline cancels what still waits for a node", async () => {
    const store = new MemoryStore();
    const clock = new VirtualClock();
    const started = deferred<AbortSignal>();
    const functions = {
      a: (context: { readonly signal: AbortSignal }) => {
        started.resolve(context.signal);
        return new Promise(() => undefined);
      },
    };
    const text = `graph g { output x: int | null  node a = a() into x  start -> a }`;
    const engine = engineOf(text, functions, { store, clock });
    const run = engine.run({}, { thread: "t" });
    const signal = await started.promise;
    const drain = engine.drain({ deadline: 1000 });
    await clock.advance(999);
    expect(signal.aborted).toBe(false);
    await clock.advance(1);
    expect(await drain).toEqual({ drained: 1, cancelled: 1 });
    expect(signal.aborted).toBe(true);
    expect(await run).toMatchObject({ status: "cancelled", error: { code: "NG_DRAINED" } });
    expect(await engine.threads({ status: "interrupted" })).toHaveLength(1);
  });

  test("a run that pauses or completes with its step does so, and an idle engine drains at once", async () => {
    const store = new MemoryStore();
    const [started, release] = [deferred<void>(), deferred<number>()];
    const engine = engineOf(
      `graph g { output x: int | null  node a = a() into x  node b = 2 into x { pause before }  start -> a -> b }`,
      { a: () => (started.resolve(), release.promise) },
      { store },
    );
    const run = engine.run({}, { thread: "t" });
    await started.promise;
    const drain = engine.drain();
    release.resolve(1);
    expect((await run).status).toBe("paused");
    expect(await drain).toEqual({ drained: 1, cancelled: 0 });
    expect(await engine.drain({ deadline: 0 })).toEqual({ drained: 0, cancelled: 0 });
    await expect(engine.drain({ deadline: -1 })).rejects.toMatchObject({ code: "NG_BAD_INPUT" });
  });
});

test("a drained engine refuses all calls that resume threads", async () => {
  const engine = engineOf(TEXT, { a: () => "a", b: () => "b", c: () => "c" }, { store: new MemoryStore() });
  await engine.drain();
  for (const call of [
    () => engine.run({}, { thread: "t" }),
    () => engine.resume("t"),
    () => engine.rollback("t"),
    () => engine.recover(),
    () => engine.due(),
  ]) {
    await expect(call()).rejects.toMatchObject({ code: "NG_DRAINED" });
  }
});

describe("cancel", () => {
  test("a run is cancelled by the name of its thread, and can be resumed", async () => {
    const store = new MemoryStore();
    const [started, release] = [deferred<void>(), deferred<void>()];
    const functions = {
      a: async () => {
        started.resolve();
        await release.promise;
        return "a";
      },
      b: () => "b",
      c: () => "c",
    };
    const engine = engineOf(TEXT, functions, { store });
    expect(await engine.cancel("t")).toBe(false);
    const run = engine.run({}, { thread: "t" });
    await started.promise;
    expect(await engine.cancel("u")).toBe(false);
    expect(await engine.cancel("t")).toBe(true);
    expect(await run).toMatchObject({ status: "cancelled", error: { code: "NG_CANCELLED" } });
    expect(await engine.cancel("t")).toBe(false);
    release.resolve();
    expect(await engine.resume("t")).toMatchObject({ status: "completed" });
  });
});
