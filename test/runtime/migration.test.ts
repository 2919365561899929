/** 5.7, the way forward: threads that follow an edit of their graph (`migrate`), or leave a place that no longer exists. */
import { describe, expect, test } from "vitest";
import type { NodeContext } from "../../runtime/interface/context.ts";
import { MemoryStore } from "../../runtime/stores/memory.ts";
import { CrashingStore } from "../support/crashing-store.ts";
import { engineOf } from "../support/graph.ts";
import { settle, VirtualClock } from "../support/virtual-clock.ts";

const fail = (): never => {
  throw new Error("down");
};

describe("migrate", () => {
  test("a function in `map` that returns a promise is refused, and its rejection does not end the process", async () => {
    const store = new MemoryStore();
    const text = (type: string) =>
      `graph g { output n: ${type}  state x: int = 0  node a = fail_() into x  start -> a }`;
    await engineOf(text("int = 0"), { fail_: fail }, { store }).run({}, { thread: "t" });
    await engineOf(text("int = 0"), { fail_: fail }, { store }).update("t", { n: 1 });
    const edited = engineOf(text(`string = ""`), { fail_: fail }, { store });
    const unhandled: unknown[] = [];
    const listen = (reason: unknown): void => void unhandled.push(reason);
    process.on("unhandledRejection", listen);
    try {
      const later = (): never => Promise.reject(new Error("late")) as never;
      await expect(edited.migrate("t", { map: { n: later } })).rejects.toMatchObject({ code: "NG_BAD_INPUT" });
      await new Promise((resolve) => setImmediate(resolve));
      expect(unhandled).toEqual([]);
    } finally {
      process.off("unhandledRejection", listen);
    }
  });

  test("renames a waiting node and its channel: the answer by the new id reaches it", async () => {
    const store = new MemoryStore();
    const asked: string[] = [];
    const choose = (context: NodeContext): string => {
      asked.push(context.thread);
      return context.interrupt<string>("which?");
    };
    const before = engineOf(
      `graph g { state choice: string | null  output out: string | null  node choose = choose() into choice
        node done = choice into out  start -> choose -> done }`,
      { choose },
      { store },
    );
    await before.run({}, { thread: "t" });
    const after = engineOf(
      `graph g { state picked: string | null  output out: string | null  node pick = choose() into picked
        node done = picked into out  start -> pick -> done }`,
      { choose },
      { store },
    );
    await expect(after.resume("t", "x")).rejects.toMatchObject({ code: "NG_DRIFT" });
    const { checkpointId } = await after.migrate("t", { rename: { choose: "pick", choice: "picked" } });
    const state = await after.state("t");
    expect(state).toMatchObject({
      checkpointId,
      status: "paused",
      next: ["pick"],
      pauses: [{ node: "pick", taskId: "pick" }],
    });
    expect(state?.pauses[0]?.id).toMatch(/^pick@0\./);
    expect((await after.history("t"))[0]).toMatchObject({ phase: "updated", digest: after.table.digest });
    expect(await after.resume("t", { answers: { [state!.pauses[0]!.id]: "left" } })).toMatchObject({
      status: "completed",
      output: { out: "left" },
    });
  });

  test("keeps stored results, signals of barriers, sent items and errors under the new names", async () => {
    const store = new MemoryStore();
    const ran: string[] = [];
    let broken = true;
    const functions = {
      a: () => {
        ran.push("a");
        return "from a";
      },
      b: () => (broken ? fail() : "from b"),
    };
    const text = (a: string, d: string, log: string): string => `graph g { output ${log}: string[] = [] reduce append
      node ${a} = a() into ${log}  node b = b() into ${log}  node c = "from c" into ${log}  node ${d} = "from d" into ${log}
      start -> ${a}, b  b -> c  all(${a}, c) -> ${d} }`;
    const old = engineOf(text("a", "d", "log"), functions, { store });
    expect((await old.run({}, { thread: "t" })).status).toBe("failed");
    const renamed = engineOf(text("first", "last", "lines"), functions, { store });
    const rename = { a: "first", d: "last", log: "lines" };
    await renamed.migrate("t", { rename });
    broken = false;
    expect(await renamed.resume("t")).toMatchObject({
      status: "completed",
      output: { lines: ["from a", "from b", "from c", "from d"] },
    });
    expect(ran).toEqual(["a"]);

    // A signal that waits at a barrier.
    broken = true;
    const late = (names: readonly [string, string]): string => `graph g { output log: string[] = [] reduce append
      node ${names[0]} = a() into log  node x = 1  node b = b() into log  node ${names[1]} = "from d" into log
      start -> ${names[0]}, x  x -> b  all(${names[0]}, b) -> ${names[1]} }`;
    const first = engineOf(late(["a", "d"]), functions, { store });
    expect((await first.run({}, { thread: "u" })).status).toBe("failed");
    const second = engineOf(late(["first", "last"]), functions, { store });
    await second.migrate("u", { rename: { a: "first", d: "last" } });
    expect((await second.history("u"))[0]?.barrierState).toEqual({ last: ["first"] });
    broken = false;
    expect((await second.resume("u")).output).toEqual({ log: ["from a", "from b", "from d"] });
  });

  test("keeps released gates and the results of items", async () => {
    const store = new MemoryStore();
    let broken = true;
    const ran: string[] = [];
    const work = (x: string): string => {
      ran.push(x);
      return x === "b" && broken ? fail() : x;
    };
    const text = (node: string): string => `graph g { output out: string[] = [] reduce append
      node ${node} = work(x) for x in ["a", "b"] into out { pause before }  start -> ${node} }`;
    const old = engineOf(text("former"), { work }, { store });
    await old.run({}, { thread: "t" });
    expect((await old.resume("t")).status).toBe("failed");
    const now = engineOf(text("every"), { work }, { store });
    await now.migrate("t", { rename: { former: "every" } });
    broken = false;
    expect(await now.resume("t")).toMatchObject({ status: "completed", output: { out: ["a", "b"] } });
    expect(ran).toEqual(["a", "b", "b"]);
  });

  test("drops and converts channels, and gives new ones a value", async () => {
    const store = new MemoryStore();
    const old = engineOf(
      `graph g { state n: string = "3"  state junk: int = 1  output out: int = 0  node a = "7" into n  node j = 2 into junk
        node b = b() into out  start -> a, j  all(a, j) -> b }`,
      { b: fail },
      { store },
    );
    await old.run({}, { thread: "t" });
    const text = `graph g { input who: string  state n: int = 3  output out: int = 0  node a = 1 into n  node j = 2
        node b = b(n, who) into out  start -> a, j  all(a, j) -> b }`;
    const now = engineOf(text, { b: (n: number, who: string) => n + who.length }, { store });
    const before = await store.loadLatest("t");
    await expect(now.migrate("t")).rejects.toMatchObject({
      code: "NG_DRIFT",
      details: [
        expect.stringContaining("channel `n` has another type"),
        "channel `junk` no longer exists",
        "input `who` is new and has no default",
      ],
    });
    await expect(now.migrate("t", { drop: ["junk"], map: { n: Number } })).rejects.toMatchObject({
      code: "NG_DRIFT",
      details: ["input `who` is new and has no default"],
    });
    const all = { drop: ["junk"], map: { n: Number }, set: { who: "me" } };
    expect(await now.migrate("t", { ...all, dryRun: true })).toEqual({ thread: "t", checkpointId: before?.id });
    expect(await store.loadLatest("t")).toEqual(before);
    const { checkpointId } = await now.migrate("t", all);
    expect(await now.migrate("t", all)).toEqual({ thread: "t", checkpointId });
    expect((await now.state("t"))?.state).toEqual({ who: "me", n: 7, out: 0 });
    expect(await now.resume("t")).toMatchObject({ status: "completed", output: { out: 9 } });
  });

  test("a channel has one new value: from `map` or from `set`", async () => {
    const engine = engineOf(
      "graph g { output n: int = 0  node a = 1 into n  start -> a }",
      {},
      { store: new MemoryStore() },
    );
    await engine.run({}, { thread: "t" });
    const both = engine.migrate("t", { map: { n: Number }, set: { n: 2 } });
    const message = "channel `n` is in `map` and in `set`: use one of them";
    await expect(both).rejects.toMatchObject({ code: "NG_BAD_INPUT", message });
  });

  test("a stored result that replaces a reduced channel still replaces it, converted or not", async () => {
    const store = new MemoryStore();
    const text = (
      log: string,
      n: string,
    ): string => `graph g { output log: ${log}[] = [] reduce append  output n: ${n} | null
      node a = pair() into { log: set log, n }  node b = b() into n  start -> a, b }`;
    const pair = () => ({ log: ["1", "2"], n: "7" });
    const old = engineOf(text("string", "string"), { pair, b: fail }, { store });
    for (const thread of ["converted", "kept"]) {
      await old.run({}, { thread });
      await old.update(thread, { log: ["9"] });
    }
    const numbers = engineOf(text("int", "string"), { pair, b: () => undefined }, { store });
    await numbers.migrate("converted", { map: { log: (value) => (value as string[]).map(Number) } });
    expect((await numbers.state("converted"))?.state["log"]).toEqual([9]);
    const { finished } = (await store.loadLatest("converted"))!;
    expect(finished).toMatchObject([
      {
        result: {
          updates: [
            ["log", [1, 2], "set"],
            ["n", "7"],
          ],
        },
      },
    ]);
    // The result of `a` has an update of another channel that is converted.
    const other = engineOf(text("string", "int"), { pair, b: () => undefined }, { store });
    await other.migrate("kept", { map: { n: Number } });
    expect((await store.loadLatest("kept"))!.finished).toMatchObject([
      {
        result: {
          updates: [
            ["log", ["1", "2"], "set"],
            ["n", 7],
          ],
        },
      },
    ]);
  });

  test("memory of a completed thread takes a new type", async () => {
    const store = new MemoryStore();
    const chat = (type: string, message: string): string => `type Msg = ${type}
      graph chat { memory messages: Msg[] = [] reduce append  output n: int = 0
        node say = ${message} into messages  node count = len(messages) into n  start -> say -> count }`;
    const old = engineOf(chat("{ text: string }", '{ text: "hi" }'), {}, { store });
    await old.run({}, { thread: "t" });
    const now = engineOf(chat("{ text: string, role: string }", '{ text: "hi", role: "user" }'), {}, { store });
    await expect(now.run({}, { thread: "t" })).rejects.toMatchObject({ code: "NG_DRIFT" });
    const map = {
      messages: (value: unknown) => (value as { text: string }[]).map((one) => ({ ...one, role: "user" })),
    };
    await now.migrate("t", { map });
    expect((await now.run({}, { thread: "t" })).output).toEqual({ n: 2 });
  });

  test("rebinds the thread of a graph that was renamed, and of no other", async () => {
    const store = new MemoryStore();
    const text = (name: string): string =>
      `graph ${name} { memory n: int = 0 reduce sum  node a = 1 into n  output out: int = 0  node b = n into out  start -> a -> b }`;
    await engineOf(text("old"), {}, { store }).run({}, { thread: "t" });
    const now = engineOf(text("new"), {}, { store });
    await expect(now.migrate("t")).rejects.toThrow(/belongs to graph `old`/);
    await expect(now.migrate("t", { graph: "another" })).rejects.toThrow(/belongs to graph `old`/);
    await now.migrate("t", { graph: "old" });
    expect((await now.run({}, { thread: "t" })).output).toEqual({ out: 2 });
    await engineOf(text("old"), {}, { store }).run({}, { thread: "u" });
    await now.migrate("u", { rename: { old: "new" } });
    expect((await now.run({}, { thread: "u" })).output).toEqual({ out: 2 });
  });

  test("a changed reducer needs a decision about the value", async () => {
    const store = new MemoryStore();
    const text = (reducer: string): string =>
      `graph g { output n: int = 0 reduce ${reducer}  node a = 5 into n  node b = b() into n  start -> a -> b }`;
    await engineOf(text("sum"), { b: fail }, { store }).run({}, { thread: "t" });
    const now = engineOf(text("max"), { b: () => 3 }, { store });
    await expect(now.migrate("t")).rejects.toThrow(/the reducer of channel `n` was sum and is max/);
    await now.migrate("t", { map: { n: (value) => value } });
    expect((await now.resume("t")).output).toEqual({ n: 5 });
  });

  test.each(["plain", "items"] as const)("a renamed node continues its unfinished called graph: %s", async (kind) => {
    const store = new MemoryStore();
    const ran: string[] = [];
    const work = (name: string): number => {
      ran.push(name);
      return 1;
    };
    const ask = (context: NodeContext): number => context.interrupt("?");
    const each = kind === "plain" ? "" : " for i in [1, 2]";
    const text = (outer: string, middle: string, [first, q]: readonly [string, string], n: string): string => `
      graph inner { output ${n}: int = 0 reduce sum  node ${first} = work("first") into ${n}
        node ${q} = ask() into ${n}  start -> ${first} -> ${q} }
      graph child { output m: int = 0 reduce sum  node seed = work("seed") into m
        node ${middle} = inner() into { ${n}: m }  start -> seed -> ${middle} }
      graph g { output out: int = 0 reduce sum  node ${outer} = child()${each} into { m: out }  start -> ${outer} }`;
    await engineOf(text("call", "deep", ["a", "q"], "n"), { ask, work }, { store }).run({}, { thread: "t" });
    const before = [...ran];
    const now = engineOf(text("invoke", "down", ["b", "p"], "sum"), { ask, work }, { store });
    const rename = { call: "invoke", "child.deep": "down", "inner.a": "b", "inner.q": "p", "inner.n": "sum" };
    await expect(now.migrate("t", { rename: { call: "invoke" } })).rejects.toMatchObject({ code: "NG_DRIFT" });
    await expect(now.migrate("t", { rename: { "other.x": "y" } })).rejects.toThrow(/names graph `other`/);
    await now.migrate("t", { rename, dryRun: true });
    await now.migrate("t", { rename });
    const { pauses } = (await now.state("t"))!;
    expect(pauses.map(({ id }) => /^invoke.*\/down@1\/p@1/.test(id))).toEqual(pauses.map(() => true));
    const answers = Object.fromEntries(pauses.map(({ id }, index) => [id, 10 * (index + 1)]));
    expect(await now.resume("t", { answers })).toMatchObject({
      status: "completed",
      output: { out: kind === "plain" ? 12 : 34 },
    });
    expect(ran).toEqual(before);
  });

  test("a migration converts the channels of a called graph, and keeps its memory under the new name of the node", async () => {
    const store = new MemoryStore();
    const ask = (context: NodeContext): number => context.interrupt("?");
    const text = (node: string, type: string, one: string): string => `
      graph child { memory m: ${type}[] = [] reduce append  state n: ${type} = ${one}  output k: int = 0
        node a = [n] into m  node q = ask() into k  node b = len(m) into k  start -> a -> q -> b }
      graph g { output out: int = 0  node ${node} = child() into { k: out }  start -> ${node} }`;
    const old = engineOf(text("call", "int", "1"), { ask }, { store });
    await old.run({}, { thread: "t" });
    expect((await old.resume("t", 0)).output).toEqual({ out: 1 });
    await old.run({}, { thread: "u" });
    const now = engineOf(text("invoke", "string", '"1"'), { ask }, { store });
    const rename = { call: "invoke" };
    const map = { "child.m": (list: unknown) => (list as number[]).map(String), "child.n": String };
    for (const thread of ["t", "u"]) {
      await expect(now.migrate(thread, { rename })).rejects.toThrow(/in `invoke`: .*another type/);
      await now.migrate(thread, { rename, map });
    }
    expect((await now.resume("u", 0)).output).toEqual({ out: 1 });
    await now.run({}, { thread: "t" });
    expect((await now.resume("t", 0)).output).toEqual({ out: 2 });
  });

  test("the memory of an item is kept behind an item that has never called its graph", async () => {
    const store = new MemoryStore();
    const text = (node: string, type: string): string => `
      graph child { input n: int  memory m: ${type}[] = [] reduce append  output k: int = 0
        node a = [${type === "int" ? "n" : '"new"'}] into m  node b = len(m) into k  start -> a -> b }
      graph g { output out: int = 0 reduce sum
        node ${node} = child(n: known(i)) for i in [1, 2] into { k: out } { allow failure }  start -> ${node} }`;
    const known = (i: number): number => (i === 1 ? fail() : i);
    await engineOf(text("call", "int"), { known }, { store }).run({}, { thread: "t" });
    await expect(engineOf(text("call", "string"), { known }, { store }).run({}, { thread: "t" })).rejects.toMatchObject(
      { code: "NG_DRIFT" },
    );
    const now = engineOf(text("invoke", "string"), { known }, { store });
    const map = { "child.m": (list: unknown) => (list as number[]).map(String) };
    await now.migrate("t", { rename: { call: "invoke" }, map });
    expect((await now.run({}, { thread: "t" })).output).toEqual({ out: 2 });
  });

  test.each(["finally", "call"])(
    "an unfinished %s part: a refused answer changes nothing, and reaches the renamed node",
    async (part) => {
      const store = new MemoryStore();
      const text = (node: string, channel: string): string => {
        const asks = `node ${node} = ask(\`clean \${${channel}}?\`) into log`;
        const state = `state ${channel}: string = "x"  output log: string[] = [] reduce append`;
        return part === "call"
          ? `graph inner { ${state}  node set = "a" into ${channel}  ${asks}  start -> set -> ${node} }
          graph g { output log: string[] = [] reduce append  node call = inner() into { log }  start -> call }`
          : `graph g { ${state}  node set = "a" into ${channel}  ${asks}  start -> set  finally -> ${node} }`;
      };
      const first = await engineOf(text("tidy", "who"), {}, { store }).run({}, { thread: "t" });
      expect(first.pauses).toMatchObject([{ node: "tidy", payload: { question: "clean a?" } }]);
      const now = engineOf(text("sweep", "person"), {}, { store });
      const before = (await store.loadLatest("t"))!.id;
      await expect(now.resume("t", "yes")).rejects.toMatchObject({ code: "NG_DRIFT" });
      expect([(await store.loadLatest("t"))!.id, store.getWrites("t", before)]).toEqual([before, []]);
      const prefix = part === "call" ? "inner." : "";
      await now.migrate("t", { rename: { [`${prefix}tidy`]: "sweep", [`${prefix}who`]: "person" } });
      expect((await now.state("t"))!.pauses).toMatchObject([{ node: "sweep", payload: { question: "clean a?" } }]);
      expect(await now.resume("t", "yes")).toMatchObject({ status: "completed", output: { log: ["yes"] } });
    },
  );

  test("a migration that died is repeated: a called graph is converted once", async () => {
    const ask = (context: NodeContext): number => context.interrupt("?");
    const text = (type: string, zero: string): string => `
      graph child { state n: ${type} = ${zero}  output k: int = 0  node a = ${zero} into n
        node q = ask() into k  start -> a -> q }
      graph g { output out: int = 0  node call = child() into { k: out }  start -> call }`;
    for (const left of [0, 1, 2]) {
      let now = 0;
      const store = new MemoryStore({ now: () => now });
      await engineOf(text("int", "1"), { ask }, { store, wake: false }).run({}, { thread: "t" });
      const options = { map: { "child.n": (value: unknown) => [value as number] } };
      const edited = text("int[]", "[1]");
      await engineOf(edited, { ask }, { store: new CrashingStore(store, left), wake: false })
        .migrate("t", options)
        .catch(() => undefined);
      now += 60_000;
      const engine = engineOf(edited, { ask }, { store, wake: false });
      await engine.migrate("t", options);
      expect((await store.loadLatest("t", "call"))!.values["n"]).toEqual([1]);
      expect((await engine.resume("t", 3)).output).toEqual({ out: 3 });
    }
  });

  test("a wait keeps the due time that was stored after the checkpoint", async () => {
    const clock = new VirtualClock();
    const store = new MemoryStore({ now: () => clock.now() });
    const text = (node: string): string => `graph g { output x: int = 0  node a = 1 into x
      node ${node} = sleep(1m)  start -> a -> ${node} }`;
    // The process stands still after it has stored the due time, and loses its claim.
    void engineOf(text("nap"), {}, { store, clock, wake: false })
      .run({}, { thread: "t" })
      .catch(() => undefined);
    await settle();
    const { id } = (await store.loadLatest("t"))!;
    const [write] = store.getWrites("t", id);
    const due = clock.now() + 60_000;
    expect(write).toMatchObject({ node: "nap", result: due });
    clock.skip(50_000);
    const edited = engineOf(text("rest"), {}, { store, clock, wake: false });
    await edited.migrate("t", { rename: { nap: "rest" } });
    expect(Object.entries((await store.loadLatest("t"))!.dues!)).toEqual([[expect.stringMatching(/^rest@1\./), due]]);
    const last = edited.resume("t");
    await clock.advance(10_000);
    expect(await last).toMatchObject({ status: "completed" });
  });

  test("refuses a misspelled channel in `drop`; a name of another version has no effect, also when it is repeated", async () => {
    const store = new MemoryStore();
    const text = (channel: string): string =>
      `graph g { output total: int = 0  ${channel}  node a = 1 into total  node b = b() into total  start -> a -> b }`;
    const before = engineOf(text("state notes: int = 5  state mood: int = 5"), { b: fail }, { store });
    await before.run({}, { thread: "t" });
    await before.update("t", { notes: 1, mood: 1 });
    const now = engineOf(text("state note: int = 5"), { b: fail }, { store });
    const { id } = (await store.loadLatest("t"))!;
    await expect(now.migrate("t", { drop: ["totla"] })).rejects.toMatchObject({
      code: "NG_BAD_INPUT",
      message: expect.stringMatching(/`totla` .* did you mean `total`\?/) as string,
    });
    expect((await store.loadLatest("t"))!.id).toBe(id);
    await expect(now.migrate("t", { map: { notee: Number } })).rejects.toThrow(/did you mean `note`\?/);
    await expect(now.migrate("t", { rename: { notes: "notee" } })).rejects.toThrow(/did you mean `note`\?/);
    const { checkpointId } = await now.migrate("t", { drop: ["notes", "mood", "unused"] });
    // The thread had these channels.
    expect(await now.migrate("t", { drop: ["notes", "mood", "unused"] })).toEqual({ thread: "t", checkpointId });
    await now.prune({ keepLast: 1 });
    expect(await now.migrate("t", { drop: ["notes", "mood", "unused"] })).toEqual({ thread: "t", checkpointId });
    // The similar name is new: a thread of the new version, and one from before the dropped channel.
    await now.run({}, { thread: "new" });
    await engineOf(text(""), { b: fail }, { store }).run({}, { thread: "first" });
    for (const thread of ["new", "first"])
      expect(await now.migrate(thread, { drop: ["notes"] })).toMatchObject({ thread });
  });

  test("swaps two names; refuses names that are not there, and two names that become one", async () => {
    const store = new MemoryStore();
    const text = (a: string, b: string): string =>
      `graph g { state ${a}: int = 0  state ${b}: string = ""  output out: int = 0  node n = 1 into ${a}  node m = "x" into ${b}
        node end_ = stop() into out  start -> n, m  all(n, m) -> end_ }`;
    await engineOf(text("p", "q"), { stop: fail }, { store }).run({}, { thread: "t" });
    const now = engineOf(text("q", "p"), { stop: () => 1 }, { store });
    await expect(now.migrate("t", { rename: { p: "r" } })).rejects.toThrow(/neither a node nor a channel `r`/);
    await expect(now.migrate("t", { rename: { n: "m" } })).rejects.toThrow(/still has `n`/);
    await expect(now.migrate("t", { map: { r: (value) => value } })).rejects.toThrow(/`r` is not a channel/);
    await expect(now.migrate("t", { map: { p: fail } })).rejects.toThrow(/converts channel `p` failed: down/);
    await now.migrate("t", { rename: { p: "q", q: "p" } });
    expect((await now.state("t"))?.state).toEqual({ q: 1, p: "x", out: 0 });
    expect((await now.resume("t")).status).toBe("completed");
  });
});

