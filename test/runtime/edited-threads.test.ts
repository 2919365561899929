/**
 * Threads whose input, state or graph is edited between two executions: 5.4 (stored results), 5.7 (drift), 5.13 (memory),
 * 6.2 (answers), 6.3 (gates), 7.1 (items).
 */
import { describe, expect, test } from "vitest";
import type { NodeContext } from "../../runtime/interface/context.ts";
import type { Engine } from "../../runtime/interface/engine-options.ts";
import { MemoryStore } from "../../runtime/stores/memory.ts";
import { engineOf } from "../support/graph.ts";

const OVER_ITEMS = `graph g { state xs: string[] = ["bad", "b", "c"]  output out: string[] = [] reduce append
  node every = work(x) for x in xs into out  start -> every }`;

function worker() {
  const ran: string[] = [];
  const keys = new Map<string, string>();
  const work = (x: string, context: NodeContext): string => {
    ran.push(x);
    keys.set(x, context.idempotencyKey);
    if (x === "bad") throw new Error("poisoned");
    return `done ${x}`;
  };
  return { ran, keys, functions: { work } };
}

describe("5.4, 7.1 results of items belong to the items, not to their indexes", () => {
  // What runs again: the items that have no result.
  test.each([
    ["an item is removed", ["b", "c"], []],
    ["an item is repaired", ["a", "b", "c"], ["a"]],
    ["the list is reordered", ["c", "b"], []],
    ["an item is added", ["a", "b", "c", "d"], ["a", "d"]],
    ["an item is added in front", ["a", "d", "b", "c"], ["a", "d"]],
    ["an item is repeated", ["c", "b", "c"], ["c"]],
    ["all items are new", ["x", "y"], ["x", "y"]],
  ])("%s", async (_, xs, again) => {
    const { ran, keys, functions } = worker();
    const engine = engineOf(OVER_ITEMS, functions, { store: new MemoryStore() });
    expect((await engine.run({}, { thread: "t" })).status).toBe("failed");
    await engine.update("t", { xs }, { replace: true });
    const before = ran.length;
    expect(await engine.resume("t")).toMatchObject({
      status: "completed",
      output: { out: xs.map((x) => `done ${x}`) },
    });
    expect(ran.slice(before)).toEqual(again);
    expect(new Set(keys.values()).size).toBe(keys.size);
  });

  test("the list function is mended", async () => {
    const { functions } = worker();
    const text = `graph g { state xs: string[] = ["bad", "b", "c"]  output out: string[] = [] reduce append
      node every = work(x) for x in pick(xs) into out  start -> every }`;
    const store = new MemoryStore();
    await engineOf(text, { ...functions, pick: (xs: string[]) => xs }, { store }).run({}, { thread: "t" });
    const mended = engineOf(text, { ...functions, pick: (xs: string[]) => xs.filter((x) => x !== "bad") }, { store });
    expect((await mended.resume("t")).output).toEqual({ out: ["done b", "done c"] });
  });

  test("a fork with another list", async () => {
    const { functions } = worker();
    const engine = engineOf(OVER_ITEMS, functions, { store: new MemoryStore() });
    await engine.run({}, { thread: "t" });
    await engine.fork("t", { as: "f" });
    await engine.update("f", { xs: ["x", "y"] }, { replace: true });
    expect((await engine.resume("f")).output).toEqual({ out: ["done x", "done y"] });
  });

  test("5.9, 7.2 a called graph starts again for another item, and for other arguments", async () => {
    const ran: string[] = [];
    const work = (x: string): string => {
      ran.push(x);
      if (x === "bad") throw new Error("poisoned");
      return `done ${x}`;
    };
    const text = `graph child { input x: string  output y: string  node look = work(x) into y  node sure = ask(\`\${x}?\`)
        start -> look -> sure }
      graph g { state xs: string[] = ["bad", "b"]  state one: string = "bad"  output out: string[] = [] reduce append  output last: string
        node every = child(x: x) for x in xs into { y: out }  node call = child(x: one) into { y: last }  start -> every, call }`;
    const engine = engineOf(text, { work }, { store: new MemoryStore() });
    const failed = await engine.run({}, { thread: "t" });
    expect(failed.status).toBe("failed");
    await engine.update("t", { xs: ["b"], one: "z" }, { replace: true });
    const waiting = await engine.resume("t");
    expect(waiting.pauses.map(({ payload }) => payload)).toMatchObject([{ question: "b?" }, { question: "z?" }]);
    const answers = Object.fromEntries(waiting.pauses.map(({ id }) => [id, "yes"]));
    expect(await engine.resume("t", { answers })).toMatchObject({
      status: "completed",
      output: { out: ["done b"], last: "done z" },
    });
  });
});

