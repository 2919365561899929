/** 5.4, 5.5, 6.2, 7.2: an item that an edit of its list moves keeps its result, its pause, its answer, its called graph and its key. */
import { describe, expect, test } from "vitest";
import type { NodeContext } from "../../runtime/interface/context.ts";
import type { Engine } from "../../runtime/interface/engine-options.ts";
import { MemoryStore } from "../../runtime/stores/memory.ts";
import { engineOf } from "../support/graph.ts";

const BILLS = `graph pay { state bills: string[] = ["a", "b", "c"]  output paid: string[] = [] reduce append
  node every = approve(bill) for bill in bills into paid  start -> every }`;

function approver() {
  const paid: string[] = [];
  const approve = (bill: string, context: NodeContext): string => {
    const answer = context.interrupt<string>(`pay ${bill}?`);
    paid.push(bill);
    return `${bill} ${answer}`;
  };
  return { paid, engine: engineOf(BILLS, { approve }, { store: new MemoryStore() }) };
}

describe("questions about items", () => {
  test("an answered item that moves is neither asked nor run again", async () => {
    const { paid, engine } = approver();
    const { pauses } = await engine.run({}, { thread: "t" });
    await engine.resume("t", { answers: { [pauses[2]!.id]: "yes" } });
    expect(paid).toEqual(["c"]);
    await engine.update("t", { bills: ["c", "b"] }, { replace: true });
    const waiting = await engine.resume("t");
    expect(waiting.pauses).toMatchObject([{ payload: "pay b?", id: pauses[1]!.id }]);
    expect(await engine.resume("t", { answer: "no" })).toMatchObject({ output: { paid: ["c yes", "b no"] } });
    expect(paid).toEqual(["c", "b"]);
  });

  test("the answer to a question reaches its item, wherever that is now; other content is asked again", async () => {
    const { paid, engine } = approver();
    const { pauses } = await engine.run({}, { thread: "t" });
    await engine.update("t", { bills: ["x", "a", "c2"] }, { replace: true });
    const waiting = await engine.resume("t", { answers: { [pauses[0]!.id]: "yes" } });
    expect(waiting.pauses.map(({ payload }) => payload)).toEqual(["pay x?", "pay c2?"]);
    expect(paid).toEqual(["a"]);
    const answers = Object.fromEntries(waiting.pauses.map(({ id, payload }) => [id, String(payload)]));
    expect((await engine.resume("t", { answers })).output).toEqual({
      paid: ["x pay x?", "a yes", "c2 pay c2?"],
    });
    expect(paid).toEqual(["a", "x", "c2"]);
  });

  test("of equal items each has its own answer", async () => {
    const { engine } = approver();
    await engine.update("t", { bills: ["a", "a", "b"] }, { as: "start", replace: true });
    const { pauses } = await engine.resume("t");
    await engine.resume("t", { answers: { [pauses[0]!.id]: "first", [pauses[1]!.id]: "second" } });
    await engine.update("t", { bills: ["b", "a", "a", "a"] }, { replace: true });
    const waiting = await engine.resume("t");
    expect(waiting.pauses.map(({ payload }) => payload)).toEqual(["pay b?", "pay a?"]);
    const answers = Object.fromEntries(
      waiting.pauses.map(({ id, payload }) => [id, payload === "pay a?" ? "third" : "x"]),
    );
    expect((await engine.resume("t", { answers })).output).toEqual({ paid: ["b x", "a second", "a first", "a third"] });
  });
});

test("an item that has failed keeps its key when it moves, also across further failures", async () => {
  const keys: string[] = [];
  let isDown = true;
  const work = (x: string, context: NodeContext): string => {
    if (x === "pay") keys.push(context.idempotencyKey);
    if (isDown && x !== "done") throw new Error("down");
    return x;
  };
  const text = `graph g { state xs: string[] = ["bad", "done", "pay"]  output out: string[] = [] reduce append
    node every = work(x) for x in xs into out  start -> every }`;
  const engine = engineOf(text, { work }, { store: new MemoryStore() });
  await engine.run({}, { thread: "t" });
  for (const xs of [
    ["pay", "done"],
    ["new", "newer", "done", "pay"],
  ]) {
    await engine.update("t", { xs }, { replace: true });
    expect((await engine.resume("t")).status).toBe("failed");
  }
  isDown = false;
  expect((await engine.resume("t")).output).toEqual({ out: ["new", "newer", "done", "pay"] });
  expect(keys).toHaveLength(4);
  expect(new Set(keys).size).toBe(1);
});

