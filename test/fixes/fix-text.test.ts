import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { compile, memoryHost, type Diagnostic } from "../../compiler/index.ts";
import { applyEdits } from "../../diagnostics/fixes/apply-edits.ts";
import { fixText } from "../../diagnostics/fixes/fix-text.ts";
import { convert } from "../../grammar/convert.ts";
import { numRuns } from "../support/depth.ts";

const FIXTURES = join(import.meta.dirname, "../checks/fixtures");

function check(path: string): (text: string) => readonly Diagnostic[] {
  return (text) => compile(text, { path }).diagnostics.filter((item) => item.file.path === path);
}

const errorsOf = (found: readonly Diagnostic[]): number => found.filter((item) => item.severity === "error").length;
const warningsOf = (found: readonly Diagnostic[]): number => found.filter((item) => item.severity === "warning").length;

const fixable = readdirSync(FIXTURES)
  .filter((file) => file.endsWith("-fires.ngraph"))
  .toSorted()
  .map((file) => ({ file, text: readFileSync(join(FIXTURES, file), "utf8") }))
  .filter(({ text }) => check("a.ngraph")(text).some((item) => item.severity !== "info" && item.fixes.length > 0));

test("there are fixtures of many codes with fixes", () => {
  expect(fixable.length).toBeGreaterThanOrEqual(5);
});

describe.each(fixable)("$file, fixed,", ({ file, text }) => {
  const path = "a.ngraph";
  const before = check(path)(text);
  const { text: after, applied, diagnostics } = fixText(text, check(path));

  test("checks better than before", () => {
    expect(applied.length).toBeGreaterThan(0);
    expect(errorsOf(diagnostics)).toBeLessThanOrEqual(errorsOf(before));
    expect(errorsOf(diagnostics) + warningsOf(diagnostics)).toBeLessThan(errorsOf(before) + warningsOf(before));
    expect(applied.map(({ code }) => code)).toContain(file.slice(0, 5));
  });
  test("is stable: fixing it again changes nothing", () => {
    expect(check(path)(after)).toEqual(diagnostics);
    expect(fixText(after, check(path))).toMatchObject({ text: after, applied: [] });
  });
});

test("YAML is fixed where the edit fits it: a name", () => {
  const yaml = `graph: g\noutput: { text: string }\nnodes:\n  greet: { expr: '"hi"', into: txet }\nedges:\n  - start -> gret\n`;
  const { text, diagnostics, applied } = fixText(yaml, check("g.ngraph.yaml"));
  expect(errorsOf(diagnostics) + warningsOf(diagnostics)).toBe(0);
  expect(text).toBe(yaml.replace("txet", "text").replace("gret\n", "greet\n"));
  expect(applied.map(({ code }) => code).toSorted()).toEqual(["NG101", "NG104"]);
});

test("a fixed syntax error reveals the next errors, which are fixed too", () => {
  const text = `graph g {\n  output a: int\n  node one = 1 === 1 ? 1 : 2 into a\n  start -> oen\n}\n`;
  const fixed = fixText(text, check("g.ngraph"));
  expect(fixed.diagnostics.filter((item) => item.severity === "error")).toEqual([]);
  expect(fixed.text).toContain("1 == 1");
  expect(fixed.text).toContain("start -> one");
});

test("a fix that makes a file worse is reverted, and the others stay", () => {
  const text = `graph g {\n  output a: int\n  node one = 1 into a\n  node two = 2 into b\n  start -> oen -> two\n}\n`;
  const honest = check("g.ngraph");
  // One wrong fix: it renames the graph to an invalid name.
  const lying = (of: string): readonly Diagnostic[] =>
    honest(of).map((item) =>
      item.code === "NG104"
        ? { ...item, fixes: [{ title: "break it", edits: [{ span: { start: 6, end: 7 }, text: "7 7" }] }] }
        : item,
    );
  const fixed = fixText(text, lying);
  expect(fixed.text).toBe(text.replace("oen", "one"));
  expect(fixed.applied.map(({ code }) => code)).toEqual(["NG101"]);
});

test("line breaks of Windows stay", () => {
  const text = readFileSync(join(FIXTURES, "NG501-fires.ngraph"), "utf8").replaceAll("\n", "\r\n");
  const fixed = fixText(text, check("a.ngraph"));
  expect(fixed.applied.length).toBeGreaterThan(0);
  expect(fixed.text.replaceAll("\r\n", "")).not.toContain("\n");
});

test("broken texts of any kind never get worse, and never make it throw", () => {
  const samples = fixable.map(({ text }) => text);
  fc.assert(
    fc.property(
      fc.constantFrom(...samples),
      fc.nat(),
      fc.nat(6),
      fc.constantFrom("", "x", "}", "->"),
      (text, at, length, put) => {
        const start = at % text.length;
        const broken = text.slice(0, start) + put + text.slice(start + length);
        const before = check("a.ngraph")(broken);
        const { applied, diagnostics } = fixText(broken, check("a.ngraph"));
        const syntax = (found: readonly Diagnostic[]): number =>
          found.filter((item) => item.severity === "error" && item.code < "NG1").length;
        expect(syntax(diagnostics)).toBeLessThanOrEqual(syntax(before));
        if (applied.length === 0) expect(diagnostics).toEqual(before);
      },
    ),
    { seed: 7, numRuns: numRuns(60) },
  );
});

test("both spellings of a graph whose names are misspelt end up the same", () => {
  const good = `graph g {\n  output text: string\n\n  node greet = "hi" into text\n\n  start -> greet\n}\n`;
  const bad = good.replace("start -> greet", "start -> gret").replace("into text", "into txet");
  const asText = fixText(bad, check("g.ngraph"));
  const yaml = convert(bad, { to: "yaml", path: "g.ngraph" });
  const asYaml = fixText(yaml.text, check("g.ngraph.yaml"));
  expect(asText.text).toBe(good);
  const digest = (text: string, path: string): string | undefined => compile(text, { path }).table?.digest;
  expect(digest(asYaml.text, "g.ngraph.yaml")).toBe(digest(good, "g.ngraph"));
});

test("edits are made in any order given", () => {
  const edits = [
    { span: { start: 4, end: 5 }, text: "E" },
    { span: { start: 0, end: 1 }, text: "" },
  ];
  expect(applyEdits("abcde", edits)).toBe("bcdE");
  expect(memoryHost({}).readFile("x")).toBeUndefined();
});