describe("6.2 an answer belongs to the item that was asked about", () => {
  const text = `graph pay { state bills: string[] = ["pay 10"]  output paid: string[] = [] reduce append
    node every = approve(bill) for bill in bills into paid  start -> every }`;
  const approve = (bill: string, context: NodeContext): string =>
    `${bill}: ${context.interrupt<string>(`approve ${bill}?`)}`;

  test("an approval does not reach another item at the same index", async () => {
    const engine = engineOf(text, { approve }, { store: new MemoryStore() });
    const [first] = (await engine.run({}, { thread: "t" })).pauses;
    expect(first).toMatchObject({ payload: "approve pay 10?" });
    await engine.update("t", { bills: ["pay 9999"] }, { replace: true });
    const again = await engine.resume("t", { answers: { [first!.id]: "yes" } });
    expect(again).toMatchObject({ status: "paused", pauses: [{ payload: "approve pay 9999?" }] });
    expect(again.pauses[0]!.id).not.toBe(first!.id);
    expect((await engine.resume("t", { answer: "no" })).output).toEqual({ paid: ["pay 9999: no"] });
  });

  test("a resume without an answer raises the pause of the present item", async () => {
    const engine = engineOf(text, { approve }, { store: new MemoryStore() });
    await engine.run({}, { thread: "t" });
    await engine.update("t", { bills: ["pay 11", "pay 12"] }, { replace: true });
    expect((await engine.resume("t")).pauses.map(({ payload }) => payload)).toEqual([
      "approve pay 11?",
      "approve pay 12?",
    ]);
  });

  test("without an edit it reports the same pause, and runs and stores nothing", async () => {
    const engine = engineOf(text, { approve }, { store: new MemoryStore() });
    const first = await engine.run({}, { thread: "t" });
    expect(await engine.resume("t")).toMatchObject({ pauses: first.pauses, checkpointId: first.checkpointId });
  });
});

