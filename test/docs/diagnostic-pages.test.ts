import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { expect, test } from "vitest";
import { DIAGNOSTIC_CODES, type DiagnosticCode } from "../../diagnostics/codes.ts";
import { compileFixture, diagnosticPage, fixture, messageOf } from "./diagnostic-page.ts";

const DIRECTORY = "docs/diagnostics";
/** What has no graph to show: a file of more than 4 MiB, and a kind of built-in node that does not exist by now. */
const WITHOUT_FIXTURES: ReadonlySet<string> = new Set(["NG005", "NG603"]);
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

const OWN = CODES.filter((code) => readdirSync("test/docs/fixtures").some((file) => file.startsWith(`${code}-`)));

test("every code has a graph that gets it, and one that comes close", () => {
  const missing = CODES.filter(
    (code) =>
      !WITHOUT_FIXTURES.has(code) &&
      // Every graph that runs at all has a largest step.
      (fixture(code, "fires") === undefined || (fixture(code, "near") === undefined && code !== "NG609")),
  );
  expect(missing).toEqual([]);
});

test.each(OWN)("%s: the graph gets it and no other error, the near miss gets none", (code) => {
  expect(messageOf(code, fixture(code, "fires") ?? "")).toContain(code);
  const near = fixture(code, "near") ?? "";
  expect(messageOf(code, near)).toBeUndefined();
  const errorsOf = (text: string): string[] =>
    compileFixture(text).diagnostics.flatMap((item) => (item.severity === "error" ? [item.code] : []));
  expect(new Set(errorsOf(fixture(code, "fires") ?? "")).size).toBeLessThanOrEqual(1);
  expect(errorsOf(near)).toEqual([]);
});
