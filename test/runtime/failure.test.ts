/** Execution, section 4: tries, timeouts, cancellation, error edges. */
import { getEventListeners } from "node:events";
import { describe, expect, test } from "vitest";
import {
  NodeError,
  StoreError,
  ThreadError,
  type BuiltinNode,
  type Engine,
  type EngineOptions,
  type NodeContext,
} from "../../runtime/index.ts";
import type { Effect } from "../../runtime/table/effects.ts";
import { MemoryStore } from "../../runtime/stores/memory.ts";
import { deferred } from "../support/deferred.ts";
import { engineOf } from "../support/graph.ts";
import { settle, VirtualClock } from "../support/virtual-clock.ts";

const never = (): Promise<never> => new Promise(() => undefined);

describe("4.1 any thrown value is a failure of its node, with a readable message", () => {
  const unreadable = Object.defineProperty(new Error(), "message", {
    get: () => {
      throw new Error("not this either");
    },
  });
  const cases: readonly (readonly [name: string, body: () => unknown, message: string])[] = [
    ["a record", () => Promise.reject({ status: 503 }), 'it threw {"status":503}'],
    ["null", () => Promise.reject(null), "it threw null"],
    ["an error that cannot be read", () => Promise.reject(unreadable), "it threw something that cannot be shown"],
    [
      "a thenable that throws",
      () => ({
        // oxlint-disable-next-line unicorn/no-thenable -- that is what a node may return
        then: () => {
          throw new Error("no promise");
        },
      }),
      "no promise",
    ],
  ];
  test.each(cases)("%s", async (_, a, message) => {
    const engine = engineOf("graph g { output x: int = 0  node a = a() into x  start -> a }", { a });
    for (const options of [{}, { signal: new AbortController().signal }]) {
      const { status, error } = await engine.run({}, options);
      expect({ status, error: error?.message }).toEqual({ status: "failed", error: `node \`a\` failed: ${message}` });
    }
  });
});