describe("5.7 drift", () => {
  const old = `graph g { input n: int = 1  state sum: int = 0 reduce sum  output out: string
    node a = work(n) into sum  node b = wait() into out  start -> a -> b }`;
  const functions = { work: (n: number) => n, wait: (context: NodeContext) => context.interrupt<string>("go?") };

  test.each([
    ["an input without a default", "input n: int = 1", "input n: int = 1  input who: string", "input `who` is new"],
    ["a channel whose type has no null", "output out", "state extra: string  output out", "channel `extra` is new"],
    ["another reducer", "reduce sum", "reduce max", "the reducer of channel `sum` was sum and is max"],
    ["a reducer that is gone", " reduce sum", "", "the reducer of channel `sum` was sum and is none"],
  ])("refuses %s", async (_, from, to, problem) => {
    const store = new MemoryStore();
    await engineOf(old, functions, { store }).run({}, { thread: "t" });
    const edited = old.replace(from, to);
    const writer = 'node c = "x" into extra  start -> a -> b -> c';
    const text = to.includes("extra") ? edited.replace("start -> a -> b", writer) : edited;
    const engine = engineOf(text, functions, { store });
    await expect(engine.resume("t", { answer: "x" })).rejects.toMatchObject({
      code: "NG_DRIFT",
      message: expect.stringContaining(problem),
    });
    expect((await engineOf(old, functions, { store }).resume("t", { answer: "x" })).status).toBe("completed");
  });

  test.each([
    ["a channel with a default", "output out", 'state extra: string = "x"  output out'],
    ["a channel whose type has null", "output out", "state extra: string | null  output out"],
    ["a channel whose reducer has a start value", "output out", "state extra: string[] reduce append  output out"],
    ["an input with a default", "input n: int = 1", "input n: int = 1  input more: int = 2"],
  ])("accepts %s", async (_, from, to) => {
    const store = new MemoryStore();
    await engineOf(old, functions, { store }).run({}, { thread: "t" });
    const engine = engineOf(old.replace(from, to), functions, { store });
    expect((await engine.resume("t", { answer: "x" })).status).toBe("completed");
  });

  test("finds the channels of a run that a crash has ended in its history", async () => {
    const store = new MemoryStore();
    const engine = engineOf(old, functions, { store });
    await engine.run({}, { thread: "t" });
    const [, afterA] = await engine.history("t");
    expect(afterA).toMatchObject({ phase: "completed", status: "running" });
    const edited = engineOf(old.replace("reduce sum", "reduce min"), functions, { store });
    await expect(edited.resume("t", { from: afterA!.id })).rejects.toMatchObject({ code: "NG_DRIFT" });
  });
});

describe("5.13 memory", () => {
  const chat = (type: string): string => `type Message = ${type}
    graph chat { input q: string  output n: int  memory messages: Message[] reduce append
      node keep = message(q) into messages  node count = len(messages) into n  start -> keep -> count }`;
  const message = (content: string) => ({ content, role: "user", list: [content] });

  test.each([
    ["a field is added to its type", chat("{ content: string, tokens: int }"), "`messages` has another type"],
    ["it is renamed", chat("{ content: string }").replaceAll("messages", "dialogue"), "`messages` is gone"],
    [
      "it is no memory any more",
      chat("{ content: string }").replace("memory messages", "state messages"),
      "`messages` is gone",
    ],
  ])("a new run that would lose it is refused: %s", async (_, edited, problem) => {
    const store = new MemoryStore();
    const engine = engineOf(chat("{ content: string }"), { message }, { store });
    await engine.run({ q: "a" }, { thread: "t" });
    await engine.run({ q: "b" }, { thread: "t" });
    await expect(engineOf(edited, { message }, { store }).run({ q: "c" }, { thread: "t" })).rejects.toMatchObject({
      code: "NG_DRIFT",
      message: expect.stringContaining(problem),
    });
    expect((await engine.run({ q: "c" }, { thread: "t" })).output).toEqual({ n: 3 });
  });
});

describe("5.13 memory that an edited graph would combine or read in another way", () => {
  const text = (reducer: string): string => `graph g { memory m: int = 0 reduce ${reducer}  output n: int
    node a = 2 into m  node b = m into n  start -> a -> b }`;

  test("a changed reducer is refused, and `map` accepts it", async () => {
    const store = new MemoryStore();
    for (const n of [2, 4]) {
      expect((await engineOf(text("sum"), {}, { store }).run({}, { thread: "t" })).output).toEqual({ n });
    }
    const now = engineOf(text("max"), {}, { store });
    await expect(now.run({}, { thread: "t" })).rejects.toMatchObject({
      code: "NG_DRIFT",
      details: ["the reducer of memory channel `m` was sum and is max"],
    });
    await now.migrate("t", { map: { m: (value) => value } });
    expect((await now.run({}, { thread: "t" })).output).toEqual({ n: 4 });
  });

  test.each([
    ["a node", "", 2],
    ["items", " for i in [1, 2]", [2, 2]],
  ])("a called graph: the run is refused before a node runs (%s)", async (_, each, two) => {
    const store = new MemoryStore();
    const ran: string[] = [];
    const first = (): void => void ran.push("first");
    const graph = (
      memory: string,
      one: string,
    ): string => `graph child { ${memory}  output n: int  node a = ${one} into m
        node b = len(m) into n  start -> a -> b }
      graph g { output n: ${each === "" ? "int" : "int[]"}  node first = first()  node call = child()${each} into { n: n }
        start -> first -> call }`;
    const before = engineOf(graph("memory m: int[] = [] reduce append", "1"), { first }, { store });
    const now = engineOf(graph("memory m: string[] = [] reduce append", '"x"'), { first }, { store });
    await before.run({}, { thread: "t" });
    for (const change of [() => now.run({}, { thread: "t" }), () => now.migrate("t")]) {
      await expect(change()).rejects.toMatchObject({
        code: "NG_DRIFT",
        message: expect.stringMatching(
          /call.*memory channel `m` has another type: .*--map child\.m=EXPRESSION/s,
        ) as string,
      });
    }
    expect(ran).toEqual(["first"]);
    expect((await before.state("t"))!.status).toBe("completed");
    await now.migrate("t", { map: { "child.m": (list) => (list as number[]).map(String) } });
    expect((await now.run({}, { thread: "t" })).output).toEqual({ n: two });
  });
});

