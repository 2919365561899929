/** Tools of models: calls of imported functions in a bounded loop, each stored, some approved by a person. */
import { readFileSync } from "node:fs";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createEngine } from "../../api/create-engine.ts";
import { compile } from "../../compiler/index.ts";
import type { NodeContext } from "../../runtime/interface/context.ts";
import type { EngineOptions } from "../../runtime/interface/engine-options.ts";
import type { Store } from "../../runtime/interface/store.ts";
import type { Table } from "../../runtime/table/table.ts";
import { MemoryStore } from "../../runtime/stores/memory.ts";
import { createLlm } from "../../stdlib/nodes/llm.ts";
import { fencedBlocks } from "../docs/fenced-blocks.ts";
import { startModelServer, type ModelReply, type ModelServer } from "../support/model-server.ts";

const NODES = `
/** Finds an order. */
export function findOrder(id: string, detailed?: boolean): { amount: number } { return { amount: 0 }; }
/** Pays money back. */
export async function refund(order: string, amount: number): Promise<string> { return ""; }
`;
const GRAPH = `import { findOrder, refund } from "./nodes.ts"
graph g {
  input question: string
  output reply: string
  node agent = llm(question, tools: [findOrder, refund], approve: [refund], maxSteps: 4) into reply
  start -> agent -> end
}
`;

let server: ModelServer;
let reply: (messages: readonly Record<string, unknown>[]) => ModelReply;
let calls: string[];
let keys: Set<string>;

beforeEach(async () => {
  calls = [];
  keys = new Set();
  server = await startModelServer(({ body }) => reply(body.messages as Record<string, unknown>[]));
});
afterEach(() => server.close());

/** Looks up two orders, pays one back, and answers. The reply depends on the messages only. */
function agentReply(messages: readonly Record<string, unknown>[]): ModelReply {
  const results = messages.filter(({ role }) => role === "tool").length;
  const order = (id: string) => ({ id: `call-${id}`, name: "findOrder", arguments: { id } });
  if (results === 0) return { toolCalls: [order("a"), order("b")] };
  if (results === 2) {
    return { toolCalls: [{ id: "call-r", name: "refund", arguments: { order: "b", amount: 5 } }] };
  }
  return { text: `done: ${String(messages.at(-1)?.["content"])}` };
}

const functions = {
  findOrder: (id: string, _detailed: unknown, { idempotencyKey }: NodeContext) => {
    calls.push(`find ${id}`);
    keys.add(idempotencyKey);
    return { amount: 5 };
  },
  refund: async (order: string, amount: number, { idempotencyKey }: NodeContext) => {
    calls.push(`refund ${order} ${amount}`);
    keys.add(idempotencyKey);
    return "paid";
  },
};

function tableOf(text: string): Table {
  const host = {
    readFile: (path: string) => (path.endsWith("nodes.ts") ? NODES : undefined),
    realPath: (path: string) => path,
  };
  const { tables, diagnostics } = compile(text, { path: "g.ngraph", host });
  expect(diagnostics.filter(({ severity }) => severity === "error").map(({ message }) => message)).toEqual([]);
  return tables.get("g") as Table;
}

function engineOf(text: string, options: EngineOptions = {}) {
  const llm = createLlm({ baseUrl: server.openai, model: "small" });
  return createEngine(tableOf(text), { functions, ...options, builtins: { llm } });
}

test("the table has the tools with their parameters, descriptions and effects", () => {
  const { nodes, effects } = tableOf(GRAPH);
  expect(effects).toEqual(["code", "model", "net", "person"]);
  expect(nodes[0]?.call).toMatchObject({
    kind: "builtin",
    tools: [
      {
        name: "findOrder",
        parameters: [
          { name: "id", type: { kind: "string" } },
          { name: "detailed", type: { kind: "bool" }, optional: true },
        ],
        description: "Finds an order.",
      },
      { name: "refund", description: "Pays money back.", approval: true },
    ],
  });
});

test("the example of docs/tools.md checks clean with its module", () => {
  const blocks = fencedBlocks(readFileSync("docs/tools.md", "utf8"));
  const example = blocks.find(({ language }) => language === "ngraph");
  const module = blocks.find(({ language }) => language === "ts");
  const nodes = (module?.text ?? "").replaceAll("{ … }", "{ throw 0; }");
  const host = {
    readFile: (path: string) => (path.endsWith("nodes.ts") ? nodes : undefined),
    realPath: (path: string) => path,
  };
  const { diagnostics } = compile(example?.text ?? "", { path: "support.ngraph", host });
  expect(diagnostics.filter(({ severity }) => severity !== "info")).toEqual([]);
});

test.each([
  ["[missing]", "[]", "unknown function `missing`"],
  ["[untyped]", "[]", "the parameters of the tool `untyped` are not known"],
  ['["findOrder"]', "[]", "`tools` takes a list of imported functions"],
  ["[findOrder]", "[refund]", "`refund` is not one of the tools of this call"],
])("tools: %s, approve: %s is an error (NG105)", (tools, approve, message) => {
  const host = {
    readFile: (path: string) => (path.endsWith("nodes.ts") ? `${NODES}\nexport const untyped = 1;` : undefined),
    realPath: (path: string) => path,
  };
  const text = GRAPH.replace("{ findOrder, refund }", "{ findOrder, refund, untyped }")
    .replace("[findOrder, refund]", tools)
    .replace("[refund]", approve);
  const { diagnostics } = compile(text, { path: "g.ngraph", host });
  const errors = diagnostics.filter(({ severity }) => severity === "error");
  expect(errors.map((error) => [error.code, error.message])).toEqual([["NG105", expect.stringContaining(message)]]);
});

