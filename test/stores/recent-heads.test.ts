/**
 * 5.13: a run reuses the memory of the last run of this process only if the store confirms that the last run is the
 * newest.
 */
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import type { Engine } from "../../runtime/index.ts";
import type { Store } from "../../runtime/interface/store.ts";
import { engineOf } from "../support/graph.ts";
import { inFile, inMemory, inPostgres, type OpenStore } from "./each-store.ts";
import { PostgresServer } from "./postgres-server.ts";
import { depth } from "../support/depth.ts";

const CHAT = `graph chat { input q: string  memory log: string[] = [] reduce append  memory turns: int = 0 reduce sum
  state scratch: string = "new"  output seen: string = ""
  node reply = answer(q, log, scratch) into { log: log, scratch: scratch, seen: seen, turns: turns }  start -> reply }`;
const functions = {
  answer: (q: string, log: readonly string[], scratch: string) => ({
    log: [q],
    scratch: "used",
    seen: `${scratch}: ${log.join(" ")}`,
    turns: 1,
  }),
};

let server: PostgresServer;
beforeAll(async () => {
  server = await PostgresServer.start();
}, 300_000);
afterAll(() => server.dispose());

const chatOn = (store: Store): Engine => engineOf(CHAT, functions, { store });

async function say(engine: Engine, q: string): Promise<unknown> {
  const { status, output } = await engine.run({ q }, { thread: "chat" });
  return status === "completed" ? output["seen"] : status;
}

describe.each<[string, () => OpenStore]>([
  ["in memory", inMemory],
  ["SQLite", inFile],
  ["Postgres", () => inPostgres(server)],
])("%s", (_, open) => {
  it("turns of one engine continue each other, and a store that is opened again agrees", async () => {
    const opened = open();
    let engine = chatOn(opened.store);
    for (const [n, q] of ["a", "b", "c", "d"].entries()) {
      expect(await say(engine, q)).toBe(`new: ${["a", "b", "c"].slice(0, n).join(" ")}`);
      const [head] = await engine.history("chat");
      expect(head?.values).toMatchObject({ scratch: "used", turns: n + 1 });
    }
    engine = chatOn(await opened.reopen());
    expect(await say(engine, "e")).toBe("new: a b c d");
    const history = await engine.history("chat");
    for (const [index, { parentId }] of history.entries()) expect(parentId).toBe(history[index + 1]?.id ?? null);
    await opened.dispose();
  });

  it("5.12 a further turn does not read the memory, which grows with every turn", async () => {
    const opened = open();
    const engine = chatOn(opened.store);
    for (const q of ["a", "b"]) await say(engine, q);
    const load = vi.spyOn(Object.getPrototypeOf(opened.store) as Store, "loadLatest");
    try {
      for (const q of ["c", "d"]) await say(engine, q);
      expect(load).not.toHaveBeenCalled();
      await engine.state("chat");
      expect(load).toHaveBeenCalled();
    } finally {
      load.mockRestore();
      await opened.dispose();
    }
  });

  it("an edit, a pruned thread, and a new thread of the same name are seen", async () => {
    const opened = open();
    const engine = chatOn(opened.store);
    await say(engine, "a");
    await say(engine, "b");
    await engine.update("chat", { log: ["edited"] });
    expect(await say(engine, "c")).toBe("new: a b edited");
    const [, , first] = (await engine.history("chat")).filter(({ status }) => status === "completed");
    expect(first?.values["log"]).toEqual(["a", "b"]);
    await opened.store.deleteThread("chat");
    expect(await say(engine, "x")).toBe("new: ");
    await opened.store.prune?.("chat", { keepLast: 1 });
    expect(await say(engine, "y")).toBe("new: x");
    await opened.dispose();
  });

  it("another graph of the thread is refused, and another version of the graph keeps the memory that fits", async () => {
    const opened = open();
    await say(chatOn(opened.store), "a");
    const other = engineOf(CHAT.replace("graph chat", "graph other"), functions, { store: opened.store });
    await expect(say(other, "b")).rejects.toMatchObject({ code: "NG_DRIFT" });
    const numbers = CHAT.replace("memory turns: int = 0 reduce sum", 'memory turns: string = ""');
    await expect(say(engineOf(numbers, functions, { store: opened.store }), "b")).rejects.toMatchObject({
      code: "NG_DRIFT",
    });
    expect(await say(chatOn(opened.store), "c")).toBe("new: a");
    await opened.dispose();
  });

  it("many threads have their own memory", async () => {
    const opened = open();
    const engine = chatOn(opened.store);
    const threads = Array.from({ length: depth === "quick" ? 30 : 100 }, (_each, n) => `thread ${n}`);
    for (let turn = 0; turn < 3; turn++) {
      const results = await Promise.all(threads.map((thread) => engine.run({ q: `${thread}.${turn}` }, { thread })));
      for (const [n, { output }] of results.entries()) {
        const before = Array.from({ length: turn }, (_each, past) => `${threads[n]!}.${past}`);
        expect(output["seen"]).toBe(`new: ${before.join(" ")}`);
      }
    }
    await opened.dispose();
  });
});

describe("two stores on the same data", () => {
  it.each<[string, () => OpenStore]>([
    ["SQLite", inFile],
    ["Postgres", () => inPostgres(server)],
  ])("see the turns of each other: %s", async (_, open) => {
    const opened = open();
    const other = opened.openOther!();
    const engines = [chatOn(opened.store), chatOn(other)];
    const said: string[] = [];
    for (const [n, index] of [0, 0, 1, 0, 1, 1, 0].entries()) {
      expect(await say(engines[index]!, String(n))).toBe(`new: ${said.join(" ")}`);
      said.push(String(n));
    }
    await other.close?.();
    await opened.dispose();
  });
});
