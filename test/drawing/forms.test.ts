/** Each part of a graph has a form in its picture that is not a colour. */
import { expect, test } from "vitest";
import { compile } from "../../compiler/compile.ts";
import { lowerGraph } from "../../compiler/lower/lower.ts";
import { drawCompiled } from "../../cli/drawing/compiled-drawing.ts";
import { renderDot } from "../../cli/drawing/dot.ts";
import { drawTable, type Drawing } from "../../cli/drawing/drawing.ts";
import { renderHtml } from "../../cli/drawing/html.ts";
import { renderMermaid } from "../../cli/drawing/mermaid.ts";
import { renderSvg } from "../../cli/drawing/svg.ts";
import { renderText } from "../../cli/drawing/text.ts";
import { unfold } from "../../cli/drawing/unfold.ts";
import { tableOf } from "../support/graph.ts";

const TEXT = `/// What all else rests on.
graph inner {
  input x: int
  output y: int
  node add = x + 1 into y
  start -> add -> end
}

graph outer {
  input list: int[]
  state total: int = 0
  state parts: int[] = []
  state y: int = 0
  output page: json
  /// Adds one.
  node call = inner(x: total) into { y: total }
  node many = i + 1 for i in list into parts { tries 3 }
  node wait = sleep(1000ms) { pause before }
  node load = http("https://api.example.com/a", hosts: ["api.example.com"]) into { json: page } { timeout 30s  tries 2 }
  node lost = { total: 0 } into { total }
  node unused = 1 into y
  start -> call -> many
  many -> wait when total < 3
  many -> load otherwise
  wait -> many
  load -> end
  load -> lost on error
}
`;

function drawOuter(): ReturnType<typeof drawCompiled> {
  const compiled = compile(TEXT, { path: "outer.ngraph" });
  const outer = compiled.graphs.find(({ name }) => name === "outer")!;
  return drawCompiled(compiled, outer.table ?? lowerGraph(outer.bound), { findings: true });
}

const node = ({ nodes }: Drawing, id: string) => nodes.find((each) => each.id === id);