describe("a thread belongs to one graph", () => {
  const graph = (name: string): string => `graph ${name} { memory turns: int reduce sum  output n: int
    node add = 1 into turns  node sure = ask("sure?")  node show = turns into n  start -> add -> sure -> show }`;

  test("another graph neither runs on it nor resumes it", async () => {
    const store = new MemoryStore();
    const first = engineOf(graph("first"), {}, { store });
    const second = engineOf(graph("second"), {}, { store });
    await first.run({}, { thread: "t" });
    const refusal = { code: "NG_DRIFT", message: expect.stringContaining("belongs to graph `first`") };
    await expect(second.resume("t", { answer: "yes" })).rejects.toMatchObject(refusal);
    await expect(second.run({}, { thread: "t", abandon: true })).rejects.toMatchObject(refusal);
    await expect(second.update("t", { turns: 5 })).rejects.toMatchObject(refusal);
    await expect(second.fork("t", { as: "u" })).rejects.toMatchObject(refusal);
    expect((await first.resume("t", { answer: "yes" })).output).toEqual({ n: 1 });
  });
});

describe("6.3 a gate that an edit adds", () => {
  const text = (gate: string): string => `graph g { output log: string[] = [] reduce append
    node z = work("z") into log  node a = work("a") into log ${gate}  node b = work("b") into log { pause before }
    start -> z -> a, b }`;

  test("holds an interrupted step, and gates that were released stay open", async () => {
    const store = new MemoryStore();
    const ran: string[] = [];
    let isBroken = true;
    const work = (name: string): string => {
      ran.push(name);
      if (name === "a" && isBroken) throw new Error("no");
      return name;
    };
    const engine = engineOf(text(""), { work }, { store });
    await engine.run({}, { thread: "t" });
    expect((await engine.resume("t", { answer: true })).status).toBe("failed");
    isBroken = false;
    const edited = engineOf(text("{ pause before }"), { work }, { store });
    const before = ran.length;
    expect(await edited.resume("t")).toMatchObject({ status: "paused", pauses: [{ kind: "before", node: "a" }] });
    expect(ran.length).toBe(before);
    expect(await edited.resume("t")).toMatchObject({ status: "completed", output: { log: ["z", "a", "b"] } });
    expect(ran.filter((name) => name === "b")).toEqual(["b"]);
  });
});

