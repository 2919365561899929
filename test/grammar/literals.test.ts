import { describe, expect, it } from "vitest";
import { removeIndentation } from "../../grammar/literals.ts";
import { parse } from "../../grammar/parse.ts";
import { readExpression } from "./read.ts";

describe("strings", () => {
  it.each([
    ['"a\\"\\\\\\/\\b\\f\\n\\r\\tb"', 'a"\\/\b\f\n\r\tb'],
    ['"\\u00e9\\uD83D\\uDE00"', "é😀"],
    ['"// no `comment` ${x}"', "// no `comment` ${x}"],
    ['""', ""],
  ])("%s", (text, value) => {
    const expr = readExpression(text);
    expect(expr.kind === "String" ? expr.value : expr.kind).toBe(value);
  });

  it("read a long string without a deep stack", () => {
    const long = `"${"ab\\n".repeat(300_000)}"`;
    const expr = readExpression(long);
    expect(expr.kind === "String" ? expr.value.length : 0).toBe(900_000);
  });
});

describe("templates", () => {
  const parts = (text: string) => {
    const expr = readExpression(text);
    if (expr.kind !== "Template") throw new Error(expr.kind);
    return expr.parts.map((part) => (part.kind === "TemplateText" ? part.value : `<${part.kind}>`));
  };

  it("alternate text and expressions, and have at least one part", () => {
    expect(parts("``")).toEqual([""]);
    expect(parts("`a`")).toEqual(["a"]);
    expect(parts("`${a}`")).toEqual(["<Name>"]);
    expect(parts("`${a}${b}`")).toEqual(["<Name>", "<Name>"]);
    expect(parts("`a${b}c${d}`")).toEqual(["a", "<Name>", "c", "<Name>"]);
  });

  it("nest", () => {
    expect(parts("`a${`b${`c${x}`}`}d`")).toEqual(["a", "<Template>", "d"]);
    expect(parts('`${ {a: "}", b: f(`}`)}.a }!`')).toEqual(["<Member>", "!"]);
    expect(parts("`${x /* ` */ + // }\n y}`")).toEqual(["<Binary>"]);
  });

  it("resolve escapes", () => {
    expect(parts("`\\`\\${x}\\n\\u0041\\$\\{ $ { }`")).toEqual(["`${x}\nA${ $ { }"]);
  });

  it("keep their source text and place", () => {
    const text = "graph g { node n = `a\\n${b}  c` }";
    const { file } = parse(text);
    const node = file.items[0]?.kind === "Graph" ? file.items[0].statements[0] : undefined;
    if (node?.kind !== "Node" || node.call.kind !== "Template") throw new Error("no template");
    const [first, , last] = node.call.parts;
    if (first?.kind !== "TemplateText" || last?.kind !== "TemplateText") throw new Error("no text");
    expect([first.raw, first.value]).toEqual(["a\\n", "a\n"]);
    expect(text.slice(last.span.start, last.span.end)).toBe("  c");
  });

  it.each<[string, string[], string[]]>([
    ["one line stays as it is", ["  a  "], ["  a  "]],
    ["the blanks that all lines share go away", ["\n    a\n      b\n    c\n  "], ["a\n  b\nc\n"]],
    ["only the first of several line breaks at the start goes away", ["\n\n  a"], ["\na"]],
    ["an escaped line break at the start stays", ["\\n\n  a"], ["\\n\na"]],
    ["the first line does not count", ["a\n  b\n  c"], ["a\nb\nc"]],
    ["lines of blanks do not count, and become empty", ["\n    a\n \n      \n    b"], ["a\n\n\nb"]],
    ["an expression counts as text", ["\n    a\n  ", "\n    b"], ["  a\n", "\n  b"]],
    ["text behind an expression is no line of its own", ["\n  a ", "  b\n  c"], ["a ", "  b\nc"]],
    ["tabs and spaces are not the same", ["\n\ta\n    b"], ["\ta\n    b"]],
    ["line breaks become \\n", ["\r\n  a\r\n  b"], ["a\nb"]],
    ["a carriage return alone on its line is no blank text", ["a\r\n\r\n  b"], ["a\n\nb"]],
  ])("indentation: %s", (_, texts, expected) => {
    expect(removeIndentation(texts)).toEqual(expected);
  });

  it("remove indentation before they resolve escapes", () => {
    expect(parts("`\n  a\\n  b\n  \\tc`")).toEqual(["a\n  b\n\tc"]);
  });

  it("report a bad escape at its place, indented or not", () => {
    const text = "graph g { node n = `\n    a\n    \\q\n` }";
    const { diagnostics } = parse(text);
    expect(diagnostics.map(({ code, span }) => [code, text.slice(span.start, span.end)])).toEqual([["NG006", "\\q"]]);
  });
});

describe("numbers and durations", () => {
  it.each([
    ["0", 0, false],
    ["70", 70, false],
    ["1.50", 1.5, true],
    ["1e3", 1000, true],
    ["2.5E-3", 0.0025, true],
    ["9007199254740991", 9007199254740991, false],
  ])("%s", (text, value, isFloat) => {
    const expr = readExpression(text);
    expect(expr.kind === "Number" ? [expr.value, expr.isFloat, expr.raw] : expr.kind).toEqual([value, isFloat, text]);
  });

  it.each([
    ["200ms", 200],
    ["1.5s", 1500],
    ["0.1s", 100],
    ["90m", 5_400_000],
    ["2h", 7_200_000],
    ["1d", 86_400_000],
    ["0.0001d", 8640],
  ])("%s", (text, milliseconds) => {
    const expr = readExpression(text);
    expect(expr.kind === "DurationLiteral" ? [expr.milliseconds, expr.raw] : expr.kind).toEqual([milliseconds, text]);
  });

  it("distinguish a range from numbers with fractions", () => {
    const { diagnostics } = parse("graph g { node n = f() { tries 3 backoff 200ms..5s } }");
    expect(diagnostics).toEqual([]);
  });
});
