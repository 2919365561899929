/** Execution 4.3, 5.5, 5.8, 5.9, 6.2, 6.3: the effects of forks, edits, answers and crashes on the next step. */
import { describe, expect, test } from "vitest";
import type { Durability, NodeContext, Store } from "../../runtime/index.ts";
import { MemoryStore } from "../../runtime/stores/memory.ts";
import { CrashingStore } from "../support/crashing-store.ts";
import { engineOf } from "../support/graph.ts";

const CHAIN = `graph g {
  output x: int = 0
  node a = one() into x   node b = one() into x   node c = one() into x
  start -> a -> b -> c
}`;

describe("5.9 forks and edits are stored, whatever the durability", () => {
  test.each<Durability>(["sync", "async", "exit"])("%s", async (durability) => {
    let x = 0;
    const engine = engineOf(CHAIN, { one: () => ++x }, { store: new MemoryStore(), durability });
    await engine.run({}, { thread: "t", maxSteps: 2, durability: "sync" });
    const [, first] = await engine.history("t");
    expect(await engine.resume("t", { from: first!.id })).toMatchObject({ status: "completed", steps: [["b"], ["c"]] });
    const again = await engine.fork("t", { from: first!.id, at: "c" });
    expect(await engine.state("t")).toMatchObject({ checkpointId: again.checkpointId, next: ["c"] });
    const other = await engine.fork("t", { from: first!.id, as: "u" });
    expect(await engine.state("u")).toMatchObject({ checkpointId: other.checkpointId, next: ["b"] });
    const { checkpointId } = await engine.update("u", { x: 40 });
    expect(await engine.state("u")).toMatchObject({ checkpointId, state: { x: 40 } });
    await engine.update("u", { x: 50 }, { as: "b" });
    expect(await engine.state("u")).toMatchObject({ state: { x: 50 }, next: ["c"] });
  });
});

describe("what an edit or a jump replaces has nothing to do with what comes after", () => {
  const GRAPH = `graph g {
    state n: int = 0   output took: string = ""
    node look = look() into n
    node ask = ask() into took { pause before }   node fail = fail()
    start -> look -> ask, fail
  }`;
  const build = () => {
    const keys: string[] = [];
    const asked: unknown[] = [];
    const functions = {
      look: () => 1,
      ask: ({ idempotencyKey, interrupt }: NodeContext) => {
        keys.push(idempotencyKey);
        const answer = interrupt<string>("which?");
        asked.push(answer);
        return answer;
      },
      fail: () => {
        throw new Error("not today");
      },
    };
    return { keys, asked, engine: engineOf(GRAPH, functions, { store: new MemoryStore() }) };
  };

  test("5.5, 6.2 an edit `as` a node: tasks and pauses that are next again are others", async () => {
    const { engine, keys, asked } = build();
    const [gate] = (await engine.run({}, { thread: "t" })).pauses;
    expect((await engine.resume("t", { answers: { [gate!.id]: true } })).status).toBe("failed");
    await engine.update("t", {}, { as: "look" });
    // The gate is a new one, and the old approval does not apply to it.
    const [second] = (await engine.resume("t")).pauses;
    expect(second).toMatchObject({ kind: "before", node: "ask" });
    expect(second!.id).not.toBe(gate!.id);
    expect(await engine.resume("t", { answers: { [gate!.id]: true } })).toMatchObject({ status: "paused" });
    expect(keys).toHaveLength(1);
    expect((await engine.resume("t", { answers: { [second!.id]: true } })).status).toBe("failed");
    expect(new Set(keys).size).toBe(2);
    expect(asked).toEqual([]);
  });

  test("6.2 going on at a node: an answer given before does not reach it", async () => {
    const asked: unknown[] = [];
    const ask = ({ interrupt }: NodeContext): void => void asked.push([interrupt("which?"), interrupt("sure?")]);
    const engine = engineOf(`graph g { node ask = ask()  start -> ask }`, { ask }, { store: new MemoryStore() });
    await engine.run({}, { thread: "t" });
    const { checkpointId, pauses } = await engine.resume("t", { answer: "this one" });
    expect(pauses).toMatchObject([{ payload: "sure?" }]);
    // Unchanged, it waits for the second answer, at the node that it starts again.
    const same = await engine.resume("t", { from: checkpointId!, at: "ask" });
    expect(same).toMatchObject({ status: "paused", pauses: [{ payload: "which?" }] });
    await engine.resume("t", { answer: "that one" });
    expect(await engine.resume("t", { answer: "yes" })).toMatchObject({ status: "completed" });
    expect(asked).toEqual([["that one", "yes"]]);
  });
});