describe("5.5, 5.9 an edit `as` a node of an unfinished step keeps the results of its siblings", () => {
  const text = (q: string): string => `graph g { output log: string[] = [] reduce append
    node p = work("p") into log  node q = ${q} into log  node s = work("s") into log  node r = work("r") into log
    start -> p, q, s  all(p, q, s) -> r }`;

  const build = (q: string) => {
    const ran: string[] = [];
    let isBroken = true;
    const work = (name: string): string => {
      ran.push(name);
      if (name === "s" && isBroken) throw new Error("no");
      return name;
    };
    const broken = (): never => {
      throw new Error("never");
    };
    const question = (context: NodeContext): string => context.interrupt("q?");
    const engine = engineOf(text(q), { work, broken, question }, { store: new MemoryStore() });
    return { ran, engine, mend: () => (isBroken = false) };
  };

  test.each(["broken()", "question()"])("`q = %s` by hand", async (q) => {
    const { ran, engine, mend } = build(q);
    await engine.run({}, { thread: "t" });
    mend();
    await engine.update("t", { log: ["q by hand"] }, { as: "q" });
    expect(await engine.state("t")).toMatchObject({ next: ["s"], pauses: [] });
    expect(await engine.resume("t")).toMatchObject({
      status: "completed",
      output: { log: ["p", "q by hand", "s", "r"] },
      steps: [["p", "q", "s"], ["r"]],
    });
    expect(ran.filter((name) => name === "p")).toEqual(["p"]);
  });

  test("two nodes by hand, and a value in place of the list", async () => {
    const { ran, engine } = build("broken()");
    await engine.run({}, { thread: "t" });
    await engine.update("t", { log: ["q"] }, { as: "q" });
    await engine.update("t", { log: ["zero"] }, { as: "s", replace: true });
    expect((await engine.resume("t")).output).toEqual({ log: ["zero", "p", "q", "r"] });
    expect(ran).toEqual(["p", "s", "r"]);
  });

  test("a `for` node by hand: its items neither run nor wait", async () => {
    const ran: number[] = [];
    const item = (n: number, context: NodeContext): number => {
      ran.push(n);
      return n === 2 ? context.interrupt<number>("two?") : n;
    };
    const engine = engineOf(
      `graph g { output out: int[] = [] reduce append  node every = item(n) for n in [1, 2] into out  node p = 9 into out  start -> every, p }`,
      { item },
      { store: new MemoryStore() },
    );
    await engine.run({}, { thread: "t" });
    await engine.update("t", { out: [7, 8] }, { as: "every" });
    expect(await engine.resume("t")).toMatchObject({ status: "completed", output: { out: [7, 8, 9] } });
    expect(ran).toEqual([1, 2]);
  });
});

describe("2.9, 5.9 an edit `as` a node to which items were sent", () => {
  const text = `graph g { output out: string[] = [] reduce append  node plan = plan() { goes w }  node w = work() into out
    node q = q() into out  start -> plan -> q }`;
  const build = () => {
    const ran: unknown[] = [];
    const broken = new Set<unknown>(["2", "q"]);
    const run = (name: unknown): string => {
      ran.push(name);
      if (broken.has(name)) throw new Error("down");
      return `did ${String(name)}`;
    };
    const functions = {
      plan: (context: NodeContext) => ["1", "2", "3"].forEach((item) => context.send("w", item)),
      work: (context: NodeContext) => run(context.item),
      q: () => run("q"),
    };
    return { ran, broken, engine: engineOf(text, functions, { store: new MemoryStore() }) };
  };

  test("is the result of the tasks that have none: other items and nodes keep theirs", async () => {
    const { ran, broken, engine } = build();
    expect((await engine.run({}, { thread: "t" })).status).toBe("failed");
    await engine.update("t", { out: ["2 by hand"] }, { as: "w" });
    broken.clear();
    expect(await engine.resume("t")).toMatchObject({
      status: "completed",
      output: { out: ["did q", "did 1", "2 by hand", "did 3"] },
    });
    expect(ran).toEqual(["q", "1", "2", "3", "q"]);
  });

  test("replaces the results of all tasks if each has one", async () => {
    const { ran, broken, engine } = build();
    broken.delete("2");
    await engine.run({}, { thread: "t" });
    await engine.update("t", { out: ["by hand"] }, { as: "w" });
    broken.clear();
    expect((await engine.resume("t")).output).toEqual({ out: ["did q", "by hand"] });
    expect(ran).toEqual(["q", "1", "2", "3", "q"]);
  });
});

