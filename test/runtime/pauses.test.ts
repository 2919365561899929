/** Execution, section 6: gates, pauses and answers. */
import { describe, expect, test } from "vitest";
import type { NodeContext, Store } from "../../runtime/index.ts";
import { MemoryStore } from "../../runtime/stores/memory.ts";
import { CrashingStore } from "../support/crashing-store.ts";
import { engineOf } from "../support/graph.ts";

describe("waiting and answering", () => {
  test("6.1: a graph that pauses is refused without a store", async () => {
    const text = `graph g { output a: string  node ask = ask("?") into a  start -> ask }`;
    await expect(engineOf(text).run({})).rejects.toMatchObject({ code: "NG_NO_STORE" });
    const hidden = engineOf(`graph g { node a = sly()  start -> a }`, {
      sly: (context: NodeContext) => context.interrupt("?"),
    });
    expect(await hidden.run({})).toMatchObject({ status: "failed", error: { code: "NG_NO_STORE" } });
  });

  test("6.2: several pauses wait, answers name ids, an answered task continues at once, the step commits when all have finished", async () => {
    const ran: string[] = [];
    const engine = engineOf(
      `graph g { output a: string  output b: string  output log: string[] reduce append
        node first = question("one") into a  node second = question("two") into b  node side = work() into log  node done = "done" into log
        start -> first, second, side  all(first, second, side) -> done }`,
      {
        question: (text: string, context: NodeContext) => {
          ran.push(text);
          return context.interrupt<string>({ text });
        },
        work: () => {
          ran.push("side");
          return "side";
        },
      },
      { store: new MemoryStore() },
    );
    const paused = await engine.run({}, { thread: "t" });
    expect(paused.status).toBe("paused");
    expect(paused.pauses.map((pause) => [pause.node, pause.payload])).toEqual([
      ["first", { text: "one" }],
      ["second", { text: "two" }],
    ]);
    await expect(engine.resume("t", { answer: "x" })).rejects.toMatchObject({ code: "NG_BAD_ANSWER" });
    await expect(engine.resume("t", { answers: { nobody: "x" } })).rejects.toMatchObject({ code: "NG_BAD_ANSWER" });

    const [first, second] = paused.pauses;
    const half = await engine.resume("t", { answers: { [first!.id]: "1" } });
    expect(half).toMatchObject({ status: "paused", pauses: [{ id: second!.id }] });
    expect(half.output).toEqual({ a: null, b: null, log: [] });
    const whole = await engine.resume("t", { answer: "2" });
    expect(whole).toMatchObject({ status: "completed", output: { a: "1", b: "2", log: ["side", "done"] } });
    // 6.3: the results of the siblings survived both pauses.
    expect(ran.filter((name) => name === "side")).toHaveLength(1);
    expect(ran.filter((name) => name === "one")).toHaveLength(2);
  });

  test("6.2: the same answer again is harmless, another one is refused", async () => {
    const engine = engineOf(
      `graph g { output a: "x" | "y"  output b: "x" | "y"  node one = ask("1") into a  node two = ask("2") into b  start -> one -> two }`,
      {},
      { store: new MemoryStore() },
    );
    const { pauses } = await engine.run({}, { thread: "t" });
    const id = pauses[0]!.id;
    await expect(engine.resume("t", { answer: "z" })).rejects.toMatchObject({ code: "NG_BAD_ANSWER" });
    const second = await engine.resume("t", { answers: { [id]: "x" } });
    expect(second).toMatchObject({ status: "paused", pauses: [{ node: "two" }] });
    await expect(engine.resume("t", { answers: { [id]: "y" } })).rejects.toMatchObject({ code: "NG_BAD_ANSWER" });
    expect(await engine.resume("t", { answers: { [id]: "x" } })).toMatchObject({
      status: "paused",
      pauses: [{ node: "two" }],
    });
    expect(await engine.resume("t", { answer: "y" })).toMatchObject({
      status: "completed",
      output: { a: "x", b: "y" },
    });
    await expect(engine.resume("t")).rejects.toMatchObject({ code: "NG_NOT_PAUSED" });
  });

  test("6.2, 6.3: `pause before` holds the whole step, once; `pause after` comes after the node's writes", async () => {
    const ran: string[] = [];
    const work = (name: string): string => (ran.push(name), name);
    const engine = engineOf(
      `graph g { output log: string[] reduce append
        node a = work("a") into log { pause after }  node b = work("b") into log { pause before }  node c = work("c") into log
        start -> a -> b, c }`,
      { work },
      { store: new MemoryStore() },
    );
    const after = await engine.run({}, { thread: "t" });
    expect(after).toMatchObject({ status: "paused", pauses: [{ node: "a", kind: "after" }], output: { log: ["a"] } });
    const before = await engine.resume("t");
    expect(before).toMatchObject({ status: "paused", pauses: [{ node: "b", kind: "before" }] });
    expect(ran).toEqual(["a"]);
    expect(await engine.resume("t")).toMatchObject({ status: "completed", output: { log: ["a", "b", "c"] } });
    expect((await engine.history("t")).map((entry) => entry.phase)).toEqual(["completed", "before", "after", "input"]);
  });

  test("a pause survives code that swallows exceptions", async () => {
    const engine = engineOf(
      `graph g { output a: string  node one = sly() into a  start -> one }`,
      {
        sly: (context: NodeContext) => {
          try {
            return context.interrupt<string>();
          } catch {
            return "swallowed";
          }
        },
      },
      { store: new MemoryStore() },
    );
    expect((await engine.run({}, { thread: "t" })).status).toBe("paused");
    expect(await engine.resume("t", { answer: "yes" })).toMatchObject({ output: { a: "yes" } });
  });
});

