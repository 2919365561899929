import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { convert } from "../../grammar/convert.ts";
import { printFile } from "../../grammar/format/print-file.ts";
import { parse } from "../../grammar/parse.ts";
import { parseYaml } from "../../grammar/yaml/parse-yaml.ts";
import { toYaml } from "../../grammar/yaml/to-yaml.ts";
import { anyFile } from "../support/ast-arbitrary.ts";
import { asWrittenInYaml, withoutSpans } from "../support/without-spans.ts";

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
      { seed: 11, numRuns: 120 },
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
      { seed: 12, numRuns: 120 },
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

test("YAML is written as people would write it", () => {
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

describe("what YAML has no place for is said", () => {
  test("comments, clauses that stand twice, names that are declared twice", () => {
    const text = `// first
graph g { /* second
  goes on */
  node a = f() { timeout 1s  timeout 2s  touches "x"  touches "y" }
  node a = f()
  limit steps 1
  limit steps 2
}`;
    expect(toYaml(parse(text).file).lost).toEqual([
      "line 1: the comment `// first`",
      "line 2: the comment `/* second…`",
      "line 4: `timeout` stands twice",
      "line 4: `touches` stands twice",
      "line 5: `a` is declared again",
      "line 7: `steps` is declared again",
    ]);
  });

  test("statements that could not be read", () => {
    expect(toYaml(parse("graph g { node = 1 }").file).lost).toEqual(["line 1: what could not be read"]);
  });
});

describe("convert", () => {
  test("gives the other spelling and says what is lost", () => {
    const { text, lost, diagnostics } = convert("graph g {} // c", { to: "yaml", schema: "s.json" });
    expect({ text, lost, diagnostics }).toEqual({
      text: "# yaml-language-server: $schema=s.json\ngraph: g\n",
      lost: ["line 1: the comment `// c`"],
      diagnostics: [],
    });
    expect(convert("graph: g\nnodes: { a: f(x) }", { to: "ngraph" }).text).toBe("graph g {\n  node a = f(x)\n}\n");
  });

  test("converts nothing that has errors", () => {
    const { text, diagnostics } = convert("graph g {", { to: "yaml", path: "g.ngraph" });
    expect(text).toBe("");
    expect(diagnostics.map(({ code, file }) => [code, file.path])).toEqual([["NG001", "g.ngraph"]]);
  });

  test("says when a name has no place in the text", () => {
    const { text, lost } = convert("plan: p\ntasks: { into: 'f(x)', a: { call: f, after any: [into] } }", {
      to: "ngraph",
    });
    expect(parse(text).diagnostics).not.toEqual([]);
    expect(lost).toHaveLength(1);
    expect(lost[0]).toMatch(/^line 4: the text cannot be read back as it is: /);
  });
});
