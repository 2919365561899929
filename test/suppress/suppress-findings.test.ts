import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { compile, type CompileResult } from "../../compiler/index.ts";
import { fixText } from "../../diagnostics/fixes/fix-text.ts";
import { yamlComments } from "../../grammar/yaml/yaml-comments.ts";
import { numRuns } from "../support/depth.ts";

/** `remark` writes what nothing reads: NG405 at `note` in its `into`. */
function graph(parts: { above?: string; behind?: string; head?: string } = {}): string {
  return `${parts.head ?? ""}graph greeting {
  input  name: string
  output text: string
  state  note: string

  node greet  = \`hello \${name}\` into text
${parts.above ?? ""}  node remark = "for later"
    into note${parts.behind ?? ""}

  start -> greet -> remark
}
`;
}

function yaml(parts: { above?: string; behind?: string; head?: string } = {}): string {
  return `${parts.head ?? ""}graph: greeting
input: { name: string }
output: { text: string }
state: { note: string }
nodes:
  greet: { expr: "\`hello \${name} # no comment\`", into: text }
${parts.above ?? ""}  remark:
    expr: '"for later"'
    into: note${parts.behind ?? ""}
edges:
  - start -> greet -> remark
`;
}

const findings = ({ diagnostics }: CompileResult): string[] =>
  diagnostics.filter((item) => item.severity !== "info").map((item) => item.code);

const SPELLINGS = [
  { spelling: "text", path: "g.ngraph", mark: "//", write: graph },
  { spelling: "YAML", path: "g.ngraph.yaml", mark: "#", write: yaml },
] as const;

describe.each(SPELLINGS)("in $spelling", ({ path, mark, write }) => {
  const check = (text: string): CompileResult => compile(text, { path });
  const comment = `${mark} ngraph-ignore NG405: audit log only`;

  test("without a comment the warning stands", () => {
    expect(findings(check(write()))).toEqual(["NG405"]);
  });

  test("a comment above is about the whole next statement", () => {
    const result = check(write({ above: `  ${comment}\n` }));
    expect(findings(result)).toEqual([]);
    expect(result.suppressed).toMatchObject([{ diagnostic: { code: "NG405" }, reason: "audit log only" }]);
    expect(findings(check(write({ above: `  ${comment}\n\n  ${mark} more about it\n` })))).toEqual([]);
  });

  test("a comment behind code is about its line", () => {
    expect(findings(check(write({ behind: ` ${comment}` })))).toEqual([]);
  });

  test("above the graph it is about its head only", () => {
    expect(findings(check(write({ head: `${comment}\n` })))).toEqual(["NG119", "NG405"]);
  });

  test("it does not change what the graph means", () => {
    expect(check(write({ above: `  ${comment}\n` })).table?.digest).toBe(check(write()).table?.digest);
  });

  test("several codes; one that is not reported is a warning", () => {
    const both = check(write({ above: `  ${mark} ngraph-ignore NG405, NG406: audit log only\n` }));
    expect(findings(both)).toEqual(["NG119"]);
    const unused = both.diagnostics.find((item) => item.code === "NG119");
    expect(unused?.message).toContain("NG406");
    const fixed = fixText(both.diagnostics[0]?.file.text ?? "", (text) => check(text).diagnostics);
    expect(fixed.text).toBe(write({ above: `  ${comment}\n` }));
  });

  test("an unused one is removed by its fix, with its line", () => {
    const used = write({ behind: ` ${comment}` });
    const text = used.replace(/(\n *(?:node greet|greet:))/, `\n  ${mark} ngraph-ignore NG302: not so$1`);
    expect(findings(check(text))).toEqual(["NG119"]);
    expect(fixText(text, (changed) => check(changed).diagnostics).text).toBe(used);
  });

  test.each(["NG405", "NG405:", "NG405: ", "NG405: --", "NG405,NG406 : ..."])(
    "without a reason it is an error and suppresses nothing: %s",
    (codes) => {
      const result = check(write({ above: `  ${mark} ngraph-ignore ${codes}\n` }));
      expect(findings(result)).toEqual(["NG118", "NG405"]);
      expect(result.table).toBeUndefined();
    },
  );

  test.each(["", ": why", "everything: why", "-next-line NG405: why", "NG405 because: why"])(
    "it names codes: `ngraph-ignore %s` is an error",
    (rest) => {
      expect(findings(check(write({ above: `  ${mark} ngraph-ignore ${rest}\n`.replace(" -", "-") })))).toEqual([
        "NG118",
        "NG405",
      ]);
    },
  );

  test("a misspelt code gets the similar one", () => {
    const result = check(write({ above: `  ${mark} ngraph-ignore NG4O5, NG4055: why not\n`.replace("NG4O5, ", "") }));
    expect(findings(result)).toEqual(["NG118", "NG405"]);
    expect(result.diagnostics.find((item) => item.code === "NG118")?.help).toContain("`NG405`");
  });

  test("errors cannot be suppressed", () => {
    const text = write({ above: `  ${mark} ngraph-ignore NG104: it is fine\n` }).replace(
      /into(:?) note/,
      "into$1 nope",
    );
    const result = check(text);
    expect(findings(result)).toContain("NG104");
    expect(findings(result)).toContain("NG118");
    expect(result.diagnostics.find((item) => item.code === "NG118")?.message).toContain("cannot be suppressed");
  });

  test("unused suppressions are not reported in a file with errors", () => {
    const text = write({ above: `  ${mark} ngraph-ignore NG601: none\n` }).replace(/into(:?) note/, "into$1 nope");
    expect(findings(check(text))).not.toContain("NG119");
  });
});