describe("4.1 tries", () => {
  const text = (policies: string): string =>
    `graph g { output x: int = 0  node a = a() into x { ${policies} }  start -> a }`;

  test("a node that fails at first is tried again, with exponential backoff and jitter", async () => {
    const clock = new VirtualClock();
    const starts: number[] = [];
    const attempts: number[] = [];
    const engine = engineOf(
      text("tries 4 backoff 100ms..1s"),
      {
        a: (context: NodeContext) => {
          starts.push(clock.now());
          attempts.push(context.attempt);
          if (attempts.length < 4) throw new Error("not yet");
          return 7;
        },
      },
      { clock, random: () => 0 },
    );
    const result = await clock.until(engine.run({}));
    expect(result).toMatchObject({ status: "completed", output: { x: 7 } });
    expect(attempts).toEqual([1, 2, 3, 4]);
    const waits = starts.slice(1).map((start, index) => start - starts[index]!);
    expect(waits).toEqual([100, 200, 400]);
  });

  test("no wait is shorter than the first or longer than the longest, whatever the dice say", async () => {
    for (const dice of [0, 0.5, 0.999]) {
      const clock = new VirtualClock();
      const starts: number[] = [];
      const engine = engineOf(
        text("tries 8 backoff 100ms..1s"),
        {
          a: () => {
            starts.push(clock.now());
            throw new Error("never");
          },
        },
        { clock, random: () => dice },
      );
      await clock.until(engine.run({}));
      const waits = starts.slice(1).map((start, index) => start - starts[index]!);
      expect(waits).toHaveLength(7);
      expect(Math.min(...waits)).toBeGreaterThanOrEqual(100);
      expect(Math.max(...waits)).toBeLessThanOrEqual(1000);
      expect(waits).toEqual([...waits].sort((a, b) => a - b));
    }
  });

  test("jitter separates tasks that failed together", async () => {
    const clock = new VirtualClock();
    const dice = [0, 0.9];
    const engine = engineOf(
      `graph g { node a = a() { tries 2 backoff 1s..9s }  node b = a() { tries 2 backoff 1s..9s }  start -> a, b }`,
      {
        a: (context: NodeContext) => {
          if (context.attempt === 1) throw new Error("again");
        },
      },
      { clock, random: () => dice.shift() ?? 0 },
    );
    const run = engine.run({});
    await settle();
    expect(new Set(clock.waiting).size).toBe(2);
    await clock.until(run);
  });

  test("once means once", async () => {
    let runs = 0;
    const engine = engineOf(`graph g { node a = a()  start -> a }`, {
      a: () => {
        runs++;
        throw new Error("no");
      },
    });
    expect((await engine.run({})).status).toBe("failed");
    expect(runs).toBe(1);
  });

  test("the error names the node, the attempts and the cause; `thread` where there is one", async () => {
    const clock = new VirtualClock();
    const cause = new Error("the disk is full");
    const engine = engineOf(
      text("tries 3"),
      {
        a: () => {
          throw cause;
        },
      },
      { clock, store: new MemoryStore() },
    );
    const { error } = await clock.until(engine.run({}, { thread: "t" }));
    expect(error).toBeInstanceOf(NodeError);
    expect(error).toMatchObject({ code: "NG_NODE_FAILED", nodeId: "a", attempts: 3, threadId: "t", cause });
    expect(error?.message).toContain("`a`");
    expect(error?.message).toContain("the disk is full");
  });

  test.each([
    ["an error that says so", () => Object.assign(new Error("never"), { retryable: false })],
    ["an argument without a value", undefined],
  ])("%s is not tried again", async (_name, make) => {
    let runs = 0;
    const engine = engineOf(
      `graph g { input n: int  node a = a(${make === undefined ? "1 / n" : "n"}) { tries 3 }  start -> a }`,
      {
        a: () => {
          runs++;
          throw make?.();
        },
      },
    );
    const result = await engine.run({ n: 0 });
    expect(result.error).toMatchObject({ code: "NG_NODE_FAILED", attempts: 1 });
    expect(runs).toBe(make === undefined ? 0 : 1);
  });

  test("what is thrown need not be an Error", async () => {
    for (const thrown of ["text", null, undefined, Object.create(null) as object, 3n]) {
      const engine = engineOf(`graph g { node a = a()  start -> a }`, {
        a: () => {
          throw thrown;
        },
      });
      expect((await engine.run({})).error).toMatchObject({ code: "NG_NODE_FAILED", cause: thrown });
    }
  });

  test("retries of an asynchronous node that rejects", async () => {
    const clock = new VirtualClock();
    let left = 2;
    const engine = engineOf(
      text("tries 3"),
      { a: async () => (left-- > 0 ? Promise.reject(new Error("later")) : 3) },
      { clock },
    );
    expect((await clock.until(engine.run({}))).output).toEqual({ x: 3 });
  });
});

test("4.1: a store or a thread that fails inside a body, another engine's say, is that node's failure", async () => {
  for (const error of [new ThreadError("NG_THREAD_BUSY", "other", "busy"), new StoreError("NG_STORE_FAILED", "gone")]) {
    for (const store of [undefined, new MemoryStore()]) {
      const engine = engineOf(
        `graph g { node a = a()  node b = b()  start -> a, b  any(a, b) -> end }`,
        { a: () => Promise.reject(error), b: () => 1 },
        store === undefined ? {} : { store },
      );
      expect(await engine.run({}, { thread: "t" })).toMatchObject({
        status: "failed",
        error: { code: "NG_NODE_FAILED", nodeId: "a", cause: error },
      });
    }
  }
});

