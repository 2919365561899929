/** 5.9, 6.2: what a resume without an answer reports after the state or the graph was edited. */
import { describe, expect, test } from "vitest";
import type { NodeContext } from "../../runtime/interface/context.ts";
import type { Engine, RunResult } from "../../runtime/interface/engine-options.ts";
import { MemoryStore } from "../../runtime/stores/memory.ts";
import { engineOf } from "../support/graph.ts";

const PAY = `graph inner { input who: string  state sum: string = "10"  output v: string | null
    node q = ask("pay " + sum + " to " + who) into v  start -> q }
  graph g { state name: string = "bob"  state sum: string = "1"  output v: string | null  output w: string | null
    output vs: (string | null)[] = []
    node call = inner(who: name) into { v }
    node q = ask("pay " + sum) into w
    node every = inner(who: name + x) for x in ["1", "2"] into { v: vs }
    start -> call, q, every }`;

const asked = ({ pauses }: RunResult): unknown[] =>
  pauses.map(({ payload }) => (payload as { readonly question: string }).question);

const opened = async (): Promise<Engine> => {
  const engine = engineOf(PAY, {}, { store: new MemoryStore() });
  await engine.run({}, { thread: "t" });
  return engine;
};

describe("a resume without an answer reports the present questions", () => {
  test("of nodes, and of called graphs whose arguments have changed", async () => {
    const engine = await opened();
    await engine.update("t", { name: "eve", sum: "2" });
    const again = await engine.resume("t");
    expect(asked(again)).toEqual(["pay 10 to eve", "pay 2", "pay 10 to eve1", "pay 10 to eve2"]);
    expect((await engine.state("t"))!.pauses).toEqual(again.pauses);
    // It has stored them: another one changes nothing.
    expect(await engine.resume("t")).toMatchObject({ pauses: again.pauses, checkpointId: again.checkpointId });
    const answers = Object.fromEntries(again.pauses.map(({ id }, at) => [id, `${at}`]));
    expect((await engine.resume("t", { answers })).output).toEqual({ v: "0", w: "1", vs: ["2", "3"] });
  });

  test("of a called graph whose state was edited", async () => {
    const engine = await opened();
    await engine.update("t", { sum: "99" }, { in: "call" });
    await engine.update("t", { sum: "98" }, { in: "every[1]" });
    expect(asked(await engine.resume("t"))).toEqual(["pay 99 to bob", "pay 1", "pay 10 to bob1", "pay 98 to bob2"]);
  });

  test("in a fork, and beside an answer", async () => {
    const engine = await opened();
    await engine.update("t", { name: "eve" });
    await engine.fork("t", { as: "u" });
    const { id } = (await engine.state("u"))!.pauses.find(
      ({ node, namespace }) => node === "q" && namespace.length === 0,
    )!;
    expect(asked(await engine.resume("u", { answers: { [id]: "yes" } }))).toEqual([
      "pay 10 to eve",
      "pay 10 to eve1",
      "pay 10 to eve2",
    ]);
  });

  test("and runs no function that waits", async () => {
    let calls = 0;
    const wait = (_: string, context: NodeContext): string => (calls++, context.interrupt<string>("go on?"));
    const text = `graph g { state name: string = "bob"  output v: string | null  node w = wait(name) into v  start -> w }`;
    const engine = engineOf(text, { wait }, { store: new MemoryStore() });
    await engine.run({}, { thread: "t" });
    await engine.update("t", { name: "eve" });
    const { checkpointId } = (await engine.state("t"))!;
    expect(await engine.resume("t")).toMatchObject({ status: "paused", checkpointId });
    expect(calls).toBe(1);
  });
});
