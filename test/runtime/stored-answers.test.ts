/** Execution, 6.2: answers that were stored just before a crash. */
import { describe, expect, test } from "vitest";
import type { NodeContext } from "../../runtime/index.ts";
import { MemoryStore } from "../../runtime/stores/memory.ts";
import { CrashingStore } from "../support/crashing-store.ts";
import { engineOf } from "../support/graph.ts";

const TEXT = `graph g { output all: json[] reduce append  node a = a() into all  node b = b() into all
  node end_of_it = "done" into all  start -> a, b  all(a, b) -> end_of_it }`;

describe("6.2 an answer that was stored before the process died", () => {
  const crashed = async (answered: readonly ("a" | "b")[]) => {
    let now = 0;
    const memory = new MemoryStore({ now: () => now });
    const ran: string[] = [];
    const body = (name: string) => (context: NodeContext) => {
      const answer = context.interrupt<number>(name);
      ran.push(name);
      return answer;
    };
    const functions = { a: body("a"), b: body("b") };
    const engine = engineOf(TEXT, functions, { store: memory });
    const { pauses } = await engine.run({}, { thread: "t" });
    const id = (node: string): string => pauses.find((pause) => pause.node === node)!.id;
    const answers = Object.fromEntries(answered.map((name, index) => [id(name), index + 1]));
    const dying = engineOf(TEXT, functions, { store: new CrashingStore(memory, 1) });
    await expect(dying.resume("t", { answers })).rejects.toMatchObject({ code: "NG_STORE_FAILED" });
    ran.length = 0;
    // The lease of the dead process has ended.
    now += 60_000;
    return { engine, id, ran };
  };

  test("waits no more, in the thread's state and in its history", async () => {
    const { engine, id } = await crashed(["a"]);
    expect(await engine.state("t")).toMatchObject({ status: "paused", pauses: [{ id: id("b") }] });
    const [head] = await engine.history("t");
    expect(head).toMatchObject({ status: "paused", pauses: [{ id: id("b") }], answers: [{ id: id("a"), value: 1 }] });
    expect(await engine.resume("t", { answer: 2 })).toMatchObject({
      status: "completed",
      output: { all: [1, 2, "done"] },
    });
  });

  test("when it was the last one, the thread is running, and a resume continues", async () => {
    const { engine, ran } = await crashed(["a", "b"]);
    expect(await engine.state("t")).toMatchObject({ status: "running", pauses: [] });
    expect((await engine.history("t"))[0]).toMatchObject({ status: "running", pauses: [] });
    await expect(engine.resume("t", { answer: 2 })).rejects.toMatchObject({
      code: "NG_NOT_PAUSED",
      message: "every pause of thread `t` has its answer: resume the thread without one",
    });
    expect(await engine.resume("t")).toMatchObject({ status: "completed", output: { all: [1, 2, "done"] } });
    expect(ran).toEqual(["a", "b"]);
  });

  test("it stays answered in a fork, and after an edit of the state", async () => {
    const { engine, id } = await crashed(["a"]);
    await engine.fork("t", { as: "u" });
    await engine.update("t", { all: ["edited"] });
    for (const thread of ["t", "u"]) {
      const state = await engine.state(thread);
      expect(state?.pauses.map(({ node }) => node)).toEqual(["b"]);
      const { status, output } = await engine.resume(thread, { answer: 2 });
      expect([status, output["all"]]).toEqual([
        "completed",
        thread === "t" ? ["edited", 1, 2, "done"] : [1, 2, "done"],
      ]);
    }
    await expect(engine.resume("t", { answers: { [id("a")]: 5 } })).rejects.toMatchObject({ code: "NG_BAD_ANSWER" });
  });
});

test("6.2: the same bare answer again is harmless, another one is refused", async () => {
  let now = 0;
  const memory = new MemoryStore({ now: () => now });
  const wait = (context: NodeContext): number => context.interrupt();
  const text = "graph g { output n: int = 0  node a = wait() into n  start -> a }";
  const engine = engineOf(text, { wait }, { store: memory });
  await engine.run({}, { thread: "t" });
  const dying = engineOf(text, { wait }, { store: new CrashingStore(memory, 1) });
  await expect(dying.resume("t", { answer: 3 })).rejects.toMatchObject({ code: "NG_STORE_FAILED" });
  now += 60_000;
  await expect(engine.resume("t", { answer: 4 })).rejects.toMatchObject({
    code: "NG_BAD_ANSWER",
    message: expect.stringContaining("has been answered already, with 3") as string,
  });
  expect(await engine.resume("t", { answer: 3 })).toMatchObject({ status: "completed", output: { n: 3 } });
  await expect(engine.resume("t", { answer: 3 })).rejects.toMatchObject({ code: "NG_NOT_PAUSED" });
});
