/** Servers of models and tools whose answers do not end: the node fails, and the memory stays bounded. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, expect, test } from "vitest";
import { McpServers } from "../../stdlib/mcp/servers.ts";
import { createLlm } from "../../stdlib/nodes/llm.ts";
import { fakeContext } from "./fake-context.ts";

const PART = Buffer.alloc(1024 * 1024, "x");
let server: Server | undefined;
let sent = 0;

afterEach(() => {
  server?.closeAllConnections();
  server?.close();
  server = undefined;
});

async function serve(answer: (request: IncomingMessage, response: ServerResponse) => void): Promise<string> {
  sent = 0;
  server = createServer(answer);
  await new Promise<void>((resolve) => server?.listen(0, "127.0.0.1", resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Writes until the client closes the connection. */
function writeWithoutEnd(response: ServerResponse): void {
  const write = (): void => {
    while (!response.destroyed) {
      sent += PART.length;
      if (!response.write(PART)) {
        response.once("drain", write);
        return;
      }
    }
  };
  write();
}

test.each([
  ["a stream without a line break", true, 200, "text/event-stream", "data: "],
  ["a document", false, 200, "application/json", '{"choices": [{"message": {"content": "'],
  ["an error", false, 500, "application/json", '{"error": "'],
])("of a model: %s", async (_, stream, status, type, start) => {
  const url = await serve((_request, response) => {
    response.writeHead(status, { "content-type": type });
    response.write(start);
    writeWithoutEnd(response);
  });
  const models = { default: { provider: "openai-compatible", baseUrl: url, model: "m", stream } } as const;
  await expect(createLlm({ models })({ prompt: "p" }, fakeContext())).rejects.toMatchObject({
    name: "ModelAnswerTooLong",
    retryable: false,
    message: "the answer of the model `m` is larger than 64 MiB",
  });
  expect(sent).toBeLessThan(128 * 1024 * 1024);
});

test("of a tool over HTTP", async () => {
  const url = await serve((request, response) => {
    let text = "";
    request.on("data", (chunk) => (text += chunk));
    request.on("end", () => {
      const message = (text === "" ? {} : JSON.parse(text)) as { id?: number; method?: string };
      if (message.id === undefined) {
        response.writeHead(request.method === "GET" ? 405 : 202).end();
      } else if (message.method === "initialize") {
        const result = {
          protocolVersion: "2025-03-26",
          capabilities: { tools: {} },
          serverInfo: { name: "s", version: "1" },
        };
        response.writeHead(200, { "content-type": "application/json" });
        response.end(JSON.stringify({ jsonrpc: "2.0", id: message.id, result }));
      } else {
        response.writeHead(200, { "content-type": "application/json" });
        response.write(`{"jsonrpc": "2.0", "id": ${message.id}, "result": {"content": [{"type": "text", "text": "`);
        writeWithoutEnd(response);
      }
    });
  });
  const servers = new McpServers({ servers: { big: { url } } });
  await expect(servers.call("big", "t", {}, fakeContext())).rejects.toThrow(
    "the tool `t` of the MCP server `big` failed: the response is larger than 10 MiB",
  );
  await servers.close();
  expect(sent).toBeLessThan(64 * 1024 * 1024);
});

const ENDLESS = `
process.stdin.setEncoding("utf8");
let text = "";
process.stdin.on("data", (chunk) => {
  text += chunk;
  for (let at = text.indexOf("\\n"); at >= 0; at = text.indexOf("\\n")) {
    const { id, method } = JSON.parse(text.slice(0, at));
    text = text.slice(at + 1);
    const serverInfo = { name: "s", version: "1" };
    const result = { protocolVersion: "2025-03-26", capabilities: { tools: {} }, serverInfo };
    if (method === "initialize") process.stdout.write(JSON.stringify({ jsonrpc: "2.0", id, result }) + "\\n");
    else if (id !== undefined) (function more() { process.stdout.write("x".repeat(1e6), more); })();
  }
});
`;

test("of a tool over stdio", async () => {
  const servers = new McpServers({ servers: { big: { command: [process.execPath, "-e", ENDLESS] } } });
  await expect(servers.call("big", "t", {}, fakeContext())).rejects.toThrow(
    /^the tool `t` of the MCP server `big` failed: .*Connection closed: ReadBuffer exceeded maximum size of 10485760 bytes$/,
  );
  await servers.close();
});

test("of a program below the process of a server, before the connection is made", async () => {
  const servers = new McpServers({ servers: { zero: { command: ["sh", "-c", "cat /dev/zero; true"] } } });
  await expect(servers.call("zero", "t", {}, fakeContext())).rejects.toThrow(
    /^the MCP server `zero` cannot be reached: .*Connection closed: ReadBuffer exceeded maximum size of 10485760 bytes$/,
  );
  await servers.close();
});
