import { afterEach, beforeEach, expect, test } from "vitest";
import type { ExpectedType } from "../../runtime/interface/context.ts";
import type { ValueType } from "../../runtime/table/value-type.ts";
import { readRetryAfter } from "../../stdlib/http/retry-after.ts";
import { createLlm, problemOfModel, type LlmOptions } from "../../stdlib/nodes/llm.ts";
import { isStrict, schemaOf } from "../../stdlib/type-schema.ts";
import { startModelServer, type ModelReply, type ModelServer } from "../support/model-server.ts";
import { fakeContext } from "./fake-context.ts";

let server: ModelServer;
let replies: ModelReply[];

beforeEach(async () => {
  replies = [];
  server = await startModelServer(() => replies.shift() ?? { status: 500, body: "no reply is scripted" });
});
afterEach(() => server.close());

const FOREIGN_ANSWER = "not in the protocol of the provider `openai-compatible`: check `provider` and `baseUrl`";
const STRING: ValueType = { kind: "string" };
const INTENT: ExpectedType = {
  type: {
    kind: "union",
    members: [
      { kind: "literal", value: "billing" },
      { kind: "literal", value: "other" },
    ],
  },
  types: [],
};
const MESSAGES: ValueType = {
  kind: "list",
  item: {
    kind: "record",
    fields: [
      { name: "id", type: STRING, optional: true },
      { name: "role", type: STRING },
      { name: "content", type: STRING },
    ],
  },
};

function llmAt(options: Partial<LlmOptions> = {}) {
  return createLlm({ baseUrl: server.openai, apiKey: "secret-key", model: "small", ...options });
}

test("requests text for a channel of type string, and emits its parts", async () => {
  replies.push({ text: "hello, how are you?" });
  const emitted: unknown[] = [];
  const context = fakeContext({ emit: (data, options) => emitted.push([data, options]) });
  const args = { prompt: "say hello", system: "be brief", temperature: 0.5, maxTokens: 9 };
  expect(await llmAt()(args, context)).toBe("hello, how are you?");
  expect(server.requests).toHaveLength(1);
  expect(server.requests[0]).toMatchObject({
    path: "/openai/v1/chat/completions",
    headers: { authorization: "Bearer secret-key" },
    body: {
      model: "small",
      messages: [
        { role: "system", content: "be brief" },
        { role: "user", content: "say hello" },
      ],
      temperature: 0.5,
      max_tokens: 9,
      stream: true,
    },
  });
  const part = (text: string): unknown => [{ id: "key-1-1", attempt: 1, text }, { kind: "token" }];
  expect(emitted).toEqual([part("hello, h"), part("ow are y"), part("ou?")]);
});

test("a model without streams is called without", async () => {
  replies.push({ text: "hello" }, { text: "no json" }, { text: '{"answer": "other"}' });
  const models = {
    default: { provider: "openai-compatible", baseUrl: server.openai, model: "m", stream: false },
  } as const;
  expect(await createLlm({ models })({ prompt: "p" }, fakeContext())).toBe("hello");
  expect(server.requests[0]?.body["stream"]).toBeUndefined();
  expect(server.requests[0]?.headers.authorization).toBeUndefined();
  expect(await createLlm({ models })({ prompt: "p" }, fakeContext({ expects: INTENT }))).toBe("other");
});

test("requests JSON of the channel's type, and returns the value", async () => {
  replies.push({ text: '{"answer":"billing"}' }, { text: '```json\n{"answer":"other"}\n```' });
  const llm = llmAt();
  expect(await llm({ prompt: "classify", model: "large" }, fakeContext({ expects: INTENT }))).toBe("billing");
  expect(server.requests[0]?.body).toMatchObject({
    model: "large",
    response_format: {
      type: "json_schema",
      json_schema: {
        strict: true,
        schema: { properties: { answer: { type: "string", enum: ["billing", "other"] } }, required: ["answer"] },
      },
    },
  });
  expect(await llm({ prompt: "classify" }, fakeContext({ expects: INTENT }))).toBe("other");
});

