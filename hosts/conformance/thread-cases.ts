import { expectEqual } from "../../runtime/stores/conformance/expect.ts";
import { expectRefused, hostCase, noCode, type HostCase } from "./host-case.ts";

const COUNT = `graph count { output n: int = 0  memory runs: int = 0
  node next = n + 1 into n  node last = runs + 1 into runs  start -> next -> next when n < 3  next -> last otherwise }`;

const WORK = `graph items { input list: int[]  output done: int[]  output ended: string
  node one = work(i) for i in list into done  node last = finish() into ended  start -> one -> last }`;

/** A body that waits until the case lets it go on. */
function held() {
  const calls: number[] = [];
  let open: (() => void) | undefined;
  const gate = new Promise<void>((resolve) => {
    open = resolve;
  });
  let started: (() => void) | undefined;
  const hasStarted = new Promise<void>((resolve) => {
    started = resolve;
  });
  const functions = {
    work: async (n: number) => {
      calls.push(n);
      if (n === 2) {
        started!();
        await gate;
      }
      return n;
    },
    finish: () => "finished",
  };
  return { calls, functions, open: () => open!(), hasStarted };
}

export const THREADS: readonly HostCase[] = [
  hostCase("5.1 the history has a checkpoint for each step", { text: COUNT, code: noCode }, async ({ engine }) => {
    await engine.run({}, { thread: "t", metadata: { by: "ada" } });
    const history = await engine.history("t");
    expectEqual(
      history.map(({ step }) => step),
      [3, 2, 1, 0, -1],
      "the steps",
    );
    expectEqual(history.map(({ values }) => values["n"] ?? null).slice(0, 3), [3, 3, 2], "the values");
    expectEqual(history[0]?.metadata, { by: "ada" }, "the metadata");
  }),
  hostCase("5.9 a thread is forked at a label, and continues", { text: COUNT, code: noCode }, async ({ engine }) => {
    await engine.run({}, { thread: "t" });
    const second = (await engine.history("t")).find(({ step }) => step === 1)!;
    await engine.label("t", "second", { checkpoint: second.id });
    const { thread } = await engine.fork("t", { from: "second", as: "fork" });
    expectEqual((await engine.state(thread))?.state["n"], 2, "the state of the fork");
    expectEqual((await engine.resume(thread)).output, { n: 3 }, "the output of the fork");
  }),
  hostCase("5.9 an edit changes the state", { text: COUNT, code: noCode }, async ({ engine }) => {
    await engine.run({}, { thread: "t" });
    await engine.update("t", { n: 10 });
    expectEqual((await engine.state("t"))?.state["n"], 10, "the state");
  }),
  hostCase(
    "5.13 a second run keeps the memory, and nothing else",
    { text: COUNT, code: noCode },
    async ({ engine }) => {
      await engine.run({}, { thread: "t" });
      const { output, state } = await engine.run({}, { thread: "t" });
      expectEqual([output, state["runs"]], [{ n: 3 }, 2], "the second run");
    },
  ),
  hostCase("5.13 an unknown thread cannot be resumed", { text: COUNT, code: noCode }, async ({ engine }) => {
    await expectRefused("NG_UNKNOWN_THREAD", () => engine.resume("nobody"), "the resume");
    expectEqual(await engine.state("nobody"), undefined, "the state");
  }),
  hostCase("4.4 a run is cancelled, and its thread continues", { text: WORK, code: held }, async ({ engine }, code) => {
    const controller = new AbortController();
    const running = engine.run({ list: [1, 2, 3] }, { thread: "t", signal: controller.signal });
    await code.hasStarted;
    controller.abort(new Error("no longer needed"));
    const cancelled = await running;
    expectEqual([cancelled.status, cancelled.error?.code], ["cancelled", "NG_CANCELLED"], "the run");
    code.open();
    const done = await engine.resume("t");
    expectEqual([done.status, done.output], ["completed", { done: [1, 2, 3], ended: "finished" }], "the resume");
  }),
  hostCase(
    "5.4, 5.5 after a crash, a task whose result was stored does not run again",
    { text: WORK, code: held, needsCrash: true },
    async ({ engine, crash }, code) => {
      const list = [1, 3, 4, 5, 2];
      const running = engine.run({ list }, { thread: "t" });
      await code.hasStarted;
      // The results of the other items are stored by now.
      await new Promise((resolve) => setTimeout(resolve, 300));
      await crash();
      code.open();
      const end = await running;
      expectEqual([end.status, end.error?.message], ["completed", undefined], "the status");
      expectEqual(end.output, { done: list, ended: "finished" }, "the output");
      const others = code.calls.filter((n) => n !== 2);
      expectEqual([...others].sort(), [1, 3, 4, 5], "the calls of the other items");
    },
  ),
];
