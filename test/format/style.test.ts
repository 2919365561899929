import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { format, FormatError } from "../../grammar/format/format.ts";

const CASES = new URL("cases/", import.meta.url);
const names = readdirSync(CASES).filter((name) => !name.includes(".formatted."));

describe("the one style (UPDATE=1 writes the expected files)", () => {
  test.each(names)("%s", async (name) => {
    const expected = new URL(name.replace(".ngraph", ".formatted.ngraph"), CASES);
    const formatted = await format(readFileSync(new URL(name, CASES), "utf8"));
    if (process.env["UPDATE"] === "1") writeFileSync(expected, formatted);
    expect(existsSync(expected)).toBe(true);
    expect(formatted).toBe(readFileSync(expected, "utf8"));
    expect(await format(formatted)).toBe(formatted);
  });
});

describe("parentheses stay where the meaning needs them", () => {
  test.each([
    ["(a)", "a"],
    ["(a + b) + c", "a + b + c"],
    ["a + (b + c)", "a + (b + c)"],
    ["(a * b) + c", "a * b + c"],
    ["a * (b + c)", "a * (b + c)"],
    ["(a || b) && c", "(a || b) && c"],
    ["a ?? (b || c)", "a ?? b || c"],
    ["(a ?? b) || c", "(a ?? b) || c"],
    ["(a == b) == c", "a == b == c"],
    ["a == (b == c)", "a == (b == c)"],
    ["!(a == b)", "!(a == b)"],
    ["(!a) == b", "!a == b"],
    ["-(-1)", "- -1"],
    ["-(a.b)", "-a.b"],
    ["(-a).b", "(-a).b"],
    ["(a + b)[0]", "(a + b)[0]"],
    ["(a ? b : c) ? d : e", "(a ? b : c) ? d : e"],
    ["a ? (b ? c : d) : (e ? f : g)", "a ? b ? c : d : e ? f : g"],
    ["({ a: 1 }).a", "{ a: 1 }.a"],
  ])("%s", async (written, formatted) => {
    expect(await format(`graph g { node n = ${written} }`)).toBe(`graph g {\n  node n = ${formatted}\n}\n`);
  });

  test("a record before the arms of a match", async () => {
    const text = "graph g {\n  a -> match ({ x: 1 }.x) { 1 -> b  else -> c }\n}\n";
    expect(await format(text)).toBe(text);
  });
});

describe("the spelling of the author is kept", () => {
  test("escapes in strings, spelling of numbers and durations, raw text of templates", async () => {
    const text =
      'graph g {\n  node n = f("\\u00e9\\/é", 1.50, 2E3, 70, 90s, `a\\n${b}\n      c \\` $ {d}`)\n  state s: "\\u0041" | -1.50 | 1e3\n}\n';
    const formatted = await format(text);
    for (const piece of [
      '"\\u00e9\\/é"',
      "1.50",
      "2E3",
      "70",
      "90s",
      "`a\\n${b}\n      c \\` $ {d}`",
      '"\\u0041" | -1.50 | 1e3',
    ]) {
      expect(formatted).toContain(piece);
    }
    expect(await format(formatted)).toBe(formatted);
  });

  test("single blank lines between statements; several become one", async () => {
    const text = "graph g {\n\n\n  input a: int\n\n\n\n  input b: int\n  input c: int\n\n}\n\n\n";
    expect(await format(text)).toBe("graph g {\n  input a: int\n\n  input b: int\n  input c: int\n}\n");
  });
});

describe("the text around", () => {
  test("an empty file stays empty, one of comments keeps them", async () => {
    expect(await format("")).toBe("");
    expect(await format("\n\n")).toBe("");
    expect(await format("\n// a\n\n\n/* b */ // c")).toBe("// a\n\n/* b */ // c\n");
  });

  test("byte order marks and Windows line ends go", async () => {
    expect(await format("\ufeffgraph g {\r\n  // c\r\n\r\n  node a = `x\r\n    y`\r\n}\r\n")).toBe(
      "graph g {\n  // c\n\n  node a = `x\n    y`\n}\n",
    );
  });
});

describe("a text with mistakes is not formatted", () => {
  test("the error carries the diagnostics, with places in the text as it was given", async () => {
    const error = await format("graph g {\r\n  node a = 'x'\r\n  b ->\r\n}", { path: "g.ngraph" }).then(
      () => undefined,
      (reason: unknown) => reason,
    );
    expect(error).toBeInstanceOf(FormatError);
    const { code, diagnostics, message } = error as FormatError;
    expect(code).toBe("NG_FORMAT_SYNTAX");
    expect(diagnostics.map((each) => [each.code, each.file.path, each.file.position(each.span.start)])).toEqual([
      ["NG001", "g.ngraph", { line: 2, column: 12 }],
      ["NG001", "g.ngraph", { line: 4, column: 1 }],
    ]);
    expect(message).toBe("g.ngraph:2:12: strings are written in double quotes; fix it, then format");
  });
});
