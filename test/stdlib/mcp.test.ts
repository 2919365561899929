/** MCP servers: `tool` and the tools of `llm`, against @modelcontextprotocol/server-everything over stdio and HTTP. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { createEngine } from "../../api/create-engine.ts";
import { compile } from "../../compiler/index.ts";
import type { Table } from "../../runtime/table/table.ts";
import { MemoryStore } from "../../runtime/stores/memory.ts";
import { problemOfServer } from "../../stdlib/mcp/server-settings.ts";
import { McpServers } from "../../stdlib/mcp/servers.ts";
import { createLlm } from "../../stdlib/nodes/llm.ts";
import { createTool } from "../../stdlib/nodes/tool.ts";
import { freePort } from "../support/free-port.ts";
import { startModelServer } from "../support/model-server.ts";
import { fakeContext } from "./fake-context.ts";

const EVERYTHING = fileURLToPath(
  new URL("../../node_modules/@modelcontextprotocol/server-everything/dist/index.js", import.meta.url),
);
const command = [process.execPath, EVERYTHING, "stdio"];

/** A server whose only tool returns the fields that its client sends beside the arguments. */
const META = `
import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { CallToolRequestSchema, ListToolsRequestSchema } from "@modelcontextprotocol/sdk/types.js";
const server = new Server({ name: "meta", version: "1" }, { capabilities: { tools: {} } });
server.setRequestHandler(ListToolsRequestSchema, () => ({ tools: [{ name: "meta", inputSchema: { type: "object" } }] }));
server.setRequestHandler(CallToolRequestSchema, ({ params }) => ({
  content: [{ type: "text", text: String(params._meta?.["ngraph/idempotencyKey"]) }],
}));
await server.connect(new StdioServerTransport());
`;

describe("over stdio", () => {
  let servers: McpServers;
  beforeAll(() => {
    servers = new McpServers({
      servers: {
        every: { command, env: { GREETING: "hi ${WHO}" } },
        meta: { command: [process.execPath, "--input-type=module", "-e", META] },
        none: { command: [process.execPath, "-e", ""] },
      },
      secrets: (name) => (name === "WHO" ? "Ada" : undefined),
    });
  });
  afterAll(() => servers.close());

  const run = async (text: string, options: object = {}) => {
    const { tables, diagnostics } = compile(text, { path: "g.ngraph" });
    expect(diagnostics.filter(({ severity }) => severity === "error")).toEqual([]);
    const engine = createEngine(tables.get("g") as Table, { ...options, builtins: { tool: createTool(servers) } });
    return engine.run({});
  };

  test("a result is the text, or the structured content", async () => {
    const result = await run(`graph g {
      output text: string
      output sum: json
      node first_one = tool("every", "echo", arguments: { message: "hello" }) into text
      node second = tool("every", "get-structured-content", arguments: { location: "Chicago" }) into sum
      start -> first_one -> second -> end
    }`);
    expect(result.error).toBeNull();
    expect(result.output).toEqual({
      text: "Echo: hello",
      sum: { temperature: expect.any(Number), conditions: expect.any(String), humidity: expect.any(Number) },
    });
  });

  test("a server gets the idempotency key of a call, which is equal when the call is made again", async () => {
    const key = async (call?: string, idempotencyKey = "sha256:1"): Promise<string> =>
      (await servers.call("meta", "meta", {}, { ...fakeContext(), idempotencyKey }, call)).text;
    expect(await key()).toBe("sha256:1");
    expect(await key()).toBe("sha256:1");
    expect(await key("tool 1.0 a")).toBe("sha256:1/tool 1.0 a");
    expect(await key("tool 1.1 a")).not.toBe(await key("tool 1.0 a"));
    const { output } = await run(`graph g {
      output first: string
      output second: string
      node one = tool("meta", "meta") into first
      node two = tool("meta", "meta") into second
      start -> one -> two
    }`);
    expect(output).toEqual({
      first: expect.stringMatching(/^sha256:[0-9a-f]{64}$/),
      second: expect.stringMatching(/^sha256:[0-9a-f]{64}$/),
    });
    expect(output["first"]).not.toBe(output["second"]);
  });

  test("secrets reach the environment of the server", async () => {
    const { text } = await servers.call("every", "get-env", {}, fakeContext());
    expect(JSON.parse(text)).toMatchObject({ GREETING: "hi Ada" });
  });

  test.each([
    ["other", "echo", 'there is no MCP server "other" (known servers: every, meta, none)'],
    ["none", "echo", "the MCP server `none` cannot be reached"],
    ["every", "nothing", "the tool `nothing` of the MCP server `every`"],
  ])("the server %s and the tool %s fail the node", async (server, name, message) => {
    await expect(servers.call(server, name, {}, fakeContext())).rejects.toThrow(message);
  });

  test("wrong arguments are refused by the server", async () => {
    await expect(servers.call("every", "echo", { message: 7 }, fakeContext())).rejects.toThrow(/message/);
  });

  test("a call ends when its node is cancelled", async () => {
    const controller = new AbortController();
    const reason = new Error("cancelled");
    const args = { duration: 60, steps: 60 };
    const call = servers.call(
      "every",
      "trigger-long-running-operation",
      args,
      fakeContext({ signal: controller.signal }),
    );
    controller.abort(reason);
    await expect(call).rejects.toBe(reason);
  });

  test("processes and missing secrets are refused before a start", async () => {
    const refused = new McpServers({ servers: { every: { command } }, allowsCommands: false });
    await expect(refused.call("every", "echo", {}, fakeContext())).rejects.toThrow("`allow` does not name `shell`");
    const needy = new McpServers({ servers: { a: { command, env: { A: "${NOT_SET}" } } }, secrets: () => undefined });
    await expect(needy.call("a", "echo", {}, fakeContext())).rejects.toThrow("needs the secret NOT_SET");
  });

  test("a model calls the tools of a server, some of them after an approval", async () => {
    const server = await startModelServer(({ body }) => {
      const results = body.messages.filter((message) => (message as { role: string }).role === "tool");
      const last = results.at(-1) as { content: string } | undefined;
      const call = (name: string, args: object) => ({ toolCalls: [{ id: name, name, arguments: args }] });
      if (results.length === 0) return call("every_get-sum", { a: 2, b: 3 });
      if (results.length === 1) return call("every_echo", { message: last?.content });
      return { text: `model: ${last?.content}` };
    });
    const approving = new McpServers({ servers: { every: { command, approve: ["echo"] } } });
    try {
      const llm = createLlm({ baseUrl: server.openai, model: "m", servers: approving });
      const { tables } = compile(
        `graph g { output text: string  node agent = llm("add", servers: ["every"]) into text  start -> agent -> end }`,
        { path: "g.ngraph" },
      );
      const engine = createEngine(tables.get("g") as Table, { builtins: { llm }, store: new MemoryStore() });
      const paused = await engine.run({}, { thread: "t" });
      expect(paused).toMatchObject({ status: "paused", pauses: [{ payload: { tool: "every_echo" } }] });
      const result = await engine.resume("t", { answers: "approve" });
      expect(result.output).toEqual({ text: expect.stringMatching(/^model: Echo: .*\b5\b/) });
      const tools = server.requests[0]?.body["tools"] as { function: { name: string; parameters: object } }[];
      expect(tools.find((tool) => tool.function.name === "every_get-sum")?.function.parameters).toMatchObject({
        properties: { a: { type: "number" } },
      });
    } finally {
      await approving.close();
      await server.close();
    }
  });
});

