/** W4, 6.2: a run dies after it has stored an answer or taken a signal, while another pause of the thread still waits. */
import { describe, expect, test } from "vitest";
import type { Engine } from "../../runtime/interface/engine-options.ts";
import type { Store } from "../../runtime/interface/store.ts";
import { threadsOf } from "../../runtime/thread/list-threads.ts";
import { MemoryStore } from "../../runtime/stores/memory.ts";
import { CrashingStore } from "../support/crashing-store.ts";
import { engineOf } from "../support/graph.ts";

const CALLED = `graph child { output got: string | null  output n: int = 0
    node get = receive("x") into got  node work = 1 into n  start -> get -> work }
  graph g { output got: string | null  output n: int = 0  output ok: string | null
    node call = child() into { got, n }  node ask = ask("ok?") into ok  start -> call, ask }`;
const QUESTIONS = `graph g { output got: string | null  output n: int = 0  output ok: string | null
    node get = ask("x?") into got  node work = 1 into n  node ask = ask("ok?") into ok  start -> get, ask  get -> work }`;

const acts: Readonly<Record<string, (engine: Engine, id: string) => Promise<unknown>>> = {
  "a signal to a called graph": (engine) => engine.due(undefined, { threads: ["t"] }),
  "one of two answers": (engine, id) => engine.resume("t", { answers: { [id]: "hello" } }),
};

describe.each(Object.entries(acts))("%s is not lost, and its work does not wait for the other pause", (what, act) => {
  const text = what.startsWith("a signal") ? CALLED : QUESTIONS;
  test.each(["before", "after"] as const)("when the process dies %s a write", async (when) => {
    for (let left = 0; left < 6; left++) {
      let now = 0;
      const store = new MemoryStore({ now: () => now });
      const open = (of: Store): Engine => engineOf(text, {}, { store: of, wake: false });
      const { pauses } = await open(store).run({}, { thread: "t" });
      const id = pauses.find(({ node }) => node !== "ask")!.id;
      if (text === CALLED) await open(store).signal("t", "x", "hello");
      const dying = new CrashingStore(store, left, when);
      await act(open(dying), id).catch(() => undefined);
      // The lease of the dead process ends.
      now += 60_000;
      const engine = open(store);
      const [listed] = await engine.threads();
      await engine.recover();
      await engine.due();
      const state = await engine.state("t");
      if (listed!.status === "paused" && state!.pauses.length === 2) {
        // Nothing was stored before the process died.
        await engine.resume("t", { answers: { [id]: "hello" } });
      }
      expect((await engine.state("t"))!.pauses, `${left} writes`).toMatchObject([{ node: "ask" }]);
      expect((await engine.state("t"))!.status).toBe("paused");
      const end = await engine.resume("t", { answer: "yes" });
      expect(end).toMatchObject({ status: "completed", output: { got: "hello", n: 1, ok: "yes" } });
    }
  });
});

test("an answer to a prepared fork is taken up after a crash", async () => {
  let now = 0;
  const store = new MemoryStore({ now: () => now });
  const engine = engineOf(QUESTIONS, {}, { store, wake: false });
  await engine.run({}, { thread: "t" });
  await engine.fork("t", { as: "u" });
  const id = (await engine.state("u"))!.pauses.find(({ node }) => node === "get")!.id;
  const dying = engineOf(QUESTIONS, {}, { store: new CrashingStore(store, 1), wake: false });
  await dying.resume("u", { answers: { [id]: "hello" } }).catch(() => undefined);
  now += 60_000;
  expect((await engine.threads({ status: "interrupted" })).map(({ thread }) => thread)).toEqual(["u"]);
  expect((await engine.recover()).results).toMatchObject([
    { thread: "u", status: "paused", pauses: [{ node: "ask" }] },
  ]);
});

const SIGNALS = `graph g { output got: string | null  output other: string | null  output n: int = 0
    node get = receive("x") into got  node second = receive("y") into other  node work = 5 into n
    start -> get, second  all(get, second) -> work }`;

