import * as fc from "fast-check";
import { expect, test } from "vitest";
import type { Span } from "../../diagnostics/source.ts";
import { MOST_DIAGNOSTICS } from "../../grammar/reading.ts";
import { parseYaml } from "../../grammar/yaml/parse-yaml.ts";
import { toYaml } from "../../grammar/yaml/to-yaml.ts";
import { anyFile } from "../support/ast-arbitrary.ts";

/** Pieces that YAML and graphs are made of, and some that they are not. */
const piece = fc.oneof(
  { weight: 1, arbitrary: fc.string({ unit: "binary", maxLength: 3 }) },
  {
    weight: 9,
    arbitrary: fc.constantFrom(
      "graph: g\n",
      "plan: p\n",
      "test: t\nfor: g\n",
      "nodes:",
      "tasks:",
      "edges:",
      "input: ",
      "call: f",
      "args: ",
      "with: ",
      "to: ",
      "from: ",
      "match: x",
      "arms: ",
      "when: ",
      "tries: 3",
      "mock: ",
      " - ",
      "\n",
      "\n  ",
      "\n    ",
      ": ",
      "a",
      "{",
      "}",
      "[",
      "]",
      ",",
      "&x ",
      "*x",
      "!t ",
      "!!str ",
      "|\n",
      ">-\n",
      "'",
      '"',
      "#c\n",
      "---\n",
      "...\n",
      "%YAML 1.1\n",
      "? ",
      "<<",
      "`",
      "@",
      "\t",
      "\u0000",
      "\u202e",
      "true",
      "null",
      "1e999",
      "0x1F",
      "~",
      "-1",
      ".nan",
      "\\",
      "\r\n",
      "\ufeff",
      "🦊",
      "\ud800",
    ),
  },
);

/** Reading never throws, says a bounded number of things, and every place is one in the text. */
function expectSound(text: string): void {
  const { file, diagnostics } = parseYaml(text);
  expect(diagnostics.length).toBeLessThanOrEqual(MOST_DIAGNOSTICS);
  const isInside = ({ start, end }: Span) => start >= 0 && start <= end && end <= text.length;
  for (const { span, labels } of diagnostics) {
    expect(isInside(span)).toBe(true);
    expect(labels.every((label) => isInside(label.span))).toBe(true);
  }
  const visit = (value: unknown): void => {
    if (Array.isArray(value)) for (const each of value) visit(each);
    else if (typeof value === "object" && value !== null) {
      const { span } = value as { span?: Span };
      if (span !== undefined && !isInside(span)) expect(span).toBe("inside the text");
      for (const [key, each] of Object.entries(value)) if (key !== "source") visit(each);
    }
  };
  visit(file.items);
}

test("random YAML soup", () => {
  fc.assert(
    fc.property(
      fc.array(piece, { maxLength: 40 }).map((pieces) => pieces.join("")),
      expectSound,
    ),
    { seed: 31, numRuns: 1500 },
  );
});

test("files with random changes", () => {
  const changes = fc.array(fc.tuple(fc.nat(1_000_000), fc.nat(5), piece), { minLength: 1, maxLength: 4 });
  const changed = fc
    .tuple(
      anyFile().map((file) => toYaml(file).text),
      changes,
    )
    .map(([text, all]) =>
      all.reduce((before, [at, removed, inserted]) => {
        const offset = at % (before.length + 1);
        return before.slice(0, offset) + inserted + before.slice(offset + removed);
      }, text),
    );
  fc.assert(fc.property(changed, expectSound), { seed: 32, numRuns: 250 });
});
