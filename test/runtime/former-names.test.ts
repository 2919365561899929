/** 5.7: a graph that names what it was called before takes up its threads by itself. */
import { describe, expect, test } from "vitest";
import type { NodeContext } from "../../runtime/interface/context.ts";
import { withAnswers } from "../../runtime/checkpoint/restore-run.ts";
import { MemoryStore } from "../../runtime/stores/memory.ts";
import { CrashingStore } from "../support/crashing-store.ts";
import { findingsOf } from "../support/compiled-engine.ts";
import { engineOf } from "../support/graph.ts";

const fail = (): never => {
  throw new Error("down");
};
const ask = (context: NodeContext): string => context.interrupt<string>("which?");

describe("was and drop", () => {
  const OLD = `graph g { state choice: string | null  state score: int = 0  output out: string | null
    node choose = ask() into choice  node done = choice into out  start -> choose -> done }`;
  const NEW = `graph h was g { state picked: string | null was choice  output out: string | null  drop score
    node pick = ask() into picked { was choose }  node done = picked into out  start -> pick -> done }`;

  test("a resume under the new names takes the answer by its old id or by its new one", async () => {
    for (const isOld of [true, false]) {
      const store = new MemoryStore();
      const before = engineOf(OLD, { ask }, { store });
      const { pauses } = await before.run({}, { thread: "t" });
      const after = engineOf(NEW, { ask }, { store });
      const state = await after.state("t");
      expect(state).toMatchObject({ status: "paused", next: ["pick"], pauses: [{ node: "pick" }] });
      expect((await after.history("t"))[0]!.nextNodes).toEqual(["pick"]);
      const { id } = (isOld ? pauses : state!.pauses)[0]!;
      expect(await after.resume("t", { answers: { [id]: "left" } })).toMatchObject({
        status: "completed",
        output: { out: "left" },
        state: { picked: "left" },
      });
      // The old names are gone from the thread, and it belongs to the new graph.
      const [head] = await store.list("t", { limit: 1 });
      expect(head!.graph).toBe("h");
      expect(Object.keys(head!.values).sort()).toEqual(["out", "picked"]);
      await expect(before.run({}, { thread: "t" })).rejects.toMatchObject({ code: "NG_DRIFT" });
    }
  });

  test("a crash after the first step under the new names is resumed once more", async () => {
    const store = new MemoryStore();
    let broken = true;
    const functions = { a: () => "a", b: () => (broken ? fail() : "b") };
    const text = (log: string, a: string, b: string) => `graph g { output ${log}
      node ${a}  node ${b}  start -> ${a.split(" ")[0]}, ${b.split(" ")[0]} }`;
    const before = engineOf(
      text("log: string[] = [] reduce append", "a = a() into log", "b = b() into log"),
      functions,
      { store },
    );
    expect((await before.run({}, { thread: "t" })).status).toBe("failed");
    const after = engineOf(
      text(
        "lines: string[] = [] reduce append was log",
        "x = a() into lines { was a }",
        "y = b() into lines { was b }",
      ),
      { ...functions, a: () => fail() },
      { store },
    );
    expect((await after.resume("t")).status).toBe("failed");
    broken = false;
    expect(await after.resume("t")).toMatchObject({ status: "completed", output: { lines: ["a", "b"] } });
  });

  test("stored results and answers of an unfinished step follow their nodes", async () => {
    const store = new MemoryStore();
    const before = engineOf(
      `graph g { output log: string[] = [] reduce append  node a = "a" into log  node b = ask() into log
        node c = ask() into log  start -> a, b, c }`,
      { ask },
      { store },
    );
    const { pauses } = await before.run({}, { thread: "t" });
    const idOf = (node: string): string => pauses.find((pause) => pause.node === node)!.id;
    await before.resume("t", { answers: { [idOf("b")]: "b" } });
    const after = engineOf(
      `graph g { output lines: string[] = [] reduce append was log  node x = "not again" into lines { was a }
        node y = ask() into lines { was b }  node z = ask() into lines { was c }  start -> x, y, z }`,
      { ask },
      { store },
    );
    expect(await after.resume("t", "c")).toMatchObject({ status: "completed", output: { lines: ["a", "b", "c"] } });
  });

  test("a new run keeps memory under its new name, in called graphs too", async () => {
    const store = new MemoryStore();
    const text = (memory: string, name: string, call: string): string => `
      graph chat { input q: string  output n: int = 0  ${memory}
        node add = [q] into ${name}  node count = len(${name}) into n  start -> add -> count }
      graph main { input q: string  output n: int = 0  node ${call}  start -> ${call.split(" ")[0]} }`;
    const before = engineOf(
      text("memory messages: string[] reduce append", "messages", "talk = chat(q: q) into { n }"),
      {},
      {
        store,
      },
    );
    await before.run({ q: "a" }, { thread: "t" });
    await before.run({ q: "b" }, { thread: "t" });
    const after = engineOf(
      text("memory log: string[] reduce append was messages", "log", "speak = chat(q: q) into { n } { was talk }"),
      {},
      { store },
    );
    expect((await after.run({ q: "c" }, { thread: "t" })).output).toEqual({ n: 3 });
    expect((await after.run({ q: "d" }, { thread: "t" })).output).toEqual({ n: 4 });
  });

  test("a called graph that waits continues under the new names of its own parts", async () => {
    const store = new MemoryStore();
    const text = (channel: string, name: string, node: string): string => `
      graph inner { ${channel}  output out: string | null  node ${node}
        node done = ${name} into out  start -> ${node.split(" ")[0]} -> done }
      graph main { output out: string | null  node call = inner() into { out }  start -> call }`;
    const before = engineOf(text("state a: string | null", "a", "q = ask() into a"), { ask }, { store });
    await before.run({}, { thread: "t" });
    const after = engineOf(text("state b: string | null was a", "b", "p = ask() into b { was q }"), { ask }, { store });
    expect(await after.resume("t", "yes")).toMatchObject({ status: "completed", output: { out: "yes" } });
  });

  test.each(["resume", "fork", "update", "update in", "migrate"] as const)(
    "a renamed node continues its unfinished called graph: %s",
    async (how) => {
      const store = new MemoryStore();
      const ran: string[] = [];
      const work = (name: string): number => {
        ran.push(name);
        return 1;
      };
      const text = (nodes: readonly [string, string, string], was: readonly [string, string, string]): string => `
        graph inner { output n: int = 0 reduce sum  node first = work("first") into n
          node ${nodes[2]} = ask() into n${was[2]}  start -> first -> ${nodes[2]} }
        graph child { output m: int = 0 reduce sum  state k: int = 1  node seed = work("seed") into m
          node ${nodes[1]} = inner() into { n: m }${was[1]}  node add = k into m  start -> seed -> ${nodes[1]} -> add }
        graph g { output out: int = 0 reduce sum
          node ${nodes[0]} = child() for i in [1, 2] into { m: out }${was[0]}  start -> ${nodes[0]} }`;
      const ask = (context: NodeContext): number => context.interrupt<number>("?");
      const old = engineOf(text(["call", "deep", "q"], ["", "", ""]), { ask, work }, { store });
      const { pauses } = await old.run({}, { thread: "t" });
      expect(pauses).toHaveLength(2);
      const before = [...ran];
      const was = [" { was call }", " { was deep }", " { was q }"] as const;
      const now = engineOf(text(["invoke", "down", "p"], was), { ask, work }, { store });
      if (how === "fork") await now.fork("t", { as: "u" });
      if (how === "update") await now.update("t", { out: 100 });
      if (how === "update in") await now.update("t", { k: 101 }, { in: "invoke[1]" });
      if (how === "migrate") await now.migrate("t");
      const thread = how === "fork" ? "u" : "t";
      const state = (await now.state(thread))!;
      expect(state.pauses.map(({ namespace }) => namespace)).toEqual([
        ["invoke[0]", "down"],
        ["invoke[1]", "down"],
      ]);
      // One answer by the old id, where the thread is the same; the other by the new one.
      const ids = [(how === "fork" ? state : { pauses }).pauses[0]!.id, state.pauses[1]!.id];
      const first = await now.resume(thread, { answers: { [ids[0]!]: 10 } });
      expect(first).toMatchObject({ status: "paused", pauses: [{ id: ids[1] }] });
      const last = await now.resume(thread, { answers: { [ids[1]!]: 20 } });
      const edited = how === "update" || how === "update in" ? 100 : 0;
      expect(last).toMatchObject({ status: "completed", output: { out: 36 + edited } });
      expect(ran).toEqual(before);
    },
  );

  test("a called graph that has progressed behind the checkpoint of its renamed caller continues there", async () => {
    let now = 0;
    const store = new MemoryStore({ now: () => now });
    const ran: string[] = [];
    const work = (name: string): string => {
      ran.push(name);
      return name;
    };
    const text = (node: string, was: string): string => `
      graph inner { output log: string[] = [] reduce append  node a = work("a") into log
        node b = work("b") into log  start -> a -> b }
      graph g { output log: string[] = []  node ${node} = inner() into { log }${was}  start -> ${node} }`;
    // The process dies in the second step of the called graph.
    await engineOf(text("call", ""), { work }, { store: new CrashingStore(store, 3), wake: false })
      .run({}, { thread: "t" })
      .catch(() => undefined);
    now += 60_000;
    expect((await store.loadLatest("t", "call"))!.step).toBe(0);
    const edited = engineOf(text("invoke", " { was call }"), { work }, { store, wake: false });
    ran.length = 0;
    expect(await edited.resume("t")).toMatchObject({ status: "completed", output: { log: ["a", "b"] } });
    expect(ran).toEqual(["b"]);
  });

  test("a result that is stored under a present name ends the pause of its former name, for readers without the graph", async () => {
    let now = 0;
    const store = new MemoryStore({ now: () => now });
    const text = (a: string, was: string): string => `
      graph g { output log: string[] = [] reduce append  node ${a} = receive("x") into log${was}
        node b = ask("b?") into log  start -> ${a}, b }`;
    const options = { store, wake: false };
    await engineOf(text("old", ""), {}, options).run({}, { thread: "t" });
    const edited = text("present", " { was old }");
    await engineOf(edited, {}, options).signal("t", "x", "came");
    // The process dies after the result of `present` is stored.
    const dying = new CrashingStore(store, 1);
    await engineOf(edited, {}, { store: dying, wake: false })
      .resume("t", { answers: {} })
      .catch(() => undefined);
    expect(dying.log).toEqual(["put present"]);
    now += 60_000;
    const head = (await store.loadLatest("t"))!;
    expect(withAnswers(head, store.getWrites("t", head.id)).pauses.map(({ node }) => node)).toEqual(["b"]);
    const other = engineOf("graph other { output x: int = 0  node a = 1 into x  start -> a }", {}, options);
    expect((await other.threads())[0]).toMatchObject({ thread: "t", status: "paused" });
    const last = await engineOf(edited, {}, options).resume("t", "b");
    expect(last).toMatchObject({ status: "completed", output: { log: ["came", "b"] } });
  });

  test("two values for one channel are refused, and `drop` decides", async () => {
    const store = new MemoryStore();
    const text = (channels: string, node = "a = 1 into x"): string =>
      `graph g { ${channels}  node ${node}  node q = ask()  start -> a -> q }`;
    await engineOf(
      text("state x: int = 0  state y: int = 5", "a = { x: 1, y: 2 } into { x, y }"),
      { ask },
      { store },
    ).run({}, { thread: "t" });
    const merged = engineOf(text("state x: int = 0 was y"), { ask }, { store });
    await expect(merged.resume("t", "go")).rejects.toThrow(/`x` would take the values of `x` and of `y`/);
    const dropped = engineOf(text("state x: int = 0  drop y"), { ask }, { store });
    expect(await dropped.resume("t", "go")).toMatchObject({ status: "completed", state: { x: 1 } });
  });

  test("forks, edits and migrations use the present names", async () => {
    const store = new MemoryStore();
    await engineOf(OLD, { ask }, { store }).run({}, { thread: "t" });
    const after = engineOf(NEW, { ask }, { store });
    await after.fork("t", { as: "u" });
    expect(await after.resume("u", "x")).toMatchObject({ status: "completed", output: { out: "x" } });
    await after.update("t", { picked: "by hand" }, { as: "pick" });
    expect(await after.resume("t")).toMatchObject({ status: "completed", output: { out: "by hand" } });
    await engineOf(OLD, { ask }, { store }).run({}, { thread: "v" });
    await after.migrate("v");
    expect((await store.list("v", { limit: 1 }))[0]).toMatchObject({
      graph: "h",
      phase: "updated",
      nextNodes: ["pick"],
    });
  });

  test("an edit as a node leaves what no longer exists", async () => {
    const store = new MemoryStore();
    await engineOf(OLD, { ask }, { store }).run({}, { thread: "t" });
    const after = engineOf(
      `graph g { state choice: string | null  state score: int = 0  output out: string | null
        node other = "x" into choice  node done = choice into out  start -> other -> done }`,
      {},
      { store },
    );
    await expect(after.resume("t", "x")).rejects.toThrow(
      /declare in the graph .*`was choose`.*`ngc migrate t` with `--rename choose=NEW`/,
    );
    await after.update("t", { choice: "by hand" }, { as: "other" });
    expect(await after.resume("t")).toMatchObject({ status: "completed", output: { out: "by hand" } });
  });

  test("the compiler refuses former names that are in use, or listed twice", () => {
    expect(
      findingsOf("graph g { output x: int = 0  node a = 1 into x { was b }  node b = 1  start -> a -> b }"),
    ).toEqual(["NG102:error"]);
    expect(findingsOf("graph g { output x: int = 0  drop x  node a = 1 into x  start -> a }")).toEqual(["NG102:error"]);
    expect(findingsOf("graph g { output x: int = 0 was y, y  node a = 1 into x  start -> a }")).toEqual([
      "NG102:error",
    ]);
    expect(findingsOf("graph g was g { output x: int = 0  node a = 1 into x  start -> a }")).toEqual(["NG102:error"]);
  });
});
