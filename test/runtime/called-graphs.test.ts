/** Execution, 7.2: graphs called as nodes. */
import { describe, expect, test } from "vitest";
import type { NodeContext, RunEvent } from "../../runtime/index.ts";
import { MemoryStore } from "../../runtime/stores/memory.ts";
import { CrashingStore } from "../support/crashing-store.ts";
import { engineOf } from "../support/graph.ts";
import { settle, VirtualClock } from "../support/virtual-clock.ts";

describe("called graphs", () => {
  const CALLER = `graph child { input n: int  output m: int  output said: string  state k: int = 0
      node twice = n * 2 into k  node ask = ask(\`really \${k}?\`) into said  node out = k + 1 into m
      start -> twice -> ask -> out }
    graph parent { input n: int  output totals: int[] reduce append  output words: string[] reduce append
      node call = child(n: n) into { m: totals, said: words }  node many = child(n: i) for i in [10, 20] into { m: totals, said: words }
      start -> call -> many }`;

  test("7.2: pauses pass through, a resume continues inside, outputs go through the caller's reducers", async () => {
    const store = new MemoryStore();
    const engine = engineOf(CALLER, {}, { store });
    const first = await engine.run({ n: 1 }, { thread: "t" });
    expect(first).toMatchObject({
      status: "paused",
      pauses: [{ node: "ask", namespace: ["call"], payload: { question: "really 2?" } }],
    });
    const second = await engine.resume("t", { answer: "yes" });
    expect(second.pauses.map((pause) => pause.namespace)).toEqual([["many[0]"], ["many[1]"]]);
    const answers = Object.fromEntries(second.pauses.map((pause, index) => [pause.id, `a${index}`]));
    const done = await engine.resume("t", { answers });
    expect(done).toMatchObject({ status: "completed", output: { totals: [3, 21, 41], words: ["yes", "a0", "a1"] } });
    const inner = await engine.history("t", { namespace: "many[1]" });
    expect(inner[0]).toMatchObject({ namespace: "many[1]", status: "completed" });
  });

  test("7.2: a called graph in a loop starts afresh each time, and its pauses do not share answers", async () => {
    const engine = engineOf(
      `graph child { input n: int  output said: string  node ask = ask(\`\${n}?\`) into said  start -> ask }
       graph parent { output words: string[] reduce append  state n: int = 0
         node call = child(n: n) into { said: words }  node next = n + 1 into n
         start -> call -> next  next -> call when n < 2  next -> end otherwise }`,
      {},
      { store: new MemoryStore() },
    );
    const first = await engine.run({}, { thread: "t" });
    const second = await engine.resume("t", { answer: "zero" });
    expect(second).toMatchObject({ status: "paused", pauses: [{ payload: { question: "1?" } }] });
    expect(second.pauses[0]?.id).not.toBe(first.pauses[0]?.id);
    expect(await engine.resume("t", { answer: "one" })).toMatchObject({
      status: "completed",
      output: { words: ["zero", "one"] },
    });
  });

  test("7.2: a failure inside is the caller's failure, and the resume continues inside", async () => {
    const runs: string[] = [];
    let broken = true;
    const engine = engineOf(
      `graph child { output m: int = 0  node a = work("a") into m  node b = work("b") into m  start -> a -> b }
       graph parent { output total: int = 0  node call = child() into { m: total }  start -> call }`,
      {
        work: (name: string) => {
          runs.push(name);
          if (name === "b" && broken) throw new Error("inside");
          return runs.length;
        },
      },
      { store: new MemoryStore() },
    );
    expect(await engine.run({}, { thread: "t" })).toMatchObject({
      status: "failed",
      error: { nodeId: "call", cause: { nodeId: "b" } },
    });
    broken = false;
    expect(await engine.resume("t")).toMatchObject({ status: "completed", output: { total: 3 } });
    expect(runs).toEqual(["a", "b", "b"]);
  });
});