test("calls tools until the model answers, and pauses for an approval", async () => {
  reply = agentReply;
  const store = new MemoryStore();
  const engine = engineOf(GRAPH, { store });
  const paused = await engine.run({ question: "refund b" }, { thread: "t" });
  expect(paused).toMatchObject({
    status: "paused",
    pauses: [
      { payload: { question: "Allow the call of `refund`?", tool: "refund", arguments: { order: "b", amount: 5 } } },
    ],
  });
  expect(calls).toEqual(["find a", "find b"]);
  const requests = server.requests.length;
  const result = await engineOf(GRAPH, { store }).resume("t", { answers: "approve" });
  expect(result).toMatchObject({ status: "completed", output: { reply: "done: paid" } });
  expect(calls).toEqual(["find a", "find b", "refund b 5"]);
  // The answers before the pause were stored.
  expect(server.requests).toHaveLength(requests + 1);
  expect(keys.size).toBe(3);
  expect(server.requests[0]?.body["tools"]).toMatchObject([
    {
      function: {
        name: "findOrder",
        description: "Finds an order.",
        parameters: { properties: { id: { type: "string" } }, required: ["id"] },
      },
    },
    {},
  ]);
});

test("a denied call is an answer for the model", async () => {
  reply = agentReply;
  const engine = engineOf(GRAPH, { store: new MemoryStore() });
  await engine.run({ question: "refund b" }, { thread: "t" });
  const result = await engine.resume("t", { answers: "deny" });
  expect(result.output).toEqual({ reply: "done: A person has denied this call." });
  expect(calls).toEqual(["find a", "find b"]);
});

test("failures, wrong arguments and unknown tools are answers for the model", async () => {
  const broken = [
    { id: "1", name: "findOrder", arguments: { id: 7 } },
    { id: "2", name: "findOrder", arguments: {} },
    { id: "3", name: "drop", arguments: {} },
    { id: "4", name: "findOrder", arguments: { id: "a" } },
  ];
  const contents: unknown[] = [];
  reply = (messages) => {
    const results = messages.filter(({ role }) => role === "tool");
    contents.push(...results.map(({ content }) => content));
    return results.length === 0 ? { toolCalls: broken } : { text: "ok" };
  };
  const fail = (): never => {
    throw new Error("no such order");
  };
  const engine = engineOf(GRAPH, { functions: { ...functions, findOrder: fail } });
  expect(await engine.run({ question: "x" })).toMatchObject({ status: "completed" });
  expect(contents).toEqual([
    expect.stringMatching(/^The arguments do not fit: .*id/),
    expect.stringMatching(/^The arguments do not fit: .*id/),
    'There is no tool "drop". Tools: findOrder, refund.',
    "no such order",
  ]);
});

test("the loop is bounded by `maxSteps`", async () => {
  let next = 0;
  reply = () => ({ toolCalls: [{ id: `c${next++}`, name: "findOrder", arguments: { id: "a" } }] });
  const { error } = await engineOf(GRAPH).run({ question: "x" });
  expect(error?.message).toContain("has not answered after 4 steps of tool calls");
  expect(calls).toHaveLength(4);
});

test("a crash at any statement of the store repeats no call whose result was stored", async () => {
  reply = agentReply;
  const repeats = new Set<number>();
  for (let crashAt = 1, isOver = false; !isOver; crashAt++) {
    calls = [];
    const inner = new MemoryStore();
    const crash = crashingStore(inner, crashAt);
    await engineOf(GRAPH, { store: crash.store })
      .run({ question: "refund b" }, { thread: "t" })
      .catch(() => undefined);
    isOver = !crash.hasHappened();
    const before = calls.length;
    const head = await inner.loadLatest("t");
    if (head === undefined) continue;
    const engine = engineOf(GRAPH, { store: inner });
    let result = await engine.resume("t", head.status === "paused" ? { answers: "approve" } : {});
    if (result.status === "paused") result = await engine.resume("t", { answers: "approve" });
    expect(result.output, `crash at ${crashAt}`).toEqual({ reply: "done: paid" });
    // Only a call whose own result could not be stored runs again.
    const repeated = calls.length - 3;
    expect(repeated, `crash at ${crashAt}: ${calls.join(", ")}`).toBe(before - crash.storedCalls());
    expect(new Set(calls).size).toBe(3);
    repeats.add(repeated);
  }
  expect(repeats).toEqual(new Set([0, 1]));
});

/** A store of a process that crashes before its n-th write. */
function crashingStore(inner: MemoryStore, crashAt: number) {
  let statements = 0;
  let stored = 0;
  let isCrashed = false;
  const store = new Proxy(inner, {
    get: (target, name) => {
      const value = Reflect.get(target, name) as unknown;
      if (typeof value !== "function") return value;
      // The lease of a process that has died would expire.
      if (name === "release") return value.bind(target) as unknown;
      return (...args: readonly unknown[]): unknown => {
        const isWrite = name === "save" || name === "putWrites";
        if (isCrashed || (isWrite && ++statements === crashAt)) {
          isCrashed = true;
          throw new Error("crash");
        }
        const result = Reflect.apply(value, target, args) as unknown;
        const writes = name === "putWrites" ? (args[2] as readonly { readonly taskId: string }[]) : [];
        stored += writes.filter(({ taskId }) => taskId.includes("/tool ")).length;
        return result;
      };
    },
  }) as unknown as Store;
  return { store, hasHappened: () => isCrashed, storedCalls: () => stored };
}
