import { describe, expect, test } from "vitest";
import { drawTable, type Drawing, type DrawnEdge } from "../../cli/drawing/drawing.ts";
import { renderDot } from "../../cli/drawing/dot.ts";
import { renderHtml } from "../../cli/drawing/html.ts";
import { PAGE_SCRIPT } from "../../cli/drawing/page-script.ts";
import { renderMermaid } from "../../cli/drawing/mermaid.ts";
import { renderSvg } from "../../cli/drawing/svg.ts";
import { renderText } from "../../cli/drawing/text.ts";
import { END, type Table } from "../../runtime/table/table.ts";
import { tableOf } from "../support/graph.ts";

const table: Table = {
  format: "ngraph.table",
  version: 2,
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
  test("as text: a tree that expands every node once", () => {
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

  test("`settled` with its members and all its targets", () => {
    const drawing = drawTable(
      tableOf("graph g { node a = 1  node b = 2  node c = 3  node d = 4  start -> a, b  settled(a, b) -> c, d }"),
    );
    expect(drawing.nodes.find(({ kind }) => kind === "barrier")).toMatchObject({ id: "[c]", label: "settled" });
    const ends = drawing.edges
      .filter(({ from, to }) => [from, to].includes("[c]"))
      .map(({ from, to }) => `${from} ${to}`);
    expect(ends.toSorted()).toEqual(["[c] c", "[c] d", "a [c]", "b [c]"]);
  });

  test("as Mermaid: generated ids, escaped labels", () => {
    const text = renderMermaid(drawTable(table));
    expect(text.split("\n")[0]).toBe("flowchart TD");
    expect(text).toContain('n1["classify<br/>llm()"]');
    expect(text).toContain('n1 -->|"intent is #34;technical#34;"| n2');
    expect(text).toContain("n1 -.->");
    expect(text).toContain('n5[/"approve<br/>ask()"/]');
    expect(text).toContain('n6{{"all"}}');
    expect(text).toContain('n7(["end"])');
  });

  test("as DOT: quoted names and labels, a form for each kind of node and arrow", () => {
    const text = renderDot(drawTable(table));
    expect(text).toContain('"classify" -> "docs" [label=" intent is \\"technical\\" ", dir=both, arrowtail=odiamond];');
    expect(text).toContain('"[draft]" [label="all", shape=hexagon, style=filled, fillcolor="#fff8c5"];');
    expect(text).toContain('"classify" -> "approve" [label=" on error ", style=dashed, color="#cf222e"');
    expect(text).toContain('"approve" [label="approve\\nask()", peripheries=2');
  });

  const nasty = (text: string): Drawing => ({
    name: text,
    nodes: [
      { id: "start", kind: "start", label: "start", detail: "", pauses: false },
      { id: text, kind: "node", label: text, detail: text, pauses: true },
      { id: `[${text}]`, kind: "barrier", label: text, detail: "", pauses: false },
    ],
    edges: [
      { from: "start", to: text, kind: "conditional", label: text },
      { from: text, to: `[${text}]`, kind: "error", label: text },
    ],
  });

  test.each([
    "<script>alert(1)</script>",
    "--><script>alert(1)</script><!--",
    '"];evil [label="x"];//',
    "<b>html</b>",
    "<<b>html</b>>",
    "a\\",
    'a\\"',
    "\\N\\G\\E",
    "&lt;script&gt;&amp;&#60;",
    "]]>",
    "\u0001\u001b[31m\u009b\ufffe",
    "line\nbreak",
    "日本語 👩‍💻 \u202e",
    "n0",
    "</title></svg>",
  ])("as SVG and HTML %j is text, and nothing else", async (text) => {
    const shown = text.replace(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\ufffe\uffff]/g, "");
    const page = await renderHtml(nasty(text));
    // The script of the page is its own, and its data cannot end their element.
    const [, data = ""] = /<script type="application\/json" id="data">([^<]*)<\/script>/.exec(page) ?? [];
    expect(Object.keys((JSON.parse(data) as { nodes: object }).nodes)).toContain(text);
    const bare = page.replace(`<script>${PAGE_SCRIPT}</script>`, "").replace(data, "");
    for (const picture of [await renderSvg(nasty(text)), bare]) {
      const tags = new Set([...picture.matchAll(/<\/?([a-zA-Z][\w]*)/g)].map(([, tag]) => tag));
      expect([...tags].filter((tag) => !TAGS.has(tag ?? ""))).toEqual([]);
      // oxlint-disable-next-line no-control-regex -- they are what is looked for
      expect(picture).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\ufffe\uffff]/);
      const texts = [...picture.matchAll(/<text [^>]*>([^<]*)<\/text>/g)].map(([, body]) => decode(body ?? "").trim());
      expect(texts).toContain(shown.split("\n")[0]);
    }
  });

  test("as SVG: every node and every arrow", async () => {
    const text = await renderSvg(drawTable(table));
    expect(text.match(/<g class="node" data-node=/g)).toHaveLength(8);
    expect(text).toContain("<title>classify → approve</title>");
    expect(text).not.toContain("<!--");
  });
});

/** Elements of a picture or page. */
const TAGS: ReadonlySet<string> = new Set(
  (
    "svg title g polygon ellipse path text polyline html head meta style body header h1 div label input span button select option main " +
    "aside p section details summary table tr th td script"
  ).split(" "),
);

function decode(text: string): string {
  return text
    .replace(/&#(\d+);/g, (_, code: string) => String.fromCodePoint(Number(code)))
    .replace(/&#x([\da-f]+);/gi, (_, code: string) => String.fromCodePoint(Number.parseInt(code, 16)))
    .replaceAll("&lt;", "<")
    .replaceAll("&gt;", ">")
    .replaceAll("&quot;", '"')
    .replaceAll("&#39;", "'")
    .replaceAll("&amp;", "&");
}

describe("large pictures", () => {
  test("arrows to one node from everywhere become connectors, so that the layout takes bounded time", async () => {
    const ladder = drawingOf(
      400,
      Array.from({ length: 399 }, (_, index): [number, number][] => [
        [index, index + 1],
        [index, 0],
      ]).flat(),
    );
    const text = await renderSvg(ladder);
    expect(text).toContain(">→ n0</text>");
    expect(text.match(/<g class="edge"/g)).toHaveLength(ladder.edges.length);
  });

  test("a wide drawing runs from left to right", async () => {
    const fan = drawingOf(
      60,
      Array.from({ length: 59 }, (_, index): [number, number] => [0, index + 1]),
    );
    const [, width, height] = /width="(\d+)pt" height="(\d+)pt"/.exec(await renderSvg(fan)) ?? [];
    expect(Number(width)).toBeLessThan(Number(height));
  });

  test("a drawing that is too large for SVG is refused; the text has no limit", async () => {
    const chain = drawingOf(
      5000,
      Array.from({ length: 4999 }, (_, index): [number, number] => [index, index + 1]),
    );
    expect(renderText(chain).split("\n")).toHaveLength(5002);
    await expect(renderSvg(chain)).rejects.toThrow("`random` is too large for a picture: 5001 nodes and 5000 edges");
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