test("an answer that does not fit is sent back once, with the reason", async () => {
  replies.push({ text: '{"answer":"sales"}' }, { text: '{"answer":"other"}' });
  const used: unknown[] = [];
  const context = fakeContext({ expects: INTENT, usage: (each) => used.push(each) });
  expect(await llmAt()({ prompt: "classify" }, context)).toBe("other");
  expect(used).toHaveLength(2);
  expect(server.requests[1]?.body.messages.slice(1)).toEqual([
    { role: "assistant", content: '{"answer":"sales"}' },
    { role: "user", content: expect.stringMatching(/cannot be used: .*"billing".*Answer again/) },
  ]);
  replies.push({ text: "no JSON" }, { text: "still none" });
  await expect(llmAt()({ prompt: "classify" }, fakeContext({ expects: INTENT }))).rejects.toMatchObject({
    name: "ModelBadAnswer",
    message: expect.stringMatching(/after a correction: it is not valid JSON .*still none/),
    retryable: true,
  });
});

test("a channel of messages receives the prompt and the answer, with ids that do not depend on the attempt", async () => {
  const history = [
    { id: "a", role: "user", content: "hi" },
    { id: "b", role: "assistant", content: "hello" },
  ];
  for (const expected of [1, 2]) {
    replies.push({ text: "fine" });
    const result = await llmAt()(
      { messages: history, prompt: "how are you?" },
      fakeContext({ expects: { type: MESSAGES, types: [] } }),
    );
    expect(result).toEqual([
      { id: "key-1-0", role: "user", content: "how are you?" },
      { id: "key-1-1", role: "assistant", content: "fine" },
    ]);
    expect(server.requests).toHaveLength(expected);
  }
  expect(server.requests[0]?.body.messages).toEqual([
    { role: "user", content: "hi" },
    { role: "assistant", content: "hello" },
    { role: "user", content: "how are you?" },
  ]);
});

test("a record stores the messages beside the answer", async () => {
  const record = (name: string, type: ValueType): ExpectedType => ({
    type: {
      kind: "record",
      fields: [
        { name, type },
        { name: "messages", type: MESSAGES },
      ],
    },
    types: [],
  });
  replies.push({ text: "fine" }, { text: '{"answer":{"intent":"other"}}' });
  expect(await llmAt()({ prompt: "p" }, fakeContext({ expects: record("text", STRING) }))).toEqual({
    text: "fine",
    messages: [
      { id: "key-1-0", role: "user", content: "p" },
      { id: "key-1-1", role: "assistant", content: "fine" },
    ],
  });
  expect(await llmAt()({ prompt: "p" }, fakeContext({ expects: record("intent", INTENT.type) }))).toMatchObject({
    intent: "other",
    messages: [{}, { role: "assistant", content: '{"intent":"other"}' }],
  });
});

test("messages that are none are refused before a request", async () => {
  const run = async (messages: never): Promise<unknown> => llmAt()({ messages }, fakeContext());
  await expect(run([{ role: "robot", content: "" }] as never)).rejects.toThrow(/message 0 of `llm` needs a `role`/);
  await expect(run([{ role: "tool", content: "" }] as never)).rejects.toThrow("toolCallId");
  await expect(run([] as never)).rejects.toThrow("needs a `prompt`");
  expect(server.requests).toEqual([]);
});

