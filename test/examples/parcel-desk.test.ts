/** `examples/parcel-desk`, in both spellings: its MCP server, and a local server instead of a model. */
import { readFileSync } from "node:fs";
import { expect, onTestFinished, test } from "vitest";
import { createEngine } from "../../api/create-engine.ts";
import { compileFile } from "../../api/index.ts";
import { namedSettings } from "../../cli/run/project-settings.ts";
import { listTools } from "../../cli/tools/list-tools.ts";
import { MemoryStore } from "../../runtime/stores/memory.ts";
import type { Table } from "../../runtime/table/table.ts";
import { McpServers } from "../../stdlib/mcp/servers.ts";
import { createLlm } from "../../stdlib/nodes/llm.ts";
import { createTool } from "../../stdlib/nodes/tool.ts";
import { startModelServer } from "../support/model-server.ts";

const FOLDER = "examples/parcel-desk";
const { servers: settings } = namedSettings(`${FOLDER}/desk.ngraph`);

async function open(spelling: string) {
  const model = await startModelServer(({ body }) => {
    const last = body.messages.at(-1) as { role: string; content: string };
    if (last.role === "tool") return { text: `Done: ${last.content}.` };
    return { toolCalls: [{ id: "1", name: "shop_send_again", arguments: { order: "B-2" } }] };
  });
  const servers = new McpServers({ servers: settings });
  onTestFinished(async () => {
    await servers.close();
    await model.close();
  });
  const { table } = await compileFile(`${FOLDER}/desk.${spelling}`);
  const llm = createLlm({ baseUrl: model.openai, model: "small", servers });
  const builtins = { llm, tool: createTool(servers) };
  return { engine: createEngine(table as Table, { builtins, store: new MemoryStore() }), model };
}

test.each(["ngraph", "yaml"])("a lost parcel is sent again after an approval: %s", async (spelling) => {
  const { engine } = await open(spelling);
  const paused = await engine.run({ order: "B-2", question: "Where is it?" }, { thread: "t" });
  expect(paused).toMatchObject({
    status: "paused",
    pauses: [{ node: "work", payload: { tool: "shop_send_again", arguments: { order: "B-2" } } }],
  });
  const { error, output } = await engine.resume("t", { answers: "approve" });
  expect(error).toBeNull();
  expect(output).toEqual({ state: "lost", reply: "Done: B-2 is sent again." });
});

test("an unknown order needs no model", async () => {
  const { engine, model } = await open("ngraph");
  const { output } = await engine.run({ order: "B-9", question: "Where is it?" });
  expect(output).toEqual({ state: "unknown", reply: "There is no order B-9. Please look at your receipt." });
  expect(model.requests).toHaveLength(0);
});

test("the lock file has the tools of the server, and both spellings are one graph", async () => {
  const options = { load: (name: string) => import(/* @vite-ignore */ name) as Promise<unknown>, allow: undefined };
  const { signal } = new AbortController();
  const limits = { environment: {}, timeout: 60_000, signal };
  const { tools } = await listTools("shop", settings["shop"]!, { ...options, ...limits });
  const lock: unknown = JSON.parse(readFileSync(`${FOLDER}/ngraph.lock.json`, "utf8"));
  expect(lock).toEqual({ version: 1, servers: { shop: { tools } } });
  const [text, yaml] = await Promise.all(["ngraph", "yaml"].map((each) => compileFile(`${FOLDER}/desk.${each}`)));
  expect(yaml?.table?.digest).toBe(text?.table?.digest);
  expect(text?.table).toHaveProperty("digest");
});
