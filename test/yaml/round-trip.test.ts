import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { convert } from "../../grammar/convert.ts";
import { printFile } from "../../grammar/format/print-file.ts";
import { parse } from "../../grammar/parse.ts";
import { parseYaml } from "../../grammar/yaml/parse-yaml.ts";
import { toYaml } from "../../grammar/yaml/to-yaml.ts";
import { anyFile } from "../support/ast-arbitrary.ts";
import { withComments } from "../support/comment-arbitrary.ts";
import { asWrittenInYaml, withoutSpans } from "../support/without-spans.ts";
import { numRuns } from "../support/depth.ts";

describe("random trees", () => {
  test("are read back from the YAML that they were written as", () => {
    fc.assert(
      fc.property(anyFile(), (file) => {
        const { text, lost } = toYaml(file);
        const read = parseYaml(text);
        expect(read.diagnostics.map(({ message }) => message)).toEqual([]);
        expect(lost).toEqual([]);
        expect(asWrittenInYaml(read.file)).toEqual(asWrittenInYaml(file));
      }),
      { seed: 11, numRuns: numRuns(120) },
    );
  });

  test("survive the way from text over YAML to text", () => {
    fc.assert(
      fc.property(anyFile(), (file) => {
        const yaml = toYaml(parse(printFile(file)).file).text;
        const text = printFile(parseYaml(yaml).file);
        const { file: read, diagnostics } = parse(text);
        expect(diagnostics.map(({ message }) => message)).toEqual([]);
        expect(asWrittenInYaml(read)).toEqual(asWrittenInYaml(file));
        // From there on nothing changes any more.
        expect(toYaml(read).text).toBe(yaml);
        expect(withoutSpans(parseYaml(yaml).file.items)).toEqual(withoutSpans(read.items));
      }),
      { seed: 12, numRuns: numRuns(120) },
    );
  });
});

const SUPPORT = `import { searchDocs, draftReply } from "./nodes.ts"

/// Answers a support ticket; a person approves.
graph support {
  input ticket: string
  state notes: string[] = [] reduce append
  limit steps 40
  node docs = searchDocs(ticket) into notes { tries 4 backoff 200ms..5s timeout 10s }
  node draft = draftReply(ticket, notes)
  node ask = ask(\`Send?
    \${notes}\`)
  assert ask before end
  start -> docs
  docs -> draft when len(notes) > 0
  docs -> ask otherwise
  ask -> match notes[0] { "send" | "go" -> end  else -> draft }
}
`;

test("YAML is written in its usual style", () => {
  expect(toYaml(parse(SUPPORT).file)).toEqual({
    lost: [],
    text: `# yaml-language-server: $schema=./node_modules/ngraph/grammar/ngraph.schema.json
imports: { ./nodes.ts: [searchDocs, draftReply] }
---
graph: support
doc: Answers a support ticket; a person approves.
input: { ticket: string }
state:
  notes: { type: "string[]", default: [], reduce: append }
limits: { steps: 40 }
nodes:
  docs: { call: searchDocs, args: [ticket], into: notes, tries: 4, backoff: 200ms..5s, timeout: 10s }
  draft: { call: draftReply, args: [ticket, notes] }
  ask:
    call: ask
    args:
      - |-
        \`Send?
            \${notes}\`
asserts: [ask before end]
edges:
  - start -> docs
  - { from: docs, to: draft, when: len(notes) > 0 }
  - docs -> ask otherwise
  - from: ask
    match: notes[0]
    arms: [{ is: [send, go], to: end }, { else: draft }]
`,
  });
});

