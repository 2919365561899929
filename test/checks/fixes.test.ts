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
      expect.arrayContaining(["NG211", "NG301", "NG302", "NG305", "NG316", "NG501", "NG506", "NG515"]),
    );
  });
  it.each(cases)("of $file removes $code and breaks nothing ($fix.title)", ({ code, fix, text }) => {
    const before = checkText(text, { raw: true });
    const after = checkText(applied(text, fix), { raw: true });
    expect(after.diagnostics.filter((diagnostic) => diagnostic.code === code)).toEqual([]);
    expect(after.errors.filter((error) => !before.errors.includes(error))).toEqual([]);
  });
});

function firstFix(text: string, code: string): { readonly title: string | undefined; readonly after: string } {
  const fix = checkText(text).diagnostics.find((diagnostic) => diagnostic.code === code)?.fixes[0];
  return { title: fix?.title, after: fix === undefined ? text : applied(text, fix) };
}

describe("a fix is offered", () => {
  it("for a list that two write in one step: a reducer", () => {
    const text = `import { act } from "functions"
graph g {
  output out: json
  state found: string[]
  node x = ["a"] into found
  node y = ["b"] into found
  node z = act(found) into out
  start -> x, y
  all(x, y) -> z -> end
}`;
    const { title, after } = firstFix(text, "NG401");
    expect(title).toBe("append what each writes");
    expect(after).toContain("state found: string[] reduce append");
    expect(checkText(after).errors).toEqual([]);
  });

  it("for parallel arms that meet: the barrier, in place of both edges", () => {
    const text = `import { act } from "functions"
graph g {
  node x = act()
  node x2 = act()
  node y = act()
  node j = act()
  start -> x, y
  x -> x2
  x2 -> j // the long way
  y -> j
  j -> end
}`;
    const { title, after } = firstFix(text, "NG307");
    expect(title).toBe("wait for both");
    expect(after).toMatch(/all\((?:y, x2|x2, y)\) -> j \/\/ the long way\n {2}j -> end/);
    expect(checkText(after).findings).toEqual([]);
  });

  it("but no barrier where an edge has a condition or leads on", () => {
    const text = (edge: string): string => `import { act } from "functions"
graph g {
  input flag: bool
  node x = act()
  node x2 = act()
  node y = act()
  node j = act()
  start -> x, y
  ${edge}
  y -> j
  j -> end
}`;
    expect(firstFix(text("x -> x2 -> j"), "NG307").title).toBeUndefined();
    expect(firstFix(text("x -> x2\n  x2 -> j when flag\n  x2 -> end otherwise"), "NG307").title).toBeUndefined();
  });
});
