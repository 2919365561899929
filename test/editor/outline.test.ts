import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { readSyntax } from "../../compiler/load/read-syntax.ts";
import { SourceFile } from "../../diagnostics/source.ts";
import { findFoldingRanges, findOutline } from "../../editor/outline.ts";
import { toSpan } from "../../editor/positions.ts";
import { exampleFiles } from "../support/example-files.ts";

function open(text: string, path = "/p/a.ngraph"): ReturnType<typeof readSyntax>["file"] {
  return readSyntax(text, path).file;
}

const TEXT = `/* A comment
   of two lines. */
const LIMIT = 3

graph g {
  input topic: string
  node write = print(topic)
  start -> write -> end
}
`;

test("the outline has the declarations of a file and of its graphs", () => {
  const outline = findOutline(open(TEXT));
  expect(outline.map(({ name, detail }) => [name, detail])).toEqual([
    ["LIMIT", "const"],
    ["g", "graph"],
  ]);
  expect(outline[1]?.children?.map(({ name, detail }) => [name, detail])).toEqual([
    ["topic", "input"],
    ["write", "node"],
  ]);
});

test("the outline of YAML has the same names", () => {
  const yaml = "graph: g\ninput:\n  topic: string\nnodes:\n  write: print(topic)\nedges:\n  - start -> write -> end\n";
  const names = findOutline(open(yaml, "/p/a.ngraph.yaml")).flatMap(({ name, children = [] }) => [
    name,
    ...children.map((each) => each.name),
  ]);
  expect(names).toEqual(["g", "topic", "write"]);
});

test("comments and declarations of more than one line can be folded", () => {
  expect(findFoldingRanges(open(TEXT)).sort((a, b) => a.startLine - b.startLine)).toEqual([
    { startLine: 0, endLine: 1, kind: "comment" },
    { startLine: 4, endLine: 8 },
  ]);
});

test.each(exampleFiles(".ngraph"))("each range of %s includes its name", (name) => {
  const text = readFileSync(name, "utf8");
  const source = new SourceFile(name, text);
  const symbols = findOutline(open(text, `/p/${name}`)).flatMap((each) => [each, ...(each.children ?? [])]);
  expect(symbols.length).toBeGreaterThan(0);
  for (const { range, selectionRange } of symbols) {
    const [outer, inner] = [toSpan(source, range), toSpan(source, selectionRange)];
    expect(outer.start <= inner.start && inner.end <= outer.end).toBe(true);
  }
});
