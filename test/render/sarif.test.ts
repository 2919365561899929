import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { compile } from "../../compiler/index.ts";
import { DIAGNOSTIC_CODES, type DiagnosticCode } from "../../diagnostics/codes.ts";
import { renderSarif } from "../../diagnostics/render/index.ts";
import { SourceFile } from "../../diagnostics/source.ts";
import { joinNeverComplete, placeOf, sample } from "./samples.ts";
import { sarifProblems } from "./sarif-schema.ts";

const FIXTURES = join(import.meta.dirname, "../checks/fixtures");

test("the schema refuses other JSON", () => {
  expect(sarifProblems({ version: "2.1.0" })).not.toEqual([]);
  expect(sarifProblems({ version: "2.1.0", runs: [{ tool: { driver: { name: "x", nonsense: 1 } } }] })).not.toEqual([]);
  expect(sarifProblems({ version: "2.1.0", runs: [{ tool: { driver: { name: "x" } } }] })).toEqual([]);
});

describe("a SARIF log fits the official schema", () => {
  test("of no findings", () => {
    expect(sarifProblems(JSON.parse(renderSarif([], { version: "1.2.3" })))).toEqual([]);
  });

  test.each(readdirSync(FIXTURES).filter((file) => file.endsWith("-fires.ngraph")))("of %s", (name) => {
    const { diagnostics, suppressed } = compile(readFileSync(join(FIXTURES, name), "utf8"), { path: `graphs/${name}` });
    const log = JSON.parse(renderSarif(diagnostics, { version: "1.2.3", suppressed }));
    expect(sarifProblems(log)).toEqual([]);
    expect(log.runs[0].results).toHaveLength(diagnostics.length);
    expect(log.runs[0].results.filter((result: object) => "codeFlows" in result)).toHaveLength(
      diagnostics.filter((item) => (item.trace ?? []).length > 0).length,
    );
  });

  test("of every code, any path, and marks over several lines", () => {
    const codes = Object.keys(DIAGNOSTIC_CODES) as DiagnosticCode[];
    const paths = ["a b/c#d.ngraph", "/abs/ü.ngraph", "C:\\dir\\x.ngraph", "..\\up.ngraph", "<stdin>"];
    const found = paths.flatMap((path) =>
      codes.map((code) => sample(new SourceFile(path, "one\ntwo\n"), "ne\ntw", {}, code)),
    );
    expect(sarifProblems(JSON.parse(renderSarif(found, { version: "1.2.3" })))).toEqual([]);
  });
});

test("a trace is a code flow: a location for each node that ran, then where the problem is", () => {
  const found = joinNeverComplete();
  const places = new Map([["triage", placeOf(found.file, "triage")]]);
  const log = JSON.parse(renderSarif([found], { version: "1.2.3", placeOfNode: (_, node) => places.get(node) }));
  expect(sarifProblems(log)).toEqual([]);
  const [flow] = log.runs[0].results[0].codeFlows;
  expect(flow.threadFlows[0].locations).toMatchObject([
    {
      executionOrder: 1,
      location: {
        message: { text: 'step 0: triage chooses "ok"' },
        physicalLocation: { region: { startLine: 9, startColumn: 3 } },
        logicalLocations: [{ name: "triage" }],
      },
    },
    { executionOrder: 2, location: { message: { text: "step 1: legal" } } },
    {
      location: {
        message: { text: "stuck: publish has 1 of 2 (waits for rewrite)" },
        physicalLocation: { region: { startLine: 14 } },
      },
    },
  ]);
});

test("a suppressed finding is included with its reason", () => {
  const file = new SourceFile("a.ngraph", "one\n");
  const log = JSON.parse(
    renderSarif([], {
      version: "1.2.3",
      suppressed: [{ diagnostic: sample(file, "one", {}, "NG405"), reason: "audit log only" }],
    }),
  );
  expect(sarifProblems(log)).toEqual([]);
  expect(log.runs[0].results).toMatchObject([
    { ruleId: "NG405", suppressions: [{ kind: "inSource", justification: "audit log only" }] },
  ]);
});
