/**
 * langgraph-go's cases of checkpoints and resumes (LG-18, LG-54 to LG-60, LG-85), and similar ones, on every kind of
 * store. A label names a checkpoint and copies nothing; a resume continues at the head of the thread, and `at` moves
 * it.
 */
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import type { Engine, EngineOptions, Store } from "../../api/index.ts";
import { inFile, inMemory, inPostgres, type OpenStore } from "../stores/each-store.ts";
import { PostgresServer } from "../stores/postgres-server.ts";
import { compiledEngine } from "../support/compiled-engine.ts";

/** Nodes in a row: the i-th sets `value` to its name and adds its amount; `work` is called for each. */
function chain(amounts: Readonly<Record<string, number>>, rest = ""): string {
  const names = Object.keys(amounts);
  return `graph g { output value: string = ""  output counter: int = 0 reduce sum
    ${names.map((name) => `node ${name} = work("${name}", ${amounts[name]}, value) into { value, counter }`).join("  ")}
    start -> ${names.join(" -> ")}  ${rest} }`;
}

let server: PostgresServer;
beforeAll(async () => {
  server = await PostgresServer.start();
}, 300_000);
afterAll(() => server.dispose());

const kinds: readonly (readonly [string, () => OpenStore])[] = [
  ["memory", inMemory],
  ["a file", inFile],
  ["Postgres", () => inPostgres(server)],
];

