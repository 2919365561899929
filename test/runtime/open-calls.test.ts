/** Called graphs that a run has begun, and that its next execution does not reach: it is cancelled, drained or fails before. */
import { describe, expect, test } from "vitest";
import type { Engine, RunResult } from "../../runtime/interface/engine-options.ts";
import { MemoryStore } from "../../runtime/stores/memory.ts";
import { engineOf } from "../support/graph.ts";

const TEXT = `graph child { input x: string  output y: string | null  state ref: string | null
  node book = book(x) into ref { undo unbook(ref) }  node pay = pay(x) into y  start -> book -> pay }
graph g { state xs: string[] = ["a", "b"]  output out: json[] = [] reduce append
  node every = child(x: x) for x in xs into { y: out } { max parallel 1 }  start -> every }`;

type How = "cancel" | "drain" | "abort";
type Open = (text?: string) => Engine;

/**
 * The calls of both items have booked, and have failed. The next execution continues the first call, and ends before the second.
 *
 * @param isFork the execution is a fork inside the thread
 */
async function unreached(how: How, isFork = false): Promise<{ readonly ran: string[]; readonly open: Open }> {
  const ran: string[] = [];
  let mode: "fails" | "blocks" | "works" = "fails";
  let end: (() => void) | undefined;
  const functions = {
    book: (x: string) => {
      ran.push(`book ${x}`);
      return x;
    },
    pay: (x: string) => {
      if (mode === "fails") throw new Error("down");
      if (mode === "works") return x;
      return new Promise<string>((resolve, reject) => {
        end = () => (how === "abort" ? reject(new Error("down")) : resolve(x));
      });
    },
    unbook: (ref: string) => void ran.push(`unbook ${ref}`),
  };
  const store = new MemoryStore();
  const open: Open = (text = TEXT) => engineOf(text, functions, { store });
  const engine = open();
  await engine.run({}, { thread: "t" });
  expect(ran).toEqual(["book a", "book b"]);
  const { checkpointId: from } = (await engine.state("t"))!;
  if (isFork) await engine.update("t", {});
  mode = "blocks";
  const resumed = engine.resume("t", { onFailure: "abort", ...(isFork ? { from } : {}) });
  while (end === undefined) await new Promise((next) => setImmediate(next));
  const drained = how === "drain" ? engine.drain() : undefined;
  if (how === "cancel") engine.cancel("t");
  else end();
  await drained;
  expect((await resumed).status).toBe(how === "abort" ? "failed" : "cancelled");
  mode = "works";
  ran.length = 0;
  return { ran, open };
}

describe.each(["cancel", "drain", "abort"] as const)("a call that a run has not reached before its %s", (how) => {
  const resume = (open: Open): Promise<RunResult> => open().resume("t");
  const fork = async (open: Open): Promise<RunResult> => {
    await open().fork("t", { as: "f" });
    return open().resume("f");
  };
  const rename = async (open: Open): Promise<RunResult> => {
    const engine = open(TEXT.replace("every =", "each_of =").replace("-> every", "-> each_of"));
    await engine.migrate("t", { rename: { every: "each_of" } });
    return engine.resume("t");
  };

  test.each([
    ["thread", resume, false],
    ["thread, after a fork inside of it", resume, true],
    ["fork", fork, false],
    ["fork of a fork", fork, true],
    ["thread under another name of its node", rename, false],
  ])("continues in its %s", async (_, continues, isFork) => {
    const { ran, open } = await unreached(how, isFork);
    expect(await continues(open)).toMatchObject({ status: "completed", output: { out: ["a", "b"] } });
    expect(ran).toEqual([]);
  });

  test("is rolled back, also after a fork inside the thread", async () => {
    const { ran, open } = await unreached(how, true);
    await open().rollback("t");
    expect(ran).toEqual(["unbook b", "unbook a"]);
  });
});

describe("a run that ends while a call waits for its next attempt", () => {
  async function cutOff(end: (engine: Engine) => unknown): Promise<{ readonly ran: string[]; readonly open: Open }> {
    const ran: string[] = [];
    const waits: (() => void)[] = [];
    let isDown = true;
    const functions = {
      book: (x: string) => void ran.push(`book ${x}`),
      pay: (x: string) => {
        if (isDown) throw new Error("down");
        return x;
      },
      unbook: () => void ran.push("unbook"),
    };
    const text = `graph child { input x: string  output y: string | null
      node book = book(x) { undo unbook() }  node pay = pay(x) into y  start -> book -> pay }
    graph g { output out: string | null  node call = child(x: "a") into { y: out } { tries 2 backoff 1h }  start -> call }`;
    const store = new MemoryStore();
    const clock = {
      now: () => 0,
      setTimeout: (work: () => void, delay: number) => (delay >= 3_600_000 ? waits.push(work) : undefined),
      clearTimeout: () => undefined,
    };
    const open: Open = () => engineOf(text, functions, { store, clock });
    const engine = open();
    const started = engine.run({}, { thread: "t" });
    while (waits.length === 0) await new Promise((next) => setImmediate(next));
    const ended = end(engine);
    for (const work of waits) work();
    await ended;
    expect((await started).status).toBe("cancelled");
    isDown = false;
    return { ran, open };
  }
  const ends: readonly (readonly [string, (engine: Engine) => unknown])[] = [
    ["cancelled", (engine) => engine.cancel("t")],
    ["drained", (engine) => engine.drain()],
  ];

  test.each(ends)("%s: its call is rolled back", async (_, end) => {
    const { ran, open } = await cutOff(end);
    await open().rollback("t");
    expect(ran).toEqual(["book a", "unbook"]);
  });

  test.each(ends)("%s: its call continues in the thread and in a fork", async (_, end) => {
    const { ran, open } = await cutOff(end);
    await open().fork("t", { as: "f" });
    for (const thread of ["t", "f"]) expect((await open().resume(thread)).output).toEqual({ out: "a" });
    expect(ran).toEqual(["book a"]);
  });
});

test("a call continues after another item has used its namespace in a process that died", async () => {
  let now = 0;
  const store = new MemoryStore({ now: () => now });
  const ran: string[] = [];
  let mode: "fails" | "hangs" | "works" = "fails";
  let begun = (): void => undefined;
  const functions = {
    take: (x: string) => void ran.push(`take ${x}`),
    send: (x: string): string | Promise<string> => {
      ran.push(`send ${x}`);
      if (mode === "fails") throw new Error("down");
      if (mode === "works") return x;
      begun();
      return new Promise(() => undefined);
    },
  };
  const open = (item: string): Engine =>
    engineOf(
      `graph child { input x: string  output y: string  node take = take(x)  node send = send(x) into y  start -> take -> send }
      graph g { output out: string[] = [] reduce append
        node every = child(x: x) for x in ["${item}"] into { y: out }  start -> every }`,
      functions,
      { store },
    );
  await open("a").run({}, { thread: "t" });
  mode = "hangs";
  const isRunning = new Promise<void>((resolve) => (begun = resolve));
  open("b")
    .resume("t")
    .catch(() => undefined);
  await isRunning;
  now = 3_600_000;
  mode = "works";
  expect((await open("a").resume("t")).output).toEqual({ out: ["a"] });
  expect(ran).toEqual(["take a", "send a", "take b", "send b", "send a"]);
  const history = await store.list("t", { namespace: "every[0]" });
  expect(history.at(0)).toMatchObject({ status: "completed" });
});
