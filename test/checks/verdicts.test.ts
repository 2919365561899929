import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { checkText } from "./support/check-text.ts";

/**
 * Graphs whose verdict was wrong, or comes close to one that was. The first lines of each list its errors and warnings, its
 * proofs (`NG214` with the assertion), and how its verdict begins. A second graph of the same shape is the near miss.
 */
const directory = join(import.meta.dirname, "verdicts");

function listed(text: string, what: string): string[] | undefined {
  const found = new RegExp(`^// ${what}: ?(.*)$`, "m").exec(text)?.[1];
  return found
    ?.split(" ")
    .filter((item) => item !== "")
    .toSorted();
}

describe.each(readdirSync(directory).toSorted())("%s", (file) => {
  const text = readFileSync(join(directory, file), "utf8");
  const checked = checkText(text, { raw: true });

  it("has the findings that it lists", () => {
    expect(checked.findings).toEqual(listed(text, "findings"));
  });
  it("has these proofs, and not those", () => {
    for (const code of listed(text, "proves") ?? []) expect(checked.proofs).toContain(code);
    for (const code of listed(text, "not") ?? []) expect(checked.proofs).not.toContain(code);
  });
  it("has the verdict", () => {
    const expected = /^\/\/ verdict: (.*)$/m.exec(text)?.[1] ?? "";
    expect(checked.verdict).toMatch(new RegExp(`^${expected}`));
  });
});
