import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { DIAGNOSTIC_CODES } from "../../diagnostics/codes.ts";
import { checkText } from "./support/check-text.ts";

/**
 * Each code of the checks has a graph where it fires (`NG201-fires.ngraph`) and one that comes close (`NG201-near.ngraph`).
 * The first line of each file lists all its errors and warnings. `test/docs/diagnostic-pages.test.ts` checks that no code lacks
 * an example.
 */
const directory = join(import.meta.dirname, "fixtures");
const files = readdirSync(directory).toSorted();

it("every code of the folder has a graph where it fires and one that comes close", () => {
  const codes = [...new Set(files.map((file) => file.slice(0, 5)))];
  expect(codes.filter((code) => !(code in DIAGNOSTIC_CODES))).toEqual([]);
  const missing = codes
    .flatMap((code) => [`${code}-fires.ngraph`, `${code}-near.ngraph`])
    .filter(
      // NG609 is reported for every graph that runs.
      (file) => !files.includes(file) && file !== "NG609-near.ngraph",
    );
  expect(missing).toEqual([]);
});

describe.each(files)("%s", (file) => {
  const [code = "", kind] = file.replace(".ngraph", "").split("-");
  const text = readFileSync(join(directory, file), "utf8");
  const expected = (/^\/\/ findings: ?(.*)$/m.exec(text)?.[1] ?? "").split(" ").filter((item) => item !== "");
  const checked = checkText(text, { raw: true });

  it(kind === "fires" ? `reports ${code}` : `does not report ${code}`, () => {
    expect(checked.codes.includes(code) || checked.proofs.includes(code)).toBe(kind === "fires");
  });
  it("has no other error or warning", () => {
    expect(checked.findings).toEqual(expected.toSorted());
  });
  it("points into the text, and its fixes do not overlap", () => {
    for (const diagnostic of checked.diagnostics) {
      expect(diagnostic.span.start).toBeGreaterThanOrEqual(0);
      expect(diagnostic.span.end).toBeLessThanOrEqual(text.length);
      expect(diagnostic.span.end).toBeGreaterThan(diagnostic.span.start);
      for (const fix of diagnostic.fixes) {
        const edits = fix.edits.toSorted((a, b) => a.span.start - b.span.start);
        edits.forEach((edit, index) => expect(edit.span.start).toBeGreaterThanOrEqual(edits[index - 1]?.span.end ?? 0));
      }
    }
  });
});
