/** Runs together leave the event loop a turn every few milliseconds, also when a program starts many at once. */
import { expect, it } from "vitest";
import type { Clock, NodeContext } from "../../runtime/index.ts";
import { atNextTurn } from "../../runtime/run/next-turn.ts";
import { turnOf } from "../../runtime/run/take-turns.ts";
import { MemoryStore } from "../../runtime/stores/memory.ts";
import { engineOf } from "../support/graph.ts";

const CHAIN = `graph chain { input n: int  state x: int = 0  output y: int = 0
  node a = add(n) into x  node b = add(x) into y  start -> a -> b }`;
const functions = { add: (n: number) => n + 1 };
const RUNS = 200;

/** Each reading is some milliseconds later. */
function slowClock(milliseconds = 1): Clock {
  let time = 0;
  return {
    now: () => (time += milliseconds),
    setTimeout: (callback, ms) => setTimeout(callback, ms),
    clearTimeout: (timer) => clearTimeout(timer as NodeJS.Timeout),
    nextTurn: (callback) => void setImmediate(callback),
  };
}

it.each([
  ["without a store", () => ({})],
  ["with a store", () => ({ store: new MemoryStore() })],
])("of many runs %s only some end within a turn", async (_, options) => {
  const engine = engineOf(CHAIN, functions, { clock: slowClock(), ...options() });
  const ended: number[] = [];
  const perTurn: number[] = [];
  const runs = Array.from({ length: RUNS }, async (_each, n) => {
    const { output } = await engine.run({ n });
    expect(output).toEqual({ y: n + 2 });
    ended.push(n);
  });
  for (let before = 0; before < RUNS; before = ended.length) {
    await new Promise((resolve) => setImmediate(resolve));
    perTurn.push(ended.length - before);
  }
  await Promise.all(runs);
  expect(Math.max(...perTurn)).toBeLessThan(RUNS / 2);
});

it("work for the next turn is done in its order, and in several turns if it takes long", async () => {
  const clock = slowClock();
  const turn = turnOf(clock);
  const done: number[] = [];
  const order = Array.from({ length: 200 }, (_each, n) => n);
  for (const n of order.slice(0, 100)) atNextTurn(turn, clock, () => done.push(n));
  let most = 0;
  for (let before = 0; before < 200; before = done.length) {
    await new Promise((resolve) => setImmediate(resolve));
    most = Math.max(most, done.length - before);
    // Behind what is left of the first.
    if (before === 0) for (const n of order.slice(100)) atNextTurn(turn, clock, () => done.push(n));
  }
  expect(done).toEqual(order);
  expect(most).toBeLessThan(100);
});

it.each([
  ["synchronous", (n: number): number | Promise<number> => n],
  ["asynchronous", (n: number): number | Promise<number> => Promise.resolve(n)],
])("of 10,000 items with %s bodies only some run within a turn", async (_, work) => {
  const text = `graph g { input xs: int[]  output ys: int[] = [] reduce append
    node work_all = work(x) for x in xs into ys  start -> work_all }`;
  let started = 0;
  const count = (n: number): number | Promise<number> => {
    started++;
    return work(n);
  };
  for (const options of [{}, { store: new MemoryStore() }]) {
    const engine = engineOf(text, { work: count }, { clock: slowClock(), ...options });
    const xs = Array.from({ length: 10_000 }, (_each, n) => n);
    started = 0;
    let isOver = false;
    const run = engine.run({ xs }).finally(() => (isOver = true));
    let most = 0;
    while (!isOver) {
      const before = started;
      await new Promise((resolve) => setImmediate(resolve));
      most = Math.max(most, started - before);
    }
    expect((await run).output).toEqual({ ys: xs });
    // The clock is read once in 8 items, and each reading takes a millisecond.
    expect(most).toBeLessThan(200);
  }
});

