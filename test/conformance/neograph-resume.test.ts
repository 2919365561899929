/**
 * NeoGraph's stores, resume and contexts (cases C39, C49 - C84 of its test suite that are not in `neograph.test.ts`).
 */
import { describe, expect, test } from "vitest";
import type { NodeContext, PendingWrite, RunEvent } from "../../runtime/index.ts";
import { MemoryStore } from "../../runtime/stores/memory.ts";
import type { SaveRequest } from "../../runtime/interface/store.ts";
import { engineOf } from "../support/graph.ts";

const THREE = `graph g { output n: int = 0 reduce sum  output fixed: int = 7
  node a = 1 into n  node b = 10 into n  node c = 100 into n  start -> a -> b -> c }`;

describe("checkpoints", () => {
  test("C54: the latest of several, newest first, a limit, threads apart, one deleted", async () => {
    const store = new MemoryStore();
    const engine = engineOf(THREE, {}, { store });
    const { checkpointId } = await engine.run({}, { thread: "t" });
    await engine.run({}, { thread: "u" });
    const history = await engine.history("t");
    expect(history.map(({ step }) => step)).toEqual([2, 1, 0, -1]);
    expect(history[0]?.id).toBe(checkpointId);
    expect(await engine.history("t", { limit: 2 })).toHaveLength(2);
    expect(store.loadById("u", checkpointId!)).toBeUndefined();
    store.deleteThread("t");
    expect(await engine.state("t")).toBeUndefined();
    expect(await engine.history("u")).toHaveLength(4);
  });

  test("C49, C55: ids are unique, the schema has a version, and channels count their writes", async () => {
    const engine = engineOf(THREE, {}, { store: new MemoryStore() });
    await engine.run({}, { thread: "t" });
    const history = await engine.history("t");
    expect(new Set(history.map(({ id }) => id)).size).toBe(4);
    for (const { id, schemaVersion } of history) {
      expect(id.length).toBeGreaterThan(10);
      expect(schemaVersion).toBe(1);
    }
    expect(history.map(({ versions }) => versions["n"] ?? 0)).toEqual([3, 2, 1, 0]);
  });

  test("C57: a checkpoint costs what changed; a fork keeps its values when its source is deleted", async () => {
    const store = new MemoryStore();
    const changed: string[][] = [];
    const save = store.save.bind(store);
    Object.assign(store, {
      save: (...[claim, request]: [Parameters<typeof save>[0], SaveRequest]) => {
        changed.push(request.changes.map(({ channel }) => channel));
        return save(claim, request);
      },
    });
    const engine = engineOf(THREE, {}, { store });
    await engine.run({}, { thread: "t" });
    expect(changed).toEqual([[], ["n"], ["n"], ["n"]]);
    await engine.fork("t", { as: "u" });
    store.deleteThread("t");
    expect((await engine.state("u"))?.state).toEqual({ n: 111, fixed: 7 });
  });

  test("C58, C59: barriers, next nodes and nested values come back as they were", async () => {
    const engine = engineOf(
      `graph g { output deep: json = null  node a = a() into deep  node x = 1  node y = 1  node z = 1 { pause before }
         node j = 1  node k = 1  start -> a, x  a -> x, y, z  all(a, y, z) -> j  all(x, k) -> k  j -> k }`,
      { a: () => ({ list: [1, { two: [true, null] }] }) },
      { store: new MemoryStore() },
    );
    await engine.run({}, { thread: "t" });
    expect((await engine.history("t"))[0]).toMatchObject({
      phase: "before",
      nextNodes: ["x", "y", "z"],
      barrierState: { j: ["a"], k: ["x"] },
      values: { deep: { list: [1, { two: [true, null] }] } },
    });
  });

  test("C60: a checkpoint that was not saved is not reported", async () => {
    const events: RunEvent[] = [];
    const store = Object.assign(new MemoryStore(), { save: () => Promise.reject(new Error("disk full")) });
    const engine = engineOf(THREE, {}, { store, onEvent: (event) => events.push(event) });
    await expect(engine.run({}, { thread: "t" })).rejects.toMatchObject({ code: "NG_STORE_FAILED" });
    expect(events.filter(({ type }) => type === "checkpoint" || type === "node")).toEqual([]);
  });

  test("C61: a thread without a name is refused, and nothing is stored", async () => {
    const store = new MemoryStore();
    const engine = engineOf(THREE, {}, { store });
    await expect(engine.run({}, { thread: "" })).rejects.toMatchObject({ code: "NG_UNKNOWN_THREAD" });
    expect(store.threads()).toEqual([]);
  });
});