describe("4.1, 4.4 timeouts", () => {
  test("each attempt has its own; a node that ignores the signal cannot keep the run alive", async () => {
    const clock = new VirtualClock();
    const signals: AbortSignal[] = [];
    const engine = engineOf(
      `graph g { node a = a() { tries 2 backoff 1s  timeout 30s }  start -> a }`,
      {
        a: (context: NodeContext) => {
          signals.push(context.signal);
          return never();
        },
      },
      { clock, random: () => 0 },
    );
    const begin = clock.now();
    const result = await clock.until(engine.run({}));
    expect(result.error).toMatchObject({ code: "NG_NODE_TIMEOUT", nodeId: "a", attempts: 2 });
    expect(clock.now() - begin).toBe(61_000);
    expect(signals.map((signal) => signal.aborted)).toEqual([true, true]);
    expect(signals[0]).not.toBe(signals[1]);
    expect(clock.waiting).toEqual([]);
  });

  test("what a timed-out attempt does later counts for nothing", async () => {
    const clock = new VirtualClock();
    const late = deferred<number>();
    const engine = engineOf(
      `graph g { output x: int = 0  node a = a() into x { tries 2 backoff 1s  timeout 1s  goes b }  node b = 1
        start -> a   any(a, b) -> end }`,
      {
        a: (context: NodeContext) => {
          if (context.attempt === 2) return 2;
          return late.promise.then((value) => {
            context.goto("b");
            return value;
          });
        },
      },
      { clock },
    );
    const run = engine.run({});
    await clock.advance(1000);
    late.resolve(1);
    expect(await clock.until(run)).toMatchObject({ output: { x: 2 }, steps: [["a"]] });
  });

  test("a node that is done in time leaves no timer", async () => {
    const clock = new VirtualClock();
    const engine = engineOf(
      `graph g { node a = a() { timeout 1s }  node b = b() { timeout 1s }  start -> a -> b }`,
      { a: async () => 1, b: () => 1 },
      { clock },
    );
    expect((await engine.run({})).status).toBe("completed");
    expect(clock.waiting).toEqual([]);
  });
});

describe("4.2 siblings of a failed task", () => {
  const text = `graph g {
    output x: int = 0   output y: int = 0
    node a = a() into x   node b = b() into y
    start -> a, b   any(a, b) -> end
  }`;

  test("finish, and their results are kept", async () => {
    const slow = deferred<number>();
    let broken = true;
    let runsOfB = 0;
    const engine = engineOf(
      text,
      {
        a: async () => {
          if (broken) throw new Error("no");
          return 1;
        },
        b: () => {
          runsOfB++;
          setImmediate(() => slow.resolve(2));
          return slow.promise;
        },
      },
      { store: new MemoryStore() },
    );
    const failed = await engine.run({}, { thread: "t" });
    expect(failed).toMatchObject({ status: "failed", error: { nodeId: "a" }, output: { x: 0, y: 0 }, steps: [] });
    broken = false;
    expect(await engine.resume("t")).toMatchObject({ status: "completed", output: { x: 1, y: 2 } });
    expect(runsOfB).toBe(1);
  });

  test('are cancelled under `onFailure: "abort"`', async () => {
    let signal: AbortSignal | undefined;
    const engine = engineOf(text, {
      a: async () => {
        throw new Error("no");
      },
      b: (context: NodeContext) => {
        signal = context.signal;
        return never();
      },
    });
    const result = await engine.run({}, { onFailure: "abort" });
    expect(result).toMatchObject({ status: "failed", error: { nodeId: "a" } });
    expect(signal?.aborted).toBe(true);
  });

  test("the error is that of the first failed node in task order", async () => {
    const gate = deferred();
    const engine = engineOf(text, {
      a: () =>
        gate.promise.then(() => {
          throw new Error("a");
        }),
      b: async () => {
        setImmediate(gate.resolve);
        throw new Error("b");
      },
    });
    expect((await engine.run({})).error).toMatchObject({ nodeId: "a" });
  });
});