describe("5.9 an edit of values inside a step keeps the step: a later edit `as` a node does not route past its siblings", () => {
  const text = (type = "string"): string => `graph g { state note: string = ""  state extra: ${type} = "x"
    output log: string[] = [] reduce append  node p = body("p") into log  node q = body("q") into log
    node r = "r" into log  start -> p, q  all(p, q) -> r }`;
  type Body = (name: string, context: NodeContext) => Promise<string> | string;
  const ends: Readonly<Record<string, Body>> = {
    failed: () => {
      throw new Error("no");
    },
    paused: (name, context) => context.interrupt<string>(name),
    cancelled: (_, { signal }) =>
      new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(new Error("aborted")))),
  };
  type Change = (engine: Engine) => Promise<string>;
  const edit: Change = async (engine) => {
    await engine.update("t", { note: "edited" });
    await engine.update("t", { note: "edited again" });
    return "t";
  };
  const changes: Readonly<Record<string, Change>> = {
    "an edit": edit,
    "a fork": async (engine) => {
      await engine.fork("t", { as: "u" });
      await engine.update("u", { note: "edited" });
      return "u";
    },
    "a fork of an edit": async (engine) => {
      await edit(engine);
      await engine.fork("t", { as: "u" });
      return "u";
    },
  };
  const cases = Object.keys(ends).flatMap((end) => Object.keys(changes).map((change) => [end, change] as const));

  test.each(cases)("a step that has %s, and %s", async (end, change) => {
    const abort = new AbortController();
    const store = new MemoryStore();
    let body: Body = (...args) => {
      if (end === "cancelled") setTimeout(() => abort.abort());
      return ends[end]!(...args);
    };
    const engine = engineOf(text(), { body: (...args: Parameters<Body>) => body(...args) }, { store });
    expect((await engine.run({}, { thread: "t", signal: abort.signal })).status).toBe(end);
    const thread = await changes[change]!(engine);
    await engine.update(thread, { log: ["p by hand"] }, { as: "p" });
    expect(await engine.state(thread)).toMatchObject({ next: ["q"] });
    if (end !== "paused") body = (name) => name;
    expect(await engine.resume(thread, end === "paused" ? { answer: "q" } : {})).toMatchObject({
      status: "completed",
      output: { log: ["p by hand", "q", "r"] },
    });
  });

  test("a migration keeps the step, too", async () => {
    const store = new MemoryStore();
    await engineOf(text(), { body: ends["failed"]! }, { store }).run({}, { thread: "t" });
    const engine = engineOf(text("string | null"), { body: (name: string) => name }, { store });
    await engine.migrate("t");
    await engine.update("t", { log: ["p by hand"] }, { as: "p" });
    expect((await engine.resume("t")).output).toEqual({ log: ["p by hand", "q", "r"] });
  });

  test("between two steps, an edit `as` a node still routes", async () => {
    const abort = new AbortController();
    const graph = `graph g { state note: string = ""  output log: string[] = [] reduce append
      node a = body() into log  node p = "p" into log  node q = "q" into log  node s = "s" into log
      start -> a -> p, q  p -> s }`;
    const body = (): string => {
      abort.abort();
      return "a";
    };
    const engine = engineOf(graph, { body }, { store: new MemoryStore() });
    const { status, state } = await engine.run({}, { thread: "t", signal: abort.signal });
    expect([status, state["log"]]).toEqual(["cancelled", ["a"]]);
    await engine.update("t", { note: "edited" });
    await engine.update("t", { log: ["by hand"] }, { as: "p" });
    expect(await engine.state("t")).toMatchObject({ next: ["s"], state: { log: ["a", "by hand"] } });
  });
});

