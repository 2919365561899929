/** Execution, 4.4 and 5.6: a store that does not answer cannot keep a run alive. */
import { describe, expect, test } from "vitest";
import type { EngineOptions, ImportedFunction, RunResult, Store } from "../../runtime/index.ts";
import { createPlanRunner } from "../../runtime/index.ts";
import { MemoryStore } from "../../runtime/stores/memory.ts";
import { planTable } from "../plan/compile-plan.ts";
import { HangingStore, withOperation } from "../support/hanging-store.ts";
import { engineOf } from "../support/graph.ts";
import { settle, VirtualClock } from "../support/virtual-clock.ts";

const TEXT = `graph child { output n: int = 0  node inner = one() into n  start -> inner }
  graph g { output all: int[] reduce append  node a = one() into all  node b = one() into all  node c = child() into { n: all }
    start -> a, b  all(a, b) -> c  c -> end }`;

const OPERATIONS = ["claim", "loadLatest", "save", "putWrites", "getWrites", "release"] as const;

describe("4.4 a store that never answers", () => {
  for (const operation of OPERATIONS) {
    for (let nth = 0; nth < 8; nth++) {
      for (const effect of ["lost", "done"] as const) {
        test(`call ${nth} of \`${operation}\` (${effect}): a cancelled run ends, and the thread can be resumed`, async () => {
          const clock = new VirtualClock();
          const memory = new MemoryStore({ now: () => clock.now() });
          const hanging = new HangingStore(memory, operation, nth, effect);
          const controller = new AbortController();
          const engine = (store: Store): ReturnType<typeof engineOf> =>
            engineOf(TEXT, { one: () => 1 }, { store, clock });
          const running = engine(hanging.store).run({}, { thread: "t", signal: controller.signal });
          await settle();
          controller.abort(new Error("enough"));
          const result = await clock.until(running);
          if (hanging.calls <= nth) {
            expect(result.status).toBe("completed");
            return;
          }
          const isAtEnd = operation === "release" || (operation === "save" && result.status === "completed");
          expect(result.status).toBe(isAtEnd ? "completed" : "cancelled");
          if (!isAtEnd)
            expect(result.error).toMatchObject({ code: "NG_CANCELLED", cause: { code: "NG_STORE_FAILED" } });
          // A process that died with the claim blocks others until its lease ends.
          clock.skip(60_000);
          const stored = memory.loadLatest("t");
          if (stored === undefined) expect(result.checkpointId).toBeNull();
          else if (stored.status !== "completed") {
            expect(await engine(memory).resume("t")).toMatchObject({ status: "completed", output: { all: [1, 1, 1] } });
          }
        });
      }
    }
  }

  test("a resume that meets one is cancelled too", async () => {
    const clock = new VirtualClock();
    const memory = new MemoryStore({ now: () => clock.now() });
    let broken = true;
    const one = (): number => {
      if (broken) throw new Error("not yet");
      return 1;
    };
    await engineOf(TEXT, { one }, { store: memory, clock }).run({}, { thread: "t" });
    broken = false;
    for (const operation of ["loadLatest", "claim", "getWrites"] as const) {
      const { store } = new HangingStore(memory, operation, 0);
      const controller = new AbortController();
      const running = engineOf(TEXT, { one }, { store, clock }).resume("t", { signal: controller.signal });
      await settle();
      controller.abort();
      expect(await clock.until(running)).toMatchObject({ status: "cancelled", thread: "t" });
    }
    expect(await engineOf(TEXT, { one }, { store: memory, clock }).resume("t")).toMatchObject({ status: "completed" });
  });

  test("a claim that comes after all is given back", async () => {
    const clock = new VirtualClock();
    const memory = new MemoryStore({ now: () => clock.now() });
    let answer = (): void => undefined;
    const store = withOperation(
      memory,
      "claim",
      (claim) =>
        (...args) =>
          new Promise((resolve) => {
            answer = () => resolve(claim(...args));
          }),
    );
    const controller = new AbortController();
    const running = engineOf(TEXT, { one: () => 1 }, { store, clock }).run(
      {},
      { thread: "t", signal: controller.signal },
    );
    await settle();
    controller.abort();
    expect(await clock.until(running)).toMatchObject({ status: "cancelled", checkpointId: null });
    answer();
    await settle();
    expect((await engineOf(TEXT, { one: () => 1 }, { store: memory, clock }).run({}, { thread: "t" })).status).toBe(
      "completed",
    );
  });
});

describe("a time limit for the store", () => {
  const run = async (operation: keyof Store, nth: number, options: EngineOptions = {}): Promise<RunResult> => {
    const clock = new VirtualClock();
    const memory = new MemoryStore({ now: () => clock.now() });
    const { store } = new HangingStore(memory, operation, nth);
    const engine = engineOf(TEXT, { one: () => 1 }, { store, clock, storeTimeoutMs: 500, ...options });
    return clock.until(engine.run({}, { thread: "t" }));
  };

  test.each(["claim", "loadLatest", "save", "putWrites"] as const)("`%s` fails when it is over", async (operation) => {
    await expect(run(operation, 0)).rejects.toMatchObject({
      code: "NG_STORE_FAILED",
      message: `the store did not answer \`${operation}\` within 500 ms`,
      cause: { name: "TimeoutError" },
    });
  });

  test("a claim that cannot be given back ends nothing", async () => {
    expect((await run("release", 0)).status).toBe("completed");
  });

  test("reading a thread has it too", async () => {
    const clock = new VirtualClock();
    const { store } = new HangingStore(new MemoryStore(), "list", 0);
    const engine = engineOf(TEXT, { one: () => 1 }, { store, clock, storeTimeoutMs: 500 });
    await expect(clock.until(engine.history("t"))).rejects.toMatchObject({ code: "NG_STORE_FAILED" });
  });

  test.each([0, -1, Number.NaN, Number.POSITIVE_INFINITY])("%d is none", (storeTimeoutMs) => {
    expect(() => engineOf(TEXT, { one: () => 1 }, { storeTimeoutMs })).toThrow(/storeTimeoutMs/);
  });
});

