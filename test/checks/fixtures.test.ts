import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { checkText } from "./support/check-text.ts";

/**
 * Each code of the checks has a graph where it fires (`NG201-fires.ngraph`) and one that comes close (`NG201-near.ngraph`).
 * The first line of each lists all its errors and warnings, so that nothing else may appear.
 */
const directory = join(import.meta.dirname, "fixtures");
const files = readdirSync(directory).toSorted();

/** Codes that this part of the compiler reports or proves. */
const CODES = [
  ...["NG106", "NG201", "NG202", "NG203", "NG204", "NG205", "NG206", "NG207", "NG208", "NG210", "NG211", "NG213"],
  ...["NG214", "NG301", "NG302", "NG303", "NG304", "NG305", "NG306", "NG307", "NG308", "NG309", "NG310", "NG311"],
  ...["NG312", "NG314", "NG315", "NG316", "NG401", "NG402", "NG404", "NG405", "NG410", "NG411", "NG412", "NG413"],
  ...["NG501", "NG502", "NG503", "NG505", "NG506", "NG507", "NG515", "NG601", "NG602", "NG604", "NG605", "NG607"],
  ...["NG609", "NG900", "NG901"],
];

it("every code has a graph where it fires and one that comes close", () => {
  const missing = CODES.flatMap((code) => [`${code}-fires.ngraph`, `${code}-near.ngraph`]).filter(
    // Every graph that runs at all has a largest step.
    (file) => !files.includes(file) && file !== "NG609-near.ngraph",
  );
  expect(missing).toEqual([]);
});

describe.each(files)("%s", (file) => {
  const [code = "", kind] = file.replace(".ngraph", "").split("-");
  const text = readFileSync(join(directory, file), "utf8");
  const expected = (/^\/\/ findings: ?(.*)$/m.exec(text)?.[1] ?? "").split(" ").filter((item) => item !== "");
  const checked = checkText(text, { raw: true });

  it(kind === "fires" ? `gives ${code}` : `does not give ${code}`, () => {
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