describe("4.3 error edges", () => {
  test("route a failed node; the rest of the step is applied; `error` is readable there and in all other nodes", async () => {
    const clock = new VirtualClock();
    const engine = engineOf(
      `graph g {
        output seen: json = null   output other: json = null   output y: int = 0
        node a = a() { tries 2 }   node b = 5 into y
        node rescue = error into seen   node after = error into other   node never = 1
        start -> a, b   a -> never   a -> rescue on error   b -> after   any(rescue, after, never) -> end
      }`,
      {
        a: () => {
          throw new Error("no luck");
        },
      },
      { clock },
    );
    const result = await clock.until(engine.run({}));
    expect(result.status).toBe("completed");
    expect(result.steps).toEqual([
      ["a", "b"],
      ["rescue", "after"],
    ]);
    const seen = { code: "NG_NODE_FAILED", name: "Error", status: null, message: "no luck", node: "a", attempts: 2 };
    expect(result.output).toEqual({ seen, other: seen, y: 5 });
  });

  test("the conditions of error edges may ask what the error was", async () => {
    const engine = engineOf(
      `graph g {
        input how: string   output took: string = ""
        node a = a(how)   node busy = "busy" into took   node rest = "rest" into took
        start -> a   a -> end
        a -> busy on error when error != null && error.message == "busy"
        a -> rest on error otherwise
        any(busy, rest) -> end
      }`,
      {
        a: (how: string) => {
          throw new Error(how);
        },
      },
    );
    expect((await engine.run({ how: "busy" })).output).toEqual({ took: "busy" });
    expect((await engine.run({ how: "x" })).output).toEqual({ took: "rest" });
  });

  test("where none applies the run fails, and nothing of the step is applied", async () => {
    const engine = engineOf(
      `graph g {
        output y: int = 0
        node a = a()   node b = 5 into y   node rescue = 1
        start -> a, b   a -> end   a -> rescue on error when y > 5   any(b, rescue) -> end
      }`,
      {
        a: () => {
          throw new Error("no");
        },
      },
    );
    expect(await engine.run({})).toMatchObject({
      status: "failed",
      error: { nodeId: "a" },
      output: { y: 0 },
      steps: [],
    });
  });

  test("timeouts and results that do not fit take them too", async () => {
    const clock = new VirtualClock();
    const engine = engineOf(
      `graph g {
        output codes: string[] = [] reduce append   state n: int = 0
        node slow = slow() { timeout 1s }   node odd = odd() into n
        node rescue = rescue(error) into codes
        start -> slow -> odd -> end   slow -> rescue on error   odd -> rescue on error   rescue -> end
        rescue -> odd when len(codes) < 2
      }`,
      { slow: never, odd: () => "x", rescue: (error: { code: string }) => error.code },
      { clock },
    );
    expect((await clock.until(engine.run({}))).output).toEqual({ codes: ["NG_NODE_TIMEOUT", "NG_BAD_RESULT"] });
  });

  test("a member of a barrier may be replaced by its fallback", async () => {
    const engine = engineOf(
      `graph g {
        output seen: json = null
        node a = a()   node b = 1   node h = 1   node d = 2 into seen
        start -> a, b   a -> h on error   all(any(a, h), b) -> d   d -> end
      }`,
      {
        a: () => {
          throw new Error("no");
        },
      },
    );
    expect(await engine.run({})).toMatchObject({ status: "completed", steps: [["a", "b"], ["h"], ["d"]] });
  });

  test("into a gated node they count as the node's signal, and `error` waits with it", async () => {
    const engine = engineOf(
      `graph g {
        output seen: string = ""
        node a = a()   node b = 1   node c = 1   node d = d(error) into seen { waits a, c }
        start -> a, b   b -> c -> d   a -> d   a -> d on error   d -> end
      }`,
      {
        a: () => {
          throw new Error("lost");
        },
        d: (error: { message: string } | null) => error?.message ?? "nothing",
      },
    );
    expect(await engine.run({})).toMatchObject({ steps: [["a", "b"], ["c"], ["d"]], output: { seen: "lost" } });
  });

  test("a failed run resumes with what had not finished", async () => {
    let broken = true;
    const ran: string[] = [];
    const engine = engineOf(
      `graph g {
        output x: int = 0
        node first = first()   node a = a() into x   start -> first -> a
      }`,
      {
        first: () => ran.push("first"),
        a: () => {
          ran.push("a");
          if (broken) throw new Error("no");
          return 1;
        },
      },
      { store: new MemoryStore() },
    );
    expect((await engine.run({}, { thread: "t" })).steps).toEqual([["first"]]);
    expect((await engine.state("t"))?.status).toBe("failed");
    broken = false;
    expect(await engine.resume("t")).toMatchObject({ status: "completed", steps: [["a"]], output: { x: 1 } });
    expect(ran).toEqual(["first", "a", "a"]);
  });
});