describe("called graphs by themselves", () => {
  const CALL = (child: string, policies = ""): string => `graph child { input n: int  output m: int = 0  ${child} }
    graph parent { input n: int  output m: int = 0  output failed: string = ""
      node call = child(n: n) into { m } ${policies}   node rescue = why(error) into failed
      start -> call   call -> end   call -> rescue on error   rescue -> end }`;
  const why = (error: { message: string }): string => error.message;

  test("need no store, keep their own state and limit, and count as one step", async () => {
    const engine = engineOf(
      CALL(
        `limit steps 10  node count = m + n into m  start -> count  count -> count when m < 9  count -> end otherwise`,
      ),
      { why },
    );
    expect(await engine.run({ n: 1 }, { maxSteps: 1 })).toMatchObject({
      status: "completed",
      output: { m: 9 },
      steps: [["call"]],
    });
    expect((await engine.run({ n: 0 })).output["failed"]).toContain("limit of 10 steps");
  });

  test("one that ends incomplete, or gets what does not fit, fails its caller's node", async () => {
    const incomplete = engineOf(
      CALL(`node a = 1 into m  node b = 1  node j = 1  start -> a  all(a, b) -> j  j -> end`),
      { why },
    );
    expect((await incomplete.run({ n: 1 })).output["failed"]).toContain("incomplete");
    const picky = engineOf(
      `graph child { input n: int  output m: int = 0  node a = n into m  start -> a }
       graph parent { input raw: string  output m: int = 0  node call = child(n: parse(raw)) into { m }  start -> call }`,
      { parse: (raw: string) => raw },
    );
    expect((await picky.run({ raw: "x" })).error).toMatchObject({ code: "NG_NODE_FAILED", nodeId: "call" });
  });

  test("a retry starts a new run", async () => {
    const clock = new VirtualClock();
    for (const store of [undefined, new MemoryStore()]) {
      const ran: string[] = [];
      let left = 2;
      const engine = engineOf(
        CALL(`node a = a(n) into m  node b = b(m) into m  start -> a -> b`, "{ tries 3 }"),
        {
          why,
          a: (n: number) => (ran.push("a"), n + 1),
          b: (m: number) => {
            ran.push("b");
            if (left-- > 0) throw new Error("again");
            return m * 10;
          },
        },
        { clock, ...(store === undefined ? {} : { store }) },
      );
      expect((await clock.until(engine.run({ n: 1 }, { thread: "t" }))).output).toMatchObject({ m: 20, failed: "" });
      expect(ran).toEqual(["a", "b", "a", "b", "a", "b"]);
    }
  });

  test("cancellation and timeouts reach the nodes inside", async () => {
    for (const how of ["cancel", "timeout"] as const) {
      const clock = new VirtualClock();
      const abort = new AbortController();
      let signal: AbortSignal | undefined;
      const engine = engineOf(
        CALL(`node a = a() into m  start -> a`, how === "timeout" ? "{ timeout 1s }" : ""),
        {
          why,
          a: (context: NodeContext) => {
            signal = context.signal;
            return new Promise(() => undefined);
          },
        },
        { clock },
      );
      const run = engine.run({ n: 1 }, { signal: abort.signal });
      await settle();
      if (how === "cancel") abort.abort();
      const result = await clock.until(run);
      expect(result.status).toBe(how === "cancel" ? "cancelled" : "completed");
      expect(signal?.aborted).toBe(true);
    }
  });

  test("a run that was cancelled inside continues inside", async () => {
    const abort = new AbortController();
    const ran: string[] = [];
    const engine = engineOf(
      CALL(`node a = a(n) into m  node b = b(m) into m  start -> a -> b`),
      {
        why,
        a: (n: number) => (ran.push("a"), n + 1),
        b: (m: number) => {
          ran.push("b");
          if (ran.length > 2) return m * 10;
          setImmediate(() => abort.abort());
          return new Promise(() => undefined);
        },
      },
      { store: new MemoryStore() },
    );
    expect((await engine.run({ n: 1 }, { thread: "t", signal: abort.signal })).status).toBe("cancelled");
    expect((await engine.resume("t")).output["m"]).toBe(20);
    expect(ran).toEqual(["a", "b", "b"]);
  });

  test("dying at any write inside or outside, the end is the same, and no stored body runs again", async () => {
    for (let writes = 0; writes < 14; writes++) {
      let now = 0;
      const disk = new MemoryStore({ now: () => now });
      const ran: string[] = [];
      const build = (store: MemoryStore | CrashingStore) =>
        engineOf(
          `graph child { input n: int  output m: int = 0  node a = a(n) into m  node b = a(m) into m  start -> a -> b }
           graph parent { output all: int[] = []  output last: int = 0
             node every = child(n: i) for i in [1, 2] into { m: all }   node one = child(n: 5) into { m: last }
             start -> every -> one }`,
          { a: (n: number, context: NodeContext) => (ran.push(context.idempotencyKey), n * 10) },
          { store, leaseMs: 1000 },
        );
      const dying = new CrashingStore(disk, writes, "after");
      await build(dying)
        .run({}, { thread: "t" })
        .catch(() => undefined);
      now += 5000;
      const engine = build(disk);
      const head = disk.loadLatest("t")!;
      const result = head.status === "completed" ? head.values : (await engine.resume("t")).output;
      expect(result).toMatchObject({ all: [100, 200], last: 500 });
      expect(new Set(ran).size).toBe(6);
      expect(ran.length).toBeLessThanOrEqual(7);
    }
  });

  test("its checkpoints live under the caller's namespace, and its events say so", async () => {
    const events: RunEvent[] = [];
    const engine = engineOf(
      `graph inner { input n: int  output m: int = 0  node a = n + 1 into m  start -> a }
       graph child { input n: int  output m: int = 0  node deep = inner(n: n) into { m }  start -> deep }
       graph parent { output all: int[] = []  node every = child(n: i) for i in [1, 2] into { m: all }  start -> every }`,
      {},
      { store: new MemoryStore(), onEvent: (event) => events.push(event) },
    );
    await engine.run({}, { thread: "t" });
    const history = await engine.history("t", { namespace: "every[1]/deep" });
    expect(history.map(({ phase, values }) => [phase, values["m"]])).toEqual([
      ["completed", 3],
      ["input", 0],
    ]);
    const places = new Set(events.map(({ namespace }) => namespace.join("/")));
    expect(places).toEqual(new Set(["", "every[0]", "every[1]", "every[0]/deep", "every[1]/deep"]));
    expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index));
  });

  test("a pause deep inside is answered through the caller; a fork takes it along", async () => {
    const ran: string[] = [];
    const engine = engineOf(
      `graph inner { output said: string = ""  node seed = seed()  node q = ask("deep?") into said  start -> seed -> q }
       graph child { output said: string = ""  node deep = inner() into { said }  start -> deep }
       graph parent { output a: string = ""  output b: string = ""
         node one = child() into { said: a }   node two = child() into { said: b }   start -> one, two   any(one, two) -> end }`,
      { seed: () => void ran.push("seed") },
      { store: new MemoryStore() },
    );
    const first = await engine.run({}, { thread: "t" });
    expect(first.pauses.map(({ namespace }) => namespace)).toEqual([
      ["one", "deep"],
      ["two", "deep"],
    ]);
    await engine.fork("t", { as: "u" });
    const forked = (await engine.state("u"))!.pauses;
    expect(forked.map(({ namespace }) => namespace)).toEqual(first.pauses.map(({ namespace }) => namespace));
    const answers = (pauses: typeof forked, word: string) =>
      Object.fromEntries(pauses.map(({ id }, i) => [id, `${word}${i}`]));
    expect((await engine.resume("u", { answers: answers(forked, "fork") })).output).toEqual({ a: "fork0", b: "fork1" });
    const half = await engine.resume("t", { answers: { [first.pauses[1]!.id]: "two" } });
    expect(half.pauses).toEqual([first.pauses[0]]);
    expect((await engine.resume("t", { answer: "one" })).output).toEqual({ a: "one", b: "two" });
    expect(ran).toEqual(["seed", "seed"]);
  });

  test("its gates hold its own steps", async () => {
    const engine = engineOf(
      CALL(`node a = n + 1 into m { pause after }  node b = m * 2 into m { pause before }  start -> a -> b`),
      { why },
      { store: new MemoryStore() },
    );
    expect((await engine.run({ n: 1 }, { thread: "t" })).pauses).toMatchObject([
      { node: "a", kind: "after", namespace: ["call"] },
    ]);
    expect((await engine.resume("t")).pauses).toMatchObject([{ node: "b", kind: "before", namespace: ["call"] }]);
    expect((await engine.resume("t")).output["m"]).toBe(4);
  });

  test("without a store a graph that calls one that pauses is refused", async () => {
    const engine = engineOf(CALL(`node a = n into m { pause before }  start -> a`), { why });
    await expect(engine.run({ n: 1 })).rejects.toMatchObject({ code: "NG_NO_STORE" });
  });
});
