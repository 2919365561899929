/** A LangGraph program that keeps its state in our stores. */
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Annotation, Command, END, interrupt, START, StateGraph } from "@langchain/langgraph";
import { createEngine } from "../../api/create-engine.ts";
import { compile } from "../../api/index.ts";
import { LangGraphSaver } from "../../adapters/langgraph/langgraph-saver.ts";
import { MemoryStore } from "../../runtime/stores/memory.ts";
import { SqliteStore } from "../../runtime/stores/sqlite.ts";

function temporaryDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), "ngraph-langgraph-"));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

const State = Annotation.Root({
  log: Annotation<string[]>({ reducer: (a, b) => [...a, ...b], default: () => [] }),
  verdict: Annotation<string>,
});

function approvalGraph(checkpointer: LangGraphSaver) {
  return new StateGraph(State)
    .addNode("draft", () => ({ log: ["draft"] }))
    .addNode("check", () => ({ log: ["check"] }))
    .addNode("approve", () => ({ verdict: interrupt("send it?"), log: ["approve"] }))
    .addEdge(START, "draft")
    .addEdge(START, "check")
    .addEdge(["draft", "check"], "approve")
    .addEdge("approve", END)
    .compile({ checkpointer });
}

describe("a graph that waits for a person", () => {
  test("resumes with the saver of another process, keeps its history, and can be replayed from it", async () => {
    const path = join(temporaryDirectory(), "runs.db");
    const config = { configurable: { thread_id: "t" } };
    const first = new SqliteStore(path);
    const paused = await approvalGraph(new LangGraphSaver(first)).invoke({}, config);
    expect(paused).toHaveProperty("__interrupt__");
    first.close();

    const second = new SqliteStore(path);
    const app = approvalGraph(new LangGraphSaver(second));
    expect((await app.getState(config)).next).toEqual(["approve"]);
    const done = await app.invoke(new Command({ resume: "yes" }), config);
    expect(done).toMatchObject({ verdict: "yes" });
    expect([...done.log].sort()).toEqual(["approve", "check", "draft"]);

    const history = [];
    for await (const snapshot of app.getStateHistory(config)) history.push(snapshot);
    expect(history.map(({ next }) => next.length)).toEqual([0, 1, 2, 1]);
    const beforeApproval = history[1]!;
    await app.updateState(beforeApproval.config, { log: ["edited"] }, "check");
    expect((await app.getState(config)).values.log).toContain("edited");
    expect((await app.getState(history[0]!.config)).values.log).not.toContain("edited");

    await new LangGraphSaver(second).deleteThread("t");
    expect((await app.getState(config)).values).toEqual({});
    second.close();
  });
});

describe("storage", () => {
  test("a conversation costs its new messages, not its whole length a turn", async () => {
    const path = join(temporaryDirectory(), "runs.db");
    const store = new SqliteStore(path);
    const app = new StateGraph(State)
      .addNode("answer", () => ({ log: ["a".repeat(200)] }))
      .addEdge(START, "answer")
      .addEdge("answer", END)
      .compile({ checkpointer: new LangGraphSaver(store) });
    const config = { configurable: { thread_id: "chat" } };
    const turns = 120;
    for (let turn = 0; turn < turns; turn++) await app.invoke({ log: ["q".repeat(200)] }, config);
    const { values } = await app.getState(config);
    expect(values.log).toHaveLength(2 * turns);
    store.close();
    // Copies of the list in each of its checkpoints would be 17 MB.
    expect(statSync(path).size).toBeLessThan(3_000_000);
  });
});

describe("pruning", () => {
  test("keeps what the newest checkpoints need, and the conversation continues", async () => {
    const store = new MemoryStore();
    const app = approvalGraph(new LangGraphSaver(store));
    const config = { configurable: { thread_id: "t" } };
    await app.invoke({}, config);
    expect(store.prune("t", { keepLast: 1 })).toBeGreaterThan(0);
    const done = await app.invoke(new Command({ resume: "yes" }), config);
    expect(done).toMatchObject({ verdict: "yes" });
    expect([...done.log].sort()).toEqual(["approve", "check", "draft"]);
    store.prune("t", { keepLast: 2 });
    const history = [];
    for await (const { values } of app.getStateHistory(config)) history.push(values);
    expect(history).toHaveLength(2);
    expect(history[0]).toEqual(done);
  });

  test("a checkpoint whose parent has just gone keeps all of its values", async () => {
    const saver = new LangGraphSaver(new MemoryStore());
    const config = { configurable: { thread_id: "t", checkpoint_ns: "", checkpoint_id: "gone" } };
    const channels = { channel_values: { a: 1, b: [2] }, channel_versions: { a: 1, b: 1 } };
    const checkpoint = { v: 4, id: "next", ts: "", ...channels, versions_seen: {} };
    const at = await saver.put(config, checkpoint, { source: "loop", step: 1, parents: {} }, { b: 1 });
    expect((await saver.getTuple(at))?.checkpoint.channel_values).toEqual({ a: 1, b: [2] });
  });
});

