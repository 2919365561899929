/**
 * The column "LangGraph JS" of `docs/deviations.md`: each cell repeats a claim of this file, and a program of
 * LangGraph JS confirms it. `—` marks a row without a counterpart there.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import {
  Annotation,
  Command,
  END,
  interrupt,
  MemorySaver,
  Overwrite,
  RunControl,
  START,
  Send,
  StateGraph,
} from "@langchain/langgraph";
import { AIMessage } from "@langchain/core/messages";
import { InMemoryCache } from "@langchain/langgraph-checkpoint";
import { toolsCondition } from "@langchain/langgraph/prebuilt";
import {
  type Values,
  type Body,
  type Interrupted,
  type Builder,
  State,
  thread,
  newGraph,
  logs,
  ignore,
  pause,
  build,
  all,
} from "./langgraph-builder.ts";

/** Claims by the first case of their row, each with its program. */
const CLAIMS: Readonly<Record<string, readonly [cell: string, program: () => Promise<void>]>> = {
  C5: [
    "an error at run time if the targets are a map; without a map the branch ends without an error",
    async () => {
      const start = (targets?: object) =>
        build([[START, "a"]], { b: logs("b") })
          .addEdge(START, "b")
          .addConditionalEdges("a", () => "x", targets);
      await expect(start({ y: "b" }).compile().invoke({})).rejects.toThrow("unknown or null destination");
      expect((await start().compile().invoke({})).log).toEqual(["a", "b"]);
    },
  ],
  C8: [
    "the order of their names",
    async () => {
      const app = build([
        [START, "b"],
        [START, "a"],
      ]).compile();
      expect((await app.invoke({})).log).toEqual(["a", "b"]);
    },
  ],
  C12: [
    "a `goto` runs beside the edges of its node",
    async () => {
      const jump = () => new Command({ goto: "c", update: { log: ["a"] } });
      const app = build(
        [
          [START, "a"],
          ["a", "b"],
          [START, "c"],
        ],
        { a: jump },
      ).compile();
      expect((await app.invoke({})).log).toEqual(["a", "c", "b", "c"]);
    },
  ],
  C29: [
    "may lead anywhere; a jump to an unknown node ends the branch without an error",
    async () => {
      const jump = (goto: string) => () => new Command({ goto, update: { log: ["a"] } });
      const to = (goto: string) =>
        build(
          [
            [START, "a"],
            [START, "c"],
          ],
          { a: jump(goto) },
        ).compile();
      expect((await to("c").invoke({})).log).toEqual(["a", "c", "c"]);
      expect((await to("unknown").invoke({})).log).toEqual(["a", "c"]);
    },
  ],
  C25: [
    "`GraphRecursionError`",
    async () => {
      const app = build([
        [START, "a"],
        ["a", "a"],
      ]).compile();
      await expect(app.invoke({}, { recursionLimit: 3 })).rejects.toMatchObject({ name: "GraphRecursionError" });
    },
  ],
  C2: [
    "a node without edges ends its branch; an unknown node is an error when the graph is compiled",
    async () => {
      expect(
        (
          await build([[START, "a"]])
            .compile()
            .invoke({})
        ).log,
      ).toEqual(["a"]);
      expect(() =>
        build([[START, "a"]])
          .addEdge("a", "unknown")
          .compile(),
      ).toThrow("unknown node `unknown`");
    },
  ],
  "LG-31": [
    "all edges are taken; a function returns the targets of a conditional edge",
    async () => {
      const graph = build(
        [
          [START, "a"],
          ["a", "b"],
        ],
        { c: logs("c"), d: logs("d") },
      );
      const app = graph.addConditionalEdges("a", () => ["c", "d"], ["c", "d"]).compile();
      expect((await app.invoke({})).log).toEqual(["a", "b", "c", "d"]);
    },
  ],
  "LG-35": [
    "`GraphRecursionError`; a loop without an exit compiles",
    async () => {
      const app = build([
        [START, "a"],
        ["a", "b"],
        ["b", "a"],
      ]).compile();
      await expect(app.invoke({}, { recursionLimit: 5 })).rejects.toMatchObject({ name: "GraphRecursionError" });
    },
  ],
  "LG-37": [
    "`goto: END` needs no declaration, and the edges of the node are still taken",
    async () => {
      const stop = () => new Command({ goto: END, update: { log: ["a"] } });
      const app = build(
        [
          [START, "a"],
          ["a", "b"],
        ],
        { a: stop },
      ).compile();
      expect((await app.invoke({})).log).toEqual(["a", "b"]);
    },
  ],
  "LG-71": [
    "once a step; `addEdge([…], node)` waits over steps",
    async () => {
      const branches = [
        [START, "a"],
        [START, "b"],
        ["b", "c"],
      ] as const;
      const each = build([...branches, ["a", "join"], ["c", "join"]]).compile();
      expect((await each.invoke({})).log.filter((name) => name === "join")).toHaveLength(2);
      const together = build([...branches, [["a", "c"], "join"]]).compile();
      expect((await together.invoke({})).log).toEqual(["a", "b", "c", "join"]);
      const oneStep = build([
        [START, "a"],
        [START, "b"],
        ["a", "join"],
        ["b", "join"],
      ]).compile();
      expect((await oneStep.invoke({})).log).toEqual(["a", "b", "join"]);
    },
  ],
  C43: [
    "`InvalidUpdateError`, unless the channel has a reducer",
    async () => {
      const write = () => ({ value: 1 });
      const app = build(
        [
          [START, "a"],
          [START, "b"],
        ],
        { a: write, b: write },
      ).compile();
      await expect(app.invoke({})).rejects.toMatchObject({ name: "InvalidUpdateError" });
    },
  ],
  C50: [
    "`Overwrite`",
    async () => {
      const app = build([[START, "a"]], { a: () => ({ log: new Overwrite(["new"]) }) }).compile();
      expect((await app.invoke({ log: ["old"] })).log).toEqual(["new"]);
    },
  ],
  "LG-24": [
    "may lack channels, which are then left as they are; unknown channels are ignored",
    async () => {
      const app = build([[START, "a"]], { a: () => ({ value: 1, unknown: 2 }) }).compile();
      expect(await app.invoke({ log: ["kept"] })).toEqual({ log: ["kept"], value: 1 });
    },
  ],
  "LG-45": [
    "the names of the nodes",
    async () => {
      const app = build([
        [START, "z"],
        [START, "y"],
        [START, "x"],
      ]).compile();
      expect((await app.invoke({})).log).toEqual(["x", "y", "z"]);
    },
  ],
  "LG-46": [
    "the results of the other branches are kept for the resume, and `getState` shows them",
    async () => {
      let runs = 0;
      let broken = true;
      const a = () => ({ log: [`a${++runs}`] });
      const b = () => {
        if (broken) throw new Error("broken");
        return { log: ["b"] };
      };
      const app = build(
        [
          [START, "a"],
          [START, "b"],
        ],
        { a, b },
      ).compile({ checkpointer: new MemorySaver() });
      await expect(app.invoke({}, thread)).rejects.toThrow("broken");
      expect(await app.getState(thread)).toMatchObject({ values: { log: ["a1"] }, next: ["b"] });
      broken = false;
      expect((await app.invoke(null, thread)).log).toEqual(["a1", "b"]);
    },
  ],
  C35: [
    "in the next step, beside what the edges lead to",
    async () => {
      const graph = build(
        [
          [START, "a"],
          ["a", "b"],
        ],
        { w: logs("w") },
      );
      const app = graph
        .addConditionalEdges("a", () => [new Send("w", 1), new Send("w", 2)], ["w"])
        .compile({
          checkpointer: new MemorySaver(),
        });
      expect([...(await app.invoke({}, thread)).log].sort()).toEqual(["a", "b", "w", "w"]);
      const steps = (await all(app.getStateHistory(thread))).map(({ next }) => [...next].sort());
      expect(steps.reverse()).toEqual([["__start__"], ["a"], ["b", "w", "w"], []]);
    },
  ],
  C37: [
    "`InvalidUpdateError`, which names the target and not the sender",
    async () => {
      const app = build([[START, "sender"]])
        .addConditionalEdges("sender", () => [new Send("unknown", 1)])
        .compile();
      const error: unknown = await app.invoke({}).catch((thrown: unknown) => thrown);
      expect(error).toMatchObject({ name: "InvalidUpdateError" });
      expect(String(error)).toContain('"unknown"');
      expect(String(error)).not.toContain("sender");
    },
  ],
  C39: [
    "the stream mode `tasks` names the node and the id of the task",
    async () => {
      const graph = build([[START, "a"]], { w: logs("w") });
      const app = graph.addConditionalEdges("a", () => [new Send("w", 1), new Send("w", 2)], ["w"]).compile();
      const started = (await all(await app.stream({}, { streamMode: "tasks" }))).filter((task) => "input" in task);
      expect(started.map(({ name }) => name)).toEqual(["a", "w", "w"]);
      expect(new Set(started.map(({ id }) => id)).size).toBe(3);
    },
  ],
  C42: [
    "`interruptAfter` takes effect after the step; the sent tasks run after the pause",
    async () => {
      const graph = build([[START, "a"]], { w: logs("w") });
      const app = graph
        .addConditionalEdges("a", () => [new Send("w", 1), new Send("w", 2)], ["w"])
        .compile({
          checkpointer: new MemorySaver(),
          interruptAfter: ["a"],
        });
      expect((await app.invoke({}, thread)).log).toEqual(["a"]);
      expect((await app.getState(thread)).next).toEqual(["w", "w"]);
      expect((await app.invoke(null, thread)).log).toEqual(["a", "w", "w"]);
    },
  ],
  C34: [
    "all run; the last write wins",
    async () => {
      let runs = 0;
      const slow = async (state: Values) => {
        runs++;
        await pause(5);
        return { log: [`a after ${state.log.join()}`] };
      };
      const app = build([[START, "a"]], { a: slow }).compile({ checkpointer: new MemorySaver() });
      const [one, two] = await Promise.all([app.invoke({ log: ["1"] }, thread), app.invoke({ log: ["2"] }, thread)]);
      expect([one?.log, two?.log]).toEqual([
        ["1", "a after 1"],
        ["2", "a after 2"],
      ]);
      expect(runs).toBe(2);
      expect((await app.getState(thread)).values.log).toHaveLength(2);
    },
  ],
  C38: [
    "they stay pending writes of the last checkpoint",
    async () => {
      const fail = () => {
        throw new Error("broken");
      };
      const saver = new MemorySaver();
      const app = build(
        [
          [START, "a"],
          [START, "b"],
        ],
        { b: fail },
      ).compile({ checkpointer: saver });
      await app.invoke({}, thread).catch(ignore);
      expect(await all(app.getStateHistory(thread))).toHaveLength(2);
      const last = await saver.getTuple(thread);
      expect(last?.pendingWrites?.map(([, channel]) => channel)).toContain("log");
    },
  ],
  C58: [
    "replaces the checkpoint",
    async () => {
      const saver = new MemorySaver();
      const save = (value: number) =>
        saver.put(
          { configurable: { thread_id: "t", checkpoint_ns: "" } },
          { v: 4, id: "1", ts: "", channel_values: { value }, channel_versions: {}, versions_seen: {} },
          { source: "input", step: -1, parents: {} },
        );
      await save(1);
      await save(2);
      expect((await saver.getTuple(thread))?.checkpoint.channel_values).toEqual({ value: 2 });
      expect(await all(saver.list(thread))).toHaveLength(1);
    },
  ],
  C62: [
    "no checkpoint of its own: `next` of the last one lists the node",
    async () => {
      const app = build([
        [START, "a"],
        ["a", "b"],
      ]).compile({
        checkpointer: new MemorySaver(),
        interruptBefore: ["b"],
      });
      await app.invoke({}, thread);
      expect((await all(app.getStateHistory(thread))).map(({ next }) => next)).toEqual([["b"], ["a"], ["__start__"]]);
    },
  ],
  C72: [
    "they are kept",
    async () => {
      let runs = 0;
      const a = () => ({ log: [`a${++runs}`] });
      const b = () => ({ log: [interrupt<string, string>("?")] });
      const app = build(
        [
          [START, "a"],
          [START, "b"],
        ],
        { a, b },
      ).compile({ checkpointer: new MemorySaver() });
      await app.invoke({}, thread);
      expect((await app.invoke(new Command({ resume: "b" }), thread)).log).toEqual(["a1", "b"]);
    },
  ],
  C71: [
    "runs the body again",
    async () => {
      let runs = 0;
      const ask = () => {
        runs++;
        return { log: [interrupt<string, string>("?")] };
      };
      const app = build([[START, "a"]], { a: ask }).compile({ checkpointer: new MemorySaver() });
      await app.invoke({}, thread);
      expect(await app.invoke(null, thread)).toHaveProperty("__interrupt__");
      expect(runs).toBe(2);
    },
  ],
  C74: [
    "starts again at the first node with all channels; the first pause is dropped",
    async () => {
      const ask = () => ({ log: [interrupt<string, string>("?")] });
      const app = build(
        [
          [START, "a"],
          ["a", "b"],
        ],
        { b: ask },
      ).compile({ checkpointer: new MemorySaver() });
      await app.invoke({}, thread);
      expect((await app.invoke({ log: ["second"] }, thread)).log).toEqual(["a", "second", "a"]);
      expect((await app.invoke(new Command({ resume: "b" }), thread)).log).toEqual(["a", "second", "a", "b"]);
    },
  ],
  C61: [
    "an error, if the graph has a checkpointer; an empty id is an error of `MemorySaver`",
    async () => {
      const app = build([[START, "a"]]).compile({ checkpointer: new MemorySaver() });
      await expect(app.invoke({})).rejects.toThrow('missing a required "thread_id"');
      await expect(app.invoke({}, { configurable: { thread_id: "" } })).rejects.toThrow("empty string");
    },
  ],
  C75: [
    "one checkpointer for each compiled graph",
    async () => {
      const graph = build([[START, "a"]]);
      const [one, two] = [1, 2].map(() => graph.compile({ checkpointer: new MemorySaver() }));
      await one!.invoke({}, thread);
      expect((await two!.getState(thread)).values).toEqual({});
    },
  ],
  C85: [
    "`RunControl.requestDrain()` ends the run after the step; a signal aborts it with an error. Both can be resumed",
    async () => {
      const control = new RunControl();
      const drain = () => {
        control.requestDrain("restart");
        return { log: ["a"] };
      };
      const drained = build(
        [
          [START, "a"],
          ["a", "b"],
        ],
        { a: drain },
      ).compile({ checkpointer: new MemorySaver() });
      await drained.invoke({}, { ...thread, control }).catch(ignore);
      expect(await drained.getState(thread)).toMatchObject({ values: { log: ["a"] }, next: ["b"] });
      expect((await drained.invoke(null, thread)).log).toEqual(["a", "b"]);

      const aborts = new AbortController();
      const abort = async () => {
        aborts.abort();
        await pause(1);
        return { log: ["b"] };
      };
      const aborted = build(
        [
          [START, "a"],
          ["a", "b"],
        ],
        { b: abort },
      ).compile({ checkpointer: new MemorySaver() });
      await expect(aborted.invoke({}, { ...thread, signal: aborts.signal })).rejects.toThrow("aborted");
      expect((await aborted.invoke(null, thread)).log).toEqual(["a", "b"]);
    },
  ],
  "LG-18": [
    "the input has step -1, what follows it 0, and the first node 1",
    async () => {
      const app = build([[START, "a"]]).compile({ checkpointer: new MemorySaver() });
      await app.invoke({}, thread);
      expect((await all(app.getStateHistory(thread))).map(({ metadata }) => metadata.step)).toEqual([1, 0, -1]);
    },
  ],
  "LG-58": [
    "the checkpoint stores what runs next; `updateState` as a node overrides it",
    async () => {
      const app = build([
        [START, "a"],
        ["a", "b"],
        ["b", "c"],
      ]).compile({
        checkpointer: new MemorySaver(),
        interruptAfter: ["a"],
      });
      await app.invoke({}, thread);
      await app.updateState(thread, { log: ["by hand"] }, "b");
      expect((await app.getState(thread)).next).toEqual(["c"]);
    },
  ],
  "LG-60": [
    "a compiled graph does not change; a warning is logged",
    async () => {
      const warn = vi.spyOn(console, "warn").mockImplementation(ignore);
      onTestFinished(() => warn.mockRestore());
      const graph = build([[START, "a"]]);
      const app = graph.compile();
      graph.addNode("b", logs("b")).addEdge("a", "b");
      expect(warn).toHaveBeenCalledWith(expect.stringContaining("will not be reflected in the compiled graph"));
      expect((await app.invoke({})).log).toEqual(["a"]);
    },
  ],
  C70: [
    "`maxAttempts` counts all attempts",
    async () => {
      expect(await attemptsWith(2)).toBe(2);
    },
  ],
  "LG-47": [
    "the first in time",
    async () => {
      let fail: (error: Error) => void = ignore;
      const a = () => new Promise((_, reject) => (fail = reject));
      const b = () => {
        setTimeout(() => fail(new Error("of a")), 10);
        throw new Error("of b");
      };
      await expect(
        build(
          [
            [START, "a"],
            [START, "b"],
          ],
          { a, b },
        )
          .compile()
          .invoke({}),
      ).rejects.toThrow("of b");
    },
  ],
  "LG-52": [
    "`timeout` and `signal` of the run",
    async () => {
      const app = build([[START, "a"]], { a: () => pause(100) }).compile();
      await expect(app.invoke({}, { timeout: 5 })).rejects.toMatchObject({ name: "TimeoutError" });
      await expect(app.invoke({}, { signal: AbortSignal.abort() })).rejects.toThrow("abort");
    },
  ],
  C80: [
    "`cachePolicy` of a node, with the cache of the compiled graph",
    async () => {
      let runs = 0;
      const graph = newGraph().addNode("a", () => ({ log: [`a${++runs}`] }), { cachePolicy: true });
      const app = graph.addEdge(START, "a").compile({ cache: new InMemoryCache() });
      await app.invoke({});
      expect((await app.invoke({})).log).toEqual(["a1"]);
    },
  ],
  C81: [
    "channels are shared by name",
    async () => {
      const called = build([[START, "inner"]], { inner: ({ value }: Values) => ({ value: `${value}!` }) }).compile();
      expect(
        (
          await build([[START, "sub"]], { sub: called })
            .compile()
            .invoke({ value: "a" })
        ).value,
      ).toBe("a!");
    },
  ],
  C79: [
    "one `AbortSignal` for each run, passed down",
    async () => {
      const aborts = new AbortController();
      const inner = new Promise<boolean>((resolve) => {
        const wait: Body = async (_, { signal }) => {
          aborts.abort();
          await pause(1);
          resolve(signal.aborted);
          return {};
        };
        const called = build([[START, "inner"]], { inner: wait }).compile();
        build([[START, "sub"]], { sub: called })
          .compile()
          .invoke({}, { signal: aborts.signal })
          .catch(ignore);
      });
      expect(await inner).toBe(true);
    },
  ],
  "LG-61": [
    "the stream mode `updates` carries the writes of a node, without the new values",
    async () => {
      const app = build([
        [START, "a"],
        ["a", "b"],
      ]).compile();
      expect(await all(await app.stream({}, { streamMode: "updates" }))).toEqual([
        { a: { log: ["a"] } },
        { b: { log: ["b"] } },
      ]);
    },
  ],
  "LG-66": [
    "no error: the branch ends",
    async () => {
      const jump = () => new Command({ goto: "unknown", update: { log: ["a"] } });
      expect(
        (
          await build([[START, "a"]], { a: jump })
            .compile()
            .invoke({})
        ).log,
      ).toEqual(["a"]);
    },
  ],
  C53: [
    "`toolsCondition`; otherwise functions",
    async () => {
      const call = { name: "search", args: {}, id: "1" };
      expect(toolsCondition({ messages: [new AIMessage({ content: "", tool_calls: [call] })] })).toBe("tools");
      expect(toolsCondition({ messages: [new AIMessage("done")] })).toBe(END);
    },
  ],
  C91: [
    "an unreachable node is an error when the graph is compiled; the others are found at run time",
    async () => {
      expect(() => build([[START, "a"]], { b: logs("b") }).compile()).toThrow("`b` is not reachable");
      const write = () => ({ value: 1 });
      expect(() =>
        build(
          [
            [START, "a"],
            [START, "b"],
          ],
          { a: write, b: write },
        ).compile(),
      ).not.toThrow();
      expect(() =>
        build([
          [START, "a"],
          ["a", "a"],
        ]).compile(),
      ).not.toThrow();
    },
  ],
  "a resume after the graph was edited": [
    "ignores unknown state keys",
    async () => {
      const checkpointer = new MemorySaver();
      const old = build(
        [
          [START, "a"],
          ["a", "b"],
        ],
        { a: () => ({ value: 1 }) },
      );
      await old.compile({ checkpointer, interruptAfter: ["a"] }).invoke({}, thread);
      const { log } = State.spec;
      const edited = (new StateGraph(Annotation.Root({ log })) as unknown as Builder).addNode("a", logs("a"));
      const app = edited.addNode("b", logs("b")).addEdge(START, "a").addEdge("a", "b").compile({ checkpointer });
      expect(await app.invoke(null, thread)).toEqual({ log: ["b"] });
    },
  ],
  "two graphs on one thread": [
    "share and overwrite its state",
    async () => {
      const checkpointer = new MemorySaver();
      const write = (value: number) => build([[START, "a"]], { a: () => ({ value }) }).compile({ checkpointer });
      await write(1).invoke({}, thread);
      const second = write(2);
      expect((await second.getState(thread)).values.value).toBe(1);
      await second.invoke({}, thread);
      expect((await write(1).getState(thread)).values.value).toBe(2);
    },
  ],
  "state of a new run": ["continues with all channels", () => programOf("C74")],
  "`updateState` on a new thread": [
    "creates it",
    async () => {
      const app = build([[START, "a"]]).compile({ checkpointer: new MemorySaver() });
      await app.updateState(thread, { log: ["by hand"] }, "a");
      expect((await app.getState(thread)).values.log).toEqual(["by hand"]);
    },
  ],
  "static breakpoints": [
    "`interruptBefore`, `interruptAfter`",
    async () => {
      await programOf("C42");
      await programOf("C62");
    },
  ],
  "several interrupts in a step": [
    "resumed by id; a single value answers all of them",
    async () => {
      const ask = () => ({ log: [interrupt<string, string>("?")] });
      const paused = async () => {
        const app = build(
          [
            [START, "a"],
            [START, "b"],
          ],
          { a: ask, b: ask },
        ).compile({ checkpointer: new MemorySaver() });
        const { __interrupt__: waiting } = (await app.invoke({}, thread)) as unknown as Interrupted;
        return { app, ids: waiting.map(({ id }) => id) };
      };
      const { app, ids } = await paused();
      const resume = Object.fromEntries(ids.map((id, i) => [id, `answer ${i}`]));
      expect((await app.invoke(new Command({ resume }), thread)).log).toEqual(["answer 0", "answer 1"]);
      const other = await paused();
      expect((await other.app.invoke(new Command({ resume: "one" }), thread)).log).toEqual(["one", "one"]);
    },
  ],
  "the recursion limit": ["an error", () => programOf("C25")],
  "several stream modes": [
    "items `[mode, chunk]`; `updates` as each node ends",
    async () => {
      const app = build(
        [
          [START, "slow"],
          [START, "fast"],
        ],
        { slow: () => pause(10).then(() => ({ log: ["slow"] })) },
      ).compile();
      expect(await all(await app.stream({}, { streamMode: ["updates", "custom"] }))).toEqual([
        ["updates", { fast: { log: ["fast"] } }],
        ["updates", { slow: { log: ["slow"] } }],
      ]);
    },
  ],
  "the order of updates of a step": ["by the names of the nodes", () => programOf("LG-45")],
  "a resume of a completed run": [
    "returns the state and runs nothing",
    async () => {
      const app = build([[START, "a"]]).compile({ checkpointer: new MemorySaver() });
      await app.invoke({}, thread);
      expect((await app.invoke(null, thread)).log).toEqual(["a"]);
    },
  ],
  "synchronous code that blocks for longer than its `timeout`": [
    "fails when it returns, and its writes are dropped",
    async () => {
      const block = () => {
        for (const end = Date.now() + 60; Date.now() < end;);
        return { log: ["a"] };
      };
      const app = newGraph().addNode("a", block, { timeout: 20 }).addEdge(START, "a");
      const compiled = app.compile({ checkpointer: new MemorySaver() });
      await expect(compiled.invoke({}, thread)).rejects.toThrow(/timeout|exceeded/i);
      expect((await compiled.getState(thread)).values.log).toEqual([]);
    },
  ],
  "a condition that returns an unknown node": ["ends the branch without an error", () => programOf("C5")],
  "two runners on one thread": ["both run; the last write wins", () => programOf("C34")],
  "LG-78": [
    "they are accepted: with -2 attempts a node runs once",
    async () => {
      expect(await attemptsWith(-2)).toBe(1);
    },
  ],
};