describe("comments go with their statements", () => {
  const TEXT = `// above the file
import { f } from "./nodes.ts" // behind an import

// above the graph
/// Documented.
graph g { // behind the head
  // above a channel
  input x: int // behind it
  state y: int = 0
  /*
   * a block
   * of lines
   */
  node n = f(
    // inside
    x) into y // behind a node
  start -> n
  // the last words
}
// at the end
`;
  const YAML = `# yaml-language-server: $schema=./node_modules/ngraph/grammar/ngraph.schema.json
imports:
  # above the file
  ./nodes.ts: [f] # behind an import
---
# above the graph
graph: g # behind the head
doc: Documented.
input:
  # above a channel
  x: int # behind it
state:
  y: { type: int, default: 0 }
nodes:
  # a block
  # of lines
  # inside
  n: { call: f, args: [x], into: y } # behind a node
edges:
  - start -> n
# the last words
# at the end
`;
  const AGAIN = `// above the file
import { f } from "./nodes.ts" // behind an import

// above the graph
/// Documented.
graph g { // behind the head
  // above a channel
  input x: int // behind it

  state y: int = 0

  // a block
  // of lines
  // inside
  node n = f(x) into y // behind a node

  start -> n
}

// the last words
// at the end
`;

  test("from text to YAML, and back", () => {
    const yaml = convert(TEXT, { to: "yaml" });
    expect(yaml).toEqual({ text: YAML, lost: [], diagnostics: [] });
    const text = convert(YAML, { to: "ngraph" });
    expect(text).toEqual({ text: AGAIN, lost: [], diagnostics: [] });
    expect(convert(AGAIN, { to: "yaml" }).text).toBe(YAML);
  });

  test("a comment above `---` belongs to the document above", () => {
    const { text } = convert("graph: a\nedges: []\n# of a\n---\n# of b\ngraph: b\n", { to: "ngraph" });
    expect(text).toBe("graph a {\n  // of a\n}\n\n// of b\ngraph b {}\n");
  });

  test("none is lost at any place of random files", () => {
    const texts = anyFile().map((file) => printFile(file));
    fc.assert(
      fc.property(withComments(texts), ({ text, marks }) => {
        const read = parse(text);
        // An inserted line break can end a statement earlier.
        fc.pre(read.diagnostics.length === 0);
        const yaml = convert(text, { to: "yaml" });
        expect(yaml.lost).toEqual([]);
        const again = convert(yaml.text, { to: "ngraph" });
        expect(again.lost).toEqual([]);
        for (const mark of marks) {
          const once = new RegExp(`^(?:.* )?# .*${mark}(?!\\d)`, "m");
          expect(yaml.text).toMatch(once);
          expect(again.text).toMatch(new RegExp(`// .*${mark}(?!\\d)`));
        }
        expect(asWrittenInYaml(parse(again.text).file)).toEqual(asWrittenInYaml(read.file));
        // Further conversions do not move the comments.
        expect(convert(convert(again.text, { to: "yaml" }).text, { to: "ngraph" }).text).toBe(again.text);
      }),
      { seed: 13, numRuns: numRuns(120), endOnFailure: true },
    );
  });
});

describe("parts that text cannot represent are reported", () => {
  test("anchors, aliases and tags, with their lines", () => {
    const yaml = `%YAML 1.2
---
graph: g
nodes:
  a: { call: f, args: &both [x, 1], timeout: !!str 1s }
  b: { call: f, args: *both, into: y } # no & anchor, no *alias
edges: ["start -> a, b"]
`;
    const { text, lost, diagnostics } = convert(yaml, { to: "ngraph" });
    expect(diagnostics).toEqual([]);
    expect(lost).toEqual([
      "line 5: the anchor `&both`: what it marks is written out",
      "line 5: the tag `!!str`",
      "line 6: the alias `*both`: its value is written out",
    ]);
    expect(text).toContain("node b = f(x, 1) into y // no & anchor, no *alias");
  });
});

describe("parts that YAML cannot represent are reported", () => {
  test("repeated clauses, repeated names", () => {
    const text = `graph g {
  node a = f() { timeout 1s  timeout 2s  touches "x"  touches "y" }
  node a = f()
  limit steps 1
  limit steps 2
}`;
    expect(toYaml(parse(text).file).lost).toEqual([
      "line 2: `timeout` is given twice",
      "line 3: `a` is declared again",
      "line 5: `steps` is declared again",
    ]);
  });

  test("statements that could not be read", () => {
    expect(toYaml(parse("graph g { node = 1 }").file).lost).toEqual(["line 1: what could not be read"]);
  });
});

describe("convert", () => {
  test("returns the other spelling and the lost parts", () => {
    const { text, lost, diagnostics } = convert("graph g {} // c", { to: "yaml", schema: "s.json" });
    expect({ text, lost, diagnostics }).toEqual({
      text: "# yaml-language-server: $schema=s.json\ngraph: g # c\n",
      lost: [],
      diagnostics: [],
    });
    expect(convert("graph: g\nnodes: { a: f(x) }", { to: "ngraph" }).text).toBe("graph g {\n  node a = f(x)\n}\n");
  });

  test("converts nothing that has errors", () => {
    const { text, diagnostics } = convert("graph g {", { to: "yaml", path: "g.ngraph" });
    expect(text).toBe("");
    expect(diagnostics.map(({ code, file }) => [code, file.path])).toEqual([["NG001", "g.ngraph"]]);
  });

  test("reports a name that the text cannot represent", () => {
    const { text, lost } = convert("plan: p\ntasks: { into: 'f(x)', a: { call: f, after any: [into] } }", {
      to: "ngraph",
    });
    expect(parse(text).diagnostics).not.toEqual([]);
    expect(lost).toHaveLength(1);
    expect(lost[0]).toMatch(/^line 4: the text cannot be read back as it is: /);
  });
});