test.each([
  [
    "MissingModelKey",
    false,
    { status: 401, body: '{"error":{"message":"no such key: secret-key"}}' },
    "no such key: ***",
  ],
  ["ModelRateLimit", true, { status: 429, headers: { "retry-after": "7" }, body: "slow down" }, "429: slow down"],
  ["ModelUnavailable", true, { status: 503, body: "" }, "answered 503"],
  ["ModelRequestRefused", false, { status: 400, body: '{"error":{"message":"bad tool"}}' }, "400: bad tool"],
  [
    "ModelContextOverflow",
    false,
    { status: 400, body: '{"error":{"message":"maximum context length is 8 tokens"}}' },
    "shorten the messages",
  ],
  ["ModelRefusal", false, { refusal: "I cannot help" }, "refused: I cannot help"],
  ["ModelAnswerTooLong", false, { text: "and then", isTooLong: true }, "cut off: raise `maxTokens`"],
  ["ModelStreamCut", true, { text: "a text of many parts", cut: "connection" }, "broke off"],
  ["ModelStreamCut", true, { text: "a text of many parts", cut: "end" }, "broke off"],
  ["ModelBadAnswer", true, {}, "empty answer"],
  ...[
    { headers: { "content-type": "text/html" }, body: "<html>a page</html>" },
    { headers: { "content-type": "text/event-stream" }, body: 'data: {"some": 1}\n\n' },
    { headers: { "content-type": "text/event-stream" }, body: "data: {some\n\n" },
  ].map((reply) => ["ModelUnavailable", true, { status: 200, ...reply }, FOREIGN_ANSWER] as const),
] as const)("%s, retryable: %s: %j", async (name, retryable, reply, message) => {
  replies.push(reply);
  const error: unknown = await Promise.resolve(llmAt()({ prompt: "x" }, fakeContext())).catch((thrown) => thrown);
  expect(error).toMatchObject({ name, retryable, message: expect.stringContaining(message) });
  const status = "status" in reply && reply.status !== 200 ? reply.status : undefined;
  expect(error).toMatchObject({ status, retryAfterMs: name === "ModelRateLimit" ? 7000 : undefined });
  expect(server.requests).toHaveLength(1);
});

test("a server that cannot be reached, and a call that is cancelled", async () => {
  await server.close();
  await expect(llmAt()({ prompt: "x" }, fakeContext())).rejects.toMatchObject({
    name: "ModelUnavailable",
    retryable: true,
    message: expect.stringMatching(/the model `small` cannot be reached: .*ECONNREFUSED/),
  });
  const reason = new Error("timeout");
  const signal = AbortSignal.abort(reason);
  await expect(llmAt()({ prompt: "x" }, fakeContext({ signal }))).rejects.toBe(reason);
});

test("reads `retry-after` as seconds, milliseconds and a date", () => {
  const now = Date.parse("2026-01-01T00:00:00Z");
  expect(readRetryAfter({ "retry-after": "1.5" }, now)).toBe(1500);
  expect(readRetryAfter({ "retry-after-ms": "20", "retry-after": "1" }, now)).toBe(20);
  expect(readRetryAfter({ "retry-after": "Thu, 01 Jan 2026 00:00:09 GMT" }, now)).toBe(9000);
  expect(readRetryAfter({ "retry-after": "soon" }, now)).toBeUndefined();
  expect(readRetryAfter({}, now)).toBeUndefined();
});

test("speaks the protocol of Anthropic", async () => {
  const models = {
    default: { provider: "anthropic", baseUrl: server.anthropic, model: "claude", secret: "KEY" },
  } as const;
  const llm = createLlm({ models, secrets: () => "k-123" });
  const used: unknown[] = [];
  replies.push({ text: "good morning" }, { text: "x", refusal: "" }, { text: "a text of many parts", cut: "end" });
  const context = fakeContext({ usage: (each) => used.push(each) });
  expect(await llm({ prompt: "hi", system: "be kind" }, context)).toBe("good morning");
  expect(server.requests[0]).toMatchObject({
    path: "/anthropic/v1/messages",
    headers: { "x-api-key": "k-123" },
    body: { model: "claude", system: [{ type: "text", text: "be kind" }] },
  });
  expect(used).toEqual([{ inputTokens: 10, outputTokens: 5, cost: 0 }]);
  await expect(llm({ prompt: "hi" }, fakeContext())).rejects.toMatchObject({ name: "ModelRefusal" });
  await expect(llm({ prompt: "hi" }, fakeContext())).rejects.toMatchObject({ name: "ModelStreamCut" });
});