test("4.3 a failure that no error edge takes: a resume runs the node again", async () => {
  let attempts = 0;
  const engine = engineOf(
    `graph g { output x: int = 0  node a = a() into x  node b = 7 into x  start -> a -> end   a -> b on error when x > 5 }`,
    {
      a: () => {
        if (++attempts === 1) throw new Error("not today");
        return 3;
      },
    },
    { store: new MemoryStore() },
  );
  expect(await engine.run({}, { thread: "t" })).toMatchObject({ status: "failed" });
  expect(await engine.resume("t")).toMatchObject({ status: "completed", output: { x: 3 } });
  expect(attempts).toBe(2);
});

test("6.2 the answer to a gate is not lost when the run stops before the step behind it", async () => {
  let x = 0;
  const engine = engineOf(
    CHAIN.replace("node b = one() into x", "node b = one() into x { pause before }"),
    {
      one: () => ++x,
    },
    { store: new MemoryStore() },
  );
  const [gate] = (await engine.run({}, { thread: "t" })).pauses;
  const answers = { [gate!.id]: true };
  expect(await engine.resume("t", { answers, maxSteps: 1 })).toMatchObject({ status: "limit" });
  expect(await engine.resume("t")).toMatchObject({ status: "completed", steps: [["b"], ["c"]] });
});

test("6.3 a resume does not open a gate inside a called graph that was never reported", async () => {
  const store = new MemoryStore({ now: () => (now += 60_000) });
  let now = 0;
  const ran: string[] = [];
  const build = (through: Store) =>
    engineOf(
      `graph inner { output y: int = 0  node deploy = deploy() into y { pause before }  start -> deploy }
       graph g { output y: int = 0  node call = inner() into { y }  start -> call }`,
      { deploy: () => ran.push("deploy") },
      { store: through },
    );
  // The input, and the waiting checkpoint of the called graph. The process dies before the caller's checkpoint.
  const dying = new CrashingStore(store, 2);
  await expect(build(dying).run({}, { thread: "t" })).rejects.toThrow();
  expect(dying.log).toEqual(["save input -1", "save before -1"]);
  const waits = await build(store).resume("t");
  expect(waits).toMatchObject({ status: "paused", pauses: [{ kind: "before", node: "deploy" }] });
  expect(ran).toEqual([]);
  expect(await build(store).resume("t")).toMatchObject({ status: "completed", output: { y: 1 } });
});

test("7.1 an item that has used up its attempts does not run again while its siblings wait", async () => {
  const ran: number[] = [];
  const engine = engineOf(
    `graph g { output n: int[] = []  node every = each(x) for x in [0, 1, 2] into n { tries 2 }  node sorry = 1
       start -> every -> end   every -> sorry on error }`,
    {
      each: (x: number, { attempt, interrupt }: NodeContext) => {
        if (attempt === 1) ran.push(x);
        if (x === 0) throw Object.assign(new Error("not today"), { retryable: false });
        return interrupt<number>(`which ${x}?`);
      },
    },
    { store: new MemoryStore() },
  );
  const { pauses } = await engine.run({}, { thread: "t" });
  expect(pauses).toHaveLength(2);
  await engine.resume("t", { answers: { [pauses[0]!.id]: 1 } });
  const end = await engine.resume("t", { answers: { [pauses[1]!.id]: 2 } });
  expect(end).toMatchObject({ status: "completed", steps: [["every"], ["sorry"]] });
  expect(ran).toEqual([0, 1, 2, 1, 2]);
});