describe("pending writes", () => {
  test("C63: the routing of a task is restored with its result", async () => {
    const store = new MemoryStore();
    const kept: PendingWrite[] = [];
    const put = store.putWrites.bind(store);
    Object.assign(store, {
      putWrites: (...args: Parameters<typeof put>) => {
        kept.push(...args[2]);
        put(...args);
      },
    });
    let runs = 0;
    const engine = engineOf(
      `graph g { output x: int = 0  output got: int[] = [] reduce append
         node a = a() into x { goes c, w }  node b = ask("b?")  node c = 1  node w = w() into got  node never = 1
         start -> a, b  a -> never  any(b, c, never, w) -> end }`,
      {
        a: (context: NodeContext) => {
          runs++;
          context.send("w", 5);
          context.goto("c");
          return 3;
        },
        w: (context: NodeContext) => context.item,
      },
      { store },
    );
    await engine.run({}, { thread: "t" });
    expect(kept.filter(({ taskId }) => taskId === "a")).toMatchObject([
      { node: "a", result: { updates: [["x", 3]], goto: ["c"], sends: [{ node: "w", item: 5 }] } },
    ]);
    const done = await engine.resume("t", { answer: "yes" });
    expect(done).toMatchObject({
      status: "completed",
      output: { x: 3, got: [5] },
      steps: [
        ["a", "b"],
        ["c", "w"],
      ],
    });
    expect(runs).toBe(1);
    expect(store.getWrites("t", done.checkpointId!)).toEqual([]);
  });

  test("C68: one of five sent tasks fails; the resume runs it alone", async () => {
    let runs = 0;
    const store = new MemoryStore();
    const engine = engineOf(
      `graph g { output results: int[] = [] reduce append  node setup = 1  node planner = planner() { goes executor }
         node executor = executor() into results  start -> setup -> planner -> end  executor -> end }`,
      {
        planner: (context: NodeContext) => {
          for (let i = 0; i < 5; i++) context.send("executor", i);
        },
        executor: async (context: NodeContext) => {
          if (++runs <= 5 && context.item === 2) throw new Error("executor 2");
          return (context.item as number) * 10;
        },
      },
      { store },
    );
    const failed = await engine.run({}, { thread: "t" });
    expect(failed).toMatchObject({ status: "failed", error: { nodeId: "executor" } });
    expect(runs).toBe(5);
    expect((await engine.history("t"))[0]?.finished).toHaveLength(4);
    const done = await engine.resume("t");
    expect(done.output).toEqual({ results: [0, 10, 20, 30, 40] });
    expect(runs).toBe(6);
    for (const { id } of await engine.history("t")) expect(store.getWrites("t", id)).toEqual([]);
  });
});