describe("5.9 a chosen node needs the state only", () => {
  const old = "graph g { output n: int = 0  node a = 1 into n  node b = b() into n  start -> a -> b }";
  const edited = "graph g { output n: int = 0  node a = 1 into n  node c = n + 10 into n  start -> a -> c }";

  test.each(["resume", "fork"] as const)("%s at a node, though the next node no longer exists", async (how) => {
    const store = new MemoryStore();
    await engineOf(old, { b: fail }, { store }).run({}, { thread: "t" });
    const now = engineOf(edited, {}, { store });
    await expect(now.resume("t")).rejects.toMatchObject({ code: "NG_DRIFT" });
    if (how === "resume") {
      expect((await now.resume("t", { at: "c" })).output).toEqual({ n: 11 });
      return;
    }
    await now.fork("t", { as: "u", at: "c" });
    expect((await now.resume("u")).output).toEqual({ n: 11 });
  });

  test("still refuses values that do not fit, and another graph", async () => {
    const store = new MemoryStore();
    await engineOf(old, { b: fail }, { store }).run({}, { thread: "t" });
    const typed = engineOf(
      edited.replace("n: int = 0", 'n: string = ""').replace("1 into", '"1" into').replace("n + 10", '"x"'),
      {},
      { store },
    );
    await expect(typed.resume("t", { at: "c" })).rejects.toThrow(/channel `n` has another type/);
    const other = engineOf(edited.replace("graph g", "graph h"), {}, { store });
    await expect(other.resume("t", { at: "c" })).rejects.toThrow(/belongs to graph `g`/);
  });
});

