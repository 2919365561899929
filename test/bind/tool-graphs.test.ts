/** Graphs in `tools` of `llm`: what the compiler checks, and what it lowers. */
import { expect, test } from "vitest";
import { compile } from "../../compiler/index.ts";
import type { Table } from "../../runtime/table/table.ts";

const LOOK = `/// Looks something up.
graph look {
  input id: string
  output answer: json
  node read = http(\`https://example.com/\${id}\`) into { body: answer } { timeout 5s }
  start -> read -> end
}
`;
const agent = (tools: string, more = ""): string => `graph g {
  output reply: string
  node agent = llm("q", ${tools}) into reply { timeout 1m${more} }
  start -> agent -> end
}
`;
const messages = (text: string): readonly string[] =>
  compile(text, { path: "g.ngraph" }).diagnostics.flatMap(({ severity, code, message }) =>
    severity === "error" ? [`${code} ${message}`] : [],
  );

test("a graph among the tools is part of the table, with its effects and its comment", () => {
  const { tables, diagnostics } = compile(LOOK + agent("tools: [look]"), { path: "g.ngraph" });
  expect(diagnostics.filter(({ severity }) => severity !== "info")).toEqual([]);
  const table = tables.get("g") as Table;
  expect(table.nodes[0]?.call).toMatchObject({
    tools: [{ name: "look", graph: 0, parameters: [], description: "Looks something up." }],
  });
  expect(table.graphs.map(({ name }) => name)).toEqual(["look"]);
  expect(table.effects).toContain("net:example.com");
  expect(table.effects).not.toContain("code");
});

test("an edit of the graph changes the digest of its caller", () => {
  const digest = (text: string) => compile(text, { path: "g.ngraph" }).tables.get("g")?.digest;
  const text = LOOK + agent("tools: [look]");
  expect(digest(text.replace("example.com", "example.org"))).not.toBe(digest(text));
});

test("a graph that is its own tool closes a cycle (NG116)", () => {
  expect(messages(agent("tools: [g]"))).toEqual([expect.stringMatching(/^NG116 .*`g`/)]);
});

test("a channel with the name of its graph, in a list that is not of tools, is no call", () => {
  const text = `graph summary {
    input text: string
    output summary: string
    node a = text into summary
    node b = print([summary])
    start -> a -> b -> end
  }`;
  expect(messages(text)).toEqual([]);
});

test("a graph with memory is refused, also in a graph that it calls (NG105)", () => {
  const memory = `graph inner {
    input id: string
    output answer: string = ""
    memory seen: string[] reduce append
    node n = id into seen
    start -> n -> end
  }
  graph look {
    input id: string
    output answer: string
    node n = inner(id: id) into { answer }
    start -> n -> end
  }
  `;
  const expected = "NG105 the graph `look` cannot be a tool: it has memory";
  expect(messages(memory + agent("tools: [look]"))).toEqual([expected]);
});

test("an unknown name suggests graphs, and a plan is refused (NG105)", () => {
  const { diagnostics } = compile(LOOK + agent("tools: [loook]"), { path: "g.ngraph" });
  const unknown = diagnostics.find(({ code }) => code === "NG105");
  expect(unknown).toMatchObject({ help: expect.stringContaining("`look`") });
  const plan = `plan build { task a = shell("true") }\n`;
  expect(messages(plan + agent("tools: [build]"))).toEqual([
    "NG105 `build` is a plan, not an imported function or a graph",
  ]);
});

test("an `undo` whose model has a graph as a tool is refused (NG620)", () => {
  const text = LOOK + agent(`model: "m"`, `  undo llm("undo", tools: [look])`);
  expect(messages(text)).toEqual(["NG620 a tool of the `undo` of `agent` is a graph"]);
});

test("a graph that asks makes its caller wait for a person", () => {
  const asks = `graph look {
    input id: string
    output answer: string
    node n = ask(id) into answer
    start -> n -> end
  }
  `;
  const { tables } = compile(asks + agent("tools: [look]"), { path: "g.ngraph" });
  expect((tables.get("g") as Table).effects).toContain("person");
});