describe("4.4 cancellation", () => {
  const text = `graph g {
    output x: int = 0
    node a = a() into x   node b = b() into x   start -> a -> b
  }`;

  test("reaches the nodes as a signal; the run ends as cancelled and can be resumed", async () => {
    const abort = new AbortController();
    let blocked = true;
    const seen: unknown[] = [];
    const engine = engineOf(
      text,
      {
        a: async () => 1,
        b: (context: NodeContext) => {
          if (!blocked) return 2;
          context.signal.addEventListener("abort", () => seen.push(context.signal.reason));
          setImmediate(() => abort.abort());
          return never();
        },
      },
      { store: new MemoryStore() },
    );
    const result = await engine.run({}, { thread: "t", signal: abort.signal });
    expect(result).toMatchObject({ status: "cancelled", output: { x: 1 }, error: { code: "NG_CANCELLED" } });
    expect(seen).toHaveLength(1);
    expect((await engine.state("t"))?.status).toBe("cancelled");
    blocked = false;
    expect(await engine.resume("t")).toMatchObject({ status: "completed", steps: [["b"]], output: { x: 2 } });
  });

  test("before the first node: nothing runs and nothing is stored", async () => {
    let ran = false;
    const store = new MemoryStore();
    const engine = engineOf(text, { a: () => ((ran = true), 1), b: () => 2 }, { store });
    const result = await engine.run({}, { thread: "t", signal: AbortSignal.abort() });
    expect(result.status).toBe("cancelled");
    expect(ran).toBe(false);
    expect(store.loadLatest("t")).toBeUndefined();
  });

  test("keeps the results of the tasks that had finished", async () => {
    const abort = new AbortController();
    const runs = { quick: 0, slow: 0 };
    const engine = engineOf(
      `graph g {
        output x: int = 0   output y: int = 0
        node quick = quick() into x   node slow = slow() into y   start -> quick, slow   any(quick, slow) -> end
      }`,
      {
        quick: async () => ++runs.quick,
        slow: () => {
          if (++runs.slow > 1) return 5;
          setImmediate(() => abort.abort());
          return never();
        },
      },
      { store: new MemoryStore() },
    );
    expect((await engine.run({}, { thread: "t", signal: abort.signal })).status).toBe("cancelled");
    expect(await engine.resume("t")).toMatchObject({ status: "completed", output: { x: 1, y: 5 } });
    expect(runs).toEqual({ quick: 1, slow: 2 });
  });

  test("ends a wait between tries", async () => {
    const abort = new AbortController();
    const clock = new VirtualClock();
    const engine = engineOf(
      `graph g { node a = a() { tries 3 backoff 1h }  start -> a }`,
      {
        a: () => {
          throw new Error("no");
        },
      },
      { clock },
    );
    const run = engine.run({}, { signal: abort.signal });
    await settle();
    expect(clock.waiting).toHaveLength(1);
    abort.abort();
    expect((await run).status).toBe("cancelled");
    expect(clock.waiting).toEqual([]);
  });

  test("no signal is created unless it is used", async () => {
    const made: string[] = [];
    const Original = globalThis.AbortController;
    class Counting extends Original {
      constructor() {
        super();
        made.push("controller");
      }
    }
    globalThis.AbortController = Counting;
    try {
      await engineOf(text, { a: async () => 1, b: () => 2 }).run({});
      expect(made).toEqual([]);
      await engineOf(text, { a: async (context: NodeContext) => (context.signal, 1), b: () => 2 }).run({});
      expect(made).toEqual(["controller"]);
    } finally {
      globalThis.AbortController = Original;
    }
  });

  test("a signal ends all runs that share it, also one that began after others had ended", async () => {
    const controller = new AbortController();
    const { signal } = controller;
    const open = { resolve: (): void => undefined };
    const waits = new Promise<number>((resolve) => (open.resolve = () => resolve(1)));
    let isShort = true;
    const engine = engineOf(text, { a: () => (isShort ? 1 : waits), b: () => 2 });
    await Promise.all([engine.run({}, { signal }), engine.run({}, { signal })]);
    isShort = false;
    const runs = [engine.run({}, { signal }), engine.run({}, { signal }), engine.run({}, { signal })];
    // The listener of the runs that have ended would be removed in this turn.
    await new Promise(setImmediate);
    controller.abort();
    expect((await Promise.all(runs)).map(({ status }) => status)).toEqual(["cancelled", "cancelled", "cancelled"]);
    open.resolve();
  });

  test("thousands of runs at once add one listener to the signal that they share, and Node does not warn of it", async () => {
    const { signal } = new AbortController();
    const warnings: Error[] = [];
    const onWarning = (warning: Error): void => void warnings.push(warning);
    process.on("warning", onWarning);
    const open = deferred<number>();
    const engine = engineOf(text, { a: () => open.promise, b: () => 2 });
    try {
      const runs = Array.from({ length: 3000 }, () => engine.run({}, { signal }));
      await new Promise(setImmediate);
      expect(getEventListeners(signal, "abort")).toHaveLength(1);
      open.resolve(1);
      expect(new Set((await Promise.all(runs)).map(({ status }) => status))).toEqual(new Set(["completed"]));
      await new Promise(setImmediate);
      expect(getEventListeners(signal, "abort")).toHaveLength(0);
      expect(warnings).toEqual([]);
    } finally {
      process.off("warning", onWarning);
    }
  });

  test("a listener of the caller's signal is taken off again", async () => {
    const { signal } = new AbortController();
    let listeners = 0;
    const spied = new Proxy(signal, {
      get(target, name) {
        if (name === "addEventListener") listeners++;
        if (name === "removeEventListener") listeners--;
        const value: unknown = Reflect.get(target, name);
        return typeof value === "function" ? value.bind(target) : value;
      },
    });
    const engine = engineOf(text, { a: async () => 1, b: () => 2 });
    for (let run = 0; run < 3; run++) await engine.run({}, { signal: spied });
    // One listener serves all runs of a turn of the event loop.
    expect(listeners).toBeLessThanOrEqual(1);
    await new Promise(setImmediate);
    expect(listeners).toBeLessThanOrEqual(0);
  });
});

