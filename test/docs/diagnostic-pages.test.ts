import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { expect, test } from "vitest";
import { DIAGNOSTIC_CODES, type DiagnosticCode } from "../../diagnostics/codes.ts";
import { diagnosticPage, fixture, messageOf } from "./diagnostic-page.ts";

const DIRECTORY = "docs/diagnostics";
const CODES = Object.keys(DIAGNOSTIC_CODES) as DiagnosticCode[];

/** `UPDATE=1 npx vitest run test/docs` writes the pages anew. */
if (process.env["UPDATE"] === "1") {
  mkdirSync(DIRECTORY, { recursive: true });
  for (const code of CODES) writeFileSync(`${DIRECTORY}/${code}.md`, diagnosticPage(code));
}

test("every code has a page, and there are no others", () => {
  expect(readdirSync(DIRECTORY).sort()).toEqual(CODES.map((code) => `${code}.md`).sort());
});

test.each(CODES)("the page of %s says what the compiler says", (code) => {
  expect(readFileSync(`${DIRECTORY}/${code}.md`, "utf8")).toBe(diagnosticPage(code));
});

test.each(["NG118", "NG119", "NG610"] as const)("the graph of %s gets it, the near miss does not", (code) => {
  expect(messageOf(code, fixture(code, "fires") ?? "")).toContain(code);
  expect(messageOf(code, fixture(code, "near") ?? "graph")).toBeUndefined();
});
