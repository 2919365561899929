/** More cases like NeoGraph's of sends and jumps (C35 - C42, C68): counts, items, failures and resumes. */
import { describe, expect, test } from "vitest";
import type { Engine, NodeContext, RunEvent } from "../../runtime/index.ts";
import { MemoryStore } from "../../runtime/stores/memory.ts";
import { engineOf } from "../support/graph.ts";
import { settle, VirtualClock } from "../support/virtual-clock.ts";

const PLAN = `graph g { output log: json[] = [] reduce append  node setup = 1
  node planner = planner() { goes worker }  node worker = worker() into log { tries 3 backoff 10ms..20ms }
  node bridge = "bridge" into log  start -> setup -> planner -> bridge -> end  worker -> end }`;

const sending = (items: readonly unknown[]) => (context: NodeContext) => {
  for (const item of items) context.send("worker", item as never);
};

describe("sends", () => {
  test.each<readonly [string, readonly unknown[]]>([
    ["none", []],
    ["one", [7]],
    ["equal ones", [1, 1, 1]],
    ["records", [{ deep: [1, null] }, {}]],
    ["texts and nulls", ["", null, "x"]],
    ["a hundred", Array.from({ length: 100 }, (_, n) => n)],
  ])("C35, C36, C40: %s, beside what the edges signal, in the order sent", async (_name, items) => {
    const worker = async (context: NodeContext): Promise<unknown> => {
      // Later ones finish first.
      for (let turn = 0; turn < 3 && context.item === items[0]; turn++) await settle();
      return [context.item];
    };
    const result = await engineOf(PLAN, { planner: sending(items), worker }).run({});
    expect(result.steps).toEqual([["setup"], ["planner"], ["bridge", ...items.map(() => "worker")]]);
    expect(result.output).toEqual({ log: ["bridge", ...items] });
  });

  test("C35: a send without an item", async () => {
    const engine = engineOf(PLAN, {
      planner: (context: NodeContext) => context.send("worker"),
      worker: (context: NodeContext) => [context.item],
    });
    expect((await engine.run({})).output).toEqual({ log: ["bridge", null] });
  });

  test.each<readonly [string, (context: NodeContext) => unknown, readonly string[]]>([
    ["an unknown target", (c) => c.send("ghost", 1), ["`planner`", "`ghost`", "invocation index 0", "no such node"]],
    [
      "an unknown target as the third",
      (c) => (c.send("worker", 1), c.send("worker", 2), c.send("ghost", 3)),
      ["`planner`", "`ghost`", "invocation index 2"],
    ],
    ["a target that is not declared", (c) => c.send("setup", 1), ["`planner`", "`setup`", "index 0", "goes setup"]],
    ["the end", (c) => c.send("end", 1), ["`planner`", "`end`", "index 0"]],
    ["itself, undeclared", (c) => c.send("planner", 1), ["`planner`", "may not send to `planner`"]],
    ["no name", (c) => c.send(undefined as never, 1), ["`planner`", "names of nodes"]],
    ["what is no JSON", (c) => c.send("worker", new Date() as never), ["`planner`", "index 0", "Date"]],
    ["an explicit nothing", (c) => c.send("worker", undefined as never), ["`planner`", "index 0", "use null"]],
  ])(
    "C37, C38: %s: the error has the place, nothing is sent, and a resume fails again",
    async (_name, planner, says) => {
      const ran: string[] = [];
      const events: RunEvent[] = [];
      const store = new MemoryStore();
      const engine = engineOf(
        PLAN,
        { planner: (c: NodeContext) => void planner(c), worker: () => ran.push("worker") },
        { store },
      );
      const stream = engine.stream({}, { thread: "t" });
      for await (const event of stream) events.push(event);
      const failed = await stream.result;
      for (const part of says) expect(failed.error?.message).toContain(part);
      expect(failed).toMatchObject({ status: "failed", steps: [["setup"]], error: { nodeId: "planner", attempts: 1 } });
      expect(events.findIndex((event) => event.type === "node" && event.phase === "error")).toBeGreaterThan(0);
      expect(events.at(-1)).toMatchObject({ type: "run", phase: "end", error: { message: failed.error?.message } });
      const [head] = await engine.history("t");
      expect(head).toMatchObject({ currentNode: "planner", nextNodes: ["planner"], pendingSends: [] });
      expect((await engine.resume("t")).error?.message).toBe(failed.error?.message);
      expect(ran).toEqual([]);
    },
  );

  test.each([1, 3, 5])("C41: %i sent items of which each fails twice", async (count) => {
    const clock = new VirtualClock();
    const attempts: number[] = [];
    const items = Array.from({ length: count }, (_, n) => n);
    const engine = engineOf(
      PLAN,
      {
        planner: sending(items),
        worker: async (context: NodeContext) => {
          attempts.push(context.attempt);
          if (context.attempt < 3) throw new Error("again");
          return context.item;
        },
      },
      { clock },
    );
    expect((await clock.until(engine.run({}))).output).toEqual({ log: ["bridge", ...items] });
    expect(attempts).toHaveLength(3 * count);
  });

  test("C41: sends of a failed attempt are discarded", async () => {
    const engine = engineOf(
      `graph g { output log: json[] = [] reduce append  node planner = planner() { goes worker  tries 3 backoff 1ms..1ms }
        node worker = worker() into log  start -> planner -> end  worker -> end }`,
      {
        planner: (context: NodeContext) => {
          context.send("worker", context.attempt);
          if (context.attempt < 3) throw new Error("again");
        },
        worker: (context: NodeContext) => context.item,
      },
    );
    expect((await engine.run({})).output).toEqual({ log: [3] });
  });

  test.each([
    [5, [2], 4],
    [5, [0, 4], 3],
    [1, [0], 0],
    [3, [0, 1, 2], 0],
  ])("C68: of %i sent tasks %j fail; %i results are kept, the resume runs the rest", async (count, bad, kept) => {
    const store = new MemoryStore();
    const items = Array.from({ length: count }, (_, n) => n);
    const finished: number[] = [];
    for (const thread of ["t", "u"]) {
      let broken = true;
      const runs = new Map<number, number>();
      const engine = engineOf(
        PLAN.replace("tries 3 backoff 10ms..20ms", "tries 1"),
        {
          planner: sending(items),
          worker: async (context: NodeContext) => {
            const item = context.item as number;
            runs.set(item, (runs.get(item) ?? 0) + 1);
            if (broken && bad.includes(item)) throw new Error(`worker ${item}`);
            return item * 10;
          },
        },
        { store },
      );
      const failed = await engine.run({}, { thread });
      expect(failed.error?.message).toContain(`worker ${bad[0]}`);
      const [head, before] = await engine.history(thread);
      expect(before).toMatchObject({ currentNode: "planner" });
      expect(before!.pendingSends).toHaveLength(count);
      expect(head!.finished?.filter(({ node }) => node === "worker") ?? []).toHaveLength(kept);
      finished.push(head!.finished?.length ?? 0);
      broken = false;
      const done = await engine.resume(thread);
      expect(done.output).toEqual({ log: ["bridge", ...items.map((n) => n * 10)] });
      for (const item of items) expect(runs.get(item)).toBe(bad.includes(item) ? 2 : 1);
      for (const { id } of await engine.history(thread)) expect(store.getWrites(thread, id)).toEqual([]);
    }
    expect(finished[0]).toBe(finished[1]);
  });

  test("C68: a run without failures leaves no pending writes, with or without checkpoints", async () => {
    const store = new MemoryStore();
    const engine = engineOf(PLAN, { planner: sending([1, 2]), worker: () => 1 }, { store });
    await engine.run({}, { thread: "t" });
    for (const { id } of await engine.history("t")) expect(store.getWrites("t", id)).toEqual([]);
    expect(store.getWrites("t", "")).toEqual([]);
  });

  test("C42: pauses before and after sent tasks: each body runs once", async () => {
    const runs: unknown[] = [];
    const engine = engineOf(
      `graph g { output log: json[] = [] reduce append  node planner = planner() { goes worker  pause after }
        node worker = worker() into log { pause before  pause after }  start -> planner -> end  worker -> end }`,
      { planner: sending([7, 8]), worker: (context: NodeContext) => (runs.push(context.item), context.item) },
      { store: new MemoryStore() },
    );
    const seen: unknown[] = [];
    let result = await engine.run({}, { thread: "t" });
    while (result.status === "paused") {
      const [head] = await engine.history("t");
      seen.push([result.pauses.map(({ kind, node }) => `${kind} ${node}`), head!.phase, head!.values["log"]]);
      result = await engine.resume("t");
    }
    expect(seen).toEqual([
      [["after planner"], "after", []],
      [["before worker"], "before", []],
      [["after worker"], "after", [7, 8]],
    ]);
    expect(result.output).toEqual({ log: [7, 8] });
    expect(runs).toEqual([7, 8]);
  });

  test("C39: events of sent tasks: one start and one end each, with a task id of their own", async () => {
    const events: RunEvent[] = [];
    const engine = engineOf(PLAN, { planner: sending([1, 1, 2]), worker: () => 1 });
    await engine.run({}, { onEvent: (event) => events.push(event) });
    for (const phase of ["start", "end"]) {
      const of = events.flatMap((event) =>
        event.type === "node" && event.node === "worker" && event.phase === phase ? [event.taskId] : [],
      );
      expect(of).toHaveLength(3);
      expect(new Set(of).size).toBe(3);
    }
    expect(events.filter((event) => event.type === "route" && event.via === "send")).toHaveLength(3);
  });
});

