import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { expect, test } from "vitest";
import { DIAGNOSTIC_CODES, type DiagnosticCode } from "../../diagnostics/codes.ts";
import { compileFixture, diagnosticIndex, diagnosticPage, fixture, messageOf } from "./diagnostic-page.ts";

const DIRECTORY = "docs/diagnostics";
/** Codes without an example: a file of more than 4 MiB, and a kind of built-in node that does not exist yet. */
const WITHOUT_FIXTURES: ReadonlySet<string> = new Set(["NG005", "NG603"]);
const CODES = Object.keys(DIAGNOSTIC_CODES) as DiagnosticCode[];

/** `UPDATE=1 npx vitest run test/docs` writes the pages. */
if (process.env["UPDATE"] === "1") {
  mkdirSync(DIRECTORY, { recursive: true });
  for (const code of CODES) writeFileSync(`${DIRECTORY}/${code}.md`, diagnosticPage(code));
  writeFileSync(`${DIRECTORY}/README.md`, diagnosticIndex());
}

test("every code has a page, and there are no others", () => {
  expect(readdirSync(DIRECTORY).sort()).toEqual([...CODES.map((code) => `${code}.md`), "README.md"].sort());
});

test("the index leads to every page", () => {
  const index = readFileSync(`${DIRECTORY}/README.md`, "utf8");
  expect(index).toBe(diagnosticIndex());
  expect([...index.matchAll(/\((NG\d{3})\.md\)/g)].map((link) => link[1])).toEqual(CODES);
});

test.each(CODES)("the page of %s shows the output of the compiler", (code) => {
  expect(readFileSync(`${DIRECTORY}/${code}.md`, "utf8")).toBe(diagnosticPage(code));
});

test.each(["NG118", "NG119", "NG610"] as const)("the example of %s has the finding, the near miss does not", (code) => {
  expect(messageOf(code, fixture(code, "fires") ?? "")).toContain(code);
  expect(messageOf(code, fixture(code, "near") ?? "graph")).toBeUndefined();
});

const OWN = CODES.filter((code) => readdirSync("test/docs/fixtures").some((file) => file.startsWith(`${code}-`)));

test("every code has an example and a near miss", () => {
  const missing = CODES.filter(
    (code) =>
      !WITHOUT_FIXTURES.has(code) &&
      // NG609 is reported for every graph that runs.
      (fixture(code, "fires") === undefined || (fixture(code, "near") === undefined && code !== "NG609")),
  );
  expect(missing).toEqual([]);
});

test.each(OWN)("%s: the example has no other error, the near miss has none", (code) => {
  expect(messageOf(code, fixture(code, "fires") ?? "")).toContain(code);
  const near = fixture(code, "near") ?? "";
  expect(messageOf(code, near)).toBeUndefined();
  const errorsOf = (text: string): string[] =>
    compileFixture(text).diagnostics.flatMap((item) => (item.severity === "error" ? [item.code] : []));
  expect(new Set(errorsOf(fixture(code, "fires") ?? "")).size).toBeLessThanOrEqual(1);
  expect(errorsOf(near)).toEqual([]);
});
