/** `llm` in runs of the engine, against the local model server. */
import { afterEach, beforeEach, expect, test } from "vitest";
import { createEngine } from "../../api/create-engine.ts";
import { compile } from "../../compiler/index.ts";
import type { EngineOptions } from "../../runtime/interface/engine-options.ts";
import type { Table } from "../../runtime/table/table.ts";
import { MemoryStore } from "../../runtime/stores/memory.ts";
import { createLlm } from "../../stdlib/nodes/llm.ts";
import { startModelServer, type ModelReply, type ModelServer } from "../support/model-server.ts";

let server: ModelServer;
let replies: ModelReply[];

beforeEach(async () => {
  replies = [];
  server = await startModelServer(() => replies.shift() ?? { status: 500, body: "no reply is scripted" });
});
afterEach(() => server.close());

function engineOf(text: string, options: EngineOptions = {}) {
  const { tables, diagnostics } = compile(text, { path: "g.ngraph" });
  expect(diagnostics.filter(({ severity }) => severity === "error")).toEqual([]);
  const llm = createLlm({ baseUrl: server.openai, model: "small" });
  return createEngine(tables.get("g") as Table, { ...options, builtins: { llm } });
}

const TALK = `type Message = { id?: string, role: string, content: string }
graph g {
  input question: string
  memory messages: Message[] reduce merge
  output reply: string
  node talk = llm(question, messages: messages) into { text: reply, messages }
  start -> talk -> end
}
`;

test("a memory of messages carries a conversation from run to run", async () => {
  replies.push({ text: "hello" }, { text: "fine" });
  const engine = engineOf(TALK, { store: new MemoryStore() });
  const first = await engine.run({ question: "hi" }, { thread: "t" });
  expect(first.error).toBeNull();
  expect(first).toMatchObject({ status: "completed", output: { reply: "hello" } });
  const second = await engine.run({ question: "how are you?" }, { thread: "t" });
  const contents = (messages: unknown): unknown =>
    (messages as { role: string; content: string }[]).map(({ role, content }) => [role, content]);
  const expected = [
    ["user", "hi"],
    ["assistant", "hello"],
    ["user", "how are you?"],
    ["assistant", "fine"],
  ];
  expect(contents(second.state["messages"])).toEqual(expected);
  expect(contents(server.requests[1]?.body.messages)).toEqual(expected.slice(0, 3));
});

test("a rate limit waits as long as the server requests, and `error.name` has the kind of a failure", async () => {
  const text = `graph g {
    output reply: string = ""
    node ask_it = llm("hi") into reply { tries 2 backoff 1ms }
    node note = \`\${error?.name ?? ""} \${error?.status ?? ""}\` into reply
    start -> ask_it -> end
    ask_it -> note on error
  }`;
  replies.push({ status: 429, headers: { "retry-after-ms": "30" }, body: "slow" }, { text: "done" });
  const delays: number[] = [];
  const onEvent: EngineOptions["onEvent"] = (event) => {
    if (event.type === "node" && event.phase === "retry") delays.push(event.delayMs);
  };
  expect(await engineOf(text, { onEvent }).run({})).toMatchObject({ output: { reply: "done" } });
  expect(delays).toEqual([30]);
  replies.push({ status: 401, body: "no" });
  expect(await engineOf(text).run({})).toMatchObject({ output: { reply: "MissingModelKey 401" } });
});

test("tokens are events with the node, the item and the id of the message", async () => {
  replies.push({ text: "one" }, { text: "two" });
  const engine = engineOf(`graph g {
    output replies: string[] reduce append
    node each_of = llm(word) for word in ["a", "b"] into replies { max parallel 1 }
    start -> each_of -> end
  }`);
  const tokens: unknown[] = [];
  for await (const token of engine.stream({}, { view: "tokens" })) tokens.push(token);
  expect(tokens).toMatchObject([
    { node: "each_of", item: 0, data: { text: "one", attempt: 1 } },
    { node: "each_of", item: 1, data: { text: "two", attempt: 1 } },
  ]);
  const ids = new Set((tokens as { data: { id: string } }[]).map(({ data }) => data.id));
  expect(ids.size).toBe(2);
});

test("usage counts against `limit tokens`", async () => {
  replies.push({ text: "one", usage: { input: 80, output: 30 } }, { text: "two" });
  const result = await engineOf(`graph g {
    output a: string = ""
    output b: string = ""
    limit tokens 100
    node first_call = llm("a") into a
    node second_call = llm("b") into b
    start -> first_call -> second_call -> end
  }`).run({});
  expect(result).toMatchObject({ status: "limit", usage: { inputTokens: 80, outputTokens: 30 } });
  expect(server.requests).toHaveLength(1);
});

test("a call without a prompt and without messages is an error (NG114)", () => {
  const { diagnostics } = compile(`graph g { output a: string  node n = llm(system: "s") into a  start -> n -> end }`, {
    path: "g.ngraph",
  });
  expect(diagnostics.map(({ code, message }) => [code, message])).toEqual([
    ["NG114", "`llm` needs `prompt` or `messages`"],
  ]);
});