it.each([
  ["a list", (count: number) => Array.from({ length: count }, (_, n) => n)],
  ["a list in a record", (count: number) => ({ some: { rows: Array.from({ length: count }, (_, n) => ({ n })) } })],
  ["a map", (count: number) => Object.fromEntries(Array.from({ length: count }, (_, n) => [`k${n}`, n]))],
])("a long input is copied in one turn, and checked and stored in a later one: %s", async (_, value) => {
  const text = `graph g { input given: json  output back: json = null  node pass = given into back  start -> pass }`;
  const store = new MemoryStore();
  let turn = 0;
  const claims: number[] = [];
  const saves: number[] = [];
  const claim = store.claim.bind(store);
  store.claim = (...args) => {
    claims.push(turn);
    return claim(...args);
  };
  const save = store.save.bind(store);
  store.save = (claimed, request) => {
    if (request.header.phase === "input") saves.push(turn);
    return save(claimed, request);
  };
  // For this clock only a long value ends a turn.
  const engine = engineOf(text, {}, { store, clock: slowClock(0) });
  // Loads the code for threads.
  await engine.run({ given: 1 });
  claims.length = saves.length = 0;
  for (const count of [20, 20_000]) {
    await new Promise((resolve) => setImmediate(resolve));
    const given = value(count);
    turn = 0;
    setImmediate(() => turn++);
    expect((await engine.run({ given })).output).toEqual({ back: given });
  }
  expect(saves).toEqual([0, 1]);
  // A run that another process begins later does not overtake this one.
  expect(claims).toEqual([0, 0]);
});

it("the updates of many items are applied in a turn after that of the last item", async () => {
  const text = `graph g { input n: int  output s: int = 0 reduce addUp
    node work_all = work(i) for i in range(n) into s  start -> work_all }`;
  let turn = 0;
  const count = (): void => {
    turn++;
    if (turn < 1_000_000) counter = setImmediate(count);
  };
  let counter = setImmediate(count);
  const turns: { last: number; reduced: number }[] = [];
  let last = 0;
  const engine = engineOf(text, {
    work: async (n: number) => {
      last = turn;
      return n;
    },
    addUp: (_now: number, more: readonly number[]) => {
      turns.push({ last, reduced: turn });
      return more.length;
    },
  });
  for (const n of [5000, 20_000]) expect((await engine.run({ n })).output).toEqual({ s: n });
  clearImmediate(counter);
  for (const each of turns) expect(each.reduced - each.last).toBeGreaterThanOrEqual(1);
});

/** The most turns of the event loop that pass while `work` is in progress. */
async function turnsOf(work: () => Promise<unknown>): Promise<number> {
  let turns = 0;
  let isOver = false;
  const done = work().finally(() => (isOver = true));
  for (; !isOver; turns++) await new Promise((resolve) => setImmediate(resolve));
  await done;
  return turns;
}

it.each([["merge"], ["union"]])(
  "a reducer %s over a long list has several turns, and a short one none",
  async (reducer) => {
    const text = `type Row = { id: string, n: int }
    graph g { input rows: Row[]  input more: Row[]  output all: Row[] = [] reduce ${reducer}
    node first = rows into all  node second = more into all  start -> first -> second }`;
    const rows = (from: number, to: number) =>
      Array.from({ length: to - from }, (_, n) => ({ id: `row ${from + n}`, n: from + n }));
    for (const options of [{}, { store: new MemoryStore() }]) {
      const engine = engineOf(text, {}, { clock: slowClock(), ...options });
      const run = async (count: number): Promise<void> => {
        const { output } = await engine.run({ rows: rows(0, count), more: rows(count - 1, count + 1) });
        expect(output).toEqual({ all: rows(0, count + 1) });
      };
      const [short, long] = [await turnsOf(() => run(20)), await turnsOf(() => run(20_000))];
      // The clock is read after each 256 items, and each reading takes a millisecond: 25 turns of 6 readings.
      expect(long - short).toBeGreaterThan(20);
    }
  },
);

it("the tasks of a long `for`, and its results, are made in several turns", async () => {
  const text = `graph g { input xs: int[]  output ys: int[] = [] reduce append
    node none = x for x in xs if x < 0 into ys  start -> none }`;
  const engine = engineOf(text, {}, { clock: slowClock() });
  const run = async (count: number): Promise<void> => {
    const xs = Array.from({ length: count }, (_, n) => n);
    expect((await engine.run({ xs })).output).toEqual({ ys: [] });
  };
  const [short, long] = [await turnsOf(() => run(20)), await turnsOf(() => run(20_000))];
  expect(long - short).toBeGreaterThan(10);
});