test.each(["was", "migrate"])(
  "5.7: an answer in `finally` that was stored before a crash survives a rename (%s)",
  async (way) => {
    const textOf = (node: string, was = ""): string => `graph g { input job: string  output report: string | null
    node work = note(job)  node ${node} = ask("sign off?") into report${was}  node done = note(report)
    start -> work -> end  finally -> ${node} -> done -> end }`;
    const functions = { note: () => null };
    for (let left = 0; left <= 6; left++) {
      let now = 0;
      const store = new MemoryStore({ now: () => now });
      const before = (of: MemoryStore | CrashingStore) =>
        engineOf(textOf("approve"), functions, { store: of, leaseMs: 1000 });
      const { pauses } = await before(store).run({ job: "j" }, { thread: "t" });
      const dying = new CrashingStore(store, left);
      const resumed = before(dying).resume("t", { answers: { [pauses[0]!.id]: "yes" } });
      await resumed.catch(() => undefined);
      now += 5000;
      const after = engineOf(textOf("sign", way === "was" ? " { was approve }" : ""), functions, { store });
      if (way === "migrate") await after.migrate("t", { rename: { approve: "sign" } });
      const isAnswered = dying.log.some((write) => write.startsWith("put answer:"));
      const isOver = (await after.state("t"))?.status === "completed";
      const end = isOver ? await after.state("t") : await after.resume("t");
      expect([left, end?.status, end?.state]).toEqual([
        left,
        isAnswered ? "completed" : "paused",
        { job: "j", report: isAnswered ? "yes" : null },
      ]);
    }
  },
);
