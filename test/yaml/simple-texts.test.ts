/** What is read without the library of YAML, or without the parser of the text spelling, is read as they read it. */
import { readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { SourceFile } from "../../diagnostics/source.ts";
import { parse, parseFragment } from "../../grammar/parse.ts";
import { newReading } from "../../grammar/reading.ts";
import * as words from "../../grammar/words.ts";
import { EntryMemory } from "../../grammar/yaml/entry-memory.ts";
import { plainFragment } from "../../grammar/yaml/plain-fragments.ts";
import { readDocuments } from "../../grammar/yaml/read-documents.ts";
import { readSimple } from "../../grammar/yaml/read-simple.ts";
import { toYaml } from "../../grammar/yaml/to-yaml.ts";
import { numRuns } from "../support/depth.ts";
import { exampleFiles } from "../support/example-files.ts";

/** Makes the library read the whole text. */
class NoMemory extends EntryMemory {
  override read(): undefined {
    return undefined;
  }
}

function documentsOf(text: string, memory?: EntryMemory): unknown {
  const reading = newReading(new SourceFile("a.yaml", text), text);
  const roots = readDocuments(reading, memory).map(({ root }) => root);
  return { roots, diagnostics: reading.diagnostics };
}

function readAsLibrary(text: string): void {
  const [one, other] = [documentsOf(text), documentsOf(text, new NoMemory())];
  // The matcher is slow for trees.
  if (JSON.stringify(one) !== JSON.stringify(other)) expect(one, text).toEqual(other);
}

const TEXTS: readonly string[] = [
  ...exampleFiles(".ngraph").map((name) => toYaml(parse(readFileSync(name, "utf8")).file).text),
  ...exampleFiles(".yaml").map((name) => readFileSync(name, "utf8")),
  `a:
  - b: 1
    c: [x, "y", 'it''s', 3, 0.5, true, null, { k: v }, { k2: [1, 2] }, {}, []]
  - d -> e
  -   f
"q k":
    r:  s # not t
    on error: yes it is
  m: |-
      One line.

        # Another one.
  n: | # a text
    Last line.

  o: { within: 3d, at: ../here, from: -1 } # three
  ./p.ts: [q, "say \\"r\\"\\n"]
  s-t: # nothing

# c
  # d
t: u:v
`,
];

const INSERTED = [
  ...[
    "",
    "",
    "\n",
    "\r\n",
    " ",
    "  ",
    "\t",
    ":",
    ": ",
    "- ",
    "\n- ",
    '"',
    "'",
    "[",
    "}",
    "#",
    " # x\n",
    " #",
    "|-\n",
    "|\n    ",
    "\n      ",
    '\\"',
    "3d",
    "&a ",
    "*a",
    "|",
  ],
  ...[
    "\n---\n",
    "\n...\n",
    "? ",
    "!!str ",
    "<<: ",
    "\n  name: 1\n",
    "\nnodes:\n",
    "\ufeff",
    "😀",
    "\u2028",
    ",",
    ", ",
    "{ ",
    " ]",
  ],
  ...[
    "\\",
    "''",
    "1",
    "0x",
    "1e3",
    ".5",
    "true",
    "null",
    "~",
    "%",
    "@",
    "`",
    ">",
    "  \n",
    "\n    ",
    "(",
    "\u00a0",
    "\u0085",
    "é",
  ],
  ...["::", "a: b", "-1", "{}", "[]", "[ ]", "{ }", ",,", "a:", "? a"],
];

test("lines of graphs with random edits", { timeout: 600_000 }, () => {
  const unit = fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true });
  const edits = fc.array(fc.record({ at: unit, length: fc.nat(5), text: fc.constantFrom(...INSERTED) }), {
    maxLength: 4,
  });
  const window = fc.record({ text: fc.constantFrom(...TEXTS), from: unit, count: fc.integer({ min: 1, max: 9 }) });
  fc.assert(
    fc.property(window, edits, ({ text, from, count }, changes) => {
      const lines = text.split("\n");
      const first = Math.floor(from * lines.length);
      const indent = /^ */.exec(lines[first] ?? "")?.[0] ?? "";
      const taken = lines.slice(first, first + count).map((line) => line.replace(indent, ""));
      let part = taken.join("\n");
      for (const { at, length, text: inserted } of changes) {
        const offset = Math.floor(at * (part.length + 1));
        part = part.slice(0, offset) + inserted + part.slice(offset + length);
      }
      readAsLibrary(part);
    }),
    { numRuns: numRuns(10_000) },
  );
});

test("most entries of graphs are simple", () => {
  const entries = TEXTS.flatMap((text) => text.match(/^ {2}\S.*\n(?: {3}.*\n)*/gm) ?? []);
  const simple = entries.filter((entry) => readSimple(entry) !== undefined);
  expect(simple.length).toBeGreaterThan(entries.length * 0.9);
});