describe("jumps", () => {
  const JUMPS = `graph g { output log: string[] = [] reduce append
    node a = a() { goes b, c, a, end }  node b = "b" into log  node c = "c" into log  node own = "own" into log
    start -> a -> own  any(b, c, own) -> end }`;
  const jump = (body: (context: NodeContext) => unknown): Engine =>
    engineOf(JUMPS, { a: (context: NodeContext) => void body(context) });

  test.each<readonly [string, (context: NodeContext) => unknown, readonly string[]]>([
    ["C29: one target", (c) => c.goto("b"), ["b"]],
    ["C29: two", (c) => c.goto("c", "b"), ["b", "c"]],
    ["C29: one twice", (c) => c.goto("b", "b"), ["b"]],
    ["C13: the end", (c) => c.goto("end"), []],
    ["C13: the end and another", (c) => c.goto("end", "c"), ["c"]],
    ["C14: the last call counts", (c) => (c.goto("b"), c.goto("c")), ["c"]],
    ["C16: the empty name follows the edges", (c) => c.goto(""), ["own"]],
    ["C16: no name follows the edges", (c) => c.goto(), ["own"]],
    ["C16: the empty name beside another", (c) => c.goto("", "b"), ["b"]],
    ["C12: an exclusive one", (c) => c.goto("b", { exclusive: true }), ["b"]],
    ["stopping", (c) => c.stop(), []],
    ["stopping after a jump", (c) => (c.goto("b"), c.stop()), []],
    ["a jump after stopping", (c) => (c.stop(), c.goto("b")), ["b"]],
    ["to itself once", (c) => c.step === 0 && c.goto("a"), ["own"]],
  ])("%s", async (_name, body, log) => {
    const result = await jump(body).run({});
    expect(result).toMatchObject({ status: "completed", output: { log } });
  });

  test.each<readonly [string, (context: NodeContext) => unknown, string]>([
    ["an unknown node", (c) => c.goto("ghost"), "`ghost`: there is no such node"],
    ["one that is not declared", (c) => c.goto("own"), "declare it with `goes own` (declared: `b`, `c`, `a`, `end`)"],
    ["`start`", (c) => c.goto("start"), "`start`"],
    ["a list", (c) => c.goto(["b", "c"] as never), "goto(...names)"],
    ["a number", (c) => c.goto(3 as never), "not a value of type number"],
    ["an odd `exclusive`", (c) => c.goto("b", { exclusive: "yes" as never }), "true or false"],
  ])("C29: %s: refused, and caught errors change nothing", async (_name, body, says) => {
    const caught = (context: NodeContext): void => {
      try {
        body(context);
      } catch {
        // The node fails even if it continues after the error.
      }
    };
    for (const result of [await jump(body).run({}), await jump(caught).run({})]) {
      expect(result).toMatchObject({ status: "failed", error: { code: "NG_UNDECLARED_GOTO", nodeId: "a" } });
      expect(result.error?.message).toContain(says);
    }
  });

  test("C12, C14: exclusive jumps of two siblings discard the third's edges and sends, and barriers collect nothing", async () => {
    const events: RunEvent[] = [];
    const engine = engineOf(
      `graph g { node a = a() { goes x }  node b = b() { goes y }  node c = c() { goes w }  node d = 1
        node w = 1  node x = 1  node y = 1  node j = 1
        start -> a, b, c, d  a -> end  b -> end  all(c, d) -> j  any(x, y, j, w) -> end }`,
      {
        a: (context: NodeContext) => context.goto("x", { exclusive: true }),
        b: (context: NodeContext) => context.goto("y", { exclusive: true }),
        c: (context: NodeContext) => context.send("w", 1),
      },
      { onEvent: (event) => events.push(event) },
    );
    expect(await engine.run({})).toMatchObject({
      status: "completed",
      steps: [["a", "b", "c", "d"], ["y"]],
      incompleteBarriers: [],
    });
    expect(events.filter((event) => event.type === "route" && event.discarded === true).length).toBeGreaterThan(0);
  });

  test.each([1, 4])("C35: %i sent workers that each jump to one node run it once", async (count) => {
    const engine = engineOf(
      `graph g { output n: int = 0 reduce sum  output done: int = 0 reduce sum  node planner = planner() { goes worker }
        node worker = worker() into n { goes finish }  node finish = 1 into done
        start -> planner -> end  worker -> end  finish -> end }`,
      {
        planner: sending(Array.from({ length: count }, () => 1)),
        worker: (context: NodeContext) => (context.goto("finish"), 1),
      },
    );
    expect((await engine.run({})).output).toEqual({ n: count, done: 1 });
  });
});
