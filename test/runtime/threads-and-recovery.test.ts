/** Interface: listings of threads in pages, and the recovery of threads whose process died. 5.6: one runner a thread. */
import { describe, expect, test } from "vitest";
import type { NodeContext } from "../../runtime/interface/context.ts";
import type { Store } from "../../runtime/interface/store.ts";
import { MemoryStore } from "../../runtime/stores/memory.ts";
import { engineOf } from "../support/graph.ts";

const TEXT = `graph g { output log: string[] = [] reduce append
  node a = step("a") into log  node b = step("b") into log  start -> a -> b }`;

/** A store whose clock is advanced by hand, and threads of `TEXT` that died in step 1. */
async function interruptedThreads(...threads: readonly string[]) {
  let now = 0;
  const store = new MemoryStore({ now: () => now });
  const dead: Store = Object.assign(Object.create(store) as Store, {
    claim: store.claim.bind(store),
    renew: store.renew.bind(store),
    release: () => undefined,
    save: store.save.bind(store),
    loadLatest: store.loadLatest.bind(store),
    loadById: store.loadById.bind(store),
    list: store.list.bind(store),
    deleteThread: store.deleteThread.bind(store),
    putWrites: store.putWrites.bind(store),
    getWrites: store.getWrites.bind(store),
  });
  const engine = engineOf(
    TEXT,
    { step: (name: string) => (name === "b" ? new Promise(() => undefined) : name) },
    { store: dead },
  );
  for (const thread of threads) {
    void engine.run({}, { thread }).catch(() => undefined);
    for (let turn = 0; turn < 20; turn++) await new Promise((next) => setImmediate(next));
  }
  return { store, advance: (milliseconds: number) => (now += milliseconds) };
}

describe("threads", () => {
  test("lists pages of threads by status, graph, label and metadata", async () => {
    const store = new MemoryStore();
    const ok = engineOf("graph ok { output n: int = 0  node a = 1 into n  start -> a }", {}, { store });
    const asks = engineOf(
      "graph asks { output n: int = 0  node a = ask() into n  start -> a }",
      { ask: (context: NodeContext) => context.interrupt<number>("?") },
      { store },
    );
    for (let n = 0; n < 7; n++) {
      await (n % 2 === 0 ? ok : asks).run({}, { thread: `t${n}`, metadata: { tenant: n < 4 ? "x" : "y", n } });
    }
    await ok.label("t4", "final");
    const names = async (options: Parameters<typeof ok.threads>[0]) =>
      (await ok.threads(options)).map(({ thread }) => thread);
    expect(await names({})).toEqual(["t6", "t5", "t4", "t3", "t2", "t1", "t0"]);
    expect(await names({ status: "paused" })).toEqual(["t5", "t3", "t1"]);
    expect(await names({ graph: "ok", metadata: { tenant: "x" } })).toEqual(["t2", "t0"]);
    expect(await names({ label: "final" })).toEqual(["t4"]);
    const pages: string[][] = [];
    let after: number | undefined;
    do {
      const page = await ok.threads({ limit: 2, graph: "ok", ...(after === undefined ? {} : { after }) });
      pages.push(page.map(({ thread }) => thread));
      after = page.at(-1)?.position;
    } while (after !== undefined);
    expect(pages).toEqual([["t6", "t4"], ["t2", "t0"], []]);
    expect((await ok.threads({ limit: 1, label: "final" }))[0]).toMatchObject({
      thread: "t4",
      status: "completed",
      graph: "ok",
      label: "final",
      metadata: { tenant: "y", n: 4 },
      checkpoints: 2,
    });
    // A store that knows only `limit`: the engine filters.
    const plain = Object.assign(Object.create(store) as MemoryStore, {
      threads: (options: { limit?: number }) =>
        store.threads({ limit: options.limit ?? 100 }).map((info) => {
          const { position, held, ...older } = info;
          expect([position, held]).toEqual([expect.any(Number), false]);
          return older;
        }),
    });
    const older = engineOf("graph ok { output n: int = 0  node a = 1 into n  start -> a }", {}, { store: plain });
    const first = await older.threads({ limit: 2, graph: "ok" });
    expect(first.map(({ thread }) => thread)).toEqual(["t6", "t4"]);
    const second = await older.threads({ graph: "ok", after: first[1]!.position });
    expect(second.map(({ thread }) => thread)).toEqual(["t2", "t0"]);
  });

  test("a running thread is interrupted once its claim has expired; a fork and an edited thread wait for a resume", async () => {
    const { store, advance } = await interruptedThreads("t");
    const engine = engineOf(TEXT, { step: (name: string) => name }, { store });
    expect((await engine.threads())[0]).toMatchObject({ thread: "t", status: "running" });
    advance(60_000);
    expect((await engine.threads({ status: "interrupted" }))[0]).toMatchObject({ thread: "t", status: "interrupted" });
    await engine.fork("t", { as: "u" });
    expect((await engine.threads())[0]).toMatchObject({ thread: "u", status: "running" });
    await engine.update("t", { log: ["edited"] });
    expect(await engine.threads({ status: "interrupted" })).toEqual([]);
    expect(await engine.recover()).toEqual({ results: [], conflicts: 0, failures: [] });
  });
});