describe("6.2 answers", () => {
  test("a resume without answers reports the waiting pauses again, and runs no body", async () => {
    let runs = 0;
    const engine = engineOf(
      `graph g { output a: json = null  node one = one() into a  start -> one }`,
      { one: (context: NodeContext) => (runs++, context.interrupt({ why: "?" })) },
      { store: new MemoryStore() },
    );
    const first = await engine.run({}, { thread: "t" });
    expect(await engine.resume("t")).toMatchObject({
      status: "paused",
      pauses: first.pauses,
      checkpointId: first.checkpointId,
    });
    expect(runs).toBe(1);
    expect((await engine.resume("t", { answer: null })).output).toEqual({ a: null });
    expect(runs).toBe(2);
  });

  test("several questions of one body are answered in their order", async () => {
    const engine = engineOf(
      `graph g { output a: string[] = []  node talk = talk() into a  start -> talk }`,
      {
        talk: (context: NodeContext) => {
          const said: string[] = [];
          while (said.length < 3) said.push(context.interrupt<string>(`question ${said.length}`));
          return said;
        },
      },
      { store: new MemoryStore() },
    );
    let result = await engine.run({}, { thread: "t" });
    const asked: unknown[] = [];
    for (const answer of ["x", "y", "z"]) {
      expect(result.pauses).toHaveLength(1);
      asked.push(result.pauses[0]!.payload);
      result = await engine.resume("t", { answer });
    }
    expect(asked).toEqual(["question 0", "question 1", "question 2"]);
    expect(result.output).toEqual({ a: ["x", "y", "z"] });
  });

  test("an old answer never reaches a later pause of the same node, and does no harm", async () => {
    const engine = engineOf(
      `graph g { output said: string[] = [] reduce append  node one = one() into said
        start -> one   one -> one when len(said) < 3   one -> end otherwise }`,
      { one: (context: NodeContext) => context.interrupt<string>() },
      { store: new MemoryStore() },
    );
    const first = (await engine.run({}, { thread: "t" })).pauses[0]!;
    const second = (await engine.resume("t", { answers: { [first.id]: "a" } })).pauses[0]!;
    expect(second.id).not.toBe(first.id);
    const again = await engine.resume("t", { answers: { [first.id]: "a" } });
    expect(again).toMatchObject({ status: "paused", pauses: [second], steps: [] });
    await engine.resume("t", { answers: { [first.id]: "a", [second.id]: "b" } });
    // Much later the answer is still recorded: a repetition has no effect, a change is refused.
    await expect(engine.resume("t", { answers: { [first.id]: "other" } })).rejects.toMatchObject({
      code: "NG_BAD_ANSWER",
    });
    const end = await engine.resume("t", { answer: "c" });
    expect(end.output).toEqual({ said: ["a", "b", "c"] });
    expect(await engine.resume("t", { answers: { [first.id]: "a" } })).toMatchObject({
      status: "completed",
      output: end.output,
    });
    await expect(engine.resume("t", { answer: "d" })).rejects.toMatchObject({ code: "NG_NOT_PAUSED" });
  });

  test("an answer is recorded before the body that consumes it runs: a crash loses it as little as its effect", async () => {
    let now = 0;
    const disk = new MemoryStore({ now: () => now });
    const graph = `graph g { output a: string = ""  node one = one() into a  start -> one }`;
    const one = (context: NodeContext): string => context.interrupt<string>();
    await engineOf(graph, { one }, { store: disk }).run({}, { thread: "t" });
    const dying = new CrashingStore(disk, 1);
    await expect(engineOf(graph, { one }, { store: dying }).resume("t", { answer: "yes" })).rejects.toThrow("died");
    const head = disk.loadLatest("t")!;
    now += 60_000;
    const engine = engineOf(graph, { one }, { store: disk });
    await expect(engine.resume("t", { answers: { [head.pauses[0]!.id]: "no" } })).rejects.toMatchObject({
      code: "NG_BAD_ANSWER",
    });
    expect((await engine.resume("t")).output).toEqual({ a: "yes" });
  });

  test("answers that do not fit are refused, and the pause remains", async () => {
    const engine = engineOf(
      `graph g { output a: "send" | "again" = "again"  node one = ask("Send?") into a  start -> one }`,
      {},
      { store: new MemoryStore() },
    );
    const { pauses } = await engine.run({}, { thread: "t" });
    expect(pauses[0]).toMatchObject({
      node: "one",
      kind: "interrupt",
      payload: { question: "Send?", choices: ["send", "again"] },
    });
    await expect(engine.resume("t", { answer: "sent" })).rejects.toThrow(/"send"/);
    expect((await engine.resume("t", { answer: "send" })).output).toEqual({ a: "send" });
  });

  test("recorded answers stand in the history", async () => {
    const engine = engineOf(
      `graph g { output a: string = ""  node one = one() into a  start -> one }`,
      { one: (context: NodeContext) => context.interrupt<string>() },
      { store: new MemoryStore() },
    );
    const { pauses } = await engine.run({}, { thread: "t" });
    await engine.resume("t", { answer: "yes" });
    const history = await engine.history("t");
    expect(history.map((item) => [item.phase, item.answers])).toEqual([
      ["completed", [{ id: pauses[0]!.id, value: "yes" }]],
      ["interrupted", []],
      ["input", []],
    ]);
  });
});

