import { expect, test } from "vitest";
import { renderDot } from "../../cli/drawing/dot.ts";
import { drawTable, printableDrawing, type Drawing } from "../../cli/drawing/drawing.ts";
import { drawRun, type DrawnStep, type RunFacts } from "../../cli/drawing/drawn-run.ts";
import { renderHtml } from "../../cli/drawing/html.ts";
import { renderMermaid } from "../../cli/drawing/mermaid.ts";
import { renderSvg } from "../../cli/drawing/svg.ts";
import { renderText } from "../../cli/drawing/text.ts";
import { traceRun } from "../../cli/drawing/trace-run.ts";
import { tableOf } from "../support/graph.ts";

const GRAPH = drawTable(
  tableOf(`graph g {
  state rounds: int = 0
  state x: int = 0
  state y: int = 0
  output done: string
  node draft = rounds + 1 into rounds
  node a = rounds into x
  node b = rounds into y
  node ok = ask("ok?") into done
  start -> draft
  draft -> draft when rounds < 3
  draft -> a, b otherwise
  all(a, b) -> ok
  ok -> end
}`),
);

const step = (number: number, ran: readonly string[], milliseconds?: number): DrawnStep => {
  return { step: number, ran, chose: {}, ...(milliseconds === undefined ? {} : { milliseconds }) };
};

function factsOf(steps: readonly DrawnStep[], more: Partial<RunFacts> = {}): RunFacts {
  return { kind: "thread", title: "thread t", steps, end: "", stopped: new Map(), completed: false, ...more };
}

function taken({ edges }: Drawing): string[] {
  return edges.flatMap((edge) => (edge.taken === true ? [`${edge.from} ${edge.to}`] : []));
}

test("a drawn run states tasks, steps and time at each node, and marks the edges between nodes of consecutive steps", () => {
  const steps = [step(0, ["draft"], 10), step(1, ["draft"]), step(2, ["draft"], 30), step(3, ["a", "b", "b"])];
  const waits = new Map([["ok", { state: "waits", text: "waits for an answer" }] as const]);
  const drawn = drawRun(GRAPH, factsOf(steps, { stopped: waits }));
  const runs = Object.fromEntries(drawn.nodes.flatMap(({ id, run }) => (run === undefined ? [] : [[id, run]])));
  expect(runs).toEqual({
    draft: { state: "ran", count: 3, steps: [0, 1, 2], milliseconds: 40, text: "3× · steps 0, 1, 2 · 40ms" },
    a: { state: "ran", count: 1, steps: [3], text: "step 3" },
    b: { state: "ran", count: 2, steps: [3], text: "2× · step 3" },
    ok: { state: "waits", count: 0, steps: [], text: "waits for an answer" },
  });
  expect(taken(drawn).sort()).toEqual([
    "[ok] ok",
    "a [ok]",
    "b [ok]",
    "draft a",
    "draft b",
    "draft draft",
    "start draft",
  ]);
});

test("an edge that the run has not taken is not marked", () => {
  expect(taken(drawRun(GRAPH, factsOf([step(0, ["draft"]), step(1, ["a", "b"])]))).sort()).toEqual([
    "draft a",
    "draft b",
    "start draft",
  ]);
  const all = [step(0, ["draft"]), step(1, ["a", "b"]), step(2, ["ok"])];
  expect(taken(drawRun(GRAPH, factsOf(all, { completed: true })))).toContain("ok end");
  expect(taken(drawRun(GRAPH, factsOf(all)))).not.toContain("ok end");
});

test("a barrier that a counterexample leaves half filled shows its members", () => {
  const drawn = drawRun(
    GRAPH,
    traceRun({
      code: "NG301",
      message: "stuck",
      end: "stuck: ok has 1 of 2",
      trace: [
        { step: 0, ran: ["draft"], chose: { draft: "otherwise" }, barriers: {} },
        { step: 1, ran: ["a"], chose: {}, barriers: { ok: ["a"] } },
      ],
    }),
  );
  expect(taken(drawn)).toEqual(["start draft", "draft a", "a [ok]"]);
  const text = renderText(drawn);
  expect(text).toContain("counterexample of NG301: stuck\n");
  expect(text).toContain("all [ok]  [arrived: a]");
  expect(text).toContain("step 0: draft (otherwise)\nstep 1: a\nstuck: ok has 1 of 2");
});

test("each format shows the run by text and by the forms of lines", async () => {
  const steps = [step(0, ["draft"]), step(1, ["a", "b"])];
  const failed = new Map([["ok", { state: "failed", text: "failed: NG_NODE_FAILED" }] as const]);
  const drawn = drawRun(GRAPH, factsOf(steps, { stopped: failed, end: "failed: no" }));
  const mermaid = renderMermaid(drawn);
  expect(mermaid).toContain('run>"thread t<br/>failed: no"]');
  expect(mermaid).toMatch(/class n1,n2,n3 ran\n[\s\S]*class n4 failed\n {2}linkStyle [\d,]+ stroke-width/);
  expect(renderDot(drawn)).toMatch(/label="ok\\nask\(\)\\nfailed: NG_NODE_FAILED"[^\n]*penwidth=3.5/);
  expect(renderDot(drawn)).toContain('label="thread t\\nfailed: no";');
  expect(await renderSvg(drawn)).toContain("failed: NG_NODE_FAILED</text>");
  const html = await renderHtml(drawn);
  expect(html).toContain("<td>ok</td><td>ask()</td><td></td><td></td><td></td><td>failed: NG_NODE_FAILED</td>");
  expect(html).toContain("<p>thread t</p>");
});

test("markup and control characters of a run are shown as text", async () => {
  const title = 'thread <img src=x onerror="alert(1)"> \u001b[31m\u202e';
  const stopped = new Map([["ok", { state: "waits", text: "</text><script>alert(1)</script>\u001b" }] as const]);
  const drawn = printableDrawing(drawRun(GRAPH, factsOf([step(0, ["draft"])], { title, end: title, stopped })));
  for (const picture of [await renderHtml(drawn), await renderSvg(drawn), renderMermaid(drawn)]) {
    expect(picture).not.toMatch(/<img|<script>(?!"use strict";)|\u001b|\u202e/);
  }
  expect(renderText(drawn)).not.toMatch(/\u001b|\u202e/);
});

test("a run of 10,000 steps has short labels, and text prints its first and last steps", () => {
  const steps = Array.from({ length: 10_000 }, (_, index) => step(index, ["draft"]));
  const drawn = drawRun(GRAPH, factsOf(steps));
  expect(drawn.nodes.find(({ id }) => id === "draft")?.run?.text).toBe("10000× · steps 0, 1, 2, 3, … 9999");
  expect(renderText(drawn).split("\n").length).toBeLessThan(70);
  expect(renderText(drawn)).toContain("… 9960 more steps\nstep 9980: draft");
});
