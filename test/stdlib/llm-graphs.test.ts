/** Graphs as tools of `llm`, in runs of the engine against the local model server. */
import { afterEach, beforeEach, expect, test } from "vitest";
import { createEngine } from "../../api/create-engine.ts";
import { compile } from "../../compiler/index.ts";
import type { EngineOptions } from "../../runtime/interface/engine-options.ts";
import type { Table } from "../../runtime/table/table.ts";
import { MemoryStore } from "../../runtime/stores/memory.ts";
import { builtinNodes } from "../../stdlib/builtin-nodes.ts";
import { createLlm } from "../../stdlib/nodes/llm.ts";
import { startModelServer, type ModelReply, type ModelServer } from "../support/model-server.ts";

let server: ModelServer;
let replies: ModelReply[];

beforeEach(async () => {
  replies = [];
  server = await startModelServer(() => replies.shift() ?? { status: 500, body: "no reply is scripted" });
});
afterEach(() => server.close());

const TOOLS = `/// Finds an order by its number.
graph find {
  input id: string
  input shop: string = "main"
  output amount: int
  node look = shop == "main" ? len(id) * 10 : 1 into amount
  start -> look -> end
}

/// Pays the amount of an order back.
graph refund {
  input id: string
  output receipt: string
  state ok: "yes" | "no" = "no"
  node confirm = ask(\`Refund \${id}?\`) into ok
  node paid = \`paid \${id}\` into receipt
  node kept = \`kept \${id}\` into receipt
  start -> confirm
  confirm -> paid when ok == "yes"
  confirm -> kept otherwise
  any(paid, kept) -> end
}
`;

const AGENT = `${TOOLS}
graph g {
  input question: string
  output reply: string
  node agent = llm(question, tools: [find, refund], maxSteps: 5) into reply { tries 2 backoff 1ms }
  start -> agent -> end
}
`;

function engineOf(text: string, options: EngineOptions = {}) {
  const { tables, diagnostics } = compile(text, { path: "g.ngraph" });
  expect(diagnostics.filter(({ severity }) => severity === "error").map(({ message }) => message)).toEqual([]);
  const llm = createLlm({ baseUrl: server.openai, model: "small" });
  return createEngine(tables.get("g") as Table, {
    ...options,
    builtins: { ...builtinNodes, llm, ...options.builtins },
  });
}

const call = (id: string, name: string, args: unknown): ModelReply => ({ toolCalls: [{ id, name, arguments: args }] });
const results = (index: number): readonly unknown[] =>
  (server.requests[index]!.body.messages as { role: string; content: unknown }[])
    .filter(({ role }) => role === "tool")
    .map(({ content }) => content);

test("the model receives the inputs as a schema and the comment as a description, and the outputs as JSON", async () => {
  replies.push(call("1", "find", { id: "77" }), { text: "done" });
  const engine = engineOf(AGENT, { store: new MemoryStore() });
  const events: string[] = [];
  const result = await engine.run(
    { question: "?" },
    { thread: "t", onEvent: ({ type, namespace }) => void events.push(`${type} ${namespace.join("/")}`) },
  );
  expect(result.error).toBeNull();
  expect(result.output).toEqual({ reply: "done" });
  expect(server.requests[0]?.body["tools"]).toMatchObject([
    {
      function: {
        name: "find",
        description: "Finds an order by its number.",
        parameters: {
          properties: { id: { type: "string" }, shop: { type: "string" } },
          required: ["id"],
          additionalProperties: false,
        },
      },
    },
    { function: { name: "refund" } },
  ]);
  expect(results(1)).toEqual(['{"amount":20}']);
  expect(events).toContain("node agent.find.0");
});