describe("threads", () => {
  test.each([
    [undefined, "has no `thread_id`"],
    [42, "has a `thread_id` that is of type number"],
    ["", "has a `thread_id` that is empty"],
  ])("the thread_id %j is refused with an explanation", async (id, words) => {
    const app = approvalGraph(new LangGraphSaver(new MemoryStore()));
    await expect(app.invoke({}, { configurable: { thread_id: id } as never })).rejects.toThrow(words);
  });

  const text = "graph g { output n: int  node one = 1 into n  start -> one }";

  test("may have any name, and are never mistaken for one another", async () => {
    const store = new SqliteStore(":memory:");
    const app = approvalGraph(new LangGraphSaver(store));
    const names = ["__proto__", "constructor", "a\0b", "a", "A", "\u00e9", "e\u0301", "x".repeat(2000), "\ud83d"];
    for (const name of names) await app.invoke({ log: [name] }, { configurable: { thread_id: name } });
    for (const name of names) {
      const { values } = await app.getState({ configurable: { thread_id: name } });
      expect(values.log[0]).toBe(name);
    }
    const tooLong = { configurable: { thread_id: "x".repeat(2001) } };
    await expect(app.invoke({}, tooLong)).rejects.toThrow(/is too long to be stored: 2001 characters/);
    store.close();
  });

  test("an engine's thread is left alone by LangGraph, and LangGraph's by an engine", async () => {
    const store = new MemoryStore();
    const { table } = compile(text);
    const engine = createEngine(table!, { store });
    await engine.run({}, { thread: "ours" });
    const saver = new LangGraphSaver(store);
    await expect(approvalGraph(saver).invoke({}, { configurable: { thread_id: "ours" } })).rejects.toThrow(
      /belongs to an ngraph engine/,
    );
    await approvalGraph(saver).invoke({}, { configurable: { thread_id: "theirs" } });
    await expect(engine.resume("theirs")).rejects.toThrow();
    const threads = [];
    for await (const tuple of saver.list({})) threads.push(tuple.config.configurable?.["thread_id"]);
    expect(new Set(threads)).toEqual(new Set(["theirs"]));
  });

  test("two savers that write to one thread at once lose nothing", async () => {
    const store = new MemoryStore();
    const savers = [new LangGraphSaver(store), new LangGraphSaver(store)];
    const config = { configurable: { thread_id: "t", checkpoint_ns: "", checkpoint_id: "c" } };
    const tasks = Array.from({ length: 20 }, (_, index) => `task-${index}`);
    await Promise.all(tasks.map((task, index) => savers[index % 2]!.putWrites(config, [["n", index]], task)));
    const checkpoint = { v: 4, id: "c", ts: "", channel_values: {}, channel_versions: {}, versions_seen: {} };
    const { checkpoint_id: _, ...root } = config.configurable;
    await savers[0]!.put({ configurable: root }, checkpoint, { source: "input", step: -1, parents: {} }, {});
    const tuple = await savers[1]!.getTuple(config);
    expect(tuple?.pendingWrites?.map(([task]) => task).sort()).toEqual([...tasks].sort());
  });

  test("a checkpoint put again takes the place of the first", async () => {
    const saver = new LangGraphSaver(new MemoryStore());
    const put = (value: string) =>
      saver.put(
        { configurable: { thread_id: "t", checkpoint_ns: "" } },
        { v: 4, id: "c", ts: "", channel_values: { a: value }, channel_versions: { a: 1 }, versions_seen: {} },
        { source: "loop", step: 0, parents: {} },
        { a: 1 },
      );
    await put("one");
    const config = await put("two");
    expect((await saver.getTuple(config))?.checkpoint.channel_values).toEqual({ a: "two" });
    const listed = [];
    for await (const tuple of saver.list(config)) listed.push(tuple.checkpoint.channel_values);
    expect(listed).toEqual([{ a: "two" }]);
  });
});
