import { readFileSync } from "node:fs";
import { transform } from "esbuild";
import { describe, expect, test } from "vitest";
import { compile, memoryHost } from "../../compiler/index.ts";
import { convert } from "../../grammar/convert.ts";
import { createEngine, type Engine } from "../../runtime/index.ts";
import { MemoryStore } from "../../runtime/stores/memory.ts";
import type { RouteSpec, Table, TargetSpec } from "../../runtime/table/table.ts";
import { ask } from "../../stdlib/nodes/ask.ts";
import { fencedBlocks } from "./fenced-blocks.ts";

const blocks = fencedBlocks(readFileSync("docs/side-by-side.md", "utf8"));
const textOf = (language: string, index = 0): string => {
  const found = blocks.filter((block) => block.language === language)[index];
  if (found === undefined) throw new Error(`no ${language} block`);
  return found.text;
};

const nodes = textOf("ts", 0);
const host = memoryHost({ "nodes.ts": nodes });

function tableOf(language: "ngraph" | "yaml"): Table {
  const { table, diagnostics } = compile(textOf(language), { path: `research.${language}`, host });
  expect(diagnostics.filter(({ severity }) => severity !== "info").map(({ message }) => message)).toEqual([]);
  if (table === undefined) throw new Error("no table");
  return table;
}

test("text and YAML are one graph, and each converts to the other", () => {
  const { digest } = tableOf("ngraph");
  expect(tableOf("yaml").digest).toBe(digest);
  for (const [from, to] of [
    ["ngraph", "yaml"],
    ["yaml", "ngraph"],
  ] as const) {
    const { text, lost } = convert(textOf(from), { to });
    expect(lost).toEqual([]);
    expect(compile(text, { path: `converted.${to}`, host }).table?.digest).toBe(digest);
  }
});

test.each(["ngraph", "yaml"] as const)("the %s runs", async (language) => {
  const { code } = await transform(nodes, { loader: "ts", format: "esm" });
  const functions = (await import(`data:text/javascript,${encodeURIComponent(code)}`)) as Record<string, never>;
  const engine = createEngine(tableOf(language), { functions: { ...functions } });
  const result = await engine.run({ question: "why?" });
  expect({ status: result.status, output: { ...result.output } }).toEqual({
    status: "completed",
    output: { answer: "why? files: why?, web: why? (draft 2)" },
  });
  expect(result.steps).toEqual([
    ["web", "files"],
    ["best"],
    ...[1, 2].flatMap(() => [["draft"], ["check"], ["count"]]),
  ]);
});

