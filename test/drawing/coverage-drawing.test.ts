/** Pictures of the coverage of tests: the branches of the drawing are those that coverage counts. */
import { expect, test } from "vitest";
import { compile } from "../../compiler/compile.ts";
import { drawCoverage } from "../../cli/drawing/coverage-drawing.ts";
import { drawnEdges, drawTable, type Drawing } from "../../cli/drawing/drawing.ts";
import { renderDot } from "../../cli/drawing/dot.ts";
import { renderHtml } from "../../cli/drawing/html.ts";
import { renderMermaid } from "../../cli/drawing/mermaid.ts";
import { renderText } from "../../cli/drawing/text.ts";
import { CoverageCounter } from "../../testing/coverage.ts";
import { runTest } from "../../testing/run-test.ts";

const GRAPH = `graph u {
  input a: int
  output b: string = "" reduce last
  node x = "x" into b
  node y = fail("no")
  node z = "z" into b
  node w = "w" into b
  node v = "v" into b
  node tidy = print("tidy")
  start -> x
  x -> y when a == 1
  x -> z, w when a == 2
  x -> w when a == 3
  x -> match a { 4 -> end  5 -> end  else -> end }
  y -> end on error
  all(z, w) -> v
  v -> end
  finally -> tidy -> end
}
`;

async function draw(tests: string): Promise<Drawing> {
  const compiled = compile(GRAPH.replace("  x -> w when a == 3\n", "") + tests, { path: "u.ngraph" });
  expect(compiled.diagnostics.filter(({ severity }) => severity === "error")).toEqual([]);
  const { table } = compiled;
  if (table === undefined) throw new Error("no table");
  const counter = new CoverageCounter(table);
  for (const each of compiled.tests) await runTest(each, table, () => Promise.resolve({}), counter);
  const coverage = counter.result();
  expect(drawnEdges(table).branches.length).toBe(coverage.parts.filter(({ kind }) => kind !== "node").length);
  return drawCoverage(drawTable(table), table, coverage);
}

const missed = ({ nodes, edges }: Drawing): string[] => [
  ...nodes.flatMap(({ id, run }) => (run?.state === "missed" ? [id] : [])),
  ...edges.flatMap(({ from, to, taken }) => (taken === false ? [`${from} -> ${to}`] : [])),
];

test("parts that no test takes are marked, barriers and `finally` included", async () => {
  const two = await draw(`test "two" for u { given a = 2  expect b == "v" }`);
  expect(missed(two)).toEqual(["y", "x -> y", "x -> end", "x -> end", "y -> end"]);
  const one = await draw(`test "one" for u { given a = 1 expect never ran z }`);
  expect(missed(one)).toEqual([
    "z",
    "w",
    "v",
    "x -> z",
    "x -> w",
    "x -> end",
    "x -> end",
    "z -> [v]",
    "w -> [v]",
    "v -> end",
    "[v] -> v",
  ]);
});

test("each format shows them by text and by the forms of lines", async () => {
  const drawing = await draw(`test "two" for u { given a = 2  expect b == "v" }\ntest "again" for u { given a = 2 }`);
  const text = renderText(drawing);
  expect(text).toContain("coverage of u: nodes 5/6");
  expect(text).toContain('↳ x  "x"  [2×]');
  expect(text).toContain("a == 1 ✗ no test → y  fail()  [✗ no test]");
  expect(renderDot(drawing)).toContain(
    '"x" -> "y" [label=" a == 1 ✗ no test ", dir=both, arrowtail=odiamond, style=dashed, color="#cf222e", fontcolor="#cf222e"]',
  );
  expect(renderMermaid(drawing)).toMatch(/class n\d missed/);
  const page = await renderHtml(drawing);
  expect(page).toContain("no test takes it");
  expect(page).toMatch(/<th[^>]*>tests<\/th>/);
});

test("a node that has waited counts once for each of its tasks", async () => {
  const { table, tests } = compile(
    `graph g { output o: "a" | "b"  node q = ask("?") into o  start -> q  q -> match o { "a" -> q  "b" -> end } }
     test "t" for g { answer q = "a" then "b" }`,
    { path: "g.ngraph" },
  );
  if (table === undefined) throw new Error("no table");
  const counter = new CoverageCounter(table);
  for (const each of tests) await runTest(each, table, () => Promise.resolve({}), counter);
  expect(counter.result().parts.find(({ kind }) => kind === "node")?.count).toBe(2);
});