describe("W3 a task that has taken its signal before a crash no longer waits", () => {
  test.each(["before", "after"] as const)("when the process dies %s a write", async (when) => {
    for (let left = 0; left < 6; left++) {
      let now = 0;
      const store = new MemoryStore({ now: () => now });
      const open = (of: Store): Engine => engineOf(SIGNALS, {}, { store: of, wake: false });
      await open(store).run({}, { thread: "t" });
      await open(store).signal("t", "x", "hello");
      await open(store).signal("t", "y", "you");
      await open(new CrashingStore(store, left, when)).due(undefined, { threads: ["t"] });
      now += 60_000;
      const engine = open(store);
      await engine.recover();
      await engine.due();
      expect(await engine.threads({ status: "interrupted" }), `${left} writes`).toEqual([]);
      expect(await engine.state("t")).toMatchObject({
        status: "completed",
        state: { got: "hello", other: "you", n: 5 },
      });
    }
  });
});

describe("5.7 a crash after the nodes of a thread were renamed", () => {
  const graph = (get: string, ask: string): string => `graph g { output got: string | null  output ok: string | null
    node ${get.replace(" ", ' = receive("x") into got ')}  node ${ask.replace(" ", ' = ask("ok?") into ok ')}
    start -> ${get.split(" ")[0]}, ${ask.split(" ")[0]} }`;
  const [before, after] = [graph("get ", "ask "), graph("take { was get }", "question { was ask }")];

  test.each(["a signal", "an answer", "both"])("%s is taken up", async (what) => {
    for (const [when, left] of ["before", "after"].flatMap((each) =>
      [0, 1, 2, 3, 4, 5].map((n) => [each, n] as const),
    )) {
      let now = 0;
      const store = new MemoryStore({ now: () => now });
      const { pauses } = await engineOf(before, {}, { store, wake: false }).run({}, { thread: "t" });
      const answers = { [pauses.find(({ node }) => node === "ask")!.id]: "yes" };
      const open = (of: Store): Engine => engineOf(after, {}, { store: of, wake: false });
      if (what !== "an answer") await open(store).signal("t", "x", "hello");
      const dying = open(new CrashingStore(store, left, when as "before" | "after"));
      const act = what === "a signal" ? dying.due(undefined, { threads: ["t"] }) : dying.resume("t", { answers });
      await act.catch(() => undefined);
      now += 60_000;
      const engine = open(store);
      const place = `${left} writes, ${when}`;
      const written = store.getWrites("t", store.loadLatest("t")!.id).map(({ taskId }) => taskId);
      await engine.recover();
      await engine.due();
      expect(await engine.threads({ status: "interrupted" }), place).toEqual([]);
      const waiting = (await engine.state("t"))!.pauses.map(({ node }) => node);
      if (what !== "an answer") expect(waiting, place).not.toContain("take");
      // A stored answer needs no other call to have its effect.
      if (written.some((task) => task.startsWith("answer:"))) expect(waiting, place).not.toContain("question");
      if (waiting.includes("take")) await engine.signal("t", "x", "hello");
      await engine.due();
      if ((await engine.state("t"))!.status === "paused") await engine.resume("t", "yes");
      expect(await engine.state("t"), place).toMatchObject({ status: "completed", state: { got: "hello", ok: "yes" } });
    }
  });

  test("a listing without the graph finds the thread, too", async () => {
    let now = 0;
    const store = new MemoryStore({ now: () => now });
    const { pauses } = await engineOf(before, {}, { store, wake: false }).run({}, { thread: "t" });
    const answers = { [pauses.find(({ node }) => node === "ask")!.id]: "yes" };
    const dying = engineOf(after, {}, { store: new CrashingStore(store, 0, "after"), wake: false });
    await dying.resume("t", { answers }).catch(() => undefined);
    now += 60_000;
    expect((await threadsOf(store, {})).map(({ status }) => status)).toEqual(["interrupted"]);
  });
});
