/**
 * NeoGraph's engine, state and resume (cases C23 - C85 of its test suite). Where this project differs on purpose, the
 * test asserts its behaviour and `docs/deviations.md` has the reason. The scheduler's cases are in
 * `neograph-scheduler.test.ts`, those of the stores in `test/stores`, those of the compiler in
 * `compiler-cases.test.ts`.
 */
import { describe, expect, test } from "vitest";
import { MemoryNodeCache, type FunctionRegistry, type NodeContext, type RunEvent } from "../../runtime/index.ts";
import { MemoryStore } from "../../runtime/stores/memory.ts";
import { deferred } from "../support/deferred.ts";
import { engineOf } from "../support/graph.ts";
import { settle, VirtualClock } from "../support/virtual-clock.ts";

describe("routing from end to end", () => {
  const words = (list: readonly string[]) => {
    let next = 0;
    return (): string => list[next++] ?? "end";
  };
  const cases: readonly {
    readonly name: string;
    readonly text: string;
    readonly functions?: FunctionRegistry;
    readonly input?: Record<string, string>;
    readonly maxSteps?: number;
    readonly steps: readonly (readonly string[])[];
    readonly result?: object;
  }[] = [
    {
      name: "C23: one worker",
      text: `output r: string = ""  node worker = "done_by_worker" into r  start -> worker -> end`,
      steps: [["worker"]],
      result: { status: "completed", output: { r: "done_by_worker" } },
    },
    ...["a", "b"].map((way) => ({
      name: `C24: a router that writes ${way}`,
      text: `input way: string  state route: string = ""  node router = way into route  node path_a = 1  node path_b = 1
        start -> router  router -> match route { "a" -> path_a  else -> path_b }  any(path_a, path_b) -> end`,
      input: { way },
      steps: [["router"], [`path_${way}`]],
    })),
    {
      name: "C25: a plain self loop stops at the limit",
      text: `node looper = 1  start -> looper -> looper`,
      maxSteps: 5,
      steps: Array.from({ length: 5 }, () => ["looper"]),
      result: { status: "limit" },
    },
    {
      name: "C26: one step is enough for one worker",
      text: `node worker = 1  start -> worker -> end`,
      maxSteps: 1,
      steps: [["worker"]],
      result: { status: "completed" },
    },
    {
      name: "C26: none is not",
      text: `node worker = 1  start -> worker -> end`,
      maxSteps: 0,
      steps: [],
      result: { status: "limit" },
    },
    {
      name: "C26: an empty graph needs none",
      text: `node idle = 1  start -> end  idle -> end`,
      maxSteps: 0,
      steps: [],
      result: { status: "completed" },
    },
    {
      name: "C27: a conditional self loop",
      text: `state word: string = ""  output n: int = 0 reduce sum  node looper = one() into { word, n }  node done = 1
        start -> looper  looper -> match word { "loop" -> looper  else -> done }  done -> end`,
      functions: { one: ((next) => () => ({ word: next(), n: 1 }))(words(["loop", "loop", "loop", "end"])) },
      steps: [["looper"], ["looper"], ["looper"], ["looper"], ["done"]],
      result: { output: { n: 4 } },
    },
    {
      name: "C28: ping and pong",
      text: `state word: string = ""  node ping = one() into word  node pong = 1  node done = 1
        start -> ping  ping -> match word { "pong" -> pong  else -> done }  pong -> ping  done -> end`,
      functions: { one: words(["pong", "pong", "end"]) },
      steps: [["ping"], ["pong"], ["ping"], ["pong"], ["ping"], ["done"]],
    },
    {
      name: "C29: a jump in place of an edge",
      text: `node a = a() { goes right }  node wrong = 1  node right = 1  start -> a -> wrong  any(wrong, right) -> end`,
      functions: { a: (context: NodeContext) => context.goto("right") },
      steps: [["a"], ["right"]],
    },
    {
      name: "C30: two signals in one step run the join once",
      text: `node a = 1  node b = 1  node j = 1  start -> a, b  any(a, b) -> j  j -> end`,
      steps: [["a", "b"], ["j"]],
    },
    {
      name: "C31: signals in two steps run it twice",
      text: `node a = 1  node s1 = 1  node s2 = 1  node j = 1  node finish = 1
        start -> a, s1  s1 -> s2  any(a, s2) -> j  j -> finish -> end`,
      steps: [["a", "s1"], ["s2", "j"], ["j", "finish"], ["finish"]],
    },
    {
      name: "C32: a barrier makes it once",
      text: `node a = 1  node s1 = 1  node s2 = 1  node j = 1  start -> a, s1  s1 -> s2  all(a, s2) -> j  j -> end`,
      steps: [["a", "s1"], ["s2"], ["j"]],
    },
  ];
  test.each(cases)("$name", async ({ text, functions = {}, input = {}, maxSteps, steps, result = {} }) => {
    const engine = engineOf(`graph g { ${text} }`, functions);
    const ended = await engine.run(input, maxSteps === undefined ? {} : { maxSteps });
    expect(ended.steps).toEqual(steps);
    expect(ended).toMatchObject(result);
  });

  test("C33: a listener receives events", async () => {
    const events: RunEvent[] = [];
    await engineOf(`graph g { node a = 1  start -> a }`, {}, { onEvent: (event) => events.push(event) }).run({});
    expect(events.length).toBeGreaterThan(0);
  });

  test("C34: parallel runs of one engine do not mix; on one thread one runs and the others are refused", async () => {
    const engine = engineOf(
      `graph g { input n: int  output m: int = 0  node twice = twice(n) into m  start -> twice }`,
      { twice: async (n: number) => (await settle(), n * 2) },
      { store: new MemoryStore() },
    );
    const runs = Array.from({ length: 200 }, (_, n) => engine.run({ n }, { thread: `t${n}` }));
    const results = await Promise.all(runs);
    expect(results.map(({ output }) => output["m"])).toEqual(results.map((_, n) => n * 2));
    expect(await engine.history("t17")).toHaveLength(2);
    const rivals = await Promise.allSettled(Array.from({ length: 8 }, (_, n) => engine.run({ n }, { thread: "one" })));
    expect(rivals.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    for (const rival of rivals) {
      if (rival.status === "rejected") expect(rival.reason).toMatchObject({ code: "NG_THREAD_CONFLICT" });
    }
  });
});

describe("sends", () => {
  const planner = (count: number) => (context: NodeContext) => {
    for (let item = 0; item < count; item++) context.send("worker", item);
  };

  test.each([1, 3])("C35: %i sent workers that each jump run the target once", async (count) => {
    const engine = engineOf(
      `graph g { output results: int[] = [] reduce append  node planner = planner() { goes worker }
        node worker = worker() into results { goes finalize }  node finalize = 1
        start -> planner -> end  worker -> end  finalize -> end }`,
      { planner: planner(count), worker: (context: NodeContext) => (context.goto("finalize"), context.item) },
    );
    const result = await engine.run({});
    expect(result.output["results"]).toHaveLength(count);
    expect(result.steps.at(-1)).toEqual(["finalize"]);
  });

  test("C36: both the targets of edges and the sent tasks run", async () => {
    const engine = engineOf(
      `graph g { node planner = planner() { goes worker }  node bridge = 1  node worker = 1  node finalize = 1
        start -> planner -> bridge  bridge -> end  worker -> finalize -> end }`,
      { planner: planner(3) },
    );
    expect((await engine.run({})).steps).toEqual([["planner"], ["bridge", "worker", "worker", "worker"], ["finalize"]]);
  });

  test.each([
    [["missing"], 0],
    [["worker", "missing"], 1],
  ])("C37, C38: a send to a missing target: %j", async (targets, index) => {
    const ran: string[] = [];
    const engine = engineOf(
      `graph g { node setup = 1  node planner = planner() { goes worker }  node worker = worker()
        start -> setup -> planner -> end  worker -> end }`,
      {
        planner: (context: NodeContext) => targets.forEach((target) => context.send(target, null)),
        worker: () => void ran.push("worker"),
      },
      { store: new MemoryStore() },
    );
    const failed = await engine.run({}, { thread: "t" });
    for (const part of ["`planner`", "`missing`", `invocation index ${index}`])
      expect(failed.error?.message).toContain(part);
    expect((await engine.state("t"))?.next).toEqual(["planner"]);
    expect((await engine.resume("t")).error?.message).toBe(failed.error?.message);
    expect(ran).toEqual([]);
  });

  test.each([1, 3])("C40: %i sent tasks each write", async (count) => {
    const engine = engineOf(
      `graph g { output log: int[] = [] reduce append  node planner = planner() { goes worker }  node worker = worker() into log
        start -> planner -> end  worker -> end }`,
      { planner: planner(count), worker: (context: NodeContext) => context.item },
    );
    expect((await engine.run({})).output["log"]).toHaveLength(count);
  });

  test("C41: sent tasks are tried again", async () => {
    const clock = new VirtualClock();
    const engine = engineOf(
      `graph g { output log: int[] = [] reduce append  node planner = planner() { goes worker }
        node worker = worker() into log { tries 3 }  start -> planner -> end  worker -> end }`,
      {
        planner: planner(3),
        worker: (context: NodeContext) => {
          if (context.attempt < 3) throw new Error("again");
          return context.item;
        },
      },
      { clock },
    );
    expect((await clock.until(engine.run({}))).output).toEqual({ log: [0, 1, 2] });
  });

  test("C42: a pause after the planner precedes the sent tasks, which run once", async () => {
    let runs = 0;
    const engine = engineOf(
      `graph g { output log: int[] = [] reduce append  node planner = planner() { pause after  goes worker }
        node worker = worker() into log  start -> planner -> end  worker -> end }`,
      { planner: planner(1), worker: (context: NodeContext) => (runs++, context.item) },
      { store: new MemoryStore() },
    );
    expect((await engine.run({}, { thread: "t" })).status).toBe("paused");
    expect((await engine.history("t"))[0]).toMatchObject({
      phase: "after",
      pendingSends: [{ node: "worker", item: 0 }],
    });
    expect(await engine.resume("t")).toMatchObject({ status: "completed", output: { log: [0] } });
    expect(runs).toBe(1);
  });
});

describe("state", () => {
  const writes = async (channel: string, updates: readonly unknown[], functions: FunctionRegistry = {}) => {
    let next = 0;
    const engine = engineOf(
      `graph g { output x: ${channel}  state n: int = 0
        node write = write() into x  node count = n + 1 into n
        start -> write -> count  count -> write when n < ${updates.length}  count -> end otherwise }`,
      { write: () => updates[next++], ...functions },
      { store: new MemoryStore() },
    );
    const result = await engine.run({}, { thread: "t" });
    const [head] = await engine.history("t");
    return { value: result.output["x"], version: head?.versions["x"], error: result.error };
  };
  test.each([
    ["C43", 'string = "init"', ["updated"], "updated", 1],
    ["C43", 'string = "init"', ["a", "b", "c"], "c", 3],
    ["C44", "string[] = [] reduce append", [["hello"], ["world"]], ["hello", "world"], 2],
    ["C44", "string[] = [] reduce append", [[]], [], 1],
    ["C44", "string[] = [] reduce append", ["one", ["two"]], ["one", "two"], 2],
    [
      "C45",
      "int[] = []",
      [
        [1, 2],
        [3, 4],
      ],
      [3, 4],
      2,
    ],
    ["C47", "int = 0 reduce sum", [10, 20, 5], 35, 3],
    [
      "union",
      "json[] = [] reduce union",
      [
        [1, { a: 1, b: 2 }],
        [{ b: 2, a: 1 }, 1, "1"],
      ],
      [1, { a: 1, b: 2 }, "1"],
      2,
    ],
    [
      "merge",
      "map<int> = {} reduce merge",
      [
        { a: 1, b: 1 },
        { b: 2, ["__proto__x"]: 3 },
      ],
      { a: 1, b: 2, ["__proto__x"]: 3 },
      2,
    ],
    ["max", "int | null = null reduce max", [3, 7, 5], 7, 3],
    ["min", "float | null = null reduce min", [3.5, 7, 2.5], 2.5, 3],
  ])("%s: %s after %j", async (_name, channel, updates, value, version) => {
    const result = await writes(channel, updates);
    expect(result.error).toBeNull();
    expect(result).toMatchObject({ value, version });
  });

  test("C47: an imported reducer", async () => {
    expect(await writes("int = 1 reduce times", [10, 20], { times: (a: number, b: number) => a * b })).toMatchObject({
      value: 200,
    });
  });

  test("C48: one result writes several channels; a value of the wrong type is refused", async () => {
    const engine = engineOf(
      `graph g { output a: int = 0  output b: string = ""  node n = n() into { a, b }  start -> n }`,
      {
        n: () => ({ a: 1, b: "two" }),
      },
    );
    expect((await engine.run({})).output).toEqual({ a: 1, b: "two" });
  });

  test("names are names: `__proto__` and `constructor` as fields of values", async () => {
    const odd = JSON.parse('{"__proto__": 1, "constructor": 2}') as Record<string, number>;
    const engine = engineOf(
      `graph g { output m: map<int> = {} reduce merge  node a = a() into m  start -> a }`,
      { a: () => odd },
      { store: new MemoryStore() },
    );
    const { output } = await engine.run({}, { thread: "t" });
    expect(JSON.stringify(output["m"])).toBe('{"__proto__":1,"constructor":2}');
    expect(JSON.stringify((await engine.state("t"))?.state["m"])).toBe('{"__proto__":1,"constructor":2}');
  });
});

describe("resume", () => {
  test("C62: the next nodes of a checkpoint of each phase", async () => {
    const engine = engineOf(
      `graph g { output log: string[] = [] reduce append
        node a = "a" into log { pause after }  node b = "b" into log { pause before }  node c = c() into log
        start -> a -> b -> c }`,
      { c: (context: NodeContext) => context.interrupt<string>() },
      { store: new MemoryStore() },
    );
    const at: (readonly [string, number, readonly string[]])[] = [];
    let result = await engine.run({}, { thread: "t" });
    while (result.status === "paused") {
      const [head] = await engine.history("t");
      at.push([head!.phase, head!.step, head!.nextNodes]);
      result = await engine.resume("t", at.length === 3 ? { answer: "c" } : {});
    }
    expect(at).toEqual([
      ["after", 0, ["b"]],
      ["before", 0, ["b"]],
      ["interrupted", 2, ["c"]],
    ]);
    expect(result.output).toEqual({ log: ["a", "b", "c"] });
  });

  test("C64: siblings of a gated node run once, resumed by an engine without the gate", async () => {
    const store = new MemoryStore();
    const ran: string[] = [];
    const text = (gate: string): string =>
      `graph g { node a = work("a")  node b = work("b") ${gate}  node c = work("c")  start -> a -> b, c  any(b, c) -> end }`;
    const functions = { work: (name: string) => void ran.push(name) };
    expect((await engineOf(text("{ pause before }"), functions, { store }).run({}, { thread: "t" })).status).toBe(
      "paused",
    );
    expect((await engineOf(text(""), functions, { store }).resume("t")).status).toBe("completed");
    expect(ran).toEqual(["a", "b", "c"]);
  });

  test("C66: a half-filled barrier survives a gate", async () => {
    const engine = engineOf(
      `graph g { node a = 1  node b1 = 1  node gate = 1 { pause before }  node b2 = 1  node j = 1
        start -> a, b1  b1 -> gate -> b2  all(a, b2) -> j  j -> end }`,
      {},
      { store: new MemoryStore() },
    );
    const paused = await engine.run({}, { thread: "t" });
    expect(paused).toMatchObject({ status: "paused", steps: [["a", "b1"]], pauses: [{ node: "gate" }] });
    expect((await engine.history("t"))[0]).toMatchObject({ phase: "before", barrierState: { j: ["a"] } });
    expect((await engine.resume("t")).steps).toEqual([["gate"], ["b2"], ["j"]]);
  });

  test("C69: one of two fails: one result is kept", async () => {
    const ran: string[] = [];
    const engine = engineOf(
      `graph g { node setup = 1  node a = work("a")  node b = work("b")  start -> setup -> a, b  any(a, b) -> end }`,
      {
        work: async (name: string) => {
          ran.push(name);
          if (name === "b") throw new Error("no");
        },
      },
      { store: new MemoryStore() },
    );
    await engine.run({}, { thread: "t" });
    const [head] = await engine.history("t");
    expect(head).toMatchObject({
      status: "failed",
      nextNodes: ["b"],
      finished: [{ taskId: "a" }],
      failure: { node: "b" },
    });
    expect(ran).toEqual(["a", "b"]);
  });

  test.each([
    ["reason alone", undefined, null],
    ["a payload", { type: "payment", amount: 3 }, { type: "payment", amount: 3 }],
  ])("C71, C73: an interrupt with %s, answered yes and no", async (_name, payload, shown) => {
    for (const approved of [true, false]) {
      let visits = 0;
      const engine = engineOf(
        `graph g { output r: string = ""  node risky = risky() into r  start -> risky }`,
        {
          risky: (context: NodeContext) => {
            visits++;
            const answer = context.interrupt<{ approved: boolean }>(payload ?? null);
            return answer.approved ? "paid" : "refused";
          },
        },
        { store: new MemoryStore() },
      );
      const paused = await engine.run({}, { thread: "t" });
      expect(paused.pauses).toMatchObject([{ node: "risky", kind: "interrupt", payload: shown }]);
      expect((await engine.history("t"))[0]).toMatchObject({ phase: "interrupted", nextNodes: ["risky"] });
      expect((await engine.resume("t", { answer: { approved } })).output).toEqual({ r: approved ? "paid" : "refused" });
      expect(visits).toBe(2);
      expect((await engine.run({}, { thread: "t" })).status).toBe("paused");
    }
  });

  test("C72: the sibling of a node that waits is not run again, and its write survives", async () => {
    const runs = { a: 0, b: 0 };
    const engine = engineOf(
      `graph g { output x: string = ""  output y: string = ""  node a = a() into x  node b = b() into y  start -> a, b  any(a, b) -> end }`,
      { a: async () => `a${++runs.a}`, b: (context: NodeContext) => (runs.b++, context.interrupt<string>()) },
      { store: new MemoryStore() },
    );
    expect((await engine.run({}, { thread: "t" })).status).toBe("paused");
    expect((await engine.resume("t", { answer: "b" })).output).toEqual({ x: "a1", y: "b" });
    expect(runs).toEqual({ a: 1, b: 2 });
  });

  test("C70: an interrupt is not tried again", async () => {
    let runs = 0;
    const engine = engineOf(
      `graph g { output x: string = ""  node a = a() into x { tries 5 }  start -> a }`,
      { a: (context: NodeContext) => (runs++, context.interrupt<string>()) },
      { store: new MemoryStore() },
    );
    await engine.run({}, { thread: "t" });
    expect(runs).toBe(1);
  });

  test("C74: a second run on the thread reads the `memory` of the first", async () => {
    const engine = engineOf(
      `graph chat { input text: string  memory messages: string[] = [] reduce append
        node user = text into messages  node reply = "ok" into messages  start -> user -> reply }`,
      {},
      { store: new MemoryStore() },
    );
    const lengths: unknown[] = [];
    for (const thread of ["t", "t", "u"]) {
      const { state } = await engine.run({ text: "hi" }, { thread });
      lengths.push((state["messages"] as unknown[]).length);
    }
    expect(lengths).toEqual([2, 4, 2]);
  });

  test("C75: the checkpoint of another thread is unknown on this thread", async () => {
    const engine = engineOf(`graph g { node a = 1  start -> a }`, {}, { store: new MemoryStore() });
    const { checkpointId } = await engine.run({}, { thread: "t" });
    await engine.run({}, { thread: "u" });
    await expect(engine.resume("u", { from: checkpointId! })).rejects.toMatchObject({ code: "NG_UNKNOWN_CHECKPOINT" });
  });

  test("C77: two hundred overlapping runs; the input is read at the time of the call", async () => {
    const gate = deferred();
    const engine = engineOf(
      `graph g { input list: int[]  output n: int = 0  node wait = wait()  node count = len(list) into n  start -> wait -> count }`,
      { wait: () => gate.promise },
    );
    const inputs = Array.from({ length: 200 }, (_, n) => [n]);
    const runs = inputs.map((list) => engine.run({ list }));
    for (const list of inputs) list.push(1, 2, 3);
    gate.resolve();
    for (const { output } of await Promise.all(runs)) expect(output).toEqual({ n: 1 });
  });
});

describe("parallel, cancel, cache, safe point", () => {
  test("C78: parallel nodes overlap; results come in order; the first failed node in order is reported", async () => {
    let active = 0;
    let peak = 0;
    const work = (failing: boolean) => async (name: string, turns: number) => {
      peak = Math.max(peak, ++active);
      for (let turn = 0; turn < turns; turn++) await settle();
      active--;
      if (failing && name !== "alpha") throw new Error(name);
      return name;
    };
    const text = `graph g { output log: string[] = [] reduce append
      node alpha = work("alpha", 3) into log  node beta = work("beta", 2) into log  node gamma = work("gamma", 1) into log
      start -> gamma, beta, alpha  any(alpha, beta, gamma) -> end }`;
    const result = await engineOf(text, { work: work(false) }).run({});
    expect(result.output).toEqual({ log: ["alpha", "beta", "gamma"] });
    expect(result.steps).toEqual([["alpha", "beta", "gamma"]]);
    expect(peak).toBe(3);
    expect((await engineOf(text, { work: work(true) }).run({})).error).toMatchObject({ nodeId: "beta" });
  });

  test("C79: cancelling in the middle of sent tasks", async () => {
    const abort = new AbortController();
    const signals: AbortSignal[] = [];
    const engine = engineOf(
      `graph g { node plan = plan() { goes work }  node work = work()  start -> plan -> end  work -> end }`,
      {
        plan: (context: NodeContext) => void [1, 2, 3].forEach((item) => context.send("work", item)),
        work: (context: NodeContext) => {
          signals.push(context.signal);
          if (signals.length === 3) setImmediate(() => abort.abort());
          return new Promise(() => undefined);
        },
      },
    );
    expect((await engine.run({}, { signal: abort.signal })).status).toBe("cancelled");
    expect(signals.map(({ aborted }) => aborted)).toEqual([true, true, true]);
  });

  test("C80: the cache is off by default; with the policy equal calls run once, others do not share", async () => {
    let runs = 0;
    const text = `graph g { input n: int  output m: int = 0  node a = a(n) into m  start -> a }`;
    const functions = { a: async (n: number) => (runs++, n * 2) };
    const cached = text.replace("into m", "into m { cache for 1h }");
    const off = engineOf(text, functions);
    for (let i = 0; i < 3; i++) await off.run({ n: 1 });
    expect(runs).toBe(3);
    runs = 0;
    const clock = new VirtualClock();
    const events: RunEvent[] = [];
    const on = engineOf(cached, functions, { clock, onEvent: (event) => events.push(event) });
    for (let i = 0; i < 3; i++) expect((await on.run({ n: 1 })).output).toEqual({ m: 2 });
    expect(runs).toBe(1);
    expect(
      events.filter((event) => event.type === "node" && event.phase === "end" && event.cached === true),
    ).toHaveLength(2);
    expect((await on.run({ n: 2 })).output).toEqual({ m: 4 });
    expect(runs).toBe(2);
    await clock.advance(3_600_000);
    await on.run({ n: 1 });
    expect(runs).toBe(3);
    runs = 0;
    await engineOf(cached, functions).run({ n: 1 });
    expect(runs).toBe(1);
  });

  test("C80: failures and jumps are not cached", async () => {
    let runs = 0;
    const engine = engineOf(
      `graph g { output x: int = 0  node a = a() into x { goes b  cache }  node b = 1  start -> a -> end  b -> end }`,
      {
        a: (context: NodeContext) => {
          if (++runs === 1) throw new Error("no");
          context.goto("b");
          return runs;
        },
      },
    );
    expect((await engine.run({})).status).toBe("failed");
    for (const x of [2, 3]) expect(await engine.run({})).toMatchObject({ output: { x }, steps: [["a"], ["b"]] });
  });

  test("C80: the cache is bounded; the least recently used entry goes first", () => {
    const cache = new MemoryNodeCache({ capacity: 2 });
    cache.set("a", 1, null);
    cache.set("b", 2, null);
    expect(cache.get("a")).toBe(1);
    cache.set("c", 3, null);
    expect([cache.get("a"), cache.get("b"), cache.get("c")]).toEqual([1, undefined, 3]);
    const large = new MemoryNodeCache({ capacity: 64 });
    for (let i = 0; i < 10_000; i++) large.set(String(i), i, null);
    expect(large.size).toBe(64);
    large.clear();
    expect(large.size).toBe(0);
  });

  test("C81: the result of a called graph goes through the reducers of the caller", async () => {
    const engine = engineOf(
      `graph child { input seen: string[]  output said: string[] = []  output n: int = 0
         node say = ["child"] into said  node count = len(seen) + 22 into n  start -> say, count  any(say, count) -> end }
       graph parent { output log: string[] = ["parent"] reduce append  output total: int = 0 reduce sum  output last: int = 5
         node call = child(seen: log) into { said: log, n: total }  node copy = total into last  start -> call -> copy }`,
    );
    expect((await engine.run({})).output).toEqual({ log: ["parent", "child"], total: 23, last: 23 });
  });

  test("C81: a parent's sibling fails: the called graph does not run again", async () => {
    let broken = true;
    let calls = 0;
    const engine = engineOf(
      `graph child { output m: string = ""  node a = a() into m  start -> a }
       graph parent { output log: string[] = [] reduce append  node call = child() into { m: log }  node bad = bad() into log
         start -> call, bad  any(call, bad) -> end }`,
      {
        a: () => `a${++calls}`,
        bad: async () => {
          await settle();
          if (broken) throw new Error("no");
          return "bad";
        },
      },
      { store: new MemoryStore() },
    );
    expect((await engine.run({}, { thread: "t" })).status).toBe("failed");
    broken = false;
    expect((await engine.resume("t")).output).toEqual({ log: ["a1", "bad"] });
    expect(calls).toBe(1);
  });

  test("C85: stopping at a safe point is cancelling: results of finished nodes are kept, and the other nodes run on resume", async () => {
    const abort = new AbortController();
    const ran: string[] = [];
    const engine = engineOf(
      `graph g { node a = a()  node b = b()  start -> a -> b }`,
      {
        a: () => {
          ran.push("a");
          abort.abort();
        },
        b: () => void ran.push("b"),
      },
      { store: new MemoryStore() },
    );
    expect(await engine.run({}, { thread: "t", signal: abort.signal })).toMatchObject({
      status: "cancelled",
      steps: [["a"]],
    });
    expect((await engine.history("t"))[0]).toMatchObject({
      phase: "completed",
      step: 0,
      nextNodes: ["b"],
      status: "cancelled",
    });
    expect((await engine.resume("t")).steps).toEqual([["b"]]);
    expect(ran).toEqual(["a", "b"]);
  });
});
