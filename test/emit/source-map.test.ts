import { SourceMap } from "node:module";
import { expect, test } from "vitest";
import { compile, emitMappedDeclarations, emitMappedJavaScript, memoryHost } from "../../compiler/index.ts";

const TEXT = `import { twice } from "./nodes.ts"
/// A pair of numbers.
type Pair = { a: int, b: int }
graph first { input x: int  output y: int  node n = twice(x) into y  start -> n -> end }
graph second {
  input pair: Pair
  output y: int
  node n = first(x: pair.a) into { y }
  start -> n -> end
}
plan third { output o: int  task t = 1 into o }
`;
const NODES = "export const twice = (n: number): number => n * 2;";

const compiled = compile(TEXT, { path: "g/pairs.ngraph", host: memoryHost({ "g/nodes.ts": NODES }) });

test("names of a generated module lead to the declarations in the graph file", () => {
  expect(compiled.diagnostics.filter(({ severity }) => severity === "error")).toEqual([]);
  for (const { code, map } of [
    emitMappedDeclarations(compiled, { outPath: "g/pairs.d.ngraph.ts" }),
    emitMappedJavaScript(compiled, { outPath: "out/pairs.js" }),
  ]) {
    expect(code).not.toContain("\0");
    const isTypes = code.includes("interface");
    expect(map).toMatchObject({ version: 3, sources: [isTypes ? "pairs.ngraph" : "../g/pairs.ngraph"] });
    expect(map?.sourcesContent).toEqual(isTypes ? undefined : [TEXT]);
    const sourceMap = new SourceMap({ ...map!, file: map!.file, sourceRoot: "" } as never);
    const lines = code.split("\n");
    /** The text in the graph file to which a name in the module leads. */
    const origin = (declaration: RegExp): string => {
      const line = lines.findIndex((each) => declaration.test(each));
      const [, before = ""] = declaration.exec(lines[line] ?? "") ?? [];
      const found = sourceMap.findEntry(line, before.length) as { originalLine: number; originalColumn: number };
      return TEXT.split("\n")[found.originalLine]?.slice(found.originalColumn) ?? "";
    };
    for (const name of ["first", "second", "third"]) {
      expect(origin(new RegExp(`^(export (?:declare )?function )${name}\\(`))).toMatch(new RegExp(`^${name} \\{`));
    }
    if (!isTypes) continue;
    expect(origin(/^(export type )Pair /)).toMatch(/^Pair = /);
    expect(origin(/^(export interface )SecondInput /)).toMatch(/^second \{/);
    expect(origin(/^( {2}readonly )pair: /)).toMatch(/^pair: Pair/);
    // In `SecondUpdate`; the input has no default, so that its other properties are not optional.
    expect(origin(/^( {2}readonly )pair\?: /)).toMatch(/^pair: Pair/);
  }
});

test("names of signals lead to the calls that receive them, of this file alone", () => {
  const text = `import { other } from "./other.ngraph"
graph order {
  state paid: int
  state note: string
  node wait = receive("paid") into paid
  node remark = receive("a note") into note
  node call = other()
  start -> wait -> remark -> call -> end
}`;
  const other = `graph other { state sent: bool  node n = receive("sent") into sent  start -> n -> end }`;
  const order = compile(text, { path: "order.ngraph", host: memoryHost({ "other.ngraph": other }) });
  const { code, map } = emitMappedDeclarations(order, { outPath: "order.d.ngraph.ts" });
  const sourceMap = new SourceMap({ ...map!, file: map!.file, sourceRoot: "" } as never);
  const lines = code.split("\n");
  const first = lines.findIndex((each) => each.startsWith("export interface OrderSignals"));
  const origins = lines.slice(first + 1, first + 4).map((line, at) => {
    const found = sourceMap.findEntry(first + 1 + at, line.indexOf("readonly ") + 9) as {
      generatedLine: number;
      originalLine: number;
      originalColumn: number;
    };
    const origin = text.split("\n")[found.originalLine]?.slice(found.originalColumn);
    return [line.trim(), found.generatedLine === first + 1 + at ? origin : undefined];
  });
  expect(origins).toEqual([
    ["readonly paid: number;", `"paid") into paid`],
    [`readonly "a note": string;`, `"a note") into note`],
    ["readonly sent: boolean;", undefined],
  ]);
});