test("whole graphs", () => {
  for (const text of TEXTS) readAsLibrary(text);
});

describe("what the library reads", () => {
  test.each([
    ["a value that goes on in the next line", "a: b\n  c\n"],
    ["a hash behind a quote", 'a: "b"# c\n'],
    ["a repeated key", "a: 1\nb: 2\na: 3\n"],
    ["a repeated key in flow style", "a: { b: 1, b: 2 }\n"],
    ["a missing value before another entry", "a:\nb: 1\n"],
    ["a missing value in flow style", "a: { b, c: 1 }\n"],
    ["a quote that is not closed", 'a: "b\n'],
    ["an escape", 'a: "\\u0041"\n'],
    ["a bracket that is not closed", "a: [b, c\n"],
    ["text behind a bracket", "a: [b] c\n"],
    ["text behind a quote", 'a: "b" c\n'],
    ["a colon in a value", "a: b: c\n"],
    ["a colon at the end of a value", "a: b:\n"],
    ["an anchor", "a: &b c\n"],
    ["a tag", "a: !b c\n"],
    ["a text in folded style", "a: >\n  b\n"],
    ["a literal text that keeps its last lines", "a: |+\n  b\n"],
    ["a literal text with a stated indentation", "a: |2\n  b\n"],
    ["a literal text that begins with an empty line", "a: |\n\n  b\n"],
    ["a literal text with a line of blanks", "a: |\n  b\n    \n  c\n"],
    ["a literal text with a line that is less deep", "a: |\n    b\n  c\n"],
    ["a literal text without a line", "a: |\nb: c\n"],
    ["a special number", "a: [.inf, -.5, -0]\n"],
    ["a number as key", "1: a\n"],
    ["a boolean as key", "True: a\n"],
    ["numbers that may be something else", "a: [0x1f, 1e3, 007, 1_000]\n"],
    ["an integer that is not exact", "a: 12345678901234567890\n"],
    ["a tab", "a:\tb\n"],
    ["the end of a line of Windows", "a: b\r\n"],
    ["a line that is less deep", "a:\n    b: 1\n  c: 2\n"],
    ["a line that is deeper", "a: 1\n  b: 2\n"],
    ["a comma without a blank", "a: [b,c]\n"],
    ["a comma at the end", "a: [b, ]\n"],
    ["a list in a list", "- - a\n"],
    ["a document", "---\na: b\n"],
    ["a scalar", "a\n"],
    ["nothing", "\n"],
  ])("%s", (_, text) => {
    expect(readSimple(text)).toBeUndefined();
    readAsLibrary(text);
  });
});

test("the mark of an end begins a new document", () => {
  const text = "graph: a\nnodes:\n  b: 1\n  c: 2\n...\ninput: { d: int }\n";
  readAsLibrary(text);
  expect(documentsOf(text, new EntryMemory())).toEqual(documentsOf(text, new NoMemory()));
});

describe("plain fragments", () => {
  const names = [
    ...Object.values(words).flatMap((each): string[] =>
      typeof each === "object" ? [...(each as Iterable<string>)] : [],
    ),
    ...["a", "_", "x1", "start", "end", "all", "any", "settled", "goes", "set", "on", "error", "for", "__proto__"],
  ].filter((each) => /^\w+$/.test(each));

  const CASES = [
    ["output", (name: string) => [name]],
    [
      "edge",
      (name: string) => [
        ...[
          `${name} -> b`,
          `a -> ${name}`,
          `a -> ${name} -> b`,
          `a -> b, ${name}`,
          `a -> ${name}, c`,
          `${name} -> ${name}`,
        ],
        ...[`a, ${name} -> b`, `a -> b, c -> ${name}`, `a -> ${name} when b`, `${name}`, `a->${name}`],
      ],
    ],
  ] as const;

  test.each(CASES)("%s", (kind, textsOf) => {
    let plain = 0;
    for (const text of names.flatMap(textsOf)) {
      const span = { start: 7, end: 7 + text.length };
      const fragment = plainFragment(kind, { kind: "scalar", span, value: text, style: "plain", written: text });
      if (fragment === undefined) continue;
      plain++;
      const source = new SourceFile("a.yaml", text);
      const { node, diagnostics } = parseFragment(kind, { text, source, toSource: (offset) => offset + 7 });
      expect(diagnostics, text).toEqual([]);
      expect(fragment, text).toStrictEqual(node);
    }
    expect(plain).toBeGreaterThan(names.length / 2);
  });

  test("a text in quotes is read by the parser", () => {
    const quoted = { kind: "scalar", span: { start: 0, end: 3 }, value: "a", style: "double", written: "" } as const;
    expect(plainFragment("output", quoted)).toBeUndefined();
  });
});