describe.each(kinds)("over %s", (_kind, openKind) => {
  const opened: OpenStore[] = [];
  function open(): Store {
    const one = openKind();
    opened.push(one);
    return one.store;
  }
  afterEach(async () => {
    for (const one of opened.splice(0)) await one.dispose();
  });

  /** An engine that records which nodes ran, and whose nodes fail a given number of times. */
  function recorder(text: string, store = open(), options: EngineOptions = {}) {
    const ran: string[] = [];
    const failures = new Map<string, number>();
    const work = (name: string, counter: number): object => {
      ran.push(name);
      const left = failures.get(name) ?? 0;
      failures.set(name, left - 1);
      if (left > 0) throw new Error(`${name}: transient failure`);
      return { value: name, counter };
    };
    const engine: Engine = compiledEngine(text, { work }, { ...options, store });
    return { engine, ran, failures, store };
  }

  describe("LG-54: labels", () => {
    test("three labels on one run are all found, with their steps and states", async () => {
      const { engine } = recorder(chain({ node1: 1, node2: 10, node3: 100 }));
      await engine.run({}, { thread: "run" });
      const [third, second, first] = await engine.history("run");
      await engine.label("run", "end");
      await engine.label("run", "after two", { checkpoint: second!.id });
      await engine.label("run", "ünï/1", { checkpoint: first!.id });
      for (const [label, checkpoint, step, counter] of [
        ["end", third, 2, 111],
        ["after two", second, 1, 11],
        ["ünï/1", first, 0, 1],
      ] as const) {
        expect(checkpoint).toMatchObject({ step, values: { counter, value: `node${step + 1}` } });
        const { checkpointId } = await engine.fork("run", { from: label, as: `fork of ${label}` });
        const [copy] = await engine.history(`fork of ${label}`);
        expect(copy).toMatchObject({ id: checkpointId, values: { counter }, nextNodes: checkpoint!.nextNodes });
      }
      expect((await engine.history("run")).map(({ label }) => label)).toEqual(["end", "after two", "ünï/1", null]);
    });

    test("a label on a failed run, and on a run at its limit", async () => {
      const { engine, failures } = recorder(chain({ node1: 1, node2: 10, node3: 100 }));
      failures.set("node2", 1);
      await engine.run({}, { thread: "failed" });
      await engine.label("failed", "before the repair");
      expect(await engine.state("failed")).toMatchObject({ label: "before the repair", state: { counter: 1 } });
      await engine.run({}, { thread: "limited", maxSteps: 2 });
      await engine.label("limited", "half");
      expect(await engine.resume("limited", { from: "half", maxSteps: 3 })).toMatchObject({ output: { counter: 111 } });
    });

    test("a label that is set again moves; a second label replaces the first", async () => {
      const { engine } = recorder(chain({ node1: 1, node2: 10 }));
      await engine.run({}, { thread: "run" });
      const [second, first] = await engine.history("run");
      await engine.label("run", "x", { checkpoint: first!.id });
      await engine.label("run", "x");
      expect((await engine.history("run")).map(({ label }) => label)).toEqual(["x", null, null]);
      await engine.label("run", "y", { checkpoint: second!.id });
      expect((await engine.history("run")).map(({ label }) => label)).toEqual(["y", null, null]);
      await expect(engine.resume("run", { from: "x" })).rejects.toMatchObject({ code: "NG_UNKNOWN_CHECKPOINT" });
    });

    test.each(["", 5, null])("%j is not a label", async (label) => {
      const { engine } = recorder(chain({ node1: 1 }));
      await engine.run({}, { thread: "run" });
      await expect(engine.label("run", label as string)).rejects.toMatchObject({ code: "NG_BAD_INPUT" });
    });
  });

  test.each<[string, (engine: Engine) => Promise<unknown>, string]>([
    ["LG-54: a label on an unknown thread", (engine) => engine.label("nobody", "x"), "NG_UNKNOWN_THREAD"],
    [
      "LG-54: a label on an unknown checkpoint",
      (engine) => engine.label("run", "x", { checkpoint: "none" }),
      "NG_UNKNOWN_CHECKPOINT",
    ],
    ["LG-58: a resume of an unknown thread", (engine) => engine.resume("nobody"), "NG_UNKNOWN_THREAD"],
    [
      "LG-58: of an unknown thread, at a node",
      (engine) => engine.resume("nobody", { at: "node1" }),
      "NG_UNKNOWN_THREAD",
    ],
    ["LG-58: of a thread without a name", (engine) => engine.resume(""), "NG_UNKNOWN_THREAD"],
    ["LG-58: from an unknown label", (engine) => engine.resume("run", { from: "nothing" }), "NG_UNKNOWN_CHECKPOINT"],
    ["LG-58: from no label", (engine) => engine.resume("run", { from: "" }), "NG_UNKNOWN_CHECKPOINT"],
    ["LG-58: at an unknown node", (engine) => engine.resume("run", { at: "nonexistent" }), "NG_BAD_INPUT"],
    ["LG-58: at no node", (engine) => engine.resume("run", { at: "" }), "NG_BAD_INPUT"],
    ["LG-58: at the end", (engine) => engine.resume("run", { at: "end" }), "NG_BAD_INPUT"],
    ["LG-58: of a run that is done", (engine) => engine.resume("run"), "NG_NOT_PAUSED"],
    ["LG-58: a fork of an unknown thread", (engine) => engine.fork("nobody", { as: "x" }), "NG_UNKNOWN_THREAD"],
    ["LG-58: a fork from nothing", (engine) => engine.fork("run", { from: "no", as: "x" }), "NG_UNKNOWN_CHECKPOINT"],
    ["LG-58: a fork onto a thread that is there", (engine) => engine.fork("run", { as: "run" }), "NG_THREAD_BUSY"],
    ["LG-57: an edit of an unknown thread", (engine) => engine.update("nobody", {}), "NG_UNKNOWN_THREAD"],
    ["LG-57: an edit of an unknown channel", (engine) => engine.update("run", { nothing: 1 }), "NG_BAD_INPUT"],
    ["LG-57: an edit of another type", (engine) => engine.update("run", { counter: "1" }), "NG_BAD_INPUT"],
  ])("%s is refused, and changes nothing", async (_case, call, code) => {
    const { engine, ran, store } = recorder(chain({ node1: 1, node2: 10 }));
    await engine.run({}, { thread: "run" });
    const before = await engine.history("run");
    await expect(call(engine)).rejects.toMatchObject({ code });
    expect(await engine.history("run")).toEqual(before);
    expect((await store.threads!()).map(({ threadId }) => threadId)).toEqual(["run"]);
    expect(ran).toEqual(["node1", "node2"]);
  });

  test.each([
    ["LG-55: the last node once more", { node1: 1, node2: 10, node3: 100 }, "node3", 211, ["node3"]],
    ["LG-55: from the middle", { node1: 1, node2: 10, node3: 100 }, "node2", 221, ["node2", "node3"]],
    ["LG-56: from the first", { node1: 5, node2: 10 }, "node1", 30, ["node1", "node2"]],
    ["LG-56: of one", { node1: 7 }, "node1", 14, ["node1"]],
  ])("%s, on what was there at the end", async (_case, amounts, at, counter, again) => {
    const { engine, ran } = recorder(chain(amounts));
    await engine.run({}, { thread: "run" });
    await engine.label("run", "end");
    ran.length = 0;
    expect(await engine.resume("run", { from: "end", at })).toMatchObject({
      status: "completed",
      output: { value: again.at(-1), counter },
      steps: again.map((node) => [node]),
    });
    expect(ran).toEqual(again);
    // History is not rewritten: the label still names the old checkpoint.
    await engine.fork("run", { from: "end", as: "old" });
    expect((await engine.state("old"))?.state["counter"]).toBe(
      Object.values(amounts).reduce((sum, one) => sum + one, 0),
    );
  });

  test.each([
    [0, ["node2", "node3"], 111],
    [1, ["node3"], 111],
  ])("LG-55: from the checkpoint of step %i, what came after it", async (step, again, counter) => {
    const { engine, ran } = recorder(chain({ node1: 1, node2: 10, node3: 100 }));
    await engine.run({}, { thread: "run" });
    const from = (await engine.history("run")).find((one) => one.step === step)!.id;
    ran.length = 0;
    expect(await engine.resume("run", { from })).toMatchObject({ status: "completed", output: { counter } });
    expect(ran).toEqual(again);
  });

  describe("LG-57: an edit", () => {
    test.each([
      ["of one channel leaves the others", { value: "executed" }, {}, { value: "executed", counter: 42 }],
      ["goes through the reducers", { counter: 8 }, {}, { value: "orig", counter: 50 }],
      ["may replace", { counter: 8 }, { replace: true }, { value: "orig", counter: 8 }],
      ["of nothing changes nothing", {}, {}, { value: "orig", counter: 42 }],
    ])("%s", async (_case, values, options, state) => {
      const { engine, ran } = recorder(chain({ orig: 42 }));
      await engine.run({}, { thread: "run" });
      await engine.update("run", values, options);
      expect((await engine.state("run"))?.state).toEqual(state);
      expect((await engine.history("run")).map(({ phase }) => phase)).toEqual(["updated", "completed", "input"]);
      expect(ran).toEqual(["orig"]);
    });

    test("before a resume is visible to the resumed nodes", async () => {
      const { engine } = recorder(chain({ node1: 1, node2: 10, node3: 100 }));
      await engine.run({}, { thread: "run", maxSteps: 2 });
      await engine.update("run", { counter: 1000 });
      expect(await engine.resume("run", { maxSteps: 9 })).toMatchObject({ output: { counter: 1111, value: "node3" } });
    });

    test("on a fork leaves the thread it comes from as it was", async () => {
      const { engine } = recorder(chain({ node1: 1, node2: 10, node3: 100 }));
      await engine.run({}, { thread: "run" });
      const from = (await engine.history("run"))[1]!.id;
      await engine.fork("run", { from, as: "other" });
      await engine.update("other", { counter: 1000 });
      expect(await engine.resume("other")).toMatchObject({ output: { counter: 1111 } });
      expect((await engine.state("run"))?.state).toEqual({ value: "node3", counter: 111 });
    });

    test("as a node continues after this node", async () => {
      const { engine, ran } = recorder(chain({ node1: 1, node2: 10, node3: 100 }));
      await engine.run({}, { thread: "run" });
      ran.length = 0;
      await engine.update("run", { counter: -11 }, { as: "node2" });
      expect((await engine.state("run"))?.next).toEqual(["node3"]);
      expect(await engine.resume("run")).toMatchObject({ output: { counter: 200 } });
      expect(ran).toEqual(["node3"]);
    });
  });

  describe("LG-59: a node that fails the first time", () => {
    const AMOUNTS = { fetch: 1, parse: 10, process: 100, store: 1000, notify: 10_000 };
    const NAMES = Object.keys(AMOUNTS);
    test.each(NAMES.map((name, place) => [name, place] as const))("%s: only it runs twice", async (name, place) => {
      const { engine, ran, failures } = recorder(chain(AMOUNTS));
      failures.set(name, 1);
      const failed = await engine.run({}, { thread: "run" });
      const counter = Number("1".repeat(place) || "0");
      expect(failed).toMatchObject({ status: "failed", output: { counter } });
      expect(failed.error?.message).toBe(`node \`${name}\` failed: ${name}: transient failure`);
      expect(await engine.state("run")).toMatchObject({
        status: "failed",
        next: [name],
        state: { counter, value: NAMES[place - 1] ?? "" },
      });
      const resumed = await engine.resume("run");
      expect(resumed).toMatchObject({ status: "completed", output: { counter: 11_111, value: "notify" } });
      expect(resumed.steps.flat()).toEqual(NAMES.slice(place));
      expect(ran).toEqual([...NAMES.slice(0, place + 1), ...NAMES.slice(place)]);
    });

    test.each([
      ["named by the resume", { at: "process" }, 11_111, 2],
      ["passed over", { at: "store" }, 11_011, 1],
    ])("%s", async (_case, options, counter, runs) => {
      const { engine, ran, failures } = recorder(chain(AMOUNTS));
      failures.set("process", 1);
      await engine.run({}, { thread: "run" });
      expect(await engine.resume("run", options)).toMatchObject({ status: "completed", output: { counter } });
      expect(ran.filter((node) => node === "process")).toHaveLength(runs);
      expect(ran.filter((node) => node === "fetch")).toHaveLength(1);
    });

    test("it runs again after each failure; with another engine, too", async () => {
      const { engine, ran, failures, store } = recorder(chain(AMOUNTS));
      failures.set("process", 2);
      await engine.run({}, { thread: "run" });
      expect(await engine.resume("run")).toMatchObject({ status: "failed", steps: [], output: { counter: 11 } });
      const other = recorder(chain(AMOUNTS), store);
      expect(await other.engine.resume("run")).toMatchObject({ status: "completed", output: { counter: 11_111 } });
      expect([ran, other.ran]).toEqual([
        ["fetch", "parse", "process", "process"],
        ["process", "store", "notify"],
      ]);
    });

    test.each(["sync", "async", "exit"] as const)("after a run whose durability is %s", async (durability) => {
      const { engine, ran, failures } = recorder(chain(AMOUNTS), open(), { durability });
      failures.set("process", 1);
      expect(await engine.run({}, { thread: "run" })).toMatchObject({ status: "failed", output: { counter: 11 } });
      expect(await engine.state("run")).toMatchObject({ status: "failed", next: ["process"], state: { counter: 11 } });
      expect(await engine.resume("run")).toMatchObject({ status: "completed", output: { counter: 11_111 } });
      expect(ran).toEqual(["fetch", "parse", "process", "process", "store", "notify"]);
    });

    test("beside other nodes: their results are kept", async () => {
      const { engine, ran, failures } = recorder(
        `graph g { output value: string = "" reduce last  output counter: int = 0 reduce sum
           node a = work("a", 1) into { value, counter }  node b = work("b", 10) into { value, counter }
           node c = work("c", 100) into { value, counter }  node j = work("j", 1000) into { value, counter }
           start -> a, b, c  all(a, b, c) -> j }`,
      );
      failures.set("b", 1);
      expect(await engine.run({}, { thread: "run" })).toMatchObject({
        status: "failed",
        output: { counter: 0, value: "" },
      });
      expect(await engine.state("run")).toMatchObject({ next: ["b"], state: { counter: 0 } });
      expect(await engine.resume("run")).toMatchObject({
        output: { counter: 1111, value: "j" },
        steps: [["a", "b", "c"], ["j"]],
      });
      expect(ran).toEqual(["a", "b", "c", "b", "j"]);
    });
  });

  describe("LG-60: another graph", () => {
    const AMOUNTS = { node1: 1, node2: 10 };
    test("with one more node: the node is reached", async () => {
      const { engine, store } = recorder(chain(AMOUNTS));
      await engine.run({}, { thread: "run" });
      const more = recorder(chain({ ...AMOUNTS, node3: 100 }), store);
      expect(await more.engine.resume("run", { at: "node3" })).toMatchObject({ output: { counter: 111 } });
      expect(more.ran).toEqual(["node3"]);
    });

    test("with one more node after the failed node", async () => {
      const { engine, store, failures } = recorder(chain(AMOUNTS));
      failures.set("node2", 1);
      await engine.run({}, { thread: "run" });
      const more = recorder(chain({ ...AMOUNTS, node3: 100 }), store);
      expect(await more.engine.resume("run")).toMatchObject({ status: "completed", output: { counter: 111 } });
    });

    test.each([
      ["the node that is next has another name", chain({ node1: 1, other: 10 }), "`node2`"],
      ["a channel is gone", chain(AMOUNTS).replaceAll("counter", "total"), "`counter`"],
      [
        "a channel has another type",
        chain(AMOUNTS).replace("counter: int = 0 reduce sum", `counter: string = ""`),
        "`counter`",
      ],
    ])("is refused when %s, and nothing runs", async (_case, text, word) => {
      const { engine, store, failures } = recorder(chain(AMOUNTS));
      failures.set("node2", 1);
      await engine.run({}, { thread: "run" });
      const other = recorder(text.replaceAll("into { value, total }", "into { value, counter: total }"), store);
      await expect(other.engine.resume("run")).rejects.toMatchObject({
        name: "ThreadError",
        code: "NG_DRIFT",
        message: expect.stringContaining(word) as string,
        details: [expect.stringContaining(word) as string],
      });
      expect(other.ran).toEqual([]);
      expect(await engine.resume("run")).toMatchObject({ status: "completed", output: { counter: 11 } });
    });
  });

  test("LG-85: a checkpoint is written once, atomically", async () => {
    const store = open();
    const claim = await store.claim("t", { owner: "me", leaseMs: 1000 });
    const header = {
      schemaVersion: 1,
      id: "00000000-0000-4000-8000-000000000000",
      threadId: "t",
      runId: "r",
      namespace: "",
      parentId: null,
      step: -1,
      phase: "input" as const,
      currentNode: null,
      currentNodes: [],
      nextNodes: [],
      pendingSends: [],
      barrierState: {},
      pauses: [],
      answers: [],
      errors: {},
      status: "running" as const,
      label: null,
      metadata: {},
      timestamp: 0,
      digest: "d",
    };
    const saving = (n: number, expectedHead: string | null) => async () =>
      store.save(claim, {
        header: { ...header, metadata: { n } },
        changes: [],
        snapshot: () => ({ values: { n }, versions: { n } }),
        expectedHead,
      });
    await saving(1, null)();
    await expect(saving(2, header.id)()).rejects.toMatchObject({ code: "NG_STORE_FAILED" });
    await expect(saving(2, null)()).rejects.toMatchObject({ code: expect.stringMatching(/^NG_/) as string });
    expect(await store.loadLatest("t")).toMatchObject({ values: { n: 1 }, metadata: { n: 1 } });
    expect(await store.list("t")).toHaveLength(1);
  });
});
