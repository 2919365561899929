/**
 * NeoGraph's cases about the content of stores (C51, C54 - C59, C66 - C69, C72), each on every kind of store: after a
 * run, and with direct calls of the store's methods.
 */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { CheckpointHeader, NodeContext, PendingWrite, Store } from "../../runtime/index.ts";
import { SampleRun } from "../../runtime/stores/conformance/sample-run.ts";
import { inFile, inMemory, inPostgres, type OpenStore } from "../stores/each-store.ts";
import { PostgresServer } from "../stores/postgres-server.ts";
import { engineOf } from "../support/graph.ts";

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

describe.each(kinds)("in %s", (_kind, open) => {
  /** `again` is the store that another process opens. */
  async function withStore(work: (store: Store, again: () => Promise<Store>) => Promise<void>): Promise<void> {
    const opened = open();
    try {
      await work(opened.store, async () => opened.reopen());
    } finally {
      await opened.dispose();
    }
  }
  const idsOf = (list: readonly { readonly id: string }[]): string[] => list.map(({ id }) => id);
  const write = (taskId: string, result: PendingWrite["result"] = null): PendingWrite => ({
    taskId,
    node: taskId,
    result,
  });

  test("C54: the latest, by id, newest first, a limit, threads apart, one deleted", () =>
    withStore(async (store, again) => {
      const [mine, other] = [await SampleRun.start(store, "t"), await SampleRun.start(store, "u")];
      const saved = [];
      for (const n of [1, 2, 3]) saved.push((await mine.save([{ channel: "n", set: n }])).id);
      const kept = await other.save([{ channel: "n", set: 9 }]);
      const read = await again();
      expect((await read.loadLatest("t"))?.id).toBe(saved[2]);
      expect((await read.loadById("t", saved[1]!))?.values).toEqual({ n: 2 });
      expect(await read.loadById("t", "none")).toBeUndefined();
      expect(await read.loadById("t", kept.id)).toBeUndefined();
      expect(await read.loadLatest("none")).toBeUndefined();
      expect(idsOf(await read.list("t"))).toEqual(saved.toReversed());
      expect(idsOf(await read.list("t", { limit: 2 }))).toEqual([saved[2], saved[1]]);
      expect(await read.list("t", { limit: 0 })).toEqual([]);
      expect(idsOf(await read.list("t", { before: saved[1]! }))).toEqual([saved[0]]);
      expect(await read.list("none")).toEqual([]);
      await read.deleteThread("t");
      await read.deleteThread("none");
      expect(await read.list("t")).toEqual([]);
      expect((await read.loadLatest("u"))?.values).toEqual({ n: 9 });
    }));

  test("C54: without a limit a list has a hundred entries", () =>
    withStore(async (store) => {
      const run = await SampleRun.start(store, "t");
      for (let n = 0; n < 103; n++) await run.save([{ channel: "n", set: n }]);
      const list = await store.list("t");
      expect(list.map(({ values }) => values["n"])).toEqual(Array.from({ length: 100 }, (_, n) => 102 - n));
      expect(await store.list("t", { limit: 1000 })).toHaveLength(103);
    }));

  test.each([
    ["NUL", "t", "t\0"],
    ["case", "Thread", "thread"],
    ["a slash and a namespace", "a/b", "a"],
    ["quotes", "t'", "t''"],
    ["a wildcard", "t%", "tx"],
    ["spaces", "t", "t "],
    ["forms of one letter", "\u00e9", "e\u0301"],
    ["`__proto__`", "__proto__", "constructor"],
  ])("C54: threads whose names differ in %s are apart", (_name, first, second) =>
    withStore(async (store) => {
      for (const [thread, n] of [
        [first, 1],
        [second, 2],
      ] as const) {
        const run = await SampleRun.start(store, thread);
        const { id } = await run.save([{ channel: "n", set: n }]);
        await store.putWrites!(run.claim, id, [write(`w${n}`)]);
      }
      await store.deleteThread(first);
      expect(await store.loadLatest(first)).toBeUndefined();
      const kept = await store.loadLatest(second);
      expect(kept?.values).toEqual({ n: 2 });
      expect((await store.getWrites!(second, kept!.id)).map(({ taskId }) => taskId)).toEqual(["w2"]);
    }),
  );

  test.each(["input", "completed", "before", "after", "interrupted", "updated"] as const)("C56: phase %s", (phase) =>
    withStore(async (store, again) => {
      const run = await SampleRun.start(store, "t");
      await run.save([], { phase });
      expect((await (await again()).loadLatest("t"))?.phase).toBe(phase);
    }),
  );

  test.each(["garbage", "", "Completed", "node_interrupt", null, 3])("C56: %j is not a phase", (phase) =>
    withStore(async (store) => {
      const run = await SampleRun.start(store, "t");
      const odd = { phase: phase as CheckpointHeader["phase"] };
      await expect(run.save([{ channel: "n", set: 1 }], odd)).rejects.toMatchObject({ code: "NG_STORE_FAILED" });
      expect(await store.loadLatest("t")).toBeUndefined();
      await run.save();
      expect(await store.list("t")).toHaveLength(1);
    }),
  );

  test("C55: a schema version is kept, 0 included; a later version is refused", () =>
    withStore(async (store, again) => {
      const run = await SampleRun.start(store, "t");
      await run.save([], { schemaVersion: 0 });
      await run.save([], { schemaVersion: 1 });
      expect((await (await again()).list("t")).map(({ schemaVersion }) => schemaVersion)).toEqual([1, 0]);
    }));

  test("C58: barriers, the order of the next nodes, nested values", () =>
    withStore(async (store, again) => {
      const run = await SampleRun.start(store, "t");
      const header = { barrierState: { join: ["a", "b"], another: ["x"] }, nextNodes: ["c", "a", "b"] };
      const deep = { list: [1, [2, { three: [null, true, "\u0000\u{1f600}"] }]], empty: {}, none: [] };
      await run.save([{ channel: "deep", set: deep }], header);
      expect(await (await again()).loadLatest("t")).toMatchObject({ ...header, values: { deep } });
    }));

  test("C58, C63: pending writes keep their order; a repeated write replaces the first; clearing; deleting", () =>
    withStore(async (store, again) => {
      const [mine, other] = [await SampleRun.start(store, "t"), await SampleRun.start(store, "u")];
      const [{ id }, { id: otherId }] = [await mine.save(), await other.save()];
      const result = { updates: [["x", [1, { deep: null }]]], goto: ["end"], sends: [{ node: "w", item: 7 }] };
      const tasks = ["e", "a", "d", "b", "c"];
      for (const task of tasks) await store.putWrites!(mine.claim, id, [write(task)]);
      await store.putWrites!(mine.claim, id, [write("d", result)]);
      await store.putWrites!(other.claim, otherId, [write("z")]);
      const read = await again();
      const kept = await read.getWrites!("t", id);
      expect(kept.map(({ taskId }) => taskId)).toEqual(tasks);
      expect(kept[2]).toEqual(write("d", result));
      expect(await read.getWrites!("t", otherId)).toEqual([]);
      await read.clearWrites!(mine.claim, id, ["a", "nobody"]);
      expect((await read.getWrites!("t", id)).map(({ taskId }) => taskId)).toEqual(["e", "d", "b", "c"]);
      await read.clearWrites!(mine.claim, "none");
      await read.deleteThread("t");
      expect(await read.getWrites!("t", id)).toEqual([]);
      expect(await read.getWrites!("u", otherId)).toHaveLength(1);
    }));

  test("C58: a checkpoint's id is never used twice: history is not rewritten", () =>
    withStore(async (store) => {
      const run = await SampleRun.start(store, "t");
      const { id } = await run.save([{ channel: "n", set: 1 }]);
      await expect(run.save([{ channel: "n", set: 2 }], { id })).rejects.toMatchObject({ code: "NG_STORE_FAILED" });
      expect((await store.loadLatest("t"))?.values).toEqual({ n: 1 });
    }));

  test("C51: a `last` channel and a list survive the crash of a sibling that was sent", () =>
    withStore(async (store, again) => {
      const text = `graph g {
        output banner: string[] = [] reduce shown  output log: int[] = [] reduce append
        node planner = planner() { goes worker }  node worker = worker() into { banner, log }
        start -> planner -> end  worker -> end }`;
      const runs = [0, 0, 0];
      const functions = {
        shown: (_old: string[], update: string[]) => update,
        planner: (context: NodeContext) => [0, 1, 2].forEach((item) => context.send("worker", item)),
        worker: async (context: NodeContext) => {
          const item = context.item as number;
          if (++runs[item]! === 1 && item === 1) throw new Error("worker 1");
          return { banner: [item === 2 ? "final" : `draft ${item}`], log: item };
        },
      };
      const failed = await engineOf(text, functions, { store }).run({}, { thread: "t" });
      expect(failed).toMatchObject({ status: "failed", error: { nodeId: "worker", attempts: 1 } });
      const done = await engineOf(text, functions, { store: await again() }).resume("t");
      expect(done.output).toEqual({ banner: ["final"], log: [0, 1, 2] });
      expect(runs).toEqual([1, 2, 1]);
    }));

  test("C57, C59: a fork copies the next nodes and outlives its source", () =>
    withStore(async (store, again) => {
      const text = `graph g { output log: string[] = [] reduce append  node a = "a" into log  node b = "b" into log { pause before }
        node c = "c" into log  node d = "d" into log  start -> a -> b, c, d  any(b, c, d) -> end }`;
      const engine = engineOf(text, {}, { store });
      await engine.run({}, { thread: "t" });
      await engine.fork("t", { as: "u" });
      await store.deleteThread("t");
      const read = engineOf(text, {}, { store: await again() });
      expect(await read.state("u")).toMatchObject({ next: ["b", "c", "d"], state: { log: ["a"] } });
      expect((await read.resume("u")).output).toEqual({ log: ["a", "b", "c", "d"] });
      expect(await read.state("t")).toBeUndefined();
    }));

  test("C66, C67: a half-filled barrier through a gate, a fork, an edit and another process", () =>
    withStore(async (store, again) => {
      const text = `graph g { output done: bool = false  output n: int = 0 reduce sum
        node a = 1 into n  node b1 = 1 into n  node gate = 1 into n { pause before }  node b2 = 1 into n  node j = true into done
        start -> a, b1  b1 -> gate -> b2  all(a, b2) -> j -> end }`;
      const engine = engineOf(text, {}, { store });
      const paused = await engine.run({}, { thread: "t" });
      expect(paused).toMatchObject({ status: "paused", steps: [["a", "b1"]], output: { done: false, n: 2 } });
      await engine.fork("t", { as: "u" });
      await engine.update("u", { n: 10 });
      const read = engineOf(text, {}, { store: await again() });
      for (const [thread, n] of [
        ["t", 4],
        ["u", 14],
      ] as const) {
        const [head] = await read.history(thread);
        expect(head).toMatchObject({
          phase: thread === "t" ? "before" : "updated",
          barrierState: { j: ["a"] },
          nextNodes: ["gate"],
        });
        const done = await read.resume(thread);
        expect(done).toMatchObject({
          status: "completed",
          steps: [["gate"], ["b2"], ["j"]],
          output: { done: true, n },
        });
        expect((await read.history(thread))[0]).toMatchObject({ barrierState: {}, nextNodes: [] });
      }
    }));

  test.each([0, 1, 2])("C69: of three in one step number %i fails, the results of the others are kept", (bad) =>
    withStore(async (store, again) => {
      const ran: number[] = [];
      const text = `graph g { output log: int[] = [] reduce append  node s = 1
        node w0 = work(0) into log  node w1 = work(1) into log  node w2 = work(2) into log
        start -> s -> w0, w1, w2  any(w0, w1, w2) -> end }`;
      let broken = true;
      const work = async (n: number): Promise<number> => {
        ran.push(n);
        if (broken && n === bad) throw new Error("no");
        return n;
      };
      await engineOf(text, { work }, { store }).run({}, { thread: "t" });
      const read = engineOf(text, { work }, { store: await again() });
      const [head, before] = await read.history("t");
      expect(head).toMatchObject({ status: "failed", currentNode: `w${bad}`, nextNodes: [`w${bad}`] });
      expect(head!.finished).toHaveLength(2);
      expect(before).toMatchObject({ currentNode: "s", nextNodes: ["w0", "w1", "w2"] });
      broken = false;
      expect((await read.resume("t")).output).toEqual({ log: [0, 1, 2] });
      expect(ran).toEqual([0, 1, 2, bad]);
    }),
  );

  test("C72: two of four wait: the results of the others are kept while each is answered on its own", () =>
    withStore(async (store, again) => {
      const runs = new Map<string, number>();
      const text = `graph g { output log: string[] = [] reduce append
        node a = work("a") into log  node b = gate("b") into log  node c = work("c") into log  node d = gate("d") into log
        start -> a, b, c, d  any(a, b, c, d) -> end }`;
      const count = (name: string): void => void runs.set(name, (runs.get(name) ?? 0) + 1);
      const functions = {
        work: async (name: string) => (count(name), name),
        gate: (name: string, context: NodeContext) => (count(name), context.interrupt<string>({ ask: name })),
      };
      const { pauses } = await engineOf(text, functions, { store }).run({}, { thread: "t" });
      expect(pauses.map(({ node, payload }) => [node, payload])).toEqual([
        ["b", { ask: "b" }],
        ["d", { ask: "d" }],
      ]);
      const read = engineOf(text, functions, { store: await again() });
      expect((await read.history("t"))[0]).toMatchObject({
        phase: "interrupted",
        currentNode: "b",
        nextNodes: ["b", "d"],
      });
      const half = await read.resume("t", { answers: { [pauses[1]!.id]: "D" } });
      expect(half).toMatchObject({ status: "paused", pauses: [{ node: "b" }], output: { log: [] } });
      const done = await read.resume("t", { answer: "B" });
      expect(done).toMatchObject({ status: "completed", output: { log: ["a", "B", "c", "D"] } });
      expect(Object.fromEntries(runs)).toEqual({ a: 1, b: 2, c: 1, d: 2 });
    }));
});