describe("5.6 a claim that cannot be renewed", () => {
  const LEASE = 9000;
  const SLOW = "graph g { output n: int = 0  node slow = slow() into n  start -> slow }";

  const start = (store: (memory: MemoryStore) => Store, clock: VirtualClock, slow: ImportedFunction) => {
    const memory = new MemoryStore({ now: () => clock.now() });
    const engine = engineOf(SLOW, { slow }, { store: store(memory), clock, leaseMs: LEASE });
    return { memory, running: engine.run({}, { thread: "t" }) };
  };

  test("because the store does not answer ends the run when its lease does", async () => {
    const clock = new VirtualClock();
    let signal: AbortSignal | undefined;
    const { memory, running } = start(
      (inner) => {
        // From the first renewal on, the connection is dead.
        const renew = new HangingStore(inner, "renew", 0);
        const save = new HangingStore(renew.store, "save", 1);
        return new HangingStore(save.store, "release", 0).store;
      },
      clock,
      (context: { readonly signal: AbortSignal }) => {
        ({ signal } = context);
        return new Promise(() => undefined);
      },
    );
    const failed = expect(running).rejects.toMatchObject({
      code: "NG_STORE_FAILED",
      message:
        "the claim on thread `t` could not be renewed before its lease of 9000 ms ended: the store does not answer",
    });
    await clock.advance(LEASE - 1);
    expect(signal?.aborted).toBe(false);
    await clock.advance(1);
    expect(signal?.aborted).toBe(true);
    await clock.advance(LEASE);
    await failed;
    const again = engineOf(SLOW, { slow: () => 1 }, { store: memory, clock });
    expect(await again.resume("t")).toMatchObject({ status: "completed", output: { n: 1 } });
  });

  test("while the host was blocked, or slept, is requested again", async () => {
    const clock = new VirtualClock();
    let missed = 0;
    const late = {
      now: () => clock.now() + missed,
      setTimeout: (callback: () => void, ms: number) => clock.setTimeout(callback, ms),
      clearTimeout: (handle: unknown) => clock.clearTimeout(handle),
    };
    const memory = new MemoryStore({ now: () => clock.now() });
    let calls = 0;
    // The first answer is in flight when the host stops.
    const store = withOperation(
      memory,
      "renew",
      (renew) =>
        (...args) =>
          calls++ === 0 ? new Promise<void>(() => undefined) : renew(...args),
    );
    let finish: (value: number) => void = () => undefined;
    const slow = (): Promise<number> => new Promise((resolve) => (finish = resolve));
    const running = engineOf(SLOW, { slow }, { store, clock: late, leaseMs: LEASE }).run({}, { thread: "t" });
    await clock.advance(LEASE / 3);
    missed = LEASE;
    await clock.advance(LEASE / 3);
    expect(calls).toBe(2);
    finish(3);
    expect(await running).toMatchObject({ status: "completed", output: { n: 3 } });
    expect(clock.waiting).toEqual([]);
  });

  test("because the store fails is found out before the next body runs", async () => {
    const clock = new VirtualClock();
    let finish: (value: number) => void = () => undefined;
    const memory = new MemoryStore({ now: () => clock.now() });
    const store = withOperation(memory, "renew", () => () => Promise.reject(new Error("connection refused")));
    const ran: string[] = [];
    const engine = engineOf(
      "graph g { output n: int = 0  node slow = slow() into n  node next = next() into n  start -> slow -> next }",
      {
        slow: () => new Promise((resolve) => (finish = resolve)),
        next: () => ran.push("next"),
      },
      { store, clock, leaseMs: LEASE },
    );
    const running = engine.run({}, { thread: "t" });
    const failed = expect(running).rejects.toMatchObject({
      code: "NG_STORE_FAILED",
      message: "the store failed: connection refused",
    });
    await clock.advance(LEASE * 2);
    finish(1);
    await failed;
    expect(ran).toEqual([]);
    expect(memory.loadLatest("t")).toMatchObject({ step: 0, values: { n: 1 } });
  });

  test("for a while only is no reason to end it", async () => {
    const clock = new VirtualClock();
    let calls = 0;
    let finish: (value: number) => void = () => undefined;
    const { running } = start(
      (inner) =>
        withOperation(inner, "renew", (renew) => (...args) => {
          if (++calls % 2 === 1) throw new Error("busy");
          return renew(...args);
        }),
      clock,
      () => new Promise((resolve) => (finish = resolve)),
    );
    await clock.advance(LEASE * 10);
    expect(calls).toBeGreaterThan(20);
    finish(3);
    expect(await running).toMatchObject({ status: "completed", output: { n: 3 } });
    expect(clock.waiting).toEqual([]);
  });
});

test("4.4: a plan that was cancelled while its store does not answer ends as cancelled", async () => {
  const clock = new VirtualClock();
  const { store } = new HangingStore(new MemoryStore(), "save", 1);
  const runner = createPlanRunner(planTable("plan p { output n: int = 0  task a = 1 into n }"), { store, clock });
  const controller = new AbortController();
  const running = runner.run({}, { thread: "t", signal: controller.signal });
  await settle();
  controller.abort();
  await expect(clock.until(running)).rejects.toMatchObject({
    code: "NG_CANCELLED",
    cause: { code: "NG_STORE_FAILED" },
  });
});
