/** A text that is read after an edit, with the memory of the text before, is read as a new one. */
import { readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parse } from "../../grammar/parse.ts";
import { EntryMemory, type ReadAlone } from "../../grammar/yaml/entry-memory.ts";
import { readYaml } from "../../grammar/yaml/parse-yaml.ts";
import { toYaml } from "../../grammar/yaml/to-yaml.ts";
import { numRuns } from "../support/depth.ts";
import { exampleFiles } from "../support/example-files.ts";

/** Counts what could not be taken from the memory. */
class CountingMemory extends EntryMemory {
  texts: string[] = [];
  wholes = 0;

  override read(text: string, readAlone: ReadAlone): ReturnType<EntryMemory["read"]> {
    const documents = super.read(text, (part) => {
      this.texts.push(part);
      return readAlone(part);
    });
    if (documents === undefined) this.wholes++;
    return documents;
  }
}

/** In the style of the converter, and with every collection in block style. */
const TEXTS: readonly string[] = [
  ...exampleFiles(".ngraph").flatMap((name) => {
    const { text } = toYaml(parse(readFileSync(name, "utf8")).file);
    return text.length < 4000 ? [text] : [];
  }),
  ...exampleFiles(".yaml").map((name) => readFileSync(name, "utf8")),
  `# a comment
imports:
  ./nodes.ts: [work]
---
graph: block # the name
input:
  q:
    type: string
output:
  r: string

# Comments between.
nodes:
# at the margin
  first:
    call: work
    args:
    - q
    - |
      node second: no
    into: r
  second: { expr: "q
      + q", into: r }
  'third':
    expr: >-
      q

      + "x"
    into: r
edges:
- start -> first
-   from: first
    to: second
- second -> third
`,
];

const INSERTED = [
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
  "&a ",
  "*a",
  "|",
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
];

const EDITS = fc.array(
  fc.oneof(
    fc.record({
      at: fc.double({ min: 0, max: 1, noNaN: true }),
      length: fc.nat(6),
      text: fc.constantFrom(...INSERTED),
    }),
    // Lines that move, are repeated or are deleted.
    fc.record({
      line: fc.double({ min: 0, max: 1, noNaN: true }),
      lines: fc.integer({ min: 1, max: 4 }),
      to: fc.option(fc.double({ min: 0, max: 1, noNaN: true })),
      isCopied: fc.boolean(),
    }),
  ),
  { minLength: 1, maxLength: 8 },
);

type Edit = (typeof EDITS extends fc.Arbitrary<infer T> ? T : never)[number];

function apply(text: string, edit: Edit): string {
  if ("at" in edit) {
    const at = Math.floor(edit.at * text.length);
    return text.slice(0, at) + edit.text + text.slice(at + edit.length);
  }
  const lines = text.split("\n");
  const from = Math.floor(edit.line * lines.length);
  const taken = edit.isCopied ? lines.slice(from, from + edit.lines) : lines.splice(from, edit.lines);
  if (edit.to !== null) lines.splice(Math.floor(edit.to * lines.length), 0, ...taken);
  return lines.join("\n");
}

/** Makes the library read the whole text. */
class NoMemory extends EntryMemory {
  override read(): undefined {
    return undefined;
  }
}

function readAs(text: string, memory: EntryMemory): void {
  const [one, other] = [readYaml(text, "a.yaml", memory), readYaml(text, "a.yaml", new NoMemory())];
  // The matcher is slow for trees.
  if (JSON.stringify(one.file.items) !== JSON.stringify(other.file.items))
    expect(one.file.items).toEqual(other.file.items);
  expect(one.diagnostics).toEqual(other.diagnostics);
}

test("random edits", { timeout: 600_000 }, () => {
  let [reads, wholes] = [0, 0];
  fc.assert(
    fc.property(fc.constantFrom(...TEXTS), EDITS, (first, edits) => {
      const memory = new CountingMemory();
      let text = first;
      readAs(text, memory);
      for (const edit of edits) {
        text = apply(text, edit);
        readAs(text, memory);
        // Back to a text that can be read, as people do.
        readAs(first, memory);
      }
      reads += 2 * edits.length + 1;
      wholes += memory.wholes;
    }),
    { numRuns: numRuns(500) },
  );
  // Otherwise the memory is not what is tested.
  expect(wholes).toBeLessThan(0.7 * reads);
});

describe("after an edit, only its entry is read", () => {
  const nodes = Array.from({ length: 200 }, (_, at) => `  n${at}: { expr: "q", into: r }\n`).join("");
  const edges = Array.from({ length: 199 }, (_, at) => `  - n${at} -> n${at + 1}\n`).join("");
  const text = `graph: g\ninput: { q: string }\noutput: { r: string }\nnodes:\n${nodes}edges:\n  - start -> n0\n${edges}`;

  test.each([
    ["a node", "n100: {", "n100:  {", ['  n100:  { expr: "q", into: r }\n']],
    ["an edge", "- n7 -> n8\n", "- n7 -> n8, n9\n", ["  - n7 -> n8, n9\n"]],
    ["a key", "graph: g\n", "graph: h\n", ["graph: h\n"]],
    ["a line before all", "graph: g\n", "# x\ngraph: g\n", []],
    ["a new node", "  n5: {", '  new: { expr: "q" }\n  n5: {', ['  new: { expr: "q" }\n']],
  ])("%s", (_, from, to, expected) => {
    const memory = new CountingMemory();
    readAs(text, memory);
    memory.texts = [];
    readAs(text.replace(from, to), memory);
    expect(memory.wholes).toBe(0);
    expect(memory.texts).toEqual(expected);
  });
});
