/** Programs as users of LangGraph JS write them. Each records what its checkpointer returns. */
import { AIMessage, HumanMessage, RemoveMessage, ToolMessage } from "@langchain/core/messages";
import {
  Annotation,
  type BaseCheckpointSaver,
  Command,
  END,
  interrupt,
  MessagesAnnotation,
  Send,
  START,
  StateGraph,
} from "@langchain/langgraph";
import { Transcript } from "./transcript.ts";

type Program = (checkpointer: BaseCheckpointSaver, seen: Transcript) => Promise<void>;

const State = Annotation.Root({
  log: Annotation<string[]>({ reducer: (a, b) => [...a, ...b], default: () => [] }),
  verdict: Annotation<string>,
});
const thread = (id: string) => ({ configurable: { thread_id: id } });

async function notes(seen: Transcript, what: string, history: AsyncIterable<Parameters<Transcript["snapshot"]>[1]>) {
  for await (const snapshot of history) seen.snapshot(what, snapshot);
}

export const PROGRAMS: Readonly<Record<string, Program>> = {
  "two people are asked at once, and answer one after the other": async (checkpointer, seen) => {
    const ask = (who: string) => () => ({ log: [`${who}: ${interrupt<string, string>(who)}`] });
    const app = new StateGraph(State)
      .addNode("before", () => ({ log: ["before"] }))
      .addNode("ann", ask("ann"))
      .addNode("bob", ask("bob"))
      .addNode("after", () => ({ verdict: "done" }))
      .addEdge(START, "before")
      .addEdge("before", "ann")
      .addEdge("before", "bob")
      .addEdge(["ann", "bob"], "after")
      .addEdge("after", END)
      .compile({ checkpointer });
    const config = thread("asked");
    const first = await app.invoke({}, config);
    seen.note("paused", first);
    const state = await app.getState(config);
    seen.snapshot("state", state);
    const [ann, bob] = state.tasks.map(({ interrupts }) => interrupts[0]!.id!);
    seen.note("one answered", await app.invoke(new Command({ resume: { [ann!]: "yes" } }), config));
    seen.snapshot("state", await app.getState(config));
    seen.note("both answered", await app.invoke(new Command({ resume: { [bob!]: "no" } }), config));
    await notes(seen, "history", app.getStateHistory(config));
  },

  "a past state is replayed, edited and gone on from": async (checkpointer, seen) => {
    let runs = 0;
    const app = new StateGraph(State)
      .addNode("a", () => ({ log: [`a${++runs}`] }))
      .addNode("b", ({ log }) => ({ log: [`b after ${log.length}`] }))
      .addNode("c", () => ({ verdict: "c" }))
      .addEdge(START, "a")
      .addEdge("a", "b")
      .addEdge("b", "c")
      .addEdge("c", END)
      .compile({ checkpointer });
    const config = thread("travel");
    await app.invoke({ log: ["first"] }, config);
    await app.invoke({ log: ["second"] }, config);
    const history = [];
    for await (const snapshot of app.getStateHistory(config)) history.push(snapshot);
    seen.note(
      "steps",
      history.map(({ metadata }) => metadata?.step),
    );
    const past = history.find(({ next, values }) => next[0] === "b" && (values as { log: string[] }).log.length < 4)!;
    seen.note("replayed", await app.invoke(null, past.config));
    const edited = await app.updateState(past.config, { log: ["edited"], verdict: "mine" }, "a");
    seen.snapshot("edited", await app.getState(edited));
    seen.note("gone on", await app.invoke(null, edited));
    const twice = await app.updateState(edited, { log: ["sibling"] });
    seen.snapshot("a fork of the fork", await app.getState(twice));
    for (const [index, { config: at }] of history.entries())
      seen.snapshot(`as it was ${index}`, await app.getState(at));
    await notes(seen, "history", app.getStateHistory(config));
    await notes(seen, "two", app.getStateHistory(config, { limit: 2 }));
    await notes(seen, "before", app.getStateHistory(config, { before: past.config, limit: 3 }));
    await notes(seen, "updates", app.getStateHistory(config, { filter: { source: "update" } }));
    await notes(seen, "of a step", app.getStateHistory(config, { filter: { source: "loop", step: 1 } }));
    await notes(seen, "of none", app.getStateHistory(config, { filter: { source: "nothing" } as never }));
    await notes(seen, "from the past", app.getStateHistory(past.config));
    seen.snapshot("the end", await app.getState(config));
  },

  "a graph in a graph in a graph waits for an answer": async (checkpointer, seen) => {
    const deepest = new StateGraph(State)
      .addNode("think", () => ({ log: ["think"] }))
      .addNode("ask", () => ({ log: [interrupt<string, string>("deep")] }))
      .addEdge(START, "think")
      .addEdge("think", "ask")
      .compile();
    const middle = new StateGraph(State).addNode("deepest", deepest).addEdge(START, "deepest").compile();
    const app = new StateGraph(State)
      .addNode("left", middle)
      .addNode("right", () => ({ log: ["right"] }))
      .addEdge(START, "left")
      .addEdge(START, "right")
      .compile({ checkpointer });
    const config = thread("nested");
    seen.note("paused", await app.invoke({}, config));
    const state = await app.getState(config, { subgraphs: true });
    seen.snapshot("state", state);
    const inner = state.tasks.find(({ name }) => name === "left")!.state as typeof state;
    seen.snapshot("inner", await app.getState(inner.config, { subgraphs: true }));
    await notes(seen, "inner history", app.getStateHistory(inner.config));
    seen.note("answered", await app.invoke(new Command({ resume: "42" }), config));
    await notes(seen, "history", app.getStateHistory(config));
  },

  "of parallel items one fails, and only that is tried again": async (checkpointer, seen) => {
    let fails = true;
    const ran: string[] = [];
    const app = new StateGraph(Annotation.Root({ ...State.spec, item: Annotation<number> }))
      .addNode("split", () => ({ log: ["split"] }))
      .addNode("work", ({ item }: { item: number }) => {
        ran.push(`work ${item}`);
        if (item === 2 && fails) throw new Error("no luck");
        return { log: [`worked ${item}`] };
      })
      .addNode("join", ({ log }) => ({ verdict: `${log.length}` }))
      .addEdge(START, "split")
      .addConditionalEdges("split", () => [1, 2, 3].map((item) => new Send("work", { item })))
      .addEdge("work", "join")
      .addEdge("join", END)
      .compile({ checkpointer });
    const config = thread("items");
    await app.invoke({}, config).catch((error: Error) => seen.note("failed", error.message));
    seen.snapshot("state", await app.getState(config));
    fails = false;
    seen.note("again", await app.invoke(null, config));
    seen.note("ran", ran.sort());
    await notes(seen, "history", app.getStateHistory(config));
  },

  "a conversation with tools": async (checkpointer, seen) => {
    let calls = 0;
    const model = (): { messages: AIMessage[] } => {
      calls++;
      const tool = {
        name: "add",
        args: { a: calls, b: [1, { c: null }] },
        id: `call ${calls}`,
        type: "tool_call" as const,
      };
      return {
        messages: [
          calls % 2 === 1
            ? new AIMessage({ id: `ai ${calls}`, content: "", tool_calls: [tool] })
            : new AIMessage({ id: `ai ${calls}`, content: [{ type: "text", text: "é \u{1f600}" }] }),
        ],
      };
    };
    const app = new StateGraph(MessagesAnnotation)
      .addNode("model", model)
      .addNode("tools", ({ messages }) => {
        const { tool_calls: toolCalls = [] } = messages.at(-1) as AIMessage;
        const answers = toolCalls.map(({ id }) => new ToolMessage({ id: `of ${id}`, content: "3", tool_call_id: id! }));
        return { messages: answers };
      })
      .addEdge(START, "model")
      .addConditionalEdges("model", ({ messages }) => {
        return ((messages.at(-1) as AIMessage).tool_calls ?? []).length > 0 ? "tools" : END;
      })
      .addEdge("tools", "model")
      .compile({ checkpointer });
    const config = thread("talk");
    for (let turn = 0; turn < 3; turn++) {
      await app.invoke({ messages: [new HumanMessage({ id: `human ${turn}`, content: `turn ${turn}` })] }, config);
    }
    const { messages } = (await app.getState(config)).values as { messages: unknown[] };
    seen.note(
      "classes",
      messages.map((message) => [HumanMessage, AIMessage, ToolMessage].findIndex((type) => message instanceof type)),
    );
    await app.updateState(config, { messages: [new RemoveMessage({ id: "human 0" })] });
    await app.updateState(config, { messages: [new HumanMessage({ id: "human 1", content: "other words" })] });
    await notes(seen, "history", app.getStateHistory(config));
  },

  "values of all kinds, with each durability": async (checkpointer, seen) => {
    const kinds = {
      map: new Map([["a", new Set([1, 2])]]),
      date: new Date(0),
      pattern: /x/gi,
      bytes: new Uint8Array([0, 255]),
      error: new Error("kept"),
      nothing: null,
      missing: undefined,
      nested: { list: [[], {}, ""], ["__proto__x"]: 1 },
      big: 2 ** 60,
      text: "\0 é \u{1f600}",
    };
    const app = new StateGraph(Annotation.Root({ value: Annotation<unknown>, list: Annotation<unknown[]> }))
      .addNode("a", () => ({ value: kinds, list: [kinds.map, kinds.nested] }))
      .addNode("b", ({ list }) => ({ list: [...list, kinds.text] }))
      .addNode("c", ({ list }) => ({ list: list.slice(1), value: undefined }))
      .addEdge(START, "a")
      .addEdge("a", "b")
      .addEdge("b", "c")
      .addEdge("c", END)
      .compile({ checkpointer });
    for (const durability of ["sync", "async", "exit"] as const) {
      const config = thread(`kinds ${durability}`);
      seen.note(durability, await app.invoke({ value: "x", list: [] }, { ...config, durability }));
      for await (const snapshot of app.getStateHistory(config)) {
        seen.snapshot(durability, snapshot);
        const { value, list = [] } = snapshot.values as { value?: Partial<typeof kinds>; list?: unknown[] };
        const { map, date, pattern, bytes } = value ?? {};
        seen.note(
          "kinds",
          [map, date, pattern, bytes, ...list].map((one) => Object.prototype.toString.call(one)),
        );
        if (map instanceof Map)
          seen.note(
            "in the map",
            [...map].map(([key, set]) => [key, [...set]]),
          );
      }
    }
  },

  "threads are deleted, and begun again": async (checkpointer, seen) => {
    const app = new StateGraph(State)
      .addNode("a", () => ({ log: ["a"] }))
      .addEdge(START, "a")
      .addEdge("a", END)
      .compile({ checkpointer });
    for (const name of ["one", "two"]) await app.invoke({}, thread(name));
    await checkpointer.deleteThread("one");
    await checkpointer.deleteThread("never there");
    seen.snapshot("one", await app.getState(thread("one")));
    seen.snapshot("two", await app.getState(thread("two")));
    seen.note("again", await app.invoke({}, thread("one")));
    await notes(seen, "one", app.getStateHistory(thread("one")));
    const listed = [];
    for await (const { config } of checkpointer.list({}, { limit: 4 })) listed.push(config.configurable?.["thread_id"]);
    seen.note("listed", listed.length);
  },
};