it("an edit that moves many unfinished items has several turns, and each item keeps its key", async () => {
  const text = `graph g { input xs: int[]  output ys: int[] = [] reduce append
    node every = work(x) for x in xs into ys  start -> every }`;
  const keys = new Map<number, string>();
  let isDown = true;
  let others = 0;
  const work = (x: number, context: NodeContext): number => {
    const known = keys.get(x);
    keys.set(x, context.idempotencyKey);
    if (known !== undefined && known !== context.idempotencyKey) others++;
    if (isDown && x % 4 !== 0) throw new Error("down");
    return x;
  };
  const engine = engineOf(text, { work }, { clock: slowClock(), store: new MemoryStore() });
  const edit = async (count: number): Promise<number> => {
    const thread = `t${count}`;
    const xs = Array.from({ length: count }, (_, n) => n);
    isDown = true;
    keys.clear();
    expect((await engine.run({ xs }, { thread })).status).toBe("failed");
    const back = xs.toReversed();
    const turns = await turnsOf(() => engine.update(thread, { xs: back }, { replace: true }));
    isDown = false;
    expect((await engine.resume(thread)).output).toEqual({ ys: back });
    return turns;
  };
  const [short, long] = [await edit(20), await edit(2000)];
  expect(others).toBe(0);
  expect(long - short).toBeGreaterThan(5);
});

it.each([
  ["as a node", { as: "first" }],
  ["of values alone", {}],
  ["of whole values", { replace: true }],
])("an edit with many values has several turns: %s", async (_, options) => {
  const text = `type Row = { id: string, n: int }
    graph g { input rows: Row[]  output all: Row[] = [] reduce merge  output count: int = 0
    node first = rows into all  node last = len(all) into count  start -> first -> last }`;
  const engine = engineOf(text, {}, { clock: slowClock(), store: new MemoryStore() });
  const edit = async (count: number): Promise<number> => {
    const thread = `t${count}`;
    const rows = Array.from({ length: count }, (_, n) => ({ id: `row ${n}`, n }));
    await engine.run({ rows }, { thread });
    const all = rows.map(({ id, n }) => ({ id, n: n + 1 }));
    const turns = await turnsOf(() => engine.update(thread, { all }, options));
    const values = (await engine.state(thread))?.state["all"];
    expect(values).toEqual(all);
    return turns;
  };
  const [short, long] = [await edit(20), await edit(20_000)];
  // Of whole values: the copy, what is read from the store, the check, and the save. `merge` also has its parts.
  expect(long - short).toBeGreaterThanOrEqual("replace" in options ? 3 : 15);
});

it("a prune that finds nothing to remove in many threads has several turns", async () => {
  const engine = engineOf(CHAIN, functions, { clock: slowClock(), store: new MemoryStore() });
  const prune = async (): Promise<number> =>
    turnsOf(async () => {
      const { pruned, deleted } = await engine.prune({ keepLast: 10, limit: 5 });
      expect([pruned, deleted]).toEqual([[], []]);
    });
  await engine.run({ n: 0 });
  const few = await prune();
  await Promise.all(Array.from({ length: 600 }, (_, n) => engine.run({ n })));
  // The clock is read for each thread and for each page, and each reading takes a millisecond.
  expect((await prune()) - few).toBeGreaterThan(60);
});