test("a comment between the arms of a choice is about the next line", () => {
  const text = (comment: string): string => `import { act } from "functions"
graph g {
  state kind: "a" | "b"
  node one = act() into kind
  node two = act()
  start -> one
  one -> match kind {
    "a" | "b" -> two
${comment}    else -> end
  }
}
`;
  expect(findings(compile(text("")))).toEqual(["NG507"]);
  expect(findings(compile(text("    // ngraph-ignore NG507: for values to come\n")))).toEqual([]);
});

test("words in strings are no comments", () => {
  const text = graph().replace('"for later"', '"// ngraph-ignore NG405: no"');
  expect(findings(compile(text))).toEqual(["NG405"]);
  expect(findings(compile(yaml().replace("for later", "# ngraph-ignore NG405: no"), { path: "g.yaml" }))).toEqual([
    "NG405",
  ]);
});

test("a block comment works as well", () => {
  expect(findings(compile(graph({ above: "  /* ngraph-ignore NG405: audit log only */\n" })))).toEqual([]);
});

test("places of YAML comments are those of their text, whatever the YAML is", () => {
  fc.assert(
    fc.property(
      fc.array(
        fc.constantFrom(
          "a: 1",
          "# c",
          "- x # y",
          "'q # r'",
          '"s # t"',
          "b: |",
          "  # deep",
          "---",
          "\ufeff",
          "}",
          "{a: #b",
          "\r",
        ),
        {
          maxLength: 12,
        },
      ),
      (lines) => {
        const text = lines.join("\n");
        for (const { span, text: comment } of yamlComments(text)) {
          expect(text.slice(span.start, span.end)).toBe(comment);
          expect(comment.startsWith("#")).toBe(true);
        }
      },
    ),
    { seed: 11, numRuns: numRuns(500) },
  );
});

test("thousands of them, stacked, in one line or a line each, cost little", () => {
  const comment = "/* ngraph-ignore NG405: audit */";
  const shapes = [
    `// ngraph-ignore NG405: audit\n`.repeat(20_000),
    comment.repeat(20_000) + "\n",
    `${comment}\n`.repeat(20_000),
  ];
  for (const above of shapes) {
    const result = compile(graph({ above }));
    expect(result.suppressed).toHaveLength(1);
    // All suppressions except one have no finding.
    expect(result.diagnostics.filter((item) => item.code === "NG119")).toHaveLength(19_999);
  }
});
