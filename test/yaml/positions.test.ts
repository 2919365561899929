import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Span } from "../../diagnostics/source.ts";
import { parseYaml } from "../../grammar/yaml/parse-yaml.ts";
import { scalarOffsets } from "../../grammar/yaml/scalar-offsets.ts";
import { readDocuments } from "../../grammar/yaml/read-documents.ts";
import { newReading } from "../../grammar/reading.ts";
import { SourceFile } from "../../diagnostics/source.ts";
import { numRuns } from "../support/depth.ts";

/** The texts under the spans of all names in the expression of node `a`. */
function namesIn(yaml: string): string[] {
  const { file, diagnostics } = parseYaml(yaml);
  expect(diagnostics.map(({ message }) => message)).toEqual([]);
  const found: string[] = [];
  const visit = (value: unknown): void => {
    if (Array.isArray(value)) for (const each of value) visit(each);
    else if (typeof value === "object" && value !== null) {
      const node = value as { kind?: string; span?: Span };
      if (node.kind === "Name" && node.span !== undefined) found.push(yaml.slice(node.span.start, node.span.end));
      for (const [key, each] of Object.entries(value)) if (key !== "source") visit(each);
    }
  };
  visit(file.items);
  return found;
}

describe("spans of expressions are positions in the YAML text", () => {
  test.each([
    ["plain", "expr: first + second"],
    ["plain, over two lines", "expr: first +\n      second"],
    ["in single quotes", "expr: 'first + second'"],
    ["in single quotes, with quotes inside", `expr: '"it''s" + first + "x" + second'`],
    ["in double quotes", 'expr: "first + second"'],
    ["in double quotes, with escapes", 'expr: "\\"a\\\\n\\" + first + \\x22\\u0062\\U0001F98A\\" + second"'],
    ["in double quotes, over two lines", 'expr: "first +\n\n      \\\n      second"'],
    ["in a block", "expr: |\n      first +\n        second\n"],
    ["in a folded block", "expr: >-\n      first\n      + second\n"],
    ["in a block with an indentation of its own", "expr: |1\n     first +\n      second\n"],
    ["with an anchor", "expr: &x first + second"],
    ["with a tag", "expr: !!str first + second"],
  ])("%s", (_what, line) => {
    expect(namesIn(`graph: g\nnodes:\n  a:\n    ${line}`)).toEqual(["first", "second"]);
  });

  test("in flow maps and with Windows line ends", () => {
    expect(namesIn("graph: g\r\nnodes: { a: { call: f,\r\n args: [first +\r\n  second] } }\r\n")).toEqual([
      "first",
      "second",
    ]);
    expect(namesIn("graph: g\r\nnodes:\r\n  a:\r\n    expr: |\r\n      first +\r\n      second\r\n")).toEqual([
      "first",
      "second",
    ]);
  });
});

describe("spans of statements", () => {
  const text =
    'graph: support\nstate:\n  notes: { type: "string[]", reduce: append }\nnodes:\n  draft: { call: f,\n    args: [notes], tries: 3 }\nedges:\n  - start -> draft\n  - from: draft\n    to: end\n';
  const { file } = parseYaml(text);
  const under = (span: Span | undefined) => (span === undefined ? undefined : text.slice(span.start, span.end));
  const [graph] = file.items;
  if (graph?.kind !== "Graph") throw new Error("no graph");

  test("go from key to value", () => {
    expect(under(graph.span)).toBe(text.trimEnd());
    expect(graph.statements.map(({ span }) => under(span))).toEqual([
      'notes: { type: "string[]", reduce: append }',
      "draft: { call: f,\n    args: [notes], tries: 3 }",
      "start -> draft",
      "from: draft\n    to: end",
    ]);
  });

  test("names are marked by themselves, policies with their keys", () => {
    expect(under(graph.name.span)).toBe("support");
    const [channel, node] = graph.statements;
    if (channel?.kind !== "Channel" || node?.kind !== "Node") throw new Error("other statements");
    expect([channel.name.span, channel.type.span, channel.reducer?.span].map(under)).toEqual([
      "notes",
      "string[]",
      "append",
    ]);
    expect([node.name.span, node.policies[0]?.span].map(under)).toEqual(["draft", "tries: 3"]);
  });
});

describe("offsets of any scalar", () => {
  const scalar = fc.oneof(
    fc.string({ unit: "binary", maxLength: 20 }).map((text) => JSON.stringify(text)),
    fc.string({ maxLength: 20 }).map((text) => `'${text.replaceAll("'", "''").replaceAll(/[\r\n]/g, "\n   ")}'`),
    fc
      .array(fc.constantFrom("a", "b c", "", "  d", "é"), { minLength: 1 })
      .map((lines) => `|\n  x\n${lines.map((line) => `  ${line}`).join("\n")}`),
    fc
      .array(fc.constantFrom("a", "b c", "", "  d", "é"), { minLength: 1 })
      .map((lines) => `>\n  x\n${lines.map((line) => `  ${line}`).join("\n")}`),
    fc.array(fc.constantFrom("a", "b", "c"), { minLength: 1 }).map((lines) => lines.join("\n  ")),
  );

  test("never decrease and stay inside it", () => {
    fc.assert(
      fc.property(scalar, (written) => {
        const text = `key: ${written}\n`;
        const [document] = readDocuments(newReading(new SourceFile("x", text), text));
        const root = document?.root;
        const value = root?.kind === "map" ? root.entries[0]?.value : undefined;
        fc.pre(value?.kind === "scalar" && typeof value.value === "string");
        if (value?.kind !== "scalar") return;
        const toSource = scalarOffsets(text, value);
        let before = value.span.start;
        for (let offset = 0; offset <= String(value.value).length; offset += 1) {
          const at = toSource(offset);
          expect(at).toBeGreaterThanOrEqual(before);
          expect(at).toBeLessThanOrEqual(Math.max(value.span.end, before));
          before = at;
        }
      }),
      { seed: 3, numRuns: numRuns(500) },
    );
  });

  test("letters are found at their place", () => {
    fc.assert(
      fc.property(
        fc.constantFrom("'%'", '"%"', "%", "|\n  %", ">\n  %"),
        fc.stringMatching(/^[a-z]{1,5}( [a-z]{1,5}){0,5}$/),
        (shape, words) => {
          const text = `key: ${shape.replace("%", words)}\n`;
          const [document] = readDocuments(newReading(new SourceFile("x", text), text));
          const root = document?.root;
          const value = root?.kind === "map" ? root.entries[0]?.value : undefined;
          if (value?.kind !== "scalar" || typeof value.value !== "string") throw new Error(`no string: ${text}`);
          const toSource = scalarOffsets(text, value);
          const letters = [...words].map((_letter, index) => text[toSource(index)]);
          expect(letters.join("")).toBe(words);
        },
      ),
      { seed: 4, numRuns: numRuns(300) },
    );
  });
});
