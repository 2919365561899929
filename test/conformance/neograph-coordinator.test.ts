/**
 * More cases like those of NeoGraph's coordinator (C60 - C64, C73 - C77, C85): where a resume continues, which
 * checkpoints it refuses, and that the arguments of a call are read at the time of the call.
 */
import { describe, expect, test } from "vitest";
import type { Checkpoint, NodeContext, Store } from "../../runtime/index.ts";
import { MemoryStore } from "../../runtime/stores/memory.ts";
import { createEngine } from "../../runtime/index.ts";
import { engineOf, tableOf } from "../support/graph.ts";

const GATED = `graph g { output n: int = 0 reduce sum  node a = work() into n  node b = work() into n { pause before }
  node j = work() into n  start -> a, b  all(a, b) -> j -> end }`;

describe("C60: an object that is not a store is refused when the engine is created", () => {
  const table = tableOf(GATED, ["work"]);
  test.each([null, {}, 5, "sqlite:runs.db", [], { save: () => undefined, loadLatest: () => undefined }])(
    "%j",
    (store) => {
      const make = (): unknown =>
        createEngine(table, { functions: { work: () => 1 }, store: store as unknown as Store });
      expect(make).toThrow(expect.objectContaining({ message: expect.stringContaining("`claim`") as string }) as Error);
    },
  );

  test("C60: without pending writes, the results at a pause are kept in its checkpoint", async () => {
    const full = new MemoryStore();
    const bare = Object.assign(full, { putWrites: undefined, getWrites: undefined, clearWrites: undefined });
    let runs = 0;
    const text = `graph g { output r: string = ""  node a = a()  node b = ask("?") into r  start -> a, b  any(a, b) -> end }`;
    const engine = engineOf(text, { a: () => void runs++ }, { store: bare as unknown as Store });
    await engine.run({}, { thread: "t" });
    expect((await engine.resume("t", { answer: "x" })).output).toEqual({ r: "x" });
    expect(runs).toBe(1);
  });
});

describe("C75, C76: a checkpoint that was altered runs nothing", () => {
  const cases: readonly (readonly [string, object, string])[] = [
    ["another thread's", { threadId: "other" }, 'thread "other"'],
    ["a called graph's", { namespace: "call" }, "namespace"],
    ["a step below the input's", { step: -7 }, "-7"],
    ["a step beyond counting", { step: Number.MAX_SAFE_INTEGER }, "step"],
    ["half a step", { step: 1.5 }, "1.5"],
    ["a step that is text", { step: "3" }, '"3"'],
    ["a step that is no number", { step: Number.NaN }, "NaN"],
    ["an unknown phase", { phase: "garbage" }, "garbage"],
    ["no phase", { phase: "" }, "phase"],
    ["an unknown status", { status: "done" }, "done"],
    ["what is next as text", { nextNodes: "b" }, "nextNodes"],
    ["what is next as numbers", { nextNodes: [1] }, "nextNodes"],
    ["barriers in a list", { barrierState: [] }, "barrierState"],
    ["barriers with text for a list", { barrierState: { j: "a" } }, "barrierState"],
    ["pauses that are none", { pauses: [{}] }, "pauses"],
    ["no pauses", { pauses: null }, "pauses"],
    ["sends without a node", { pendingSends: [{ taskId: "x" }] }, "pendingSends"],
    ["results without a task", { finished: [{ node: "a" }] }, "finished"],
    ["answers in a record", { answers: {} }, "answers"],
    ["no values", { values: null }, "values"],
    ["no versions", { versions: undefined }, "versions"],
  ];
  test.each(cases)("%s", async (_name, patch, says) => {
    const store = new MemoryStore();
    let runs = 0;
    const engine = engineOf(GATED, { work: () => ++runs }, { store });
    await engine.run({}, { thread: "t" });
    const before = store.list("t").length;
    const { loadLatest } = store;
    store.loadLatest = function (...args) {
      const found = loadLatest.apply(this, args);
      return found === undefined ? undefined : ({ ...found, ...patch } as Checkpoint);
    };
    const refused = { code: "NG_CORRUPT_RECORD", message: expect.stringContaining(says) as string };
    await expect(engine.resume("t")).rejects.toMatchObject(refused);
    await expect(engine.run({}, { thread: "t", abandon: true })).rejects.toMatchObject(refused);
    await expect(engine.fork("t", { as: "u" })).rejects.toMatchObject(refused);
    await expect(engine.update("t", { n: 1 })).rejects.toMatchObject(refused);
    await expect(engine.state("t")).rejects.toMatchObject(refused);
    expect(runs).toBe(0);
    expect(store.list("t")).toHaveLength(before);
  });

  test("a store that returns another checkpoint than the requested one", async () => {
    const store = new MemoryStore();
    const engine = engineOf(GATED, { work: () => 1 }, { store });
    await engine.run({}, { thread: "t" });
    await engine.resume("t");
    const [head, first] = await engine.history("t");
    const { loadById } = store;
    store.loadById = function (thread, id) {
      return loadById.call(this, thread, id === first!.id ? head!.id : id);
    };
    await expect(engine.resume("t", { from: first!.id })).rejects.toMatchObject({ code: "NG_CORRUPT_RECORD" });
    await expect(engine.fork("t", { from: first!.id, as: "u" })).rejects.toMatchObject({ code: "NG_CORRUPT_RECORD" });
  });

  test.each([5, null, {}, ["x"]])("a checkpoint named by %j", async (name) => {
    const engine = engineOf(GATED, { work: () => 1 }, { store: new MemoryStore() });
    await engine.run({}, { thread: "t" });
    await expect(engine.resume("t", { from: name as unknown as string })).rejects.toMatchObject({
      code: "NG_UNKNOWN_CHECKPOINT",
    });
  });

  test("C75: the named checkpoint is used, not the latest", async () => {
    const text = `graph g { output log: string[] = [] reduce append  node a = "a" into log  node b = "b" into log  node c = "c" into log
      start -> a -> b -> c }`;
    const engine = engineOf(text, {}, { store: new MemoryStore() });
    await engine.run({}, { thread: "t" });
    const [, afterB, afterA, input] = await engine.history("t");
    const steps = async (from: string) => (await engine.resume("t", { from })).steps;
    expect(await steps(afterB!.id)).toEqual([["c"]]);
    expect(await steps(input!.id)).toEqual([["a"], ["b"], ["c"]]);
    expect(await steps(afterA!.id)).toEqual([["b"], ["c"]]);
    expect((await engine.state("t"))?.state).toEqual({ log: ["a", "b", "c"] });
    await engine.label("t", "half", { checkpoint: afterA!.id });
    expect(await steps("half")).toEqual([["b"], ["c"]]);
    await expect(engine.resume("t", { from: "none" })).rejects.toMatchObject({ code: "NG_UNKNOWN_CHECKPOINT" });
  });
});

