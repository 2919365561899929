import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { createEngine } from "../../api/create-engine.ts";
import { assertPassed, runTests } from "../../api/testing.ts";
import { compile, emptyHost, memoryHost } from "../../compiler/index.ts";
import type { Table } from "../../runtime/table/table.ts";
import { MemoryStore } from "../../runtime/stores/memory.ts";
import { McpServers } from "../../stdlib/mcp/servers.ts";
import { createLlm } from "../../stdlib/nodes/llm.ts";
import { createTool } from "../../stdlib/nodes/tool.ts";
import { startModelServer } from "../support/model-server.ts";
import { AGENTS } from "../../stdlib/graphs/texts.ts";

const EVERYTHING = fileURLToPath(
  new URL("../../node_modules/@modelcontextprotocol/server-everything/dist/index.js", import.meta.url),
);
const FILE = "stdlib/graphs/agents.ngraph";

test("the text in the code is the file without its tests", () => {
  const text = readFileSync(FILE, "utf8");
  expect(text.startsWith(AGENTS)).toBe(true);
  expect(text.slice(AGENTS.length)).toMatch(/^\ntest "/);
});

test("the graphs have no findings, and their soundness is proven", () => {
  const { diagnostics, graphs } = compile(readFileSync(FILE, "utf8"), { path: FILE });
  expect(diagnostics.filter(({ severity }) => severity !== "info")).toEqual([]);
  expect(graphs.map(({ name, verdict }) => [name, verdict?.text])).toEqual(
    ["agent", "supervisor", "mapReduce", "reflect", "retrieve"].map((name) => [name, "sound"]),
  );
});

describe("tests of the file", async () => {
  const results = await runTests(FILE);
  test.each(results)("$title", (result) => assertPassed(result));
});

test("an agent calls tools of an MCP server and answers", async () => {
  const decisions = [
    { action: "call", tool: "every/get-sum", arguments: { a: 2, b: 3 } },
    { action: "call", tool: "every/none" },
    { action: "answer", answer: "It is 5." },
  ];
  const model = await startModelServer(() => ({ text: JSON.stringify({ answer: decisions.shift() }) }));
  const servers = new McpServers({ servers: { every: { command: [process.execPath, EVERYTHING, "stdio"] } } });
  try {
    const { tables } = compile(readFileSync(FILE, "utf8"), { path: FILE });
    // The graph names the model `default`, which is also the model of a server without `models`.
    const llm = createLlm({ baseUrl: model.openai, model: "m" });
    const builtins = { llm, tool: createTool(servers) };
    const engine = createEngine(tables.get("agent") as Table, { builtins, store: new MemoryStore() });
    const tools = ["get-sum", "none"].map((name) => ({ server: "every", name, description: "Adds." }));
    const result = await engine.run({ request: "2 + 3", tools });
    expect(result).toMatchObject({
      status: "completed",
      output: {
        answer: "It is 5.",
        complete: true,
        calls: [
          { tool: "every/get-sum", arguments: { a: 2, b: 3 }, result: expect.stringContaining("5"), failed: false },
          { tool: "every/none", failed: true },
        ],
      },
    });
  } finally {
    await servers.close();
    await model.close();
  }
});

describe("imports", () => {
  const use = (names: string, from = "ngraph:agents"): string => `import { ${names} } from "${from}"

graph use {
  input  task: string
  output text: string
  node write = reflect(task: task) into { text }
  start -> write -> end
}
`;

  test("need no file, and are not among the files of a project", () => {
    const { diagnostics, table, files } = compile(use("reflect"), { path: "use.ngraph", host: emptyHost });
    expect(diagnostics.filter(({ severity }) => severity !== "info")).toEqual([]);
    expect(table).toBeDefined();
    expect(files).toEqual(["use.ngraph"]);
  });

  test("through two files are the same graphs", () => {
    const host = memoryHost({ "other.ngraph": use("reflect").replace("graph use", "graph other") });
    const text = `import { other } from "./other.ngraph"\n${use("reflect")}`.replace(
      "node write = reflect(task: task)",
      "node first = other(task: task) into { text }\n  node write = reflect(task: text)",
    );
    const { diagnostics } = compile(text.replace("start -> write", "start -> first -> write"), {
      path: "use.ngraph",
      host,
    });
    expect(diagnostics.filter(({ severity }) => severity !== "info")).toEqual([]);
  });

  test("of names and files that the library does not have are errors with what it has", () => {
    const messages = (text: string): readonly string[] =>
      compile(text, { path: "use.ngraph", host: emptyHost })
        .diagnostics.filter(({ severity }) => severity === "error")
        .map(({ code, message, help }) => `${code} ${message}: ${help}`);
    expect(messages(use("reflect", "ngraph:agent"))).toEqual([
      "NG105 the library has no `ngraph:agent`: the library has `ngraph:agents`",
    ]);
    expect(messages(use("reflekt"))[0]).toContain("reflect");
  });
});
