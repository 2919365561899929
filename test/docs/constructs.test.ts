/** Every construct of the grammar has an example in the reference. */
import { readFileSync } from "node:fs";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { parse } from "../../grammar/parse.ts";
import { anyFile } from "../support/ast-arbitrary.ts";
import { fencedBlocks } from "./fenced-blocks.ts";
import { numRuns } from "../support/depth.ts";

/** The kinds of node in a tree, with their variants. */
function formsIn(value: unknown, forms = new Set<string>()): Set<string> {
  if (Array.isArray(value)) {
    for (const each of value) formsIn(each, forms);
  } else if (typeof value === "object" && value !== null) {
    const node = value as Record<string, unknown>;
    const { kind } = node;
    if (typeof kind === "string") {
      forms.add(kind);
      for (const key of ["form", "role", "operator", "trigger", "mode", "when", "of"]) {
        const form = node[key];
        if (typeof form === "string") forms.add(`${kind} ${form}`);
      }
      if (node["onError"] === true) forms.add(`${kind} on error`);
    }
    for (const [key, each] of Object.entries(node)) if (key !== "source") formsIn(each, forms);
  }
  return forms;
}

test("every construct has an example", () => {
  const known = formsIn(fc.sample(anyFile(), { seed: 1, numRuns: numRuns(400) }).map(({ items }) => items));
  const shown = formsIn(
    ["docs/language.md", "docs/plans.md", "docs/guide.md"]
      .flatMap((page) => fencedBlocks(readFileSync(page, "utf8")))
      .filter(({ language }) => language === "ngraph")
      .map(({ text }) => parse(text).file.items),
  );
  expect([...known].filter((form) => !shown.has(form)).sort()).toEqual([]);
});
