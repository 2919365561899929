/** 5.9: edits of a thread that reach beyond its own values: new threads, the end of a run, called graphs. */
import { describe, expect, test } from "vitest";
import type { NodeContext } from "../../runtime/interface/context.ts";
import { MemoryStore } from "../../runtime/stores/memory.ts";
import { engineOf } from "../support/graph.ts";

const ask = (question: string, context: NodeContext): string => context.interrupt<string>(question);

describe("update as start", () => {
  const TEXT = `graph g { input q: string  output log: string[] = [] reduce append
    node a = \`a ${"${q}"}\` into log  node b = \`b ${"${q}"}\` into log  start -> a -> b }`;

  test("creates a thread that begins with the given values", async () => {
    const engine = engineOf(TEXT, {}, { store: new MemoryStore() });
    const { checkpointId } = await engine.update(
      "t",
      { q: "x", log: ["seed"] },
      { as: "start", metadata: { by: "me" } },
    );
    expect(await engine.state("t")).toMatchObject({ checkpointId, next: ["a"], metadata: { by: "me" } });
    expect(await engine.threads({ status: "interrupted" })).toEqual([]);
    expect(await engine.resume("t")).toMatchObject({ status: "completed", output: { log: ["seed", "a x", "b x"] } });
    await engine.update("u", { q: "y" }, { as: "a" });
    expect((await engine.resume("u")).output).toEqual({ log: ["b y"] });
  });

  test("starts a thread again with the values it has", async () => {
    const engine = engineOf(TEXT, {}, { store: new MemoryStore() });
    await engine.run({ q: "x" }, { thread: "t" });
    await engine.update("t", { log: ["again"] }, { as: "start" });
    expect((await engine.resume("t")).output).toEqual({ log: ["a x", "b x", "again", "a x", "b x"] });
  });

  test("refuses missing inputs, and creates no thread without a place to begin", async () => {
    const engine = engineOf(TEXT, {}, { store: new MemoryStore() });
    await expect(engine.update("t", {}, { as: "start" })).rejects.toThrow(/needs its inputs: `q`/);
    await expect(engine.update("t", { q: "x" }, { as: "nobody" })).rejects.toThrow(/no node `nobody`/);
    await expect(engine.update("t", { q: "x" })).rejects.toMatchObject({ code: "NG_UNKNOWN_THREAD" });
    await expect(engine.update("t", { q: "x" }, { as: "end" })).rejects.toMatchObject({ code: "NG_UNKNOWN_THREAD" });
    expect(await engine.state("t")).toBeUndefined();
  });
});

describe("update as end", () => {
  test("ends a run that waits, with the given values, whatever its barriers hold", async () => {
    const engine = engineOf(
      `graph g { output x: string | null  node a = "a" into x  node q = ask("go on?") into x  node c = "c" into x
        start -> a, q  all(a, q) -> c }`,
      {},
      { store: new MemoryStore() },
    );
    await engine.run({}, { thread: "t" });
    await engine.update("t", { x: "by hand" }, { as: "end" });
    expect(await engine.state("t")).toMatchObject({
      status: "completed",
      next: [],
      pauses: [],
      state: { x: "by hand" },
    });
    await expect(engine.resume("t")).rejects.toMatchObject({ code: "NG_NOT_PAUSED" });
    expect((await engine.run({}, { thread: "t" })).status).toBe("paused");
  });
});

describe("update in a called graph", () => {
  const TEXT = `graph inner { input n: int  output out: string | null  state note: string = "none"
      node wait = ask("go on?") into out  node done = \`${"${n} ${note}"}\` into out  start -> wait -> done }
    graph g { output out: (string | null)[] = []  node every = inner(n: x) for x in [1, 2] into { out }  start -> every }`;

  test("changes its state; pauses stay, and their answers continue it", async () => {
    const engine = engineOf(TEXT, { ask }, { store: new MemoryStore() });
    const { pauses } = await engine.run({}, { thread: "t" });
    await engine.update("t", { note: "by hand" }, { in: "every[1]" });
    expect((await engine.history("t", { namespace: "every[1]" }))[0]).toMatchObject({
      phase: "updated",
      status: "paused",
    });
    await engine.fork("t", { as: "u" });
    const answers = Object.fromEntries(pauses.map(({ id }) => [id, "yes"]));
    expect(await engine.resume("t", { answers })).toMatchObject({
      status: "completed",
      output: { out: ["1 none", "2 by hand"] },
    });
    // A fork continues the edited graph, too.
    const forked = (await engine.state("u"))!.pauses;
    const again = Object.fromEntries(forked.map(({ id }) => [id, "yes"]));
    expect((await engine.resume("u", { answers: again })).output).toEqual({ out: ["1 none", "2 by hand"] });
  });

  test("refuses what has ended, inputs, and a node to write as", async () => {
    const engine = engineOf(TEXT, { ask }, { store: new MemoryStore() });
    await engine.run({}, { thread: "t" });
    await expect(engine.update("t", { note: "x" }, { in: "every[2]" })).rejects.toThrow(/`every\[0\]`, `every\[1\]`/);
    await expect(engine.update("t", { n: 3 }, { in: "every[0]" })).rejects.toThrow(/edit the caller's state/);
    await expect(engine.update("t", { note: 3 }, { in: "every[0]" })).rejects.toMatchObject({ code: "NG_BAD_INPUT" });
    await expect(engine.update("t", {}, { in: "every[0]", as: "done" })).rejects.toThrow(/takes no `as`/);
    await expect(engine.update("t", {}, { as: "ghost" })).rejects.toThrow(
      /no node `ghost` to write as; the nodes are: `every`/,
    );
  });
});

test("a later call on a thread does not overtake the edit of a long list", async () => {
  const text = `graph g { output log: int[] = [] reduce append  state ok: string = ""  node a = ask("go?") into ok  start -> a }`;
  const engine = engineOf(text, { ask }, { store: new MemoryStore() });
  await engine.run({}, { thread: "t" });
  const edit = engine.update("t", { log: Array.from({ length: 100_000 }, (_, index) => index) });
  await expect(engine.resume("t", "yes")).rejects.toMatchObject({ code: "NG_THREAD_CONFLICT" });
  await edit;
  expect((await engine.state("t"))!.state["log"]).toHaveLength(100_000);
});