describe("C61, C74: threads", () => {
  test.each(["", 5, null, {}, ["t"]])("a thread named %j is refused, and nothing is stored", async (thread) => {
    const store = new MemoryStore();
    let runs = 0;
    const engine = engineOf(GATED, { work: () => ++runs }, { store });
    const named = { thread: thread as string };
    // Without a name one is generated; `null` counts as no name.
    const refused = { code: thread === "" ? "NG_UNKNOWN_THREAD" : "NG_BAD_INPUT" };
    if (thread !== null) await expect(engine.run({}, named)).rejects.toMatchObject(refused);
    await expect(engine.resume(named.thread)).rejects.toMatchObject(refused);
    await expect(engine.update(named.thread, {})).rejects.toMatchObject(refused);
    expect([runs, store.threads()]).toEqual([0, []]);
  });

  test("C74: no checkpoint, another thread, no store: a fresh run without an error", async () => {
    const text = `graph g { input text: string  memory said: string[] = [] reduce append  node a = text into said  start -> a }`;
    const stored = engineOf(text, {}, { store: new MemoryStore() });
    const bare = engineOf(text);
    const said = async (engine: typeof bare, thread: string) =>
      (await engine.run({ text: "x" }, { thread })).state["said"];
    expect(await said(stored, "t")).toEqual(["x"]);
    expect(await said(stored, "u")).toEqual(["x"]);
    expect(await said(stored, "t")).toEqual(["x", "x"]);
    expect(await said(stored, "t")).toEqual(["x", "x", "x"]);
    for (let turn = 0; turn < 2; turn++) expect(await said(bare, "t")).toEqual(["x"]);
    await expect(bare.resume("t")).rejects.toMatchObject({ code: "NG_NO_STORE" });
    await expect(stored.resume("none")).rejects.toMatchObject({ code: "NG_UNKNOWN_THREAD" });
    await expect(stored.resume("t")).rejects.toMatchObject({ code: "NG_NOT_PAUSED" });
  });

  test("C75: engines on stores of their own do not see each other's threads", async () => {
    const [one, other] = [new MemoryStore(), new MemoryStore()];
    const functions = { work: () => 1 };
    await engineOf(GATED, functions, { store: one }).run({}, { thread: "t" });
    expect(await engineOf(GATED, functions, { store: other }).state("t")).toBeUndefined();
    expect((await engineOf(GATED, functions, { store: one }).resume("t")).output).toEqual({ n: 3 });
  });
});