describe("6.2, 6.3 gates", () => {
  const GATES = `graph g {
    output log: string[] = [] reduce append
    node a = work("a") into log { pause before }   node b = work("b") into log { pause before }   node c = work("c") into log
    start -> a, b, c   any(a, b, c) -> end
  }`;

  test("all gates of a step hold it, the first step included; each may be answered by itself", async () => {
    const ran: string[] = [];
    const engine = engineOf(GATES, { work: (name: string) => (ran.push(name), name) }, { store: new MemoryStore() });
    const held = await engine.run({}, { thread: "t" });
    expect(held.pauses.map(({ node, kind }) => [node, kind])).toEqual([
      ["a", "before"],
      ["b", "before"],
    ]);
    const half = await engine.resume("t", { answers: { [held.pauses[0]!.id]: true } });
    expect(half).toMatchObject({ status: "paused", pauses: [{ node: "b" }] });
    expect(ran).toEqual([]);
    expect((await engine.state("t"))?.pauses).toMatchObject([{ node: "b" }]);
    expect((await engine.resume("t", { answer: true })).output).toEqual({ log: ["a", "b", "c"] });
  });

  test("a resume without answers releases a gate only if nothing else waits", async () => {
    const ran: string[] = [];
    const functions = { work: (name: string) => (ran.push(name), name) };
    const engine = engineOf(GATES, functions, { store: new MemoryStore() });
    const { pauses } = await engine.run({}, { thread: "t" });
    const before = [...ran];
    expect(await engine.resume("t")).toMatchObject({ status: "paused", pauses });
    expect(ran).toEqual(before);
    expect((await engine.resume("t", { answers: { [pauses[0]!.id]: true } })).status).toBe("paused");
    expect((await engine.resume("t")).status).toBe("completed");
  });

  test.each([false, "no", "yes", null, 0, { ok: true }])("the answer %j does not release a gate", async (answer) => {
    const ran: string[] = [];
    const text = `graph g { node deploy = work("deploy") { pause before }  start -> deploy }`;
    const engine = engineOf(text, { work: (name: string) => ran.push(name) }, { store: new MemoryStore() });
    const [gate] = (await engine.run({}, { thread: "t" })).pauses;
    for (const options of [{ answer }, { answers: { [gate!.id]: answer } }]) {
      await expect(engine.resume("t", options)).rejects.toMatchObject({
        code: "NG_BAD_ANSWER",
        message: expect.stringContaining("only the answer `true` releases it"),
      });
    }
    expect(ran).toEqual([]);
    expect((await engine.resume("t", { answer: true })).status).toBe("completed");
    expect(ran).toEqual(["deploy"]);
  });

  test("a gate holds every round of a loop", async () => {
    const engine = engineOf(
      `graph g { output n: int = 0  node count = n + 1 into n { pause before }
        start -> count   count -> count when n < 3   count -> end otherwise }`,
      {},
      { store: new MemoryStore() },
    );
    await engine.run({}, { thread: "t" });
    expect((await engine.resume("t")).output).toEqual({ n: 1 });
    expect((await engine.resume("t")).output).toEqual({ n: 2 });
    expect(await engine.resume("t")).toMatchObject({ status: "completed", output: { n: 3 } });
  });

  test("a step whose gate has been passed is not held again when something else in it pauses or fails", async () => {
    let broken = true;
    const engine = engineOf(
      `graph g { output log: string[] = [] reduce append
        node a = "a" into log { pause before }   node b = ask("?") into log   node c = c() into log
        start -> a, b, c   any(a, b, c) -> end }`,
      { c: () => (broken ? Promise.reject(new Error("no")) : "c") },
      { store: new MemoryStore() },
    );
    await engine.run({}, { thread: "t" });
    expect((await engine.resume("t")).status).toBe("failed");
    broken = false;
    expect(await engine.resume("t")).toMatchObject({ status: "paused", pauses: [{ node: "b" }] });
    expect((await engine.resume("t", { answer: "b" })).output).toEqual({ log: ["a", "b", "c"] });
  });

  test("a gate is checked on a resume with another engine that has none, and on one that has one more", async () => {
    const store = new MemoryStore();
    const text = (pause: string): string =>
      `graph g { output log: string[] = [] reduce append  node a = "a" into log  node b = "b" into log ${pause}
        node c = "c" into log  start -> a -> b, c   any(b, c) -> end }`;
    await engineOf(text("{ pause before }"), {}, { store }).run({}, { thread: "t" });
    const without = await engineOf(text(""), {}, { store }).resume("t");
    expect(without).toMatchObject({ status: "completed", output: { log: ["a", "b", "c"] } });
  });

  test("`pause after` respects the node's goto and barriers", async () => {
    const engine = engineOf(
      `graph g { output log: string[] = [] reduce append
        node a = a() { pause after  goes d }   node b = 1   node c = "c" into log   node d = "d" into log   node j = "j" into log
        start -> a, b   a -> c   all(b, d) -> j   any(c, j) -> end }`,
      { a: (context: NodeContext) => context.goto("d") },
      { store: new MemoryStore() },
    );
    expect(await engine.run({}, { thread: "t" })).toMatchObject({
      status: "paused",
      pauses: [{ node: "a", kind: "after" }],
    });
    expect((await engine.history("t"))[0]).toMatchObject({
      phase: "after",
      barrierState: { j: ["b"] },
      nextNodes: ["d"],
    });
    expect((await engine.resume("t")).output).toEqual({ log: ["d", "j"] });
  });

  test("`pause after` a last node still pauses", async () => {
    const engine = engineOf(
      `graph g { output n: int = 0  node a = 1 into n { pause after }  start -> a }`,
      {},
      {
        store: new MemoryStore(),
      },
    );
    expect(await engine.run({}, { thread: "t" })).toMatchObject({ status: "paused", output: { n: 1 } });
    expect(await engine.resume("t")).toMatchObject({ status: "completed", steps: [] });
  });

  test("the state may be edited while a gate holds", async () => {
    const engine = engineOf(
      `graph g { output n: int = 0  node a = 1 into n  node b = n * 10 into n { pause before }  start -> a -> b }`,
      {},
      { store: new MemoryStore() },
    );
    await engine.run({}, { thread: "t" });
    await engine.update("t", { n: 7 });
    expect(await engine.state("t")).toMatchObject({ status: "paused", pauses: [{ node: "b" }] });
    expect((await engine.resume("t")).output).toEqual({ n: 70 });
  });
});