test.each([
  ["an item", "", "down"],
  ["another node", '  node other = work("down")  start -> other', "x"],
])(
  "an item that asked beside the failure of %s keeps its key when an edit of the graph moves it",
  async (_, other, first) => {
    const store = new MemoryStore();
    const keys: string[] = [];
    let isDown = true;
    const work = (x: string, context: NodeContext): string => {
      if (isDown && x === "down") throw new Error("down");
      if (x !== "ask") return x;
      keys.push(context.idempotencyKey);
      return context.interrupt<string>("?");
    };
    const resume = (items: readonly string[]) => {
      const text = `graph g { output out: string[] = [] reduce append
      node every = work(x) for x in ${JSON.stringify(items)} into out  start -> every${other} }`;
      const engine = engineOf(text, { work }, { store });
      return store.loadLatest("t") === undefined ? engine.run({}, { thread: "t" }) : engine.resume("t");
    };
    expect((await resume([first, "ask"])).status).toBe("failed");
    isDown = false;
    const { pauses } = await resume(["ask", first]);
    expect(pauses).toMatchObject([{ taskId: "every[1]" }]);
    expect(new Set(keys).size).toBe(1);
    expect(keys).toHaveLength(2);
  },
);

test.each<[string, (engine: Engine) => unknown]>([
  ["cancelled", (engine) => engine.cancel("t")],
  ["drained", (engine) => engine.drain({ deadline: 0 })],
])(
  "an item that was in progress when its run was %s keeps its key when an edit of the graph moves it",
  async (_, end) => {
    const store = new MemoryStore();
    const keys: string[] = [];
    let blocks = true;
    let begun = (): void => undefined;
    const isRunning = new Promise<void>((resolve) => (begun = resolve));
    const work = (x: string, context: NodeContext): string | Promise<string> => {
      if (x === "pay") keys.push(context.idempotencyKey);
      if (!blocks || x === "done") return x;
      begun();
      return new Promise(() => undefined);
    };
    const open = (items: readonly string[]): Engine =>
      engineOf(
        `graph g { output out: string[] = [] reduce append
      node every = work(x) for x in ${JSON.stringify(items)} into out  start -> every }`,
        { work },
        { store },
      );
    const engine = open(["done", "pay"]);
    const run = engine.run({}, { thread: "t" });
    await isRunning;
    await end(engine);
    expect((await run).status).toBe("cancelled");
    blocks = false;
    expect((await open(["pay", "new", "done"]).resume("t")).output).toEqual({ out: ["pay", "new", "done"] });
    expect(keys).toHaveLength(2);
    expect(new Set(keys).size).toBe(1);
  },
);

