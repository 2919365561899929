import { readFileSync } from "node:fs";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Span } from "../../diagnostics/source.ts";
import { MOST_DIAGNOSTICS } from "../../grammar/reading.ts";
import { parseYaml } from "../../grammar/yaml/parse-yaml.ts";
import { toYaml } from "../../grammar/yaml/to-yaml.ts";
import { anyFile } from "../support/ast-arbitrary.ts";
import { numRuns, scale, stride } from "../support/depth.ts";
import { exampleFiles } from "../support/example-files.ts";

/** Pieces of YAML and of graphs, and some pieces of neither. */
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

/** Reading never throws, reports a bounded number of diagnostics, and every place is in the text. */
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

/** Every YAML graph file of the repository. */
const EXAMPLES = exampleFiles(".yaml").map((path) => [path, readFileSync(path, "utf8")] as const);

describe.each(EXAMPLES)("%s", (_, text) => {
  test("prefixes of any length", () => {
    const step = Math.ceil(text.length / numRuns(400));
    for (let end = 0; end <= text.length; end += step) expectSound(text.slice(0, end));
  });

  test("without any one of its lines", () => {
    const lines = text.split("\n");
    for (let at = 0; at < lines.length; at += stride(1, 5)) expectSound(lines.toSpliced(at, 1).join("\n"));
  });

  test("with any byte changed", () => {
    const bytes = new TextEncoder().encode(text);
    const change = fc.tuple(fc.nat(bytes.length - 1), fc.nat(255));
    fc.assert(
      fc.property(fc.array(change, { minLength: 1, maxLength: 3 }), (changes) => {
        const changed = bytes.slice();
        for (const [at, byte] of changes) changed[at] = byte;
        expectSound(new TextDecoder().decode(changed));
      }),
      { seed: 33, numRuns: numRuns(150) },
    );
  });
});

describe("large files are read in one pass", () => {
  const KEYS = scale(20_000, 4000);
  const entry = (at: number): string => `  k${at}: { type: int, default: ${at} }\n`;
  // The 60 s of the test are the bound: quadratic work on any of these takes minutes.
  test.each([
    ["channels", `graph: g\nstate:\n${Array.from({ length: KEYS }, (_, at) => entry(at)).join("")}`, 0],
    ["unknown keys", Array.from({ length: KEYS }, (_, at) => `k${at}: 1\n`).join(""), 1],
    ["the same key", `graph: g\nstate:\n${entry(1).repeat(KEYS)}`, 1],
    ["edges", `graph: g\nedges:\n${"  - a -> b\n".repeat(KEYS)}`, 0],
    ["edges in brackets", `graph: g\nedges: [${"a -> b, ".repeat(KEYS / 2)}]`, 0],
    ["broken edges", `graph: g\nedges:\n${"  - a ->\n".repeat(KEYS)}`, 1],
    ["documents", "graph: g\n---\n".repeat(KEYS / 4), 0],
    ["data", `test: t\nfor: g\ngiven: { a: [${"1, ".repeat(KEYS)}] }`, 0],
    [
      "anchors",
      `graph: g\nasserts:\n${Array.from({ length: KEYS / 4 }, (_, at) => `  - &a${at} once a\n`).join("")}`,
      0,
    ],
    ["open brackets", "[".repeat(KEYS), 1],
    ["open maps", "a: {".repeat(KEYS), 1],
    ["quotes", '"'.repeat(KEYS + 1), 1],
    ["one long line", `doc: ${"x".repeat(1_000_000)}`, 1],
  ])("%s", (_, text, wrong) => {
    expectSound(text);
    expect(parseYaml(text).diagnostics.length > 0).toBe(wrong > 0);
  });
});

test("random YAML soup", () => {
  fc.assert(
    fc.property(
      fc.array(piece, { maxLength: 40 }).map((pieces) => pieces.join("")),
      expectSound,
    ),
    { seed: 31, numRuns: numRuns(1500) },
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
  fc.assert(fc.property(changed, expectSound), { seed: 32, numRuns: numRuns(250) });
});