describe("6.3 results of siblings", () => {
  const TEXT = `graph g { output a: string = ""  output b: string[] = [] reduce append
    node one = ask("?") into a   node two = two() into b   node bad = bad() { goes end }   node rescue = error.code into b
    start -> one, two, bad   bad -> rescue on error   any(one, two, bad, rescue) -> end }`.replace(
    "error.code",
    "code(error)",
  );
  const build = (store: Store) => {
    const runs = { two: 0, bad: 0 };
    const engine = engineOf(
      TEXT,
      {
        two: async () => (runs.two++, "two"),
        bad: () => {
          runs.bad++;
          throw new Error("no");
        },
        code: (error: { code: string }) => error.code,
      },
      { store },
    );
    return { engine, runs };
  };

  test("survive the pause, failures with an error edge included", async () => {
    const { engine, runs } = build(new MemoryStore());
    expect((await engine.run({}, { thread: "t" })).pauses).toHaveLength(1);
    expect((await engine.state("t"))?.next).toEqual(["one"]);
    expect((await engine.resume("t", { answer: "x" })).output).toEqual({ a: "x", b: ["two", "NG_NODE_FAILED"] });
    expect(runs).toEqual({ two: 1, bad: 1 });
  });

  test("survive it in a fork too, and in a store without pending writes", async () => {
    const inner = new MemoryStore();
    const store: Store = new Proxy(inner, {
      get(target, name) {
        if (name === "putWrites" || name === "getWrites" || name === "clearWrites") return undefined;
        const value: unknown = Reflect.get(target, name);
        return typeof value === "function" ? value.bind(target) : value;
      },
    });
    const { engine, runs } = build(store);
    const { pauses } = await engine.run({}, { thread: "t" });
    await engine.fork("t", { as: "u" });
    const forked = (await engine.state("u"))!.pauses;
    expect(forked).toHaveLength(1);
    expect(forked[0]!.id).not.toBe(pauses[0]!.id);
    await expect(engine.resume("u", { answers: { [pauses[0]!.id]: "x" } })).rejects.toMatchObject({
      code: "NG_BAD_ANSWER",
    });
    expect((await engine.resume("u", { answer: "x" })).output["b"]).toEqual(["two", "NG_NODE_FAILED"]);
    expect((await engine.resume("t", { answer: "y" })).output["b"]).toEqual(["two", "NG_NODE_FAILED"]);
    expect(runs).toEqual({ two: 1, bad: 1 });
  });

  test("a paused checkpoint of the history can be answered again with its own ids", async () => {
    const { engine, runs } = build(new MemoryStore());
    const { pauses, checkpointId } = await engine.run({}, { thread: "t" });
    expect((await engine.resume("t", { answer: "x" })).output["a"]).toBe("x");
    const again = await engine.resume("t", { from: checkpointId!, answers: { [pauses[0]!.id]: "y" } });
    expect(again.output).toEqual({ a: "y", b: ["two", "NG_NODE_FAILED"] });
    expect(runs).toEqual({ two: 1, bad: 1 });
  });

  test("a wrong answer to an old checkpoint is refused before anything is forked: the thread stays as it was", async () => {
    const { engine } = build(new MemoryStore());
    const { pauses, checkpointId } = await engine.run({}, { thread: "t" });
    await engine.resume("t", { answer: "x" });
    const before = await engine.history("t");
    const from = checkpointId!;
    for (const options of [
      { from, answers: { nobody: "y" } },
      { from, answers: { [pauses[0]!.id]: 7 } },
      { from, at: "b", answers: { [pauses[0]!.id]: "y" } },
    ]) {
      await expect(engine.resume("t", options)).rejects.toMatchObject({ code: "NG_BAD_ANSWER" });
    }
    expect((await engine.history("t")).map(({ id }) => id)).toEqual(before.map(({ id }) => id));
    expect(await engine.state("t")).toMatchObject({ status: "completed" });
  });
});
