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

describe("the page of the proofs", () => {
  const page = readFileSync(join(import.meta.dirname, "../../docs/proofs.md"), "utf8");
  /** The first cells of the tables under a heading. */
  const rowsUnder = (heading: string): string[] =>
    (page.split(`\n## ${heading}\n`)[1] ?? "")
      .split("\n## ")[0]!
      .split("\n")
      .filter((line) => line.startsWith("| ") && !line.startsWith("| in the engine "))
      .map((line) => line.slice(2).split(" | ")[0] ?? "");
  const rows = [...rowsUnder("Features of the engine"), ...rowsUnder("Values")];
  const named = readdirSync(directory).flatMap((file) => {
    const row = /^\/\/ row: (.*)$/m.exec(readFileSync(join(directory, file), "utf8"))?.[1];
    return row === undefined ? [] : [{ row, file }];
  });

  it.each(rows)("has a graph that fires and a near miss for: %s", (row) => {
    const files = named.filter((each) => each.row === row).map(({ file }) => file);
    expect(files.some((file) => file.endsWith("-fires.ngraph"))).toBe(true);
    expect(files.some((file) => file.endsWith("-near.ngraph"))).toBe(true);
  });

  it("has each row that a graph names", () => {
    expect(named.filter(({ row }) => !rows.includes(row))).toEqual([]);
  });
});