describe("what a graph may do and what it lacks", () => {
  const functions = { a: () => 1 };
  const text = `graph g { node a = a()  start -> a }`;

  test("effects that are not allowed are refused before anything runs", () => {
    const options: EngineOptions = { allow: ["net"] };
    expect(() => engineOf(text, functions, options)).toThrow(expect.objectContaining({ code: "NG_EFFECT_DENIED" }));
    expect(() => engineOf(text, functions, { allow: ["code"] })).not.toThrow();
  });

  test.each<readonly [readonly Effect[], boolean]>([
    [["net"], true],
    [["net:api.example.com"], true],
    [["net:*.example.com"], true],
    [["net:*.com", "code"], true],
    [["net:example.com"], false],
    [["net:*.api.example.com"], false],
    [["net:api.example.com:8080"], false],
    [["code"], false],
    [[], false],
  ])("requests to a literal host are allowed by %j: %s", (allow, isAllowed) => {
    const request = `graph g { input x: string  node a = http(\`https://api.example.com/\${x}\`)  start -> a }`;
    const make = (): unknown => engineOf(request, {}, { allow, builtins: { http: () => 1 } });
    if (isAllowed) expect(make).not.toThrow();
    else expect(make).toThrow("has the effects net:api.example.com, which are not allowed");
  });

  test("requests to any host are allowed by `net` only, and nodes know the allowed hosts", async () => {
    const seen: unknown[] = [];
    const http: BuiltinNode = (_, { allowedHosts }) => void seen.push(allowedHosts);
    const builtins = { http };
    const open = `graph g { input x: string  node a = http(x)  start -> a }`;
    expect(() => engineOf(open, {}, { allow: ["net:*.com"], builtins })).toThrow("has the effects net, which");
    await engineOf(open, {}, { allow: ["net", "net:a.com"], builtins }).run({ x: "" });
    await engineOf(open, {}, { builtins }).run({ x: "" });
    const closed = `graph g { node a = http("https://a.com")  start -> a }`;
    await engineOf(closed, {}, { allow: ["net:a.com", "net:*.b.com"], builtins }).run({});
    expect(seen).toEqual([undefined, undefined, ["a.com", "*.b.com"]]);
  });

  test("everything that is missing is listed at once", () => {
    const make = (): unknown =>
      engineOf(
        `graph g { node a = a()  node b = b()  node c = sleep(1s)  start -> a -> b -> c }`,
        { a: () => 1, b: () => 2 },
        { functions: {}, builtins: {} },
      );
    expect(make).toThrow(expect.objectContaining({ code: "NG_MISSING_FUNCTION" }));
    for (const name of ["`a`", "`b`", "`sleep`", "nodes.ts"]) expect(make).toThrow(name);
  });

  test("a mocked node needs no function, and its arguments are not evaluated", async () => {
    const engine = engineOf(
      `graph g { input n: int  output x: int = 0  node a = a(1 / n) into x  start -> a }`,
      { a: () => 1 },
      { functions: {}, mocks: { a: () => 9 } },
    );
    expect((await engine.run({ n: 0 })).output).toEqual({ x: 9 });
  });

  test.each<readonly [string, (engine: Engine) => Promise<unknown>]>([
    ["a durability there is not", (engine) => engine.run({}, { durability: "weekly" as never })],
    ["an `onFailure` there is not", (engine) => engine.resume("t", { onFailure: "shrug" as never })],
    ["an edit that is no record", (engine) => engine.update("t", null as never)],
    ["an empty label", (engine) => engine.label("t", "")],
  ])("%s is refused", async (_name, call) => {
    const engine = engineOf(`graph g { node a = 1 { pause before }  start -> a }`, {}, { store: new MemoryStore() });
    await engine.run({}, { thread: "t" });
    await expect(call(engine)).rejects.toMatchObject({ code: "NG_BAD_INPUT" });
  });

  test("bad input names each field", async () => {
    const engine = engineOf(
      `graph g { input n: int  input name: string  input more: int = 3  output x: int = 0  node a = more into x  start -> a }`,
    );
    const run = engine.run({ n: "one", extra: 1 });
    await expect(run).rejects.toMatchObject({ code: "NG_BAD_INPUT" });
    for (const name of ["`n`", "`name`", "`extra`"])
      await expect(engine.run({ n: "one", extra: 1 })).rejects.toThrow(name);
    expect((await engine.run({ n: 1, name: "x" })).output).toEqual({ x: 3 });
    await expect(engine.run([] as never)).rejects.toMatchObject({ code: "NG_BAD_INPUT" });
  });
});