test("an answer in another protocol says so for each provider", async () => {
  for (const provider of ["openai", "anthropic", "google"] as const) {
    for (const body of ['data: {"some": 1}\n\n', "data: {some\n\n"]) {
      // Google's protocol has no field that an answer must have.
      if (provider === "google" && body.includes("1")) continue;
      const models = { default: { provider, baseUrl: server.openai, model: "m", secret: "KEY" } };
      replies.push({ status: 200, headers: { "content-type": "text/event-stream" }, body });
      const call = createLlm({ models, secrets: () => "k-123" })({ prompt: "hi" }, fakeContext());
      await expect(call).rejects.toMatchObject({
        name: "ModelUnavailable",
        message: `the server of the model \`m\` answered, but not in the protocol of the provider \`${provider}\`: check \`provider\` and \`baseUrl\``,
      });
    }
  }
});

test("a key that no header can hold fails without a request, and is not shown", async () => {
  const models = { default: { provider: "openai", baseUrl: server.openai, model: "m", secret: "KEY" } } as const;
  for (const key of ["k-1\n23", "k-€", "a\nb"]) {
    const options = { models, secrets: () => key };
    const message =
      "the API key of the model `m` has a line break or another character that a header cannot hold: correct the environment variable KEY";
    await expect(createLlm(options)({ prompt: "hi" }, fakeContext())).rejects.toMatchObject({
      name: "MissingModelKey",
      message,
      retryable: false,
    });
    expect(problemOfModel(undefined, options)).toBe(message);
  }
  expect(server.requests).toEqual([]);
  // The line break at the end of a file with the key is no part of a header.
  expect(problemOfModel(undefined, { models, secrets: () => "k-123\n" })).toBeUndefined();
});

test("a missing key, a missing package and an unknown model fail without a request", async () => {
  const models = { default: { provider: "anthropic", model: "claude" } } as const;
  const run = async (options: LlmOptions, model?: string): Promise<unknown> =>
    createLlm(options)({ prompt: "x", ...(model === undefined ? {} : { model }) }, fakeContext());
  await expect(run({ models, secrets: () => undefined })).rejects.toMatchObject({
    name: "MissingModelKey",
    message: expect.stringContaining("set the environment variable ANTHROPIC_API_KEY"),
    retryable: false,
  });
  await expect(run({ models }, "big")).rejects.toThrow('does not know the model "big" (known models: default)');
  await expect(run({})).rejects.toThrow("does not know which model to call");
  const load = (name: string): Promise<unknown> =>
    Promise.reject(Object.assign(new Error("Cannot find package"), { code: "ERR_MODULE_NOT_FOUND", name }));
  await expect(run({ models, load, secrets: () => "k" })).rejects.toMatchObject({
    message: expect.stringMatching(/the package `ai` is not installed; install it with `npm install ai zod`/),
    retryable: false,
  });
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

test("reports the tokens, and the cost by price or as the server states it", async () => {
  const used: unknown[] = [];
  const context = fakeContext({ usage: (each) => used.push(each) });
  replies.push({ text: "hello", usage: { input: 12, output: 3, cost: 0.002 } });
  await llmAt()({ prompt: "p" }, context);
  const price = { input: 1, output: 10 };
  const models = { m: { provider: "openai-compatible", baseUrl: server.openai, model: "m", price } } as const;
  replies.push({ text: "hello", usage: { input: 1000, output: 100 } });
  await createLlm({ models })({ prompt: "p", model: "m" }, context);
  // An answer that cannot be used has been paid for.
  replies.push({ refusal: "no", usage: { input: 5, output: 0 } });
  await expect(llmAt()({ prompt: "p" }, context)).rejects.toThrow();
  expect(used).toEqual([
    { inputTokens: 12, outputTokens: 3, cost: 0.002 },
    { inputTokens: 1000, outputTokens: 100, cost: 0.002 },
    { inputTokens: 5, outputTokens: 0, cost: 0 },
  ]);
});
