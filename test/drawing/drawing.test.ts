import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { drawTable, type Drawing, type DrawnEdge } from "../../cli/drawing/drawing.ts";
import { renderDot } from "../../cli/drawing/dot.ts";
import { renderHtml } from "../../cli/drawing/html.ts";
import { layOut } from "../../cli/drawing/layout.ts";
import { renderMermaid } from "../../cli/drawing/mermaid.ts";
import { renderSvg } from "../../cli/drawing/svg.ts";
import { renderText } from "../../cli/drawing/text.ts";
import { END, type Table } from "../../runtime/table/table.ts";
import { numRuns } from "../support/depth.ts";

const table: Table = {
  format: "ngraph.table",
  version: 1,
  kind: "graph",
  name: "support",
  channels: [
    { name: "intent", role: "state", type: { kind: "string" } },
    { name: "score", role: "state", type: { kind: "float" }, initial: 0 },
  ],
  nodes: [
    {
      name: "classify",
      call: { kind: "builtin", name: "llm", args: [] },
      routes: [
        {
          kind: "match",
          subject: 0,
          arms: [
            { values: ["technical"], targets: [{ node: 1 }, { node: 2 }] },
            { values: ["billing", "other"], targets: [{ node: 3 }] },
          ],
        },
      ],
      onError: [{ targets: [{ node: 4 }] }],
    },
    {
      name: "docs",
      call: { kind: "function", function: 0, args: [] },
      routes: [{ kind: "plain", targets: [{ barrier: 0, member: 0 }] }],
      onError: [],
    },
    {
      name: "tickets",
      call: { kind: "function", function: 0, args: [] },
      routes: [{ kind: "plain", targets: [{ barrier: 0, member: 1 }] }],
      onError: [],
    },
    {
      name: "draft",
      call: { kind: "expression", expression: 1 },
      routes: [
        { kind: "when", condition: 1, targets: [{ node: 3 }] },
        { kind: "otherwise", targets: [{ node: 4 }] },
      ],
      onError: [],
    },
    {
      name: "approve",
      call: { kind: "builtin", name: "ask", args: [] },
      routes: [{ kind: "plain", targets: [{ node: END }] }],
      onError: [],
    },
  ],
  start: [{ kind: "plain", targets: [{ node: 0 }] }],
  barriers: [{ id: "draft", kind: "all", target: 3, members: [[1], [2]] }],
  expressions: [
    { op: "channel", channel: 0 },
    { op: "binary", operator: "<", left: { op: "channel", channel: 1 }, right: { op: "const", value: 0.8 } },
  ],
  functions: [{ name: "searchDocs", module: "./nodes.ts", export: "searchDocs" }],
  types: [],
  graphs: [],
  secrets: [],
  effects: [],
  limits: { steps: 100, parallel: null },
  assertions: [],
  digest: "sha256:0",
};

