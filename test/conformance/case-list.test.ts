/**
 * Every numbered case of the two older systems is either covered by a test that names it, or listed in
 * `docs/deviations.md`.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

const CASES = { C: 94, "LG-": 88 } as const;

/** `C5, C6` and `LG-67 - LG-70` as single numbers. */
function numbersIn(text: string): string[] {
  return [...text.matchAll(/\b(C|LG-)(\d+)(?: - (?:C|LG-)(\d+))?/g)].flatMap(([, prefix, first, last]) => {
    const from = Number(first);
    const to = Number(last ?? first);
    return Array.from({ length: to - from + 1 }, (_, i) => `${prefix}${from + i}`);
  });
}

/** Cases that the titles of tests begin with. */
function tested(): Set<string> {
  const files = readdirSync(import.meta.dirname).filter((name) => name.endsWith(".test.ts"));
  const titles = files
    .map((name) => readFileSync(join(import.meta.dirname, name), "utf8"))
    .flatMap((text) => text.match(/["`](?:C|LG-)\d+(?:(?:, | - )(?:C|LG-)\d+)*(?=[:"`])/g) ?? []);
  return new Set(titles.flatMap(numbersIn));
}

/** Cases in the first column of the tables. */
function deviating(): Set<string> {
  const page = readFileSync(join(import.meta.dirname, "../../docs/deviations.md"), "utf8");
  return new Set([...page.matchAll(/^\| ([^|]*) \|/gm)].flatMap(([, cell]) => numbersIn(cell!)));
}

test.each(Object.entries(CASES))("%s1 to %i", (prefix, count) => {
  const [run, listed] = [tested(), deviating()];
  const all = Array.from({ length: count }, (_, i) => `${prefix}${i + 1}`);
  expect(all.filter((name) => !run.has(name) && !listed.has(name))).toEqual([]);
  expect([...run, ...listed].filter((name) => name.startsWith(prefix) && !all.includes(name))).toEqual([]);
});