describe("items that were running when their process died", () => {
  /** Runs until the last item is in progress, lets the claim lapse as after a crash, edits, and resumes. Returns the keys by item. */
  async function afterCrash(
    text: string,
    edit: (engine: Engine) => Promise<unknown>,
    start = (engine: Engine): Promise<unknown> => engine.run({}, { thread: "t" }),
  ): Promise<Map<string, string[]>> {
    let now = 0;
    const store = new MemoryStore({ now: () => now });
    const keys = new Map<string, string[]>();
    let isOld = true;
    let begun = (): void => undefined;
    const isRunning = new Promise<void>((resolve) => (begun = resolve));
    const work = (x: string, context: NodeContext): string | Promise<string> => {
      keys.set(x, [...(keys.get(x) ?? []), context.idempotencyKey]);
      if (!isOld || x === "done") return x;
      if (x === "last") begun();
      return new Promise(() => undefined);
    };
    let prepared = 0;
    const prepare = (): void => {
      if (prepared++ === 0) throw new Error("not yet");
    };
    const open = (): Engine => engineOf(text, { work, prepare }, { store });
    // Its claim is lost, and the run with it.
    start(open()).catch(() => undefined);
    await isRunning;
    const isStored = (place: string): boolean => {
      const head = store.loadLatest("t", place);
      return head !== undefined && store.getWrites("t", head.id).some(({ taskId }) => taskId.startsWith("every["));
    };
    while (!isStored("") && !isStored("call")) await new Promise((next) => setImmediate(next));
    isOld = false;
    now = 3_600_000;
    const engine = open();
    await edit(engine);
    expect((await engine.resume("t")).status).toBe("completed");
    return keys;
  }
  const TEXT = `graph g { state xs: string[] = ["a", "done", "a", "b", "last"]  output out: string[] = [] reduce append
    node every = work(x) for x in xs into out  start -> every }`;

  test.each([
    [["done", "b", "last", "a"]],
    [["last", "new", "b", "done", "a", "a", "a"]],
    [["a", "a", "new", "done", "last"]],
    [["b"]],
    [["a"]],
  ])("%j keep their keys, each its own", async (xs) => {
    const keys = await afterCrash(TEXT, (engine) => engine.update("t", { xs }, { replace: true }));
    const begun = { a: 2, b: 1, last: 1 };
    for (const [x, count] of Object.entries(begun)) {
      const [old, again] = [keys.get(x)!.slice(0, count), keys.get(x)!.slice(count)];
      const kept = again.filter((key) => old.includes(key));
      expect([x, new Set(kept).size]).toEqual([x, Math.min(count, again.length)]);
      expect(new Set(again).size).toBe(again.length);
    }
    const owners = [...keys].flatMap(([x, of]) => [...new Set(of)].map((key): [string, string] => [key, x]));
    expect(new Map(owners).size).toBe(owners.length);
    expect(keys.get("done")).toHaveLength(1);
  });

  test("keep their keys over two edits, the first of which removes nothing", async () => {
    const keys = await afterCrash(TEXT, async (engine) => {
      await engine.update("t", { xs: ["new", "a", "done", "a", "b", "last"] }, { replace: true });
      await engine.update("t", { xs: ["last", "b", "new"] }, { replace: true });
    });
    for (const x of ["b", "last"]) expect(new Set(keys.get(x)).size).toBe(1);
  });

  test("keep their keys behind the end of a list that a second edit makes longer", async () => {
    let now = 0;
    const store = new MemoryStore({ now: () => now });
    const keys: string[] = [];
    let isDown = true;
    let begun = (): void => undefined;
    const work = (x: string, context: NodeContext): string | Promise<string> => {
      if (x === "new") keys.push(context.idempotencyKey);
      if (!isDown) return x;
      if (x === "last") begun();
      return new Promise(() => undefined);
    };
    const text = `graph g { input xs: string[]  output out: string[] = [] reduce append
      node every = work(x) for x in xs into out  start -> every }`;
    const open = (): Engine => engineOf(text, { work }, { store });
    const die = async (start: (engine: Engine) => Promise<unknown>): Promise<void> => {
      const isRunning = new Promise<void>((resolve) => (begun = resolve));
      start(open()).catch(() => undefined);
      await isRunning;
      now += 3_600_000;
    };
    await die((engine) => engine.run({ xs: ["a", "last"] }, { thread: "t" }));
    await open().update("t", { xs: ["new", "a", "last"] }, { replace: true });
    await die((engine) => engine.resume("t"));
    await open().update("t", { xs: ["new", "a", "last", "more"] }, { replace: true });
    isDown = false;
    expect((await open().resume("t")).output).toEqual({ out: ["new", "a", "last", "more"] });
    expect(keys).toHaveLength(2);
    expect(new Set(keys).size).toBe(1);
  });

  test("keep their keys behind the end of a list whose length an edit of the graph changes", async () => {
    let now = 0;
    const store = new MemoryStore({ now: () => now });
    const keys: string[] = [];
    let isDown = true;
    let begun = (): void => undefined;
    const work = (x: string, context: NodeContext): string | Promise<string> => {
      if (x === "new") keys.push(context.idempotencyKey);
      if (x === "bad" && isDown) throw new Error("bad");
      if (x !== "new" || !isDown) return x;
      begun();
      return new Promise(() => undefined);
    };
    const open = (items: readonly string[]): Engine =>
      engineOf(
        `graph g { output out: string[] = [] reduce append
        node every = work(x) for x in ${JSON.stringify(items)} into out  start -> every }`,
        { work },
        { store },
      );
    await open(["a", "bad"]).run({}, { thread: "t" });
    const isRunning = new Promise<void>((resolve) => (begun = resolve));
    // The result of `a` has number 0, so `new` has the first number behind the list.
    open(["new", "a", "bad"])
      .resume("t")
      .catch(() => undefined);
    await isRunning;
    now = 3_600_000;
    isDown = false;
    const items = ["new", "a", "bad", "more"];
    expect((await open(items).resume("t")).output).toEqual({ out: items });
    expect(keys).toHaveLength(2);
    expect(new Set(keys).size).toBe(1);
  });

  test("keep their keys in a called graph", async () => {
    const text = `graph child { state xs: string[] = ["a", "done", "last"]  output out: string[] = [] reduce append
      node first = prepare()  node every = work(x) for x in xs into out  start -> first -> every }
    graph g { output all: string[] = []  node call = child() into { out: all }  start -> call }`;
    const edit = (engine: Engine): Promise<unknown> =>
      engine.update("t", { xs: ["last", "done"] }, { in: "call", replace: true });
    const keys = await afterCrash(text, edit, async (engine) => {
      await engine.run({}, { thread: "t" });
      await engine.resume("t");
    });
    expect([new Set(keys.get("last")).size, keys.get("last")!.length, keys.get("done")!.length]).toEqual([1, 2, 1]);
  });
});