test("speaks Streamable HTTP", async () => {
  const port = await freePort();
  const child = spawn(process.execPath, [EVERYTHING, "streamableHttp"], {
    env: { ...process.env, PORT: String(port) },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const servers = new McpServers({
    servers: { every: { url: `http://127.0.0.1:${port}/mcp`, headers: { "x-a": "b" } } },
  });
  try {
    let output = "";
    while (!output.includes(String(port))) {
      const [chunk] = (await Promise.race([once(child.stdout, "data"), once(child.stderr, "data")])) as [Buffer];
      output += chunk.toString();
    }
    expect(await servers.call("every", "echo", { message: "x" }, fakeContext())).toEqual({ text: "Echo: x" });
    const restricted = { ...fakeContext(), allowedHosts: ["example.com"] };
    const other = new McpServers({ servers: { every: { url: `http://127.0.0.1:${port}/mcp` } } });
    await expect(other.call("every", "echo", {}, restricted)).rejects.toThrow(
      `does not name \`net:127.0.0.1:${port}\``,
    );
  } finally {
    await servers.close();
    child.kill("SIGKILL");
  }
});

/** A server over HTTP that forgets its sessions, as a restart does, and answers requests of those with a status. */
async function forgetful(status: number, message: string) {
  const sessions = new Set<string>();
  const log: string[] = [];
  const server = createServer(async (request, response) => {
    let text = "";
    for await (const chunk of request) text += String(chunk);
    const session = request.headers["mcp-session-id"] as string | undefined;
    if (request.method === "GET") return response.writeHead(405).end();
    if (request.method === "DELETE") {
      log.push(`end ${session}`);
      return response.writeHead(sessions.delete(session!) ? 200 : 404).end();
    }
    const { id, method, params } = JSON.parse(text) as {
      id?: number;
      method: string;
      params: { protocolVersion: string };
    };
    if (id === undefined) return response.writeHead(202).end();
    const error = (code: number, words: string) =>
      JSON.stringify({ jsonrpc: "2.0", id, error: { code, message: words } });
    if (method !== "initialize" && !sessions.has(session!))
      return response.writeHead(status).end(error(-32000, message));
    const headers: Record<string, string> = { "content-type": "application/json" };
    log.push(method);
    if (method === "initialize") {
      headers["mcp-session-id"] = `s${log.length}`;
      sessions.add(`s${log.length}`);
    }
    const { protocolVersion } = params;
    const result =
      method === "initialize"
        ? { protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "f", version: "1" } }
        : method === "tools/list"
          ? { tools: [{ name: "t", inputSchema: { type: "object" } }] }
          : { content: [{ type: "text", text: "done" }] };
    const isBroken = method === "tools/call" && text.includes("broken");
    response
      .writeHead(200, headers)
      .end(isBroken ? error(404, "no such order") : JSON.stringify({ jsonrpc: "2.0", id, result }));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
  return { servers: new McpServers({ servers: { f: { url } } }), sessions, log };
}

test.each([
  [404, "Session not found"],
  [400, "Bad Request: No valid session ID provided"],
])("a session that a server over HTTP has lost (%i) is opened again, and ended by `close`", async (status, message) => {
  const { servers, sessions, log } = await forgetful(status, message);
  expect(await servers.call("f", "t", {}, fakeContext())).toEqual({ text: "done" });
  sessions.clear();
  const calls = [1, 2].map(() => servers.call("f", "t", {}, fakeContext()));
  expect(await Promise.all(calls)).toEqual([{ text: "done" }, { text: "done" }]);
  sessions.clear();
  expect(await servers.tools("f")).toHaveLength(1);
  expect(log.filter((line) => line === "initialize")).toHaveLength(3);
  await servers.close();
  expect(sessions.size).toBe(0);
});

test("an error that a tool answers with is no lost session, and a refused request is not sent again", async () => {
  const { servers, sessions, log } = await forgetful(400, "Bad Request");
  await expect(servers.call("f", "broken", {}, fakeContext())).rejects.toThrow("no such order");
  expect(log).toEqual(["initialize", "tools/call"]);
  sessions.clear();
  await expect(servers.call("f", "t", {}, fakeContext())).rejects.toThrow("Bad Request");
  expect(log).toEqual(["initialize", "tools/call"]);
  await servers.close();
});

test.each([
  [{ command: ["npx", "x"], env: { A: "b" } }, undefined],
  [{ url: "https://example.com/mcp", approve: true }, undefined],
  [{}, "needs either `command` or `url`"],
  [{ command: "npx x" }, '`command` must be a list with a program and its arguments: ["npx", "server"]'],
  [{ url: "example.com" }, "`url` must be an http(s) URL without a user and a password (they are sent in `headers`)"],
  [
    { url: "http://me:hush@example.com" },
    "`url` must be an http(s) URL without a user and a password (they are sent in `headers`)",
  ],
  [{ url: "https://example.com", env: {} }, 'has the unknown field "env" (known: url, headers, approve)'],
  [[], "must be an object"],
])("settings %j: %s", (settings, problem) => {
  expect(problemOfServer(settings)).toBe(problem);
});

test("a URL with a password is refused, and not shown", async () => {
  const servers = new McpServers({ servers: { s: { url: "http://me:hush@127.0.0.1:1/mcp?token=hush" } } });
  await expect(servers.call("s", "t", {}, fakeContext())).rejects.toThrow(
    /^the address of the MCP server `s` has a user or a password: send them in `headers`$/,
  );
});

test("a server that never answers is ended by `close`", async () => {
  const directory = mkdtempSync(join(tmpdir(), "ngraph-mcp-"));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  const started = join(directory, "started");
  const program = `require("node:fs").writeFileSync(${JSON.stringify(started)}, ""); setInterval(() => {}, 1000)`;
  const servers = new McpServers({ servers: { s: { command: [process.execPath, "-e", program] } } });
  const call = servers.call("s", "t", {}, fakeContext());
  const refused = expect(call).rejects.toThrow(/^the MCP server `s` cannot be reached: .*Connection closed/);
  await expect.poll(() => existsSync(started)).toBe(true);
  await servers.close();
  await refused;
});

test("a connection that has not begun is not made after `close`", async () => {
  const servers = new McpServers({ servers: { s: { command } } });
  const refused = expect(servers.call("s", "t", {}, fakeContext())).rejects.toThrow(/was closed$/);
  await servers.close();
  await refused;
});

test("a server that prints text is recognised", async () => {
  const print = "console.log('secret text'); setTimeout(() => process.exit(3), 300)";
  const servers = new McpServers({ servers: { s: { command: [process.execPath, "-e", print] } } });
  await expect(servers.call("s", "t", {}, fakeContext())).rejects.toThrow(
    /^the MCP server `s` cannot be reached: .*Connection closed: the server prints text that is no message$/,
  );
});
