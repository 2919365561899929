import { readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { SourceFile } from "../../diagnostics/source.ts";
import type { Fragments } from "../../grammar/fragments.ts";
import { parse, parseFragment } from "../../grammar/parse.ts";
import { MOST_DIAGNOSTICS } from "../../grammar/reading.ts";
import { SHOWCASE } from "./showcase.ts";
import { countKinds, misplacedSpans } from "./tree.ts";
import { numRuns, scale, stride } from "../support/depth.ts";
import { exampleFiles } from "../support/example-files.ts";

/** What holds for every text, however wrong. */
function expectSane(text: string): void {
  const { file, diagnostics } = parse(text);
  const wrong = misplacedSpans(file, text.length);
  if (diagnostics.length > MOST_DIAGNOSTICS) wrong.push(`${diagnostics.length} diagnostics`);
  let last = -1;
  for (const { span, message, fixes, labels } of diagnostics) {
    const edits = fixes.flatMap((fix) => fix.edits.map((edit) => edit.span));
    for (const place of [span, ...labels.map((label) => label.span), ...edits]) {
      if (!(place.start >= 0 && place.start <= place.end && place.end <= text.length))
        wrong.push(`${message} points outside`);
    }
    if (span.start <= last) wrong.push(`${message} is not in order, or the second one at its place`);
    last = span.start;
  }
  if (diagnostics.length === 0 && isBroken(file)) wrong.push("broken without a diagnostic");
  expect(wrong.map((sentence) => `${sentence} in ${text}`)).toEqual([]);
}

function isBroken(file: unknown): boolean {
  return [...countKinds(file).keys()].some((kind) => kind.startsWith("Broken"));
}

/** Every graph file of the repository. */
function examples(): string[] {
  return [SHOWCASE, ...exampleFiles(".ngraph").map((path) => readFileSync(path, "utf8"))];
}

const TOKENS = [
  ..."{ } ( ) [ ] , : ; -> => --> = == === != !== ! < <= > >= && & || | ?. ?? ? ... .. . + - * / % ` ${ $ ' \" \\ # @ ~ ^".split(
    " ",
  ),
  ..."true false null match else in when otherwise graph plan test import type secret from as for into state input node task limit steps none max parallel".split(
    " ",
  ),
  ..."assert once never with before after any all on error failure reduce tries backoff timeout cache inputs waits goes pause touches done pool expect ran status".split(
    " ",
  ),
  ..."given mock answer then fails if not and or map a b x1".split(" "),
  ...[
    "1",
    "2.5",
    "30s",
    "5sec",
    '"s"',
    "'s'",
    "`t`",
    "`${",
    "}`",
    "// c\n",
    "/* c */",
    "/*",
    "/// d\n",
    "\n",
    "\n",
    "\n  ",
    "é",
    "\u0000",
    "\u202e",
    "→",
  ],
];

describe("no text makes the parser throw, loop or point outside of it", () => {
  it("every prefix of every example", () => {
    for (const text of examples()) {
      const step = Math.ceil(text.length / numRuns(2_000));
      for (let end = 0; end <= text.length; end += step) expectSane(text.slice(0, end));
    }
  });

  it("every suffix of the showcase", () => {
    for (let start = 0; start < SHOWCASE.length; start += stride(3, 31)) expectSane(SHOWCASE.slice(start));
  });

  it("every example with one line, or one character, less", () => {
    for (const text of examples()) {
      const lines = text.split("\n");
      for (let at = 0; at < lines.length; at += stride(1, 5)) expectSane(lines.toSpliced(at, 1).join("\n"));
      for (let at = 0; at < text.length; at += stride(7, 71)) expectSane(text.slice(0, at) + text.slice(at + 1));
    }
  });

  it("every example with any byte changed", () => {
    for (const text of examples()) {
      const bytes = new TextEncoder().encode(text);
      const change = fc.tuple(fc.nat(bytes.length - 1), fc.nat(255));
      fc.assert(
        fc.property(fc.array(change, { minLength: 1, maxLength: 3 }), (changes) => {
          const changed = bytes.slice();
          for (const [at, byte] of changes) changed[at] = byte;
          expectSane(new TextDecoder().decode(changed));
        }),
        { numRuns: numRuns(300), seed: 6 },
      );
    }
  });

  it("random tokens", () => {
    const token = fc.constantFrom(...TOKENS);
    const soup = fc.array(token, { maxLength: 60 }).map((tokens) => tokens.join(" "));
    fc.assert(fc.property(soup, expectSane), { numRuns: numRuns(2_000), seed: 1 });
    const inGraph = soup.map((text) => `graph g {\n${text}\n}\ngraph h { start -> end }`);
    fc.assert(fc.property(inGraph, expectSane), { numRuns: numRuns(2_000), seed: 2 });
  });

  it("random characters", () => {
    fc.assert(fc.property(fc.string({ unit: "binary", maxLength: 200 }), expectSane), {
      numRuns: numRuns(1_000),
      seed: 3,
    });
  });

  it("the showcase with random changes", () => {
    const change = fc.record({
      at: fc.nat(SHOWCASE.length),
      length: fc.nat(12),
      text: fc.oneof(fc.constantFrom(...TOKENS), fc.string({ maxLength: 4 })),
    });
    fc.assert(
      fc.property(fc.array(change, { minLength: 1, maxLength: 6 }), (changes) => {
        let text = SHOWCASE;
        for (const { at, length, text: use } of changes) text = text.slice(0, at) + use + text.slice(at + length);
        expectSane(text);
      }),
      { numRuns: numRuns(2_000), seed: 4 },
    );
  });

  it("random fragments of every kind", () => {
    const kinds: (keyof Fragments)[] = [
      "expression",
      "type",
      "edge",
      "source",
      "names",
      "name",
      "importName",
      "output",
      "assert",
      "expect",
      "testItem",
      "step",
      "duration",
      "backoff",
      "patterns",
    ];
    fc.assert(
      fc.property(
        fc.constantFrom(...kinds),
        fc.array(fc.constantFrom(...TOKENS), { maxLength: 12 }),
        (kind, tokens) => {
          const text = tokens.join(" ");
          const source = new SourceFile("x.yaml", `  ${text}`);
          const { node, diagnostics } = parseFragment(kind, { text, source, toSource: (offset) => offset + 2 });
          expect(misplacedSpans(node, source.text.length)).toEqual([]);
          for (const { span } of diagnostics) expect(span.start >= 2 && span.end <= source.text.length).toBe(true);
          if (node === undefined) expect(diagnostics.length).toBeGreaterThan(0);
        },
      ),
      { numRuns: numRuns(2_000), seed: 5 },
    );
  });
});

describe("large and hostile texts are read in one pass", () => {
  const SIZE = scale(200_000, 50_000);
  it.each<[string, string]>([
    ["open braces", "{".repeat(SIZE)],
    ["closing braces", "}".repeat(SIZE)],
    ["backticks", "`".repeat(SIZE)],
    ["template openings", "`${".repeat(SIZE / 3)],
    ["template openings, one a line", "`${\n".repeat(SIZE / 4)],
    ["quotes", '"'.repeat(SIZE)],
    ["apostrophes", "'".repeat(SIZE)],
    ["apostrophes, one a line", "'a\n".repeat(SIZE / 3)],
    ["comment openings", "/*".repeat(SIZE / 2)],
    ["slashes", "/".repeat(SIZE)],
    ["backslashes", "\\".repeat(SIZE)],
    ["digits", "1".repeat(SIZE)],
    ["digits and dots", "1.".repeat(SIZE / 2)],
    ["letters", "a".repeat(SIZE)],
    ["letters of another alphabet", "é".repeat(SIZE)],
    ["dashes", "-".repeat(SIZE)],
    ["blanks", " ".repeat(SIZE)],
    ["arrows", "a -> ".repeat(SIZE / 5)],
    ["open lines", "graph g {\n".repeat(SIZE / 10)],
    ["broken statements", `graph g {\n${"node = 3\n".repeat(SIZE / 9)}`],
    ["statements that run on", `graph g {\n${"state a: int = 1 +\n".repeat(SIZE / 19)}`],
    ["calls that never close", `graph g {\n${"node a = f(\n".repeat(SIZE / 12)}`],
    ["brackets that never close", `graph g { node n = ${"[(".repeat(SIZE / 2)}`],
    ["brackets closed by others", `graph g { node n = ${"[".repeat(SIZE / 2)}${")".repeat(SIZE / 2)}`],
    ["matches that never close", `graph g {\n${"a -> match x {\n".repeat(SIZE / 15)}`],
    ["documentation", "/// d\n".repeat(SIZE / 6)],
    ["semicolons", `graph g { ${"a -> b;".repeat(SIZE / 7)} }`],
    ["commas", `graph g { a -> b${",".repeat(SIZE)} }`],
    ["names beyond ASCII", `graph g { ${"é -> b ".repeat(SIZE / 7)} }`],
    ["method calls", `graph g { node n = a${".trim()".repeat(SIZE / 7)} }`],
    ["questions", `graph g { state x: int${"?".repeat(SIZE)} }`],
    ["generic types", `graph g { state x: ${"Array<".repeat(SIZE / 6)} }`],
  ])("%s", (_, text) => {
    // The 60 s of the test are the bound: quadratic work on any of these takes minutes.
    expectSane(text);
  });
});