it("a run that is cancelled while its reducer reads a long list ends after the step, or resumes with it", async () => {
  const text = `graph g { input xs: int[]  output all: int[] = [] reduce union  output n: int = 0
    node first = xs into all  node last = len(all) into n  start -> first -> last }`;
  const engine = engineOf(text, {}, { clock: slowClock(), store: new MemoryStore() });
  const xs = Array.from({ length: 20_000 }, (_, n) => n);
  for (let turn = 0; turn < 40; turn += 3) {
    const controller = new AbortController();
    const running = engine.run({ xs }, { thread: `t${turn}`, signal: controller.signal });
    for (let n = 0; n < turn; n++) await new Promise((resolve) => setImmediate(resolve));
    controller.abort();
    const { status } = await running;
    expect(["cancelled", "completed"]).toContain(status);
    if (status === "completed" || (await engine.threads()).every(({ thread }) => thread !== `t${turn}`)) continue;
    expect((await engine.resume(`t${turn}`)).output).toEqual({ all: xs, n: 20_000 });
  }
});

it("a history of many checkpoints is read in several turns, and is whole", async () => {
  const text = `graph g { limit steps none  input n: int  state i: int = 0
    node a = i + 1 into i  start -> a  a -> a when i < n  a -> end otherwise }`;
  const store = new MemoryStore();
  const engine = engineOf(text, {}, { store, clock: slowClock(), durability: "exit" });
  const steady = engineOf(text, {}, { store });
  await steady.run({ n: 600 }, { thread: "t" });
  let turns = 0;
  let isOver = false;
  const count = (): void => {
    turns++;
    if (!isOver) setImmediate(count);
  };
  setImmediate(count);
  const whole = await engine.history("t", { limit: 10_000 });
  isOver = true;
  // Twelve parts, and each reading of the clock takes a millisecond.
  expect(turns).toBeGreaterThan(1);
  expect(whole.map(({ step }) => step)).toEqual(Array.from({ length: 601 }, (_, n) => 599 - n));
  expect(await engine.history("t", { limit: 120 })).toEqual(whole.slice(0, 120));
  expect(await engine.history("t", { limit: 120, before: whole[49]!.id })).toEqual(whole.slice(50, 170));
});

it("a history of which a prune removes the rest meanwhile ends", async () => {
  const text = `graph g { limit steps none  input n: int  state i: int = 0
    node a = i + 1 into i  start -> a  a -> a when i < n  a -> end otherwise }`;
  class PrunedStore extends MemoryStore {
    override list(...args: Parameters<MemoryStore["list"]>): ReturnType<MemoryStore["list"]> {
      const list = super.list(...args);
      this.prune("t", { keepLast: 3 });
      return list;
    }
  }
  const engine = engineOf(text, {}, { store: new PrunedStore() });
  await engine.run({ n: 200 }, { thread: "t" });
  expect(await engine.history("t", { limit: 1000 })).toHaveLength(50);
  await expect(engine.history("t", { limit: 1000, before: "unknown" })).rejects.toMatchObject({
    code: "NG_UNKNOWN_CHECKPOINT",
  });
});

it("a history with all branches is read in parts, and equals the one of the store", async () => {
  const store = new MemoryStore();
  const text = `graph g { output n: int = 0  node a = n + 1 into n  start -> a
    a -> a when n < 700  a -> end otherwise  limit steps none }`;
  const engine = engineOf(text, {}, { store, clock: slowClock(10) });
  await engine.run({}, { thread: "t" });
  const [, , third] = await engine.history("t", { limit: 3 });
  await engine.resume("t", { from: third!.id });
  const whole = store.list("t", { all: true, limit: 5000 }).map(({ id, abandoned }) => ({ id, abandoned }));
  const list = store.list.bind(store);
  const parts: (number | undefined)[] = [];
  store.list = (thread, options) => {
    parts.push(options?.limit);
    return list(thread, options);
  };
  let turns = 0;
  let isOver = false;
  const listing = engine.history("t", { all: true, limit: 5000 }).finally(() => (isOver = true));
  for (; !isOver; turns++) await new Promise((resolve) => setImmediate(resolve));
  expect((await listing).map(({ id, abandoned }) => ({ id, abandoned }))).toEqual(whole);
  expect(whole.filter(({ abandoned }) => abandoned)).toHaveLength(2);
  expect(parts.length).toBeGreaterThan(1);
  expect(Math.max(...parts.map((limit) => limit!))).toBeLessThan(whole.length);
  expect(turns).toBeGreaterThanOrEqual(parts.length);
});
