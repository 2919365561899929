/** Every numbered promise of execution, sections 1 to 8, has a test whose title names it. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

/** Number of promises in each section. */
const SECTIONS: Readonly<Record<number, number>> = { 1: 4, 2: 9, 3: 3, 4: 4, 5: 13, 6: 3, 7: 2, 8: 2 };

test("no promise goes without a test", () => {
  const root = join(import.meta.dirname, "..");
  const named = new Set<string>();
  for (const file of readdirSync(root, { recursive: true, encoding: "utf8" })) {
    if (!file.endsWith(".test.ts")) continue;
    // Titles start with the numbers of the promises that they test: `5.2 - 5.5 crashes`, `6.2, 6.3: …`.
    for (const [, numbers] of readFileSync(join(root, file), "utf8").matchAll(
      /(?:test|describe)[\w.]*\(\s*["`](\d\.\d+(?:(?:, | - )\d\.\d+)*)[: "`]/g,
    )) {
      for (const [, section, first, last] of numbers!.matchAll(/(\d)\.(\d+)(?: - \d\.(\d+))?/g)) {
        for (let number = Number(first); number <= Number(last ?? first); number++) named.add(`${section}.${number}`);
      }
    }
  }
  const promised = Object.entries(SECTIONS).flatMap(([section, count]) =>
    Array.from({ length: count }, (_, i) => `${section}.${i + 1}`),
  );
  expect(promised.filter((number) => !named.has(number))).toEqual([]);
});