describe("C73: answers", () => {
  const asking = (type: string) =>
    engineOf(
      `graph g { output r: ${type} = null  node a = a() into r  start -> a }`,
      { a: (context: NodeContext) => context.interrupt({ reason: "approval" }) },
      { store: new MemoryStore() },
    );

  test.each<readonly [string, unknown, unknown]>([
    ["in place of the options", "yes", "yes"],
    ["a number", 7, 7],
    ["no", false, false],
    ["as `answer`", { answer: "yes" }, "yes"],
    ["a record", { answer: { approved: true } }, { approved: true }],
    ["nothing", { answer: null }, null],
    ["a list", { answer: [1] }, [1]],
    ["bare, as `answers`", { answers: "yes" }, "yes"],
  ])("bare, when one waits: %s", async (_name, options, answer) => {
    const engine = asking("json");
    await engine.run({}, { thread: "t" });
    expect(await engine.resume("t", options as string)).toMatchObject({ status: "completed", output: { r: answer } });
  });

  test("by id; the same answer again is harmless, another answer for the same id is refused, and so is an unknown id", async () => {
    const engine = asking("json");
    const { pauses } = await engine.run({}, { thread: "t" });
    const id = pauses[0]!.id;
    await expect(engine.resume("t", { answers: { approved: true } })).rejects.toMatchObject({
      code: "NG_BAD_ANSWER",
      message: expect.stringMatching(/`approved`.*pass an answer without an id as `answer`/) as string,
    });
    expect((await engine.resume("t", { answers: { [id]: 1 } })).output).toEqual({ r: 1 });
    expect((await engine.resume("t", { answers: { [id]: 1 } })).output).toEqual({ r: 1 });
    await expect(engine.resume("t", { answers: { [id]: 2 } })).rejects.toMatchObject({ code: "NG_BAD_ANSWER" });
    await expect(engine.resume("t", "late")).rejects.toMatchObject({ code: "NG_NOT_PAUSED" });
  });

  test("without an id, when two wait: refused, with the ids to choose from", async () => {
    const engine = engineOf(
      `graph g { output x: string = ""  output y: string = ""  node a = ask("a?") into x  node b = ask("b?") into y  start -> a, b  any(a, b) -> end }`,
      {},
      { store: new MemoryStore() },
    );
    const { pauses } = await engine.run({}, { thread: "t" });
    for (const bare of ["yes", { answer: "yes" }, { answers: "yes" }]) {
      const refused = engine.resume("t", bare as string);
      await expect(refused).rejects.toMatchObject({ code: "NG_BAD_ANSWER" });
      for (const { id } of pauses) await expect(refused).rejects.toThrow(id);
    }
    expect((await engine.resume("t")).status).toBe("paused");
  });

  test("C71: without an answer the pause remains; the body does not run", async () => {
    let runs = 0;
    const engine = engineOf(
      `graph g { output r: json = null  node a = a() into r  start -> a }`,
      { a: (context: NodeContext) => (runs++, context.interrupt("why")) },
      { store: new MemoryStore() },
    );
    const first = await engine.run({}, { thread: "t" });
    const again = await engine.resume("t");
    expect(again).toMatchObject({ status: "paused", pauses: first.pauses });
    expect(runs).toBe(1);
  });
});

describe("C77: arguments are read at the time of the call", () => {
  test("a run's input and options", async () => {
    const engine = engineOf(
      `graph g { input list: int[]  output n: int = 0  node a = len(list) into n  start -> a }`,
      {},
      { store: new MemoryStore() },
    );
    const input = { list: [1] };
    const options = { thread: "t", metadata: { by: "me" } };
    const running = engine.run(input, options);
    input.list.push(2, 3);
    options.thread = "u";
    options.metadata.by = "you";
    expect(await running).toMatchObject({ output: { n: 1 }, thread: "t" });
    for (const { metadata } of await engine.history("t")) expect(metadata).toEqual({ by: "me" });
    expect(await engine.state("u")).toBeUndefined();
  });

  test("a resume's answers and options", async () => {
    const engine = engineOf(
      `graph g { output r: json = null  node a = a() into r  start -> a }`,
      { a: (context: NodeContext) => context.interrupt() },
      { store: new MemoryStore() },
    );
    const { pauses } = await engine.run({}, { thread: "t" });
    const answers: Record<string, { ok: boolean }> = { [pauses[0]!.id]: { ok: true } };
    const options: Parameters<typeof engine.resume>[1] & object = { answers };
    const resuming = engine.resume("t", options);
    answers[pauses[0]!.id]!.ok = false;
    Object.assign(options, { answers: {}, from: "none", maxSteps: 0 });
    expect((await resuming).output).toEqual({ r: { ok: true } });
  });

  test("an edit's values and a fork's place", async () => {
    const engine = engineOf(GATED, { work: () => 1 }, { store: new MemoryStore() });
    await engine.run({}, { thread: "t" });
    const [values, edit, place] = [{ n: 5 }, {}, { as: "u" }];
    const editing = engine.update("t", values, edit);
    values.n = 50;
    Object.assign(edit, { as: "ghost" });
    await editing;
    const forking = engine.fork("t", place);
    place.as = "v";
    expect((await forking).thread).toBe("u");
    expect((await engine.resume("u")).output).toEqual({ n: 8 });
  });
});