test("arguments that do not fit and failures of the graph are results for the model", async () => {
  replies.push(call("1", "find", { id: 7 }), call("2", "find", {}), call("3", "fails", {}), { text: "sorry" });
  const text =
    AGENT.replace("[find, refund]", "[find, refund, fails]") +
    `graph fails {
    output a: string = ""
    node n = fail("out of stock")
    start -> n -> end
  }`;
  const result = await engineOf(text, { store: new MemoryStore() }).run({ question: "?" }, { thread: "t" });
  expect(result.output).toEqual({ reply: "sorry" });
  const [first, second, third] = results(3) as string[];
  expect(first).toMatch(/The arguments do not fit: .*`id`/);
  expect(second).toMatch(/The arguments do not fit: .*id/);
  expect(third).toBe("graph `fails`: node `n` failed: out of stock");
});

test("an argument that the graph does not have is a result for the model, and nothing runs", async () => {
  replies.push(call("1", "find", { id: "7", shp: "other" }), { text: "sorry" });
  const started: string[] = [];
  const result = await engineOf(AGENT, {
    store: new MemoryStore(),
    onEvent: (event) => {
      if (event.type === "node" && event.phase === "start") started.push(event.node);
    },
  }).run({ question: "?" }, { thread: "t" });
  expect(result.output).toEqual({ reply: "sorry" });
  expect(results(1)).toEqual(["The arguments do not fit: expected no arguments but `id`, `shop`, found also `shp`"]);
  expect(started).toEqual(["agent"]);
});

test("a question inside of the graph pauses the run, and each call keeps its own answers", async () => {
  const store = new MemoryStore();
  replies.push(
    {
      toolCalls: [
        { id: "1", name: "refund", arguments: { id: "a" } },
        { id: "2", name: "refund", arguments: { id: "b" } },
      ],
    },
    { text: "done" },
  );
  const first = await engineOf(AGENT, { store }).run({ question: "?" }, { thread: "t" });
  expect(first.status).toBe("paused");
  expect(first.pauses).toMatchObject([
    { node: "confirm", namespace: ["agent.refund.0"], payload: { question: "Refund a?" } },
  ]);
  const second = await engineOf(AGENT, { store }).resume("t", { answer: "yes" });
  expect(second.pauses).toMatchObject([{ namespace: ["agent.refund.1"], payload: { question: "Refund b?" } }]);
  // The id of a pause is that of its call.
  const { id } = second.pauses[0]!;
  expect(id).toMatch(/^agent@0\.refund\.1#[0-9a-f]{12}\/confirm@0\./);
  const third = await engineOf(AGENT, { store }).resume("t", { answers: { [id]: "no" } });
  expect(third).toMatchObject({ status: "completed", output: { reply: "done" } });
  expect(results(1)).toEqual(['{"receipt":"paid a"}', '{"receipt":"kept b"}']);
  expect(server.requests).toHaveLength(2);
});

test("a retry of the node repeats no call", async () => {
  let runs = 0;
  replies.push(call("1", "find", { id: "77" }), { status: 503, body: "busy" }, { text: "done" });
  const result = await engineOf(AGENT, {
    store: new MemoryStore(),
    onEvent: (event) => {
      if (event.type === "node" && event.phase === "start" && event.namespace.length > 0) runs++;
    },
  }).run({ question: "?" }, { thread: "t" });
  expect(result.output).toEqual({ reply: "done" });
  expect(runs).toBe(1);
});

test("without a store, a graph that does not wait runs, and the usage of its models counts", async () => {
  const text = `graph inner {
    input word: string
    output answer: string
    node ask_it = llm(word) into answer
    start -> ask_it -> end
  }
  graph g {
    output reply: string
    limit tokens 1000
    node agent = llm("q", tools: [inner]) into reply
    start -> agent -> end
  }`;
  replies.push(call("1", "inner", { word: "w" }), { text: "inner answer" }, { text: "done" });
  const result = await engineOf(text).run({});
  expect(result).toMatchObject({ output: { reply: "done" }, usage: { inputTokens: 30, outputTokens: 15 } });
  expect(results(2)).toEqual(['{"answer":"inner answer"}']);
});