test("fan-out, timers, pauses, loops, tries, effects, calls and findings have signs in every format", async () => {
  const { drawing } = drawOuter();
  expect(node(drawing, "load")).toMatchObject({
    marks: ["⚡ net:api.example.com", "◷ timeout 30s", "↻ 2 tries"],
    facts: { reads: [], writes: ["page"], place: { file: "outer.ngraph", line: 19 } },
  });
  expect(node(drawing, "wait")?.marks).toEqual(["‖ pauses before", "◷ timer"]);
  expect(node(drawing, "many")).toMatchObject({ fansOut: true, marks: ["↻ 3 tries"] });
  expect(node(drawing, "call")).toMatchObject({ calls: "inner", facts: { doc: "Adds one." } });
  expect(node(drawing, "unused")?.findings?.[0]).toMatchObject({ code: "NG201", severity: "error", line: 21 });
  expect(drawing.edges.filter(({ loop }) => loop === true)).toMatchObject([{ from: "wait", to: "many" }]);
  const dot = renderDot(drawing);
  expect(dot).toContain('"wait" -> "many" [arrowhead=normalnormal];');
  expect(dot).toContain("shape=box3d");
  for (const text of [
    renderText(drawing),
    renderMermaid(drawing),
    await renderSvg(drawing),
    await renderHtml(drawing),
  ]) {
    const plain = text.replaceAll(/#(\d+);/g, (_, point: string) => String.fromCodePoint(Number(point)));
    for (const sign of ["⚡ net:api.example.com", "◷ timeout 30s", "‖ pauses before", "✗ NG201", "⚠ NG405"])
      expect(plain).toContain(sign);
  }
});

test("a finding about a whole graph stands above the picture", () => {
  const compiled = compile("graph g {\n  input never: int\n  node a = 1\n  start -> a -> end\n}\n");
  const { drawing } = drawCompiled(compiled, compiled.table!, { findings: true });
  expect(drawing.findings?.map(({ code }) => code)).toHaveLength(drawing.findings?.length ?? 0);
  expect(renderDot(drawing)).toMatch(/label="⚠ NG\d+ line 2: /);
});

test("a called graph is unfolded in a frame, and the arrows pass through it", async () => {
  const { drawing, called, sources } = drawOuter();
  const open = unfold(drawing, called);
  expect(open.groups).toEqual([{ id: "call", label: "call: inner" }]);
  const arrows = open.edges.map(({ from, to }) => `${from} > ${to}`);
  expect(arrows).toEqual(
    expect.arrayContaining(["start > call", "call > call/add", "call/add > call/end", "call/end > many"]),
  );
  expect(unfold(drawing, called, () => false)).toBe(drawing);
  expect(renderDot(open)).toContain('label="call: inner"');
  expect([...sources]).toEqual([["outer.ngraph", TEXT]]);
});

test("graphs that call others for many levels are unfolded up to a bound", () => {
  const graph = (name: string, next: string | undefined): string =>
    `graph ${name} {\n  output y: int\n  node a = ${next === undefined ? "1" : `${next}()`} into ${next === undefined ? "y" : "{ y }"}\n  start -> a -> end\n}\n`;
  const text = Array.from({ length: 9 }, (_, at) => graph(`g${at}`, at === 8 ? undefined : `g${at + 1}`)).join("\n");
  const compiled = compile(text);
  const { drawing, called } = drawCompiled(compiled, compiled.tables.get("g0")!);
  expect(unfold(drawing, called).groups?.map(({ parent }) => parent)).toEqual([
    undefined,
    "a",
    "a/a",
    "a/a/a",
    "a/a/a/a",
  ]);
});

test("a graph of 200 nodes is not wider than a page of 1,280 pixels whose text can be read", async () => {
  const names = Array.from({ length: 200 }, (_, at) => `step_${at}`);
  const lines = names.map((name, at) => `  node ${name} = n + ${at} into { n }`.replace("into { n }", "into n"));
  // Blocks of a choice between four ways.
  const edges = ["start -> step_0"];
  for (let at = 0; at + 5 < 200; at += 5) {
    const ways = [1, 2, 3].map((way) => `n % 4 == ${way} -> step_${at + way}`).join(", ");
    edges.push(`step_${at} -> { ${ways}, else -> step_${at + 4} }`);
    for (let way = 1; way <= 4; way++) edges.push(`step_${at + way} -> step_${at + 5}`);
  }
  const compiled = compile(`graph big {\n  output n: int = 0\n${lines.join("\n")}\n  ${edges.join("\n  ")}\n}\n`);
  const table = compiled.table ?? lowerGraph(compiled.graphs[0]!.bound);
  const svg = await renderSvg(drawCompiled(compiled, table).drawing);
  const [, width] = /width="(\d+)pt"/.exec(svg) ?? [];
  const [, font] = /font-size="([\d.]+)"/.exec(svg) ?? [];
  // Points of the picture are pixels of a page; smaller text is hard to read.
  expect(Number(font) * Math.min(1, 1280 / Number(width))).toBeGreaterThan(9);
});

test("the tools of a model are listed, graphs and those that a person approves with signs", () => {
  const table = tableOf(
    `graph inner { input q: string  output a: string  node x = upper(q) into a  start -> x -> end }
     graph other { input q: string  output a: string  node x = lower(q) into a  start -> x -> end }
     graph outer { output a: string
       node l = llm("x", tools: [inner, other], approve: [other]) into a
       start -> l -> end }`,
  );
  const text = renderText(drawTable(table));
  expect(text).toContain("⚒ tools: ⊞ inner, ⊞ other ‖");
});

test("graphs among the tools of a model unfold, each in a frame of its own with what it calls", () => {
  const text = `graph price {
    input id: string
    output cost: int
    node look = 3 into cost
    start -> look -> end
  }
  graph charge {
    input order: string
    output cost: int
    node p = price(id: order) into { cost }
    start -> p -> end
  }
  graph g {
    output answer: string
    node agent = llm("q", tools: [charge, price]) into answer
    start -> agent -> end
  }`;
  const compiled = compile(text, { path: "g.ngraph" });
  const graph = compiled.graphs.find(({ name }) => name === "g")!;
  const { drawing, called } = drawCompiled(compiled, graph.table!);
  expect(node(drawing, "agent")?.calls).toBe("charge, price");
  const all = unfold(drawing, called);
  expect(all.groups).toEqual([
    { id: "agent", label: "agent: tools" },
    { id: "agent.charge", label: "charge", parent: "agent" },
    { id: "agent.charge/p", label: "p: price", parent: "agent.charge" },
    { id: "agent.price", label: "price", parent: "agent" },
  ]);
  expect(all.edges.map(({ from, to }) => `${from} -> ${to}`)).toEqual(
    expect.arrayContaining([
      "agent -> agent.charge",
      "agent.charge -> agent.charge/p",
      "agent.charge/p -> agent.charge/p/look",
      "agent.charge/end -> agent",
      "agent.price -> agent.price/look",
      "agent -> end",
    ]),
  );
  expect(new Set(all.nodes.map(({ id }) => id)).size).toBe(all.nodes.length);
  expect(renderText(all)).toContain("calls → charge");
});