describe("pictures of a graph", () => {
  test("as text: a tree that unfolds every node once", () => {
    expect(renderText(drawTable(table))).toBe(
      [
        "support",
        "start",
        "↳ classify  llm()",
        '├─ intent is "technical" → docs  searchDocs()',
        "│  ↳ all [draft]",
        "│  ↳ draft ↓",
        '├─ intent is "technical" → tickets  searchDocs()',
        "│  ↳ all [draft] ↑",
        '├─ intent is "billing" | "other" → draft  score < 0.8',
        "│  ├─ score < 0.8 → draft ↑",
        "│  └─ otherwise → approve ↓",
        "└─ on error → approve  ask() (waits for a person)",
        "   ↳ end",
      ].join("\n"),
    );
  });

  test("as Mermaid: ids that are no words of Mermaid's, labels without its marks", () => {
    const text = renderMermaid(drawTable(table));
    expect(text.split("\n")[0]).toBe("flowchart TD");
    expect(text).toContain('n1["classify<br/>llm()"]');
    expect(text).toContain('n1 -->|"intent is #34;technical#34;"| n2');
    expect(text).toContain("n1 -.->");
    expect(text).toContain('n5[/"approve<br/>ask()"/]');
    expect(text).toContain('n6{{"all"}}');
    expect(text).toContain('n7(["end"])');
  });

  test("as dot: names and labels are quoted", () => {
    const text = renderDot(drawTable(table));
    expect(text).toContain('"classify" -> "docs" [label="intent is \\"technical\\""];');
    expect(text).toContain('"[draft]" [label="all", shape=hexagon];');
    expect(text).toContain('"classify" -> "approve" [label="on error", style=dashed];');
  });

  test("as SVG and HTML: well-formed, every node and label in it, nothing to run in it", () => {
    const nasty: Drawing = {
      name: "<script>",
      nodes: [
        { id: "start", kind: "start", label: "start", detail: "", pauses: false },
        { id: "a", kind: "node", label: "a", detail: '"</text><script>&', pauses: false },
      ],
      edges: [{ from: "start", to: "a", kind: "conditional", label: "x < 1 && y\u0001" }],
    };
    for (const text of [renderSvg(nasty), renderHtml(nasty)]) {
      expect(text).not.toContain("<script>");
      expect(text).toContain("x &lt; 1 &amp;&amp; y<");
    }
    expect(renderSvg(drawTable(table)).match(/<rect /g)).toHaveLength(8);
  });
});

describe("layout", () => {
  test("boxes of one layer never overlap, and edges run down unless they close a circle", () => {
    const node = fc.nat(14);
    fc.assert(
      fc.property(fc.array(fc.tuple(node, node), { maxLength: 40 }), (pairs) => {
        const drawing = drawingOf(15, pairs);
        const { boxes, lines, width, height } = layOut(drawing);
        expect(lines).toHaveLength(drawing.edges.length);
        for (const y of new Set(boxes.map((box) => box.y))) {
          const sorted = boxes.filter((box) => box.y === y).sort((a, b) => a.x - b.x);
          for (let index = 1; index < sorted.length; index++) {
            const [left, right] = [sorted[index - 1]!, sorted[index]!];
            expect(right.x - right.width / 2).toBeGreaterThanOrEqual(left.x + left.width / 2);
          }
        }
        for (const box of boxes) {
          expect(box.x - box.width / 2).toBeGreaterThanOrEqual(0);
          expect(box.x + box.width / 2).toBeLessThanOrEqual(width);
          expect(box.y + box.height / 2).toBeLessThanOrEqual(height);
        }
      }),
      { seed: 11, numRuns: numRuns(200) },
    );
  });

  test("long chains and wide fans are drawn without running out of stack", () => {
    const chain = drawingOf(
      5000,
      Array.from({ length: 4999 }, (_, index): [number, number] => [index, index + 1]),
    );
    expect(renderText(chain).split("\n")).toHaveLength(5002);
    expect(layOut(chain).boxes).toHaveLength(5001);
    const ladder = drawingOf(
      3000,
      Array.from({ length: 2999 }, (_, index): [number, number][] => [
        [index, index + 1],
        [index, 0],
      ]).flat(),
    );
    expect(renderText(ladder).length).toBeLessThan(2_000_000);
  });
});

function drawingOf(count: number, pairs: readonly (readonly [number, number])[]): Drawing {
  const edges = pairs.map(([from, to]): DrawnEdge => ({ from: `n${from}`, to: `n${to}`, kind: "plain", label: "" }));
  return {
    name: "random",
    nodes: [
      { id: "start", kind: "start", label: "start", detail: "", pauses: false },
      ...Array.from({ length: count }, (_, index) => ({
        id: `n${index}`,
        kind: "node" as const,
        label: `n${index}`,
        detail: "",
        pauses: false,
      })),
    ],
    edges: [{ from: "start", to: "n0", kind: "plain", label: "" }, ...edges],
  };
}
