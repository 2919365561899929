import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Ajv } from "ajv";
import { expect, test } from "vitest";
import { sarifProblems } from "../render/sarif-schema.ts";
import { CHECK_SCHEMA } from "./check-document-schema.ts";
import { BROKEN, createProject, type Document } from "./project.ts";

const FIXTURES = join(import.meta.dirname, "../checks/fixtures");
const validate = new Ajv({ allErrors: true, allowUnionTypes: true }).compile(CHECK_SCHEMA);

function problems(document: Document): unknown {
  validate(document);
  return validate.errors ?? [];
}

/** All fixtures in one project: each finding, trace and fix that the checks know. */
function fixtures(): Record<string, string> {
  const names = readdirSync(FIXTURES).filter((name) => name.endsWith(".ngraph"));
  return Object.fromEntries(names.map((name) => [`all/${name}`, readFileSync(join(FIXTURES, name), "utf8")]));
}

test("the document of `ngc check --json` always has the shape of the interface", () => {
  const project = createProject({ ...fixtures(), "broken.ngraph": BROKEN, "empty.ngraph": "" });
  const { status, document } = project.json(["check", "all", "broken.ngraph", "empty.ngraph"]);
  expect(status).toBe(2);
  expect(problems(document)).toEqual([]);
  const found: readonly Document[] = document.diagnostics;
  expect(document.errors).toBe(found.filter((item) => item.severity === "error").length);
  expect(document.warnings).toBe(found.filter((item) => item.severity === "warning").length);
  expect(found.some((item) => item.trace.length > 0)).toBe(true);
  expect(found.some((item) => item.fixes.length > 0)).toBe(true);
  expect(document.graphs.some((graph: Document) => graph.proofs.length > 0)).toBe(true);
  // Sorted by place.
  const keys = found.map((item) => [item.file, item.range.start.line, item.range.start.column] as const);
  const sorted = keys.toSorted((a, b) => (a[0] < b[0] ? -1 : a[0] > b[0] ? 1 : a[1] - b[1] || a[2] - b[2]));
  expect(keys).toEqual(sorted);

  const sarif = JSON.parse(
    project.ngc(["check", "all", "broken.ngraph", "empty.ngraph", "-v", "--format", "sarif"]).stdout,
  );
  expect(sarifProblems(sarif)).toEqual([]);
  expect(sarif.runs[0].results.length).toBe(found.length);
  const flows = sarif.runs[0].results.flatMap((result: Document) => result.codeFlows ?? []);
  const places = flows.flatMap((flow: Document) => flow.threadFlows[0].locations);
  expect(places.filter((item: Document) => "physicalLocation" in item.location).length).toBeGreaterThan(flows.length);

  const github = project.ngc(["check", "all", "-v", "--format", "github", "--max-diagnostics", "1000"]).stdout;
  for (const line of github.trim().split("\n")) {
    expect(line).toMatch(
      /^::(error|warning|notice) file=[^,:]+,line=\d+,col=\d+,endLine=\d+,endColumn=\d+,title=NG\d{3} [a-z-]+::./,
    );
  }
});

test("the document with --fix has the same shape, and the fixes", () => {
  const project = createProject({ "broken.ngraph": BROKEN });
  const fixed = project.json(["check", "--fix", "--stdin-filepath", "x.ngraph"], { input: BROKEN });
  expect(problems(fixed.document)).toEqual([]);
  expect(fixed.document.fixed).toHaveLength(1);
});