test("a result that is written by hand leaves no record of the items that had begun", async () => {
  const store = new MemoryStore();
  const work = (): string => {
    throw new Error("down");
  };
  const text = `graph g { state xs: string[] = ["a", "b"]  output out: string[] = [] reduce append  output said: string | null
    node every = work(x) for x in xs into out  node sure = ask("?") into said  start -> every, sure }`;
  const engine = engineOf(text, { work }, { store });
  await engine.run({}, { thread: "t" });
  const records = async () =>
    ((await store.loadLatest("t"))!.finished ?? []).filter(({ taskId }) => taskId.startsWith("part:"));
  expect(await records()).toHaveLength(2);
  await engine.update("t", { out: ["by hand"] }, { as: "every" });
  expect(await records()).toEqual([]);
  const [pause] = (await engine.resume("t")).pauses;
  expect(await engine.resume("t", { answers: { [pause!.id]: "yes" } })).toMatchObject({
    output: { out: ["by hand"], said: "yes" },
  });
});

test("a called graph continues for the item that it was called for", async () => {
  const ran: string[] = [];
  let isDown = true;
  const functions = {
    take: (x: string) => void ran.push(`take ${x}`),
    send: (x: string) => {
      if (isDown) throw new Error("down");
      ran.push(`send ${x}`);
      return x;
    },
  };
  const text = `graph child { input x: string  output y: string  node take = take(x)  node send = send(x) into y  start -> take -> send }
    graph g { state xs: string[] = ["a", "b", "c"]  output out: string[] = [] reduce append
      node every = child(x: x) for x in xs into { y: out }  start -> every }`;
  const engine = engineOf(text, functions, { store: new MemoryStore() });
  await engine.run({}, { thread: "t" });
  await engine.update("t", { xs: ["c", "d", "b"] }, { replace: true });
  isDown = false;
  expect((await engine.resume("t")).output).toEqual({ out: ["c", "d", "b"] });
  expect(ran.slice(0, 3).sort()).toEqual(["take a", "take b", "take c"]);
  expect(ran.slice(3).sort()).toEqual(["send b", "send c", "send d", "take d"]);
});

test("the index of a moved item is its present one, and its stored failure names it", async () => {
  let isDown = true;
  const functions = {
    work: (x: string, i: number, context: NodeContext): string => {
      if (x === "bad") throw new Error("poisoned");
      if (x === "down" && isDown) throw new Error("down");
      return x === "ask" ? context.interrupt<string>(`${i}?`) : `${x}${i}`;
    },
  };
  const text = `graph g { state xs: string[] = ["ask", "bad", "x"]  output out: string[] = [] reduce append  output failed: int[]
    node every = work(x, i) for x, i in xs into out { allow failure }
    node report = [item.index for item in error.items ?? []] into failed  start -> every  every -> report on error }`;
  const engine = engineOf(text, functions, { store: new MemoryStore() });
  await engine.run({}, { thread: "t" });
  await engine.update("t", { xs: ["bad", "new", "x", "ask"] }, { replace: true });
  const [pause] = (await engine.resume("t")).pauses;
  isDown = false;
  expect(pause).toMatchObject({ payload: "0?" });
  expect((await engine.resume("t", { answer: "yes" })).output).toEqual({ out: ["new1", "x2", "yes"], failed: [0] });
});

test("4.3 a failure that no error edge takes drops the result of its own item, also if a condition leaves items out", async () => {
  const ran: number[] = [];
  let isDown = true;
  const work = (n: number): number => {
    ran.push(n);
    if (isDown && n === 2) throw new Error("down");
    return n;
  };
  const text = `graph g { output out: int[] = [] reduce append  node every = work(n) for n in [1, 2, 3, 4] if n > 1 into out
    node other = [0] into out  start -> every -> end  every -> other on error when error.status == 429 }`;
  const engine = engineOf(text, { work }, { store: new MemoryStore() });
  expect((await engine.run({}, { thread: "t" })).status).toBe("failed");
  isDown = false;
  expect(await engine.resume("t")).toMatchObject({ status: "completed", output: { out: [2, 3, 4] } });
  expect(ran).toEqual([2, 3, 4, 2]);
});
