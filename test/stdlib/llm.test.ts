import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { ExpectedType } from "../../runtime/interface/context.ts";
import { createLlm } from "../../stdlib/nodes/llm.ts";
import { isStrict, schemaOf } from "../../stdlib/type-schema.ts";
import { fakeContext } from "./fake-context.ts";

let server: Server;
let baseUrl: string;
let requests: { authorization: string | undefined; url: string | undefined; body: Record<string, unknown> }[];
let reply: { status: number; body: string };

beforeEach(async () => {
  requests = [];
  server = createServer((request, response) => {
    let text = "";
    request.on("data", (chunk) => (text += chunk));
    request.on("end", () => {
      requests.push({ authorization: request.headers.authorization, url: request.url, body: JSON.parse(text) });
      response.writeHead(reply.status).end(reply.body);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/`;
});
afterEach(() => {
  server.closeAllConnections();
  server.close();
});

function answers(content: string, more: object = {}): void {
  reply = { status: 200, body: JSON.stringify({ choices: [{ message: { role: "assistant", content }, ...more }] }) };
}

const intent: ExpectedType = {
  type: {
    kind: "union",
    members: [
      { kind: "literal", value: "billing" },
      { kind: "literal", value: "other" },
    ],
  },
  types: [],
};

test("requests text for a channel of type string", async () => {
  answers("hello");
  const llm = createLlm({ baseUrl, apiKey: "key", model: "small" });
  expect(await llm({ prompt: "say hello", system: "be brief", temperature: 0.5, maxTokens: 9 }, fakeContext())).toBe(
    "hello",
  );
  expect(requests).toEqual([
    {
      authorization: "Bearer key",
      url: "/v1/chat/completions",
      body: {
        model: "small",
        messages: [
          { role: "system", content: "be brief" },
          { role: "user", content: "say hello" },
        ],
        temperature: 0.5,
        max_completion_tokens: 9,
      },
    },
  ]);
});

test("requests JSON of the channel's type, and returns the value", async () => {
  answers('{"answer":"billing"}');
  const llm = createLlm({ baseUrl, model: "small" });
  expect(await llm({ prompt: "classify", model: "large" }, fakeContext({ expects: intent }))).toBe("billing");
  expect(requests[0]?.authorization).toBeUndefined();
  expect(requests[0]?.body).toMatchObject({
    model: "large",
    response_format: {
      type: "json_schema",
      json_schema: {
        strict: true,
        schema: { properties: { answer: { type: "string", enum: ["billing", "other"] } }, required: ["answer"] },
      },
    },
  });
  answers('```json\n{"answer":"other"}\n```');
  expect(await llm({ prompt: "classify" }, fakeContext({ expects: intent }))).toBe("other");
});

test("what goes wrong says why, and whether another try may help", async () => {
  const llm = createLlm({ baseUrl, model: "small" });
  const run = async (expects?: ExpectedType): Promise<unknown> =>
    llm({ prompt: "x" }, fakeContext(expects === undefined ? {} : { expects }));
  reply = { status: 401, body: JSON.stringify({ error: { message: "no such key" } }) };
  await expect(run()).rejects.toMatchObject({
    message: expect.stringMatching(/answered 401: no such key$/),
    retryable: false,
  });
  reply = { status: 429, body: "slow down" };
  await expect(run()).rejects.toMatchObject({ message: expect.stringContaining("slow down"), retryable: true });
  reply = { status: 200, body: "{}" };
  await expect(run()).rejects.toThrow("gave no answer");
  answers("no JSON");
  await expect(run(intent)).rejects.toMatchObject({
    message: expect.stringContaining("does not have the requested form"),
    retryable: true,
  });
  answers('{"answer":"bill', { finish_reason: "length" });
  await expect(run(intent)).rejects.toMatchObject({ message: expect.stringContaining("cut off"), retryable: false });
  reply = { status: 200, body: JSON.stringify({ choices: [{ message: { refusal: "no" } }] }) };
  await expect(run()).rejects.toMatchObject({ message: "the model refused: no", retryable: false });
  await expect((async () => createLlm({ baseUrl })({ prompt: "x" }, fakeContext()))()).rejects.toThrow("which model");
});

test("types become closed schemas; recursive ones by reference", () => {
  const expected: ExpectedType = {
    type: { kind: "list", item: { kind: "ref", name: "Tree" } },
    types: [
      {
        name: "Tree",
        type: {
          kind: "record",
          fields: [
            { name: "name", type: { kind: "string" } },
            { name: "size", type: { kind: "union", members: [{ kind: "int" }, { kind: "null" }] } },
            { name: "children", type: { kind: "list", item: { kind: "ref", name: "Tree" } } },
          ],
        },
      },
    ],
  };
  expect(schemaOf(expected)).toEqual({
    type: "array",
    items: { $ref: "#/$defs/Tree" },
    $defs: {
      Tree: {
        type: "object",
        properties: {
          name: { type: "string" },
          size: { anyOf: [{ type: "integer" }, { type: "null" }] },
          children: { type: "array", items: { $ref: "#/$defs/Tree" } },
        },
        required: ["name", "size", "children"],
        additionalProperties: false,
      },
    },
  });
  expect(isStrict(expected)).toBe(true);
  expect(isStrict({ type: { kind: "map", value: { kind: "int" } }, types: [] })).toBe(false);
});

test("reports the tokens and the cost that the server states", async () => {
  const used: unknown[] = [];
  const llm = createLlm({ baseUrl, model: "small" });
  const body = { choices: [{ message: { content: "hello" } }] };
  const usages = [{ prompt_tokens: 12, completion_tokens: 3, cost: 0.002 }, { prompt_tokens: "many" }, undefined];
  for (const usage of usages) {
    reply = { status: 200, body: JSON.stringify({ ...body, usage }) };
    await llm({ prompt: "p" }, fakeContext({ usage: (each) => used.push(each) }));
  }
  // An answer that cannot be used has been paid for.
  reply = { status: 200, body: JSON.stringify({ choices: [], usage: { prompt_tokens: 5 } }) };
  await expect(llm({ prompt: "p" }, fakeContext({ usage: (each) => used.push(each) }))).rejects.toThrow();
  const nothing = { inputTokens: 0, outputTokens: 0, cost: 0 };
  expect(used).toEqual([
    { inputTokens: 12, outputTokens: 3, cost: 0.002 },
    nothing,
    nothing,
    { ...nothing, inputTokens: 5 },
  ]);
});