describe("recover", () => {
  test("resumes what no process runs: once, bounded, and nothing else", async () => {
    const { store, advance } = await interruptedThreads("t0", "t1", "t2", "t3", "t4");
    let inFlight = 0;
    let most = 0;
    const ran: string[] = [];
    const step = async (name: string, context: NodeContext): Promise<string> => {
      most = Math.max(most, ++inFlight);
      ran.push(`${context.thread} ${name}`);
      await new Promise((next) => setImmediate(next));
      inFlight--;
      return name;
    };
    const engines = [engineOf(TEXT, { step }, { store }), engineOf(TEXT, { step }, { store })] as const;
    expect(await engines[0].recover()).toEqual({ results: [], conflicts: 0, failures: [] });
    advance(60_000);
    const first = await engines[0].recover({ limit: 1, concurrency: 1 });
    expect(first.results.map(({ thread, status }) => [thread, status])).toEqual([["t0", "completed"]]);
    const both = await Promise.all(engines.map((engine) => engine.recover({ concurrency: 2 })));
    expect(both.flatMap(({ results }) => results.map(({ thread }) => thread)).sort()).toEqual(["t1", "t2", "t3", "t4"]);
    expect(both.flatMap(({ failures }) => failures)).toEqual([]);
    expect([...ran].sort()).toEqual(["t0 b", "t1 b", "t2 b", "t3 b", "t4 b"]);
    expect(most).toBeLessThanOrEqual(4);
    expect((await engines[0].state("t3"))?.state).toEqual({ log: ["a", "b"] });
  });

  test("opens no gate, and reports a thread that an edited graph cannot resume", async () => {
    const { store, advance } = await interruptedThreads("t");
    advance(60_000);
    const gated = engineOf(
      TEXT.replace('step("b") into log', 'step("b") into log { pause before }'),
      { step: (n: string) => n },
      { store },
    );
    const { results } = await gated.recover();
    expect(results.map(({ status }) => status)).toEqual(["paused"]);
    expect(await gated.recover()).toEqual({ results: [], conflicts: 0, failures: [] });

    const other = await interruptedThreads("u");
    other.advance(60_000);
    const renamed = engineOf(TEXT.replaceAll("b", "c"), { step: (n: string) => n }, { store: other.store });
    const { failures } = await renamed.recover();
    expect(failures).toMatchObject([{ thread: "u", error: { code: "NG_DRIFT" } }]);
    await renamed.migrate("u", { rename: { b: "c" } });
    expect((await renamed.recover()).results.map(({ status }) => status)).toEqual(["completed"]);
  });
});