describe("resume", () => {
  test("C65: a pause before a first node has the next nodes", async () => {
    const engine = engineOf(
      `graph g { node a = 1 { pause before }  node b = 1  start -> a, b  any(a, b) -> end }`,
      {},
      { store: new MemoryStore() },
    );
    expect((await engine.run({}, { thread: "t" })).status).toBe("paused");
    expect((await engine.history("t"))[0]).toMatchObject({ phase: "before", nextNodes: ["a", "b"] });
  });

  test("C67: state edits and forks keep a half-filled barrier", async () => {
    const engine = engineOf(
      `graph g { output x: int = 0 reduce sum  node a = 1  node b1 = 1  node b2 = 1 { pause before }  node j = 1 into x
         start -> a, b1  b1 -> b2  all(a, b2) -> j }`,
      {},
      { store: new MemoryStore() },
    );
    await engine.run({}, { thread: "t" });
    await engine.update("t", { x: 5 });
    expect((await engine.history("t"))[0]).toMatchObject({ phase: "updated", barrierState: { j: ["a"] } });
    await engine.fork("t", { as: "u" });
    for (const thread of ["t", "u"]) {
      expect(await engine.resume(thread)).toMatchObject({ status: "completed", output: { x: 6 } });
    }
  });

  test.each([-1, 1.5, Number.NaN, "3"])("C76: a limit of %s is refused before anything runs", async (maxSteps) => {
    let runs = 0;
    const engine = engineOf(`graph g { node a = a()  start -> a }`, { a: () => void runs++ });
    await expect(engine.run({}, { maxSteps: maxSteps as number })).rejects.toMatchObject({ code: "NG_BAD_INPUT" });
    expect(runs).toBe(0);
  });

  test("C82: called graphs of sends and siblings have their own namespaces, and a resume continues at a pause deep inside", async () => {
    const ran: string[] = [];
    const engine = engineOf(
      `graph inner { output m: string = ""  node seed = work("seed") into m  node q = ask("?") into m  start -> seed -> q }
       graph middle { output m: string = ""  node call = inner() into { m }  start -> call }
       graph outer { output log: string[] = [] reduce append  node plan = plan() { goes call }
         node call = middle() into { m: log }  node other = middle() into { m: log }
         start -> plan -> other -> end  call -> end }`,
      {
        work: (name: string) => (ran.push(name), name),
        plan: (context: NodeContext) => {
          context.send("call", 1);
          context.send("call", 2);
        },
      },
      { store: new MemoryStore() },
    );
    const names = async (thread: string): Promise<readonly string[]> =>
      (await engine.run({}, { thread })).pauses.map(({ namespace }) => namespace.join("/"));
    const first = await names("t");
    expect(first).toEqual(["other/call", "call~0.0/call", "call~0.1/call"]);
    expect(await names("u")).toEqual(first);
    const { pauses } = (await engine.state("t"))!;
    const answers = Object.fromEntries(pauses.map(({ id }, index) => [id, `a${index}`]));
    expect((await engine.resume("t", { answers })).output).toEqual({ log: ["a0", "a1", "a2"] });
    expect(ran).toHaveLength(6);
  });
});

describe("events and results", () => {
  test.each([1, 3])("C39: %i sent items start and end once each", async (count) => {
    const events: RunEvent[] = [];
    const engine = engineOf(
      `graph g { node planner = planner() { goes worker }  node worker = 1  start -> planner -> end  worker -> end }`,
      {
        planner: (context: NodeContext) => {
          for (let i = 0; i < count; i++) context.send("worker", i);
        },
      },
      { onEvent: (event) => events.push(event) },
    );
    await engine.run({});
    for (const phase of ["start", "end"] as const) {
      const found = events.filter((event) => event.type === "node" && event.node === "worker" && event.phase === phase);
      expect(found).toHaveLength(count);
    }
  });

  test("C83: a custom event that is not JSON does not affect the run", async () => {
    const events: RunEvent[] = [];
    const engine = engineOf(
      `graph g { node a = a()  start -> a }`,
      { a: (context: NodeContext) => context.emit((() => 1) as never) },
      { onEvent: (event) => events.push(event) },
    );
    expect((await engine.run({})).status).toBe("completed");
    expect(events.filter(({ type }) => type === "custom")).toMatchObject([
      { data: expect.stringContaining("not plain JSON") as string },
    ]);
  });

  test("C84: a result has the status of the run, and contains only channels", async () => {
    const engine = engineOf(THREE);
    const done = await engine.run({});
    expect(done).toMatchObject({ status: "completed", output: { n: 111 }, error: null });
    expect(done.output["nothing"]).toBeUndefined();
    expect(await engine.run({}, { maxSteps: 1 })).toMatchObject({
      status: "limit",
      error: { code: "NG_STEP_LIMIT" },
    });
  });
});