test("the LangGraph program is TypeScript with the same nodes, channels and edges", async () => {
  const program = textOf("ts", 1);
  await expect(transform(program, { loader: "ts" })).resolves.toMatchObject({ warnings: [] });
  const { edges, channels, names } = shapeOf(tableOf("ngraph"));
  expect([...program.matchAll(/\.addNode\("(\w+)"/g)].map(([, name]) => name)).toEqual(names);
  expect([...program.matchAll(/^ {2}(\w+): Annotation</gm)].map(([, name]) => name)).toEqual(channels);
  const drawn = [...program.matchAll(/\.addEdge\((\[.*?\]|\w+|"\w+"), "(\w+)"\)/g)].flatMap(([, from = "", to = ""]) =>
    [...from.matchAll(/\w+/g)].map(([name]) => `${name === "START" ? "start" : name} -> ${to}`),
  );
  const [, from = "", targets = ""] = /\.addConditionalEdges\("(\w+)",.*\[(.*)\]\)/.exec(program) ?? [];
  const chosen = targets.split(", ").map((name) => `${from} -> ${name === "END" ? "end" : JSON.parse(name)}`);
  expect([...drawn, ...chosen].sort()).toEqual(edges);
});

test("the NeoGraph document has the same nodes, channels, edges and barrier", () => {
  const document = JSON.parse(textOf("json")) as {
    readonly channels: Record<string, { reducer: string; initial?: unknown }>;
    readonly nodes: Record<string, { type: string; barrier?: { wait_for: string[] } }>;
    readonly edges: { from: string; to: string }[];
    readonly conditional_edges: { from: string; routes: Record<string, string> }[];
  };
  const table = tableOf("ngraph");
  const { edges, channels, names, barriers } = shapeOf(table);
  expect(Object.keys(document.nodes)).toEqual(names);
  expect(Object.keys(document.channels)).toEqual(channels);
  for (const { name, reducer, initial, role } of table.channels) {
    expect(document.channels[name]?.reducer).toBe(reducer?.kind === "append" ? "append" : "overwrite");
    if (role === "state") expect(document.channels[name]?.initial).toEqual(initial);
  }
  const ours = (name: string): string => name.replace(/^__(\w+)__$/, "$1");
  const theirs = [
    ...document.edges.map(({ from, to }) => `${ours(from)} -> ${ours(to)}`),
    ...document.conditional_edges.flatMap(({ from, routes }) =>
      Object.values(routes).map((to) => `${ours(from)} -> ${ours(to)}`),
    ),
  ];
  expect(theirs.sort()).toEqual(edges);
  const waiting = Object.entries(document.nodes).flatMap(([name, { barrier }]) =>
    barrier === undefined ? [] : [`${barrier.wait_for.join(", ")} -> ${name}`],
  );
  expect(waiting).toEqual(barriers);
});

describe("the further graphs", () => {
  const modules = { "tools.ts": textOf("ts", 2), "orders.ts": textOf("ts", 4), "trip.ts": textOf("ts", 5) };
  const further = memoryHost(modules);

  async function engineFor(index: number, module: keyof typeof modules): Promise<Engine> {
    const { table, diagnostics } = compile(textOf("ngraph", index), { path: "further.ngraph", host: further });
    expect(diagnostics.filter(({ severity }) => severity !== "info").map(({ message }) => message)).toEqual([]);
    if (table === undefined) throw new Error("no table");
    const { code } = await transform(modules[module], { loader: "ts", format: "esm" });
    const functions = (await import(`data:text/javascript,${encodeURIComponent(code)}`)) as Record<string, never>;
    return createEngine(table, { functions: { ...functions }, builtins: { ask }, store: new MemoryStore() });
  }

  test("the tool loop answers, and LangGraph has the same nodes", async () => {
    const result = await (await engineFor(1, "tools.ts")).run({ question: "How is the weather in Paris?" });
    expect(result.steps).toEqual([["ask"], ["model"], ["tools"], ["model"]]);
    expect(result.output["messages"]).toHaveLength(4);
    const program = textOf("ts", 3);
    await expect(transform(program, { loader: "ts" })).resolves.toMatchObject({ warnings: [] });
    expect([...program.matchAll(/\.addNode\("(\w+)"/g)].map(([, name]) => name)).toEqual(["model", "tools"]);
  });

  test("the saga cancels what it has reserved, the last reservation first", async () => {
    const result = await (await engineFor(3, "trip.ts")).run({ trip: "Ann" });
    expect(result).toMatchObject({ status: "rolled_back", output: { flight: "flight of Ann", car: null } });
    expect(result.rollback?.undone.map(({ task }) => task)).toEqual(["bookHotel", "bookFlight"]);
  });

  test("the approval ships, and the states of Step Functions have its nodes", async () => {
    const engine = await engineFor(2, "orders.ts");
    await engine.run({ order: "7" }, { thread: "t" });
    expect((await engine.resume("t", { answer: "approve" })).output).toEqual({ result: "shipped 7" });
    const { States } = JSON.parse(textOf("json", 1)) as { readonly States: Readonly<Record<string, object>> };
    expect(
      Object.keys(States)
        .filter((name) => name !== "decide")
        .sort(),
    ).toEqual(["approve", "ship", "rejected", "expired", "failed"].sort());
  });
});

/** The shape of the graph in the table, as lines of text. */
function shapeOf(table: Table) {
  const names = table.nodes.map(({ name }) => name);
  const nameOf = (node: number): string => names[node] ?? "end";
  const targetsOf = (route: RouteSpec): readonly TargetSpec[] => {
    if (route.kind === "match" || route.kind === "cases") throw new Error("the graph has none");
    return route.targets;
  };
  const edgesOf = (from: string, routes: readonly RouteSpec[]): string[] =>
    routes
      .flatMap(targetsOf)
      .map(
        (target) =>
          `${from} -> ${nameOf("node" in target ? target.node : (table.barriers[target.barrier]?.target ?? -1))}`,
      );
  return {
    names,
    channels: table.channels.map(({ name }) => name),
    edges: [
      ...edgesOf("start", table.start),
      ...table.nodes.flatMap(({ name, routes }) => edgesOf(name, routes)),
    ].sort(),
    barriers: table.barriers.map(
      ({ target, members }) => `${members.flat().map(nameOf).join(", ")} -> ${nameOf(target)}`,
    ),
  };
}
