import { describe, expect, it } from "vitest";
import { SourceFile } from "../../diagnostics/source.ts";
import type { Fragments } from "../../grammar/fragments.ts";
import { parseFragment } from "../../grammar/parse.ts";
import { misplacedSpans, outline } from "./tree.ts";

/** Reads a fragment that begins at an offset of another file. */
function read<Kind extends keyof Fragments>(kind: Kind, text: string) {
  const before = "key: ";
  const source = new SourceFile("x.yaml", `${before}${text}\nmore: 1`);
  const { node, diagnostics } = parseFragment(kind, { text, source, toSource: (offset) => before.length + offset });
  expect(misplacedSpans(node, source.text.length)).toEqual([]);
  return {
    node,
    text: outline(node),
    messages: diagnostics.map(
      (item) => `${item.code} «${source.text.slice(item.span.start, item.span.end)}» ${item.message}`,
    ),
  };
}

describe("fragments", () => {
  it.each<[keyof Fragments, string, string]>([
    ["expression", "score < 0.8", "Binary(operator: <, left: score, right: Number(value: 0.8, isFloat: true))"],
    ["type", "map<int>[]", "ListType(item: MapType(value: int))"],
    [
      "edge",
      "all(a, b) -> c",
      "Edge(source: AllOf(members: [a, b]), chain: [], to: Targets(nodes: [c], onError: false))",
    ],
    [
      "edge",
      "node -> end on error when x",
      "Edge(source: NodeList(nodes: [node]), chain: [], to: Targets(nodes: [end], onError: true, guard: When(condition: x)))",
    ],
    ["source", "any(a, b)", "NodeList(nodes: [a, b])"],
    ["source", "all(a, any(b, c))", "AllOf(members: [a, AnyOf(nodes: [b, c])])"],
    ["source", "settled(a, any(b, c))", "SettledOf(members: [a, AnyOf(nodes: [b, c])])"],
    ["names", "a, b", "[a, b]"],
    ["name", "a", "a"],
    ["importName", "type Ticket as T", "ImportName(isType: true, imported: Ticket, local: T)"],
    ["output", "notes", "ChannelOutput(channel: notes)"],
    [
      "output",
      "{ a, b: c }",
      "FieldsOutput(fields: [OutputField(field: a, channel: a), OutputField(field: b, channel: c)])",
    ],
    ["assert", "a before b", "Assert(form: before, node: a, other: b)"],
    ["assert", "never a with b", "Assert(form: never, node: a, other: b)"],
    ["assert", "x && y at b", "Assert(form: at, node: b, condition: Binary(operator: &&, left: x, right: y))"],
    ["expect", "ran a, [b, c]", "ExpectRan(steps: [[a], [b, c]])"],
    ["expect", "status failed", "ExpectStatus(status: failed)"],
    ["expect", "paused at a", "ExpectPausedAt(node: a)"],
    ["expect", "fails with NG_X", "ExpectFailsWith(code: NG_X)"],
    ["expect", "never ran a, b", "ExpectNeverRan(nodes: [a, b])"],
    ["expect", "undone a", "ExpectUndone(nodes: [a])"],
    ["expect", "x == 1", "Expect(condition: Binary(operator: ==, left: x, right: Number(value: 1, isFloat: false)))"],
    ["testItem", 'mock a fails "x"', 'MockFails(node: a, message: "x")'],
    ["step", "[a, b]", "[a, b]"],
    ["duration", "1.5h", "Duration(milliseconds: 5400000)"],
    ["backoff", "200ms..5s", "(min: Duration(milliseconds: 200), max: Duration(milliseconds: 5000))"],
    ["patterns", '"a" | -1', "[LiteralType(value: a), LiteralType(value: -1)]"],
    ["patterns", "else", "[]"],
  ])("%s: %s", (kind, text, expected) => {
    const result = read(kind, text);
    expect(result.messages).toEqual([]);
    expect(result.text).toBe(expected);
  });

  it.each<[keyof Fragments, string, string, string]>([
    ["expression", "a +", "NG001 «» expected an expression after `+`, found the end", "BrokenExpr()"],
    ["expression", "", "NG001 «» expected an expression, found the end", "BrokenExpr()"],
    ["expression", "a b", "NG001 «b» expected the end after `a`, found `b`", "BrokenExpr()"],
    ["expression", "f(x y) === 'z'", "", ""],
    ["type", "int int", "NG001 «int» expected the end after `int`, found `int`", "BrokenType()"],
    ["type", "map<int>=", "NG001 «=» expected the type to end after `>`, found `=`", "MapType(value: int)"],
    ["edge", "a -> ", "NG001 «» expected the name of a node, or `match` after `->`, found the end", "undefined"],
    ["edge", "a -> b c", "NG001 «c» expected the end after `b`, found `c`", "undefined"],
    ["duration", "30", "NG001 «30» expected a duration, found `30`", "undefined"],
    ["duration", "5sec", "NG006 «5sec» `5sec` is neither a number nor a duration", "Duration(milliseconds: 5000)"],
    ["name", "match", "NG001 «match» `match` is a reserved word and cannot be a name", "undefined"],
    ["testItem", "foo", "NG001 «foo» expected a statement of the test or `}`, found `foo`", "undefined"],
    ["expression", '"a\\q"', "NG006 «\\q» `\\q` is not an escape", '"aq"'],
    ["expression", `${"(".repeat(100_000)}x`, "NG004 «(» nested more than 64 levels deep", "BrokenExpr()"],
  ])("%s: %j is reported in the enclosing file", (kind, text, message, expected) => {
    const result = read(kind, text);
    if (message === "") expect(result.messages).toHaveLength(3);
    else expect([result.messages, result.text]).toEqual([[message], expected]);
  });

  it("maps every offset, also where the text is not contiguous in the file", () => {
    // A folded YAML scalar: two lines with indentation become one.
    const source = new SourceFile("x.yaml", "when: >-\n    score <\n    limit + 1\n");
    const text = "score < limit + 1";
    const second = text.indexOf("limit");
    const toSource = (offset: number) => (offset < second ? 13 + offset : 25 + (offset - second));
    const { node, diagnostics } = parseFragment("expression", { text, source, toSource });
    expect(diagnostics).toEqual([]);
    if (node?.kind !== "Binary") throw new Error(node?.kind);
    expect(source.text.slice(node.left.span.start, node.left.span.end)).toBe("score");
    expect(source.text.slice(node.right.span.start, node.right.span.end)).toBe("limit + 1");
    expect(node.span).toEqual({ start: 13, end: 34 });
  });

  it("offers only fixes that every kind of YAML scalar can take", () => {
    const fixes = (text: string) => {
      const source = new SourceFile("x.yaml", text);
      return parseFragment("expression", { text, source, toSource: (offset) => offset }).diagnostics.flatMap((item) =>
        item.fixes.flatMap(({ edits }) => edits.map((edit) => edit.text)),
      );
    };
    expect(fixes("a and b === c")).toEqual(["&&", "=="]);
    expect(fixes("a == 'b'")).toEqual([]);
    expect(fixes("f(a = 1, b c)")).toEqual([]);
  });

  it("does not affect the next reading", () => {
    read("edge", "a -> match x {");
    read("expression", "f(a, [b");
    expect(read("expression", "a + b").messages).toEqual([]);
    expect(read("edge", "a -> b").messages).toEqual([]);
  });
});