const programOf = (name: string): Promise<void> => CLAIMS[name]![1]();

/** Runs of a node that always fails, with `maxAttempts` attempts. */
async function attemptsWith(maxAttempts: number): Promise<number> {
  let runs = 0;
  const fail = () => {
    runs++;
    throw new Error("broken");
  };
  const graph = newGraph().addNode("a", fail, {
    retryPolicy: { maxAttempts, initialInterval: 1, jitter: false, logWarning: false },
  });
  await expect(graph.addEdge(START, "a").compile().invoke({})).rejects.toThrow("broken");
  return runs;
}

/** Cells of the column by the first case of their row. */
function cells(): Map<string, string> {
  const page = readFileSync(join(import.meta.dirname, "../../docs/deviations.md"), "utf8");
  const found = new Map<string, string>();
  let column = -1;
  for (const line of page.split("\n")) {
    const row = line.startsWith("|") ? line.split("|").map((cell) => cell.trim()) : [];
    if (row[1] === "case" || row[1] === "what") column = row.indexOf("LangGraph JS");
    else if (line === "") column = -1;
    else if (column > 0 && !row[1]!.startsWith("--")) found.set(row[1]!.split(",")[0]!, row[column]!);
  }
  return found;
}

describe("the column of LangGraph JS", () => {
  test("has the claims of this file, and `—` in all other rows", () => {
    const claims = Object.entries(CLAIMS).map(([name, [cell]]): [string, string] => [name, cell]);
    expect(Object.fromEntries([...cells()].filter(([, cell]) => cell !== "—"))).toEqual(Object.fromEntries(claims));
  });
  test.each(Object.entries(CLAIMS))("%s", (_, [, program]) => program());
});