describe("C85: stopping between two steps", () => {
  test("a request before the run: nothing runs and nothing is stored", async () => {
    const store = new MemoryStore();
    let runs = 0;
    const engine = engineOf(GATED, { work: () => ++runs }, { store });
    expect(await engine.run({}, { thread: "t", signal: AbortSignal.abort() })).toMatchObject({
      status: "cancelled",
      steps: [],
      error: { code: "NG_CANCELLED" },
    });
    expect([runs, store.threads()]).toEqual([0, []]);
  });

  test("in the middle of a step: results of finished nodes are kept, the other nodes run once on the resume", async () => {
    const abort = new AbortController();
    const runs: Record<string, number> = {};
    const work =
      (name: string) =>
      async (context: NodeContext): Promise<string> => {
        runs[name] = (runs[name] ?? 0) + 1;
        if (name !== "slow" || runs[name] > 1) return name;
        setImmediate(() => abort.abort());
        return new Promise((_resolve, reject) =>
          context.signal.addEventListener("abort", () => reject(new Error("gone"))),
        );
      };
    const engine = engineOf(
      `graph g { output log: string[] = [] reduce append  node a = a() into log  node slow = slow() into log  node b = b() into log
        node after = after() into log  start -> a, slow, b  all(a, slow, b) -> after }`,
      { a: work("a"), slow: work("slow"), b: work("b"), after: work("after") },
      { store: new MemoryStore() },
    );
    expect(await engine.run({}, { thread: "t", signal: abort.signal })).toMatchObject({
      status: "cancelled",
      steps: [],
    });
    expect((await engine.history("t"))[0]).toMatchObject({
      status: "cancelled",
      nextNodes: ["slow"],
      currentNode: "slow",
    });
    const done = await engine.resume("t");
    expect(done).toMatchObject({ status: "completed", output: { log: ["a", "slow", "b", "after"] } });
    expect(runs).toEqual({ a: 1, slow: 2, b: 1, after: 1 });
  });
});

describe("C64, C65: the next nodes of a checkpoint", () => {
  test.each([
    ["one after another", "start -> a -> b -> c", [["a"], ["b"], ["c"], []]],
    ["a fan-out", "start -> a -> b, c  any(b, c) -> end", [["a"], ["b", "c"], []]],
    ["a fan-in", "start -> a, b  any(a, b) -> c", [["a", "b"], ["c"], []]],
    ["a barrier over steps", "start -> a, b  b -> b2  all(a, b2) -> c", [["a", "b"], ["b2"], ["c"], []]],
    ["branches of different length", "start -> a, b  a -> end  b -> b2 -> c", [["a", "b"], ["b2"], ["c"], []]],
  ])("%s", async (_name, edges, next) => {
    const engine = engineOf(
      `graph g { node a = 1  node b = 1  node b2 = 1  node c = 1  ${edges} }`,
      {},
      { store: new MemoryStore() },
    );
    await engine.run({}, { thread: "t" });
    const history = (await engine.history("t")).toReversed();
    expect(history.map(({ nextNodes }) => nextNodes)).toEqual(next);
    expect(history.map(({ step }) => step)).toEqual(next.map((_, index) => index - 1));
    expect(history.map(({ phase }) => phase)).toEqual(next.map((_, index) => (index === 0 ? "input" : "completed")));
    expect(history.map(({ currentNode }) => currentNode)).toEqual([
      null,
      ...next.slice(0, -1).map((nodes) => nodes.at(-1)),
    ]);
    expect(history.map(({ parentId }) => parentId)).toEqual([null, ...history.slice(0, -1).map(({ id }) => id)]);
  });
});
