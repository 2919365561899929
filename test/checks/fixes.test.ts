import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { Fix } from "../../diagnostics/diagnostic.ts";
import { checkText } from "./support/check-text.ts";

const directory = join(import.meta.dirname, "fixtures");

function applied(text: string, fix: Fix): string {
  let result = text;
  for (const { span, text: replacement } of fix.edits.toSorted((a, b) => b.span.start - a.span.start)) {
    result = result.slice(0, span.start) + replacement + result.slice(span.end);
  }
  return result;
}

const cases = readdirSync(directory)
  .filter((file) => file.endsWith("-fires.ngraph"))
  .toSorted()
  .flatMap((file) => {
    const text = readFileSync(join(directory, file), "utf8");
    return checkText(text, { raw: true }).diagnostics.flatMap(({ code, fixes }) =>
      fixes.map((fix) => ({ file, code, fix, text })),
    );
  });

describe("a fix, applied,", () => {
  it("is offered where an edit is safe", () => {
    const codes = new Set(cases.map(({ code }) => code));
    expect([...codes].toSorted()).toEqual(
      expect.arrayContaining(["NG211", "NG301", "NG302", "NG305", "NG501", "NG506", "NG515"]),
    );
  });
  it.each(cases)("of $file removes $code and breaks nothing ($fix.title)", ({ code, fix, text }) => {
    const before = checkText(text, { raw: true });
    const after = checkText(applied(text, fix), { raw: true });
    expect(after.diagnostics.filter((diagnostic) => diagnostic.code === code)).toEqual([]);
    expect(after.errors.filter((error) => !before.errors.includes(error))).toEqual([]);
  });
});
