/**
 * langgraph-go's cases of cancellation and deadlines (LG-49 to LG-53), and similar ones. A run has no time budget: a
 * deadline is the caller's signal, `AbortSignal.timeout(…)`, or the `timeout` of a node.
 */
import { describe, expect, test } from "vitest";
import type { Engine, NodeContext, RunResult } from "../../api/index.ts";
import { MemoryStore } from "../../runtime/stores/memory.ts";
import { compiledEngine } from "../support/compiled-engine.ts";
import { settle, VirtualClock } from "../support/virtual-clock.ts";

const CHAIN = `graph g { output counter: int = 0 reduce sum
  node n1 = work("n1", 5) into counter  node n2 = work("n2", 10) into counter  node n3 = work("n3", 100) into counter
  start -> n1 -> n2 -> n3 }`;
const NAMES = ["n1", "n2", "n3"];
const never = (): Promise<never> => new Promise(() => undefined);

/** Settles when the signal aborts, like code that observes its signal. */
const heeding = ({ signal }: NodeContext): Promise<never> =>
  new Promise((_resolve, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason as Error));
  });

const stores: readonly [string, () => MemoryStore | undefined][] = [
  ["with a store", () => new MemoryStore()],
  ["without a store", () => undefined],
];

describe.each(stores)("a run that is cancelled, %s", (_name, open) => {
  const engineFor = (
    text: string,
    functions: Record<string, (...args: never[]) => unknown>,
  ): [Engine, MemoryStore?] => {
    const store = open();
    return store === undefined
      ? [compiledEngine(text, functions)]
      : [compiledEngine(text, functions, { store }), store];
  };
  const expectCancelled = (result: RunResult, step: number, ran: readonly string[]): void => {
    expect(result.status).toBe("cancelled");
    expect(result.error).toMatchObject({
      name: "RunError",
      code: "NG_CANCELLED",
      message: `the run was cancelled in step ${step}`,
    });
    expect(result.steps).toEqual(ran.map((node) => [node]));
  };

  test.each([
    ["an error", new Error("too late")],
    ["a text", "too late"],
    ["nothing", undefined],
  ])("LG-49: before it begins, for %s: nothing runs, nothing is stored", async (_reason, reason) => {
    const ran: string[] = [];
    const [engine, store] = engineFor(CHAIN, { work: (name: string) => void ran.push(name) });
    const signal = AbortSignal.abort(reason);
    const result = await engine.run({}, { thread: "t", signal });
    expectCancelled(result, 0, []);
    expect(result.error?.cause).toBe(signal.reason);
    expect(ran).toEqual([]);
    expect(store?.threads()).toEqual(store === undefined ? undefined : []);
  });

  const COUNTERS = [0, 5, 15, 115];
  test.each(NAMES.flatMap((at) => [[at, "a node that heeds its signal"] as const, [at, "one that does not"] as const]))(
    "LG-50, LG-51: during %s, %s",
    async (at, how) => {
      const abort = new AbortController();
      const ran: string[] = [];
      let holds = true;
      const [engine, store] = engineFor(CHAIN, {
        work: async (name: string, amount: number, context: NodeContext) => {
          ran.push(name);
          if (name === at && holds) {
            setImmediate(() => abort.abort(new DOMException("the deadline has passed", "TimeoutError")));
            await (how.startsWith("a ") ? heeding(context) : never());
          }
          return amount;
        },
      });
      const place = NAMES.indexOf(at);
      const result = await engine.run({}, { thread: "t", signal: abort.signal });
      expectCancelled(result, place, NAMES.slice(0, place));
      expect(result.error?.cause).toMatchObject({ name: "TimeoutError" });
      expect(result.output["counter"]).toBe(COUNTERS[place]);
      if (store === undefined) return;
      expect(await engine.state("t")).toMatchObject({
        status: "cancelled",
        next: [at],
        state: { counter: COUNTERS[place] },
      });
      holds = false;
      expect(await engine.resume("t")).toMatchObject({ status: "completed", output: { counter: 115 } });
      expect(ran).toEqual([...NAMES.slice(0, place + 1), ...NAMES.slice(place)]);
    },
  );

  test.each([
    ["n1", "cancelled", ["n1"]],
    ["n2", "cancelled", ["n1", "n2"]],
    // No node is left that could be stopped.
    ["n3", "completed", NAMES],
  ])("LG-51: between two nodes, right after %s: %s", async (at, status, done) => {
    const abort = new AbortController();
    const [engine] = engineFor(CHAIN, {
      work: (name: string, amount: number) => {
        if (name === at) abort.abort();
        return amount;
      },
    });
    const result = await engine.run({}, { signal: abort.signal });
    expect([result.status, result.steps.flat(), result.output["counter"]]).toEqual([
      status,
      done,
      COUNTERS[done.length],
    ]);
  });

  test.each([
    ["heed their signals", true],
    ["do not", false],
  ])("LG-53: with ten nodes at once that %s", async (_how, heeds) => {
    const abort = new AbortController();
    const names = Array.from({ length: 10 }, (_, index) => `p${index}`);
    let aborted = 0;
    const [engine] = engineFor(
      `graph g { ${names.map((name) => `node ${name} = work()`).join("  ")}  start -> ${names.join(", ")} }`,
      {
        work: (context: NodeContext) => {
          context.signal.addEventListener("abort", () => aborted++);
          return heeds ? heeding(context) : never();
        },
      },
    );
    const run = engine.run({}, { signal: abort.signal });
    await settle();
    abort.abort();
    expectCancelled(await run, 0, []);
    expect(aborted).toBe(10);
  });

  test("LG-53: items that wait for their turn never begin", async () => {
    const abort = new AbortController();
    const started: number[] = [];
    let aborted = 0;
    const [engine] = engineFor(`graph g { node every = work(i) for i in range(10)  start -> every }`, {
      work: (item: number, context: NodeContext) => {
        started.push(item);
        context.signal.addEventListener("abort", () => aborted++);
        return never();
      },
    });
    const run = engine.run({}, { signal: abort.signal, maxParallel: 3 });
    await settle();
    abort.abort();
    expect((await run).status).toBe("cancelled");
    expect([started, aborted]).toEqual([[0, 1, 2], 3]);
  });

  test.each(["synchronous", "asynchronous"])("LG-52: a deadline ends a run of quick %s nodes", async (kind) => {
    // Both kinds wait only for the next node: the engine must let timers run, or it would miss the deadline.
    const [engine] = engineFor(
      `graph g { limit steps none  output n: int = 0 reduce sum  node a = work() into n  start -> a
         a -> a when more(n)  a -> end otherwise }`,
      { work: kind === "synchronous" ? () => 1 : async () => 1, more: () => true },
    );
    const result = await engine.run({}, { signal: AbortSignal.timeout(5), durability: "exit" });
    expect(result).toMatchObject({ status: "cancelled", error: { cause: { name: "TimeoutError" } } });
    expect(result.output["n"]).toBe(result.steps.length);
  });

  test("LG-52: a deadline that is not reached, and no deadline, change nothing", async () => {
    const [engine] = engineFor(CHAIN, { work: async (_name: string, amount: number) => amount });
    for (const options of [{ signal: AbortSignal.timeout(60_000) }, {}]) {
      expect(await engine.run({}, options)).toMatchObject({ status: "completed", output: { counter: 115 } });
    }
  });
});