describe("5.7, 6.2 an answer has the type that its channel has now", () => {
  const text = (type: string, call: string): string =>
    `graph g { output x: ${type} | null  node q = ${call} into x  start -> q }`;
  const open = async (call: string, type: string) => {
    const store = new MemoryStore();
    const { pauses } = await engineOf(
      text(call.includes("choices") ? "string" : "int", call),
      {},
      { store, wake: false },
    ).run({}, { thread: "t" });
    expect(pauses).toHaveLength(1);
    return engineOf(text(type, call), {}, { store, wake: false });
  };
  const ways: Readonly<Record<string, (engine: Engine) => Promise<unknown>>> = {
    "under the edited graph": () => Promise.resolve(),
    "after a migration": (engine) => engine.migrate("t"),
    "after an edit of values": (engine) => engine.update("t", {}),
  };

  test.each(Object.entries(ways))("to a question, %s", async (_, change) => {
    const engine = await open(`ask("How many?")`, "string");
    await change(engine);
    await expect(engine.resume("t", 3)).rejects.toMatchObject({ code: "NG_BAD_ANSWER" });
    expect(await engine.resume("t", "three")).toMatchObject({ status: "completed", output: { x: "three" } });
  });

  test.each(Object.entries(ways))("a signal, %s", async (_, change) => {
    const engine = await open(`receive("s")`, "string");
    await change(engine);
    await expect(engine.signal("t", "s", 3)).rejects.toMatchObject({ code: "NG_BAD_ANSWER" });
    await engine.signal("t", "s", "three");
    expect((await engine.due()).results).toMatchObject([{ status: "completed", output: { x: "three" } }]);
  });

  test("a question in a called graph", async () => {
    const graph = (type: string): string => `graph inner { output x: ${type} | null
        node q = ask("How many?") into x  start -> q }
      graph g { output y: json  node call = inner() into { x: y }  start -> call }`;
    const store = new MemoryStore();
    await engineOf(graph("int"), {}, { store }).run({}, { thread: "t" });
    const engine = engineOf(graph("string"), {}, { store });
    await expect(engine.resume("t", 3)).rejects.toMatchObject({ code: "NG_BAD_ANSWER" });
    expect((await engine.resume("t", "three")).output).toEqual({ y: "three" });
  });

  test("the choices that a question lists stay if they fit", async () => {
    for (const type of ["string", `"a" | "b" | "c"`]) {
      const engine = await open(`ask("Which?", choices: ["a", "b"])`, type);
      await expect(engine.resume("t", "c")).rejects.toMatchObject({ code: "NG_BAD_ANSWER" });
      expect((await engine.resume("t", "a")).output).toEqual({ x: "a" });
    }
  });

  test("a choice that no longer fits is refused", async () => {
    const engine = await open(`ask("Which?", choices: ["a", "b"])`, `"a" | "c"`);
    await expect(engine.resume("t", "b")).rejects.toMatchObject({ code: "NG_BAD_ANSWER" });
    expect((await engine.resume("t", "a")).output).toEqual({ x: "a" });
  });
});

