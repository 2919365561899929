/** `examples/support-agent`, in both spellings, with a local server instead of a model. */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { compileFile } from "../../api/index.ts";
import { createEngine } from "../../api/create-engine.ts";
import type { Table } from "../../runtime/table/table.ts";
import { MemoryStore } from "../../runtime/stores/memory.ts";
import { createLlm } from "../../stdlib/nodes/llm.ts";
import * as functions from "../../examples/support-agent/nodes.ts";
import { startModelServer, type ModelReply, type ModelServer } from "../support/model-server.ts";

let server: ModelServer;
let topic: string;

beforeEach(async () => {
  server = await startModelServer(({ body }): ModelReply => {
    if (body["response_format"] !== undefined) return { text: JSON.stringify({ answer: topic }) };
    const results = body.messages.filter((message) => (message as { role: string }).role === "tool");
    const last = results.at(-1) as { content: string } | undefined;
    if (body["tools"] === undefined) return { text: "Yes, on weekdays." };
    if (results.length === 0) return { toolCalls: [{ id: "1", name: "findOrder", arguments: { id: "B-2" } }] };
    const { amount } = results.length === 1 ? (JSON.parse(last?.content ?? "") as { amount: number }) : { amount: 0 };
    if (results.length === 1) {
      return { toolCalls: [{ id: "2", name: "refund", arguments: { order: "B-2", amount } }] };
    }
    return { text: `Done: ${last?.content}` };
  });
});
afterEach(() => server.close());

describe.each(["ngraph", "yaml"])("support-agent as %s", (spelling) => {
  const engineOf = async (baseUrl: string) => {
    const { table } = await compileFile(`examples/support-agent/support.${spelling}`);
    const llm = createLlm({ baseUrl, model: "small" });
    return createEngine(table as Table, { functions, builtins: { llm }, store: new MemoryStore() });
  };

  test("refunds an order after an approval", async () => {
    topic = "order";
    const engine = await engineOf(server.openai);
    const paused = await engine.run({ ticket: "My lamp B-2 is lost" }, { thread: "t" });
    expect(paused).toMatchObject({
      status: "paused",
      pauses: [{ payload: { tool: "refund", arguments: { order: "B-2", amount: 120 } } }],
    });
    const result = await engine.resume("t", { answers: "approve" });
    expect(result.output).toEqual({
      topic: "order",
      reply: expect.stringMatching(/^Done: refunded 120 for B-2 \([0-9a-f]{8}\)$/),
    });
    expect(result.usage?.inputTokens).toBe(40);
  });

  test("answers a question, and closes spam without a call", async () => {
    topic = "question";
    const engine = await engineOf(server.openai);
    expect(await engine.run({ ticket: "Are you open?" })).toMatchObject({ output: { reply: "Yes, on weekdays." } });
    topic = "spam";
    expect(await engine.run({ ticket: "Win!" })).toMatchObject({ output: { reply: "closed" } });
    expect(server.requests).toHaveLength(3);
  });
});

test("both spellings are one graph", async () => {
  const [text, yaml] = await Promise.all(
    ["ngraph", "yaml"].map((spelling) => compileFile(`examples/support-agent/support.${spelling}`)),
  );
  expect(text?.table).toHaveProperty("digest");
  expect(yaml?.table?.digest).toBe(text?.table?.digest);
});