describe("a finished task", () => {
  test("LG-51, LG-53: beside a cancelled task is kept, and does not run again", async () => {
    const abort = new AbortController();
    const ran: string[] = [];
    let holds = true;
    const engine = compiledEngine(
      `graph g { output log: string[] reduce append
         node a = work("a") into log  node b = work("b") into log  node c = work("c") into log  start -> a, b, c }`,
      {
        work: async (name: string, context: NodeContext) => {
          ran.push(name);
          if (name !== "b" && holds) await heeding(context);
          return name;
        },
      },
      { store: new MemoryStore() },
    );
    const run = engine.run({}, { thread: "t", signal: abort.signal });
    await settle();
    abort.abort();
    expect(await run).toMatchObject({ status: "cancelled", output: { log: [] } });
    holds = false;
    expect(await engine.resume("t")).toMatchObject({ status: "completed", output: { log: ["a", "b", "c"] } });
    expect(ran).toEqual(["a", "b", "c", "a", "c"]);
  });

  test("LG-49: a run that never began leaves its thread free", async () => {
    const engine = compiledEngine(
      CHAIN,
      { work: (_name: string, amount: number) => amount },
      { store: new MemoryStore() },
    );
    await engine.run({}, { thread: "t", signal: AbortSignal.abort() });
    expect(await engine.run({}, { thread: "t" })).toMatchObject({ status: "completed", output: { counter: 115 } });
  });

  test("LG-50: a signal that aborts after the end changes nothing", async () => {
    const abort = new AbortController();
    const engine = compiledEngine(CHAIN, { work: (_name: string, amount: number) => amount });
    const result = await engine.run({}, { signal: abort.signal });
    abort.abort();
    await settle();
    expect(result.status).toBe("completed");
  });
});

describe("a node's own deadline", () => {
  const SLOW = (policies: string): string => `graph g { output counter: int = 0 reduce sum
    node fast = 5 into counter  node slow = slow() into counter { ${policies} }  node after = 100 into counter
    start -> fast -> slow -> after }`;
  test.each([
    ["LG-50: passes", "timeout 50ms", 200, "NG_NODE_TIMEOUT", 5],
    ["LG-50: is not reached", "timeout 250ms", 200, undefined, 115],
    ["LG-52: is each attempt's, not that of all", "tries 3 backoff 1ms  timeout 150ms", 100, undefined, 115],
    ["LG-50: passes at each attempt", "tries 2 backoff 1ms  timeout 50ms", 200, "NG_NODE_TIMEOUT", 5],
  ])("%s", async (_name, policies, takes, code, counter) => {
    const clock = new VirtualClock();
    let attempts = 0;
    let given = 0;
    const engine = compiledEngine(
      SLOW(policies),
      {
        slow: (context: NodeContext) => {
          // If an attempt may take time, the first two fail shortly before their timeout.
          const fails = policies.includes("150ms") && ++attempts < 3;
          context.signal.addEventListener("abort", () => given++);
          return new Promise((resolve, reject) => {
            clock.setTimeout(() => (fails ? reject(new Error("early")) : resolve(10)), takes);
          });
        },
      },
      { clock, store: new MemoryStore() },
    );
    const result = await clock.until(engine.run({}, { thread: "t" }));
    expect(result.status).toBe(code === undefined ? "completed" : "failed");
    expect(result.output["counter"]).toBe(counter);
    if (code !== undefined) expect(result.error).toMatchObject({ name: "NodeError", code, nodeId: "slow" });
    expect((await engine.state("t"))?.state).toEqual({ counter });
    expect(given).toBe(code === undefined ? 0 : policies.startsWith("tries") ? 2 : 1);
  });
});