describe("edits of a graph in the middle of a step", () => {
  test("results of items go to the channels they were made for when the fields of `into` are reordered", async () => {
    const store = new MemoryStore();
    let broken = true;
    const pair = (n: number): { x: number; y: number } => {
      if (broken && n === 2) throw new Error("down");
      return { x: n, y: 10 * n };
    };
    const text = (fields: string): string => `graph g { output xs: int[] = []  output ys: int[] = []
      node every = pair(n) for n in [1, 2] into { ${fields} }  start -> every }`;
    const before = engineOf(text("x: xs, y: ys"), { pair }, { store });
    expect((await before.run({}, { thread: "t" })).status).toBe("failed");
    broken = false;
    const after = engineOf(text("y: ys, x: xs"), { pair }, { store });
    expect(await after.resume("t")).toMatchObject({ status: "completed", output: { xs: [1, 2], ys: [10, 20] } });
  });

  test("the stored result of a node is not the result of the items that it has now", async () => {
    const store = new MemoryStore();
    let broken = true;
    const double = (n: number): number => {
      if (broken && n === 2) throw new Error("down");
      return 2 * n;
    };
    const text = (call: string): string => `graph g { output out: int[] = [] reduce append
      node p = ${call} into out  node q = double(2) into out  start -> p, q }`;
    expect((await engineOf(text("double(1)"), { double }, { store }).run({}, { thread: "t" })).status).toBe("failed");
    broken = false;
    const now = engineOf(text("double(n) for n in [5, 6]"), { double }, { store });
    expect((await now.resume("t")).output).toEqual({ out: [10, 12, 4] });
  });

  test("5.7 a barrier that has lost the member it waited for is drift, and `at` runs its target", async () => {
    const store = new MemoryStore();
    const fail = (): never => {
      throw new Error("down");
    };
    const text = (members: string): string => `graph g { output log: string[] = [] reduce append
      node a = "a" into log  node b = "b" into log  node slow = "s" into log  node c = fail() into log
      node d = "d" into log  start -> a, b, slow  slow -> c  all(${members}) -> d }`;
    expect((await engineOf(text("a, b, c"), { fail }, { store }).run({}, { thread: "t" })).status).toBe("failed");
    const after = engineOf(text("a, b"), { fail: () => "c" }, { store });
    await expect(after.resume("t")).rejects.toMatchObject({
      code: "NG_DRIFT",
      details: [expect.stringContaining("the barrier `d` has lost the members that it waited for")],
    });
    expect(await after.resume("t", { at: "d" })).toMatchObject({
      status: "completed",
      output: { log: ["a", "b", "s", "d"] },
    });
  });
});

test("messages about many items stay short, and name what waits and each problem once", async () => {
  const text = `graph g { output v: int[] = []  node f = f(i) for i in range(40) into v  start -> f }`;
  const functions = { f: (item: number, context: NodeContext) => context.interrupt<number>(item) };
  const store = new MemoryStore();
  const engine = engineOf(text, functions, { store });
  const { pauses } = await engine.run({}, { thread: "t" });
  await engine.resume("t", { answers: Object.fromEntries(pauses.slice(20).map(({ id }) => [id, 1])) });
  await expect(engine.resume("t", { answers: { no: 1 } })).rejects.toMatchObject({
    code: "NG_BAD_ANSWER",
    message: expect.stringMatching(/the waiting pauses are `f\[0\][^`]*`(?:, `[^`]*`){9} and 10 more$/),
  });
  const gone = "channel `v` no longer exists, but the stored result of node `f` writes it";
  const edited = engineOf(text.replaceAll(/\bv\b/g, "w"), functions, { store });
  await expect(edited.resume("t")).rejects.toMatchObject({
    code: "NG_DRIFT",
    message: expect.stringMatching(new RegExp(`^[^;]*: ${gone};[^;]*$`)),
    details: [gone],
  });
});

test("what a migration does not convert runs again: the results of items whose type has changed", async () => {
  const text = `graph g { output v: int[] = []  node f = f(i) for i in [1, 2] into v  start -> f }`;
  const functions = { f: (item: number, context: NodeContext) => context.interrupt<number | string>(item) };
  const store = new MemoryStore();
  const { pauses } = await engineOf(text, functions, { store }).run({}, { thread: "t" });
  await engineOf(text, functions, { store }).resume("t", { answers: { [pauses[0]!.id]: 1 } });
  const edited = engineOf(text.replace("int[]", "string[]"), functions, { store });
  for (const call of [() => edited.resume("t"), () => edited.migrate("t", { map: { v: () => ["one"] } })]) {
    const message = expect.stringMatching(
      /found 1; run node `f` again \(`at` of `engine\.resume`, or `ngc fork t --at f`\)/,
    );
    await expect(call()).rejects.toMatchObject({ code: "NG_DRIFT", message });
  }
  expect((await edited.resume("t", { at: "f" })).pauses).toHaveLength(2);
});
