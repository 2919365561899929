import { describe, expect, it } from "vitest";
import type { Diagnostic } from "../../diagnostics/diagnostic.ts";
import type { Item } from "../../grammar/ast.ts";
import { parse } from "../../grammar/parse.ts";
import { outline } from "./tree.ts";

/** Diagnostics as "NG001 `marked text` message". */
function found(text: string): string[] {
  return parse(text).diagnostics.map((item) => `${item.code} ${mark(item, text)} ${item.message}`);
}

function mark(item: Diagnostic, text: string): string {
  return `«${text.slice(item.span.start, item.span.end)}»`;
}

/** The text after every fix of every diagnostic has been applied. */
function fixed(text: string): string {
  const edits = parse(text)
    .diagnostics.flatMap(({ fixes }) => fixes[0]?.edits ?? [])
    .sort((a, b) => b.span.start - a.span.start || b.span.end - a.span.end);
  return edits.reduce(
    (result, { span, text: use }) => result.slice(0, span.start) + use + result.slice(span.end),
    text,
  );
}

/** The kinds of the items and of the statements in their bodies. */
function shape(items: readonly Item[]): string {
  return items
    .map((item) => {
      const body = "statements" in item ? item.statements : item.kind === "Test" ? item.items : undefined;
      const name = item.kind === "Broken" ? `Broken ${item.of}` : item.kind;
      return body === undefined
        ? name
        : `${name} { ${body.map((each) => (each.kind === "Broken" ? `Broken ${each.of}` : each.kind)).join(" ")} }`;
    })
    .join("  ");
}

const graph = (body: string) => `graph g {\n${body}\n}`;

describe("NG001: expected tokens", () => {
  it.each([
    ["node = f()", "«=» expected a name for the node after `node`, found `=`"],
    ["node match = f()", "«match» `match` is a reserved word and cannot be a name for the node"],
    ["node n f()", "«f» expected `=` and the node's call after `n`, found `f`"],
    ["node n = ", "«}» expected an expression after `=`, found `}`"],
    ["node n = f() { bogus 3 }", "«bogus» expected a policy or `}` after `{`, found `bogus`"],
    ["node n = f() { tries }", "«}» expected a number of attempts after `tries`, found `}`"],
    ["node n = f() { tries 1.5 }", "«1.5» expected a number of attempts, found `1.5`"],
    ["node n = f() { timeout 30 }", "«30» expected a duration, found `30`"],
    ["node n = f() { pause now }", "«now» expected `before` or `after` after `pause`, found `now`"],
    ["node n = f() into", "«}» expected a channel, or `{ field: channel }` after `into`, found `}`"],
    ["node n = f() into { in }", "«}» expected `:` and a channel after `in`, found `}`"],
    ["node n = f() for x on xs", "«on» expected `in` and the list after `x`, found `on`"],
    ["state x = 3", "«=» expected `:` and a type after `x`, found `=`"],
    ["state x: ", "«}» expected a type after `:`, found `}`"],
    ["limit steps many", "«many» expected a number of steps, or `none` after `steps`, found `many`"],
    ["assert a after b", "«after» expected `before`, or `at` and the name of a node after `a`, found `after`"],
    ["assert n > 3 a", "«a» expected `at` and the name of a node after `3`, found `a`"],
    ["assert never a and b", "«and» expected `with` after `a`, found `and`"],
    ["a -> ", "«}» expected the name of a node, or `match` after `->`, found `}`"],
    ["a -> b on failure", "«failure» expected `error` after `on`, found `failure`"],
    ["a -> b, c -> d", "«->» a chain continues from one node only"],
    ["a -> b when x -> c", "«->» expected the end of the edge, found `->`"],
    ["all(a, b) when x -> c", "«when» expected `->` after `)`, found `when`"],
    ["a -> match x { b > 3 -> c }", "«b» expected a literal, or `else` after `{`, found `b`"],
    ['a -> match { "x" }', '«}» expected `->` after `"x"`, found `}`'],
    ["a b", "«a» expected a statement of the graph or `}`, found `a`"],
    ["[a, b] -> c", "«[» expected a statement of the graph or `}`, found `[`"],
    ["node n = a ? b", "«}» expected `:` and the value for the other case after `b`, found `}`"],
    ["node n = xs[1", "«}» expected `]` after `1`, found `}`"],
    ["node n = f(...xs)", "«...» `...` is written only inside of a list or a record"],
    ["node n = [...x.tags for x in xs]", "«for» a comprehension has one value for each item, not a spread"],
    ["node n = [x for x in xs, y]", "«,» expected `]` after `xs`, found `,`"],
  ])("%s", (body, message) => {
    expect(found(graph(body))).toEqual([`NG001 ${message}`]);
  });

  it.each([
    ["graph { a -> b }", "«{» expected a name for the graph after `graph`, found `{`"],
    ["grap g { }", "«grap» expected `graph`, `plan`, `test`, `type`, `import`, `const` or `secret`, found `grap`"],
    ["}", "«}» this `}` closes nothing"],
    ["state x: int", "«state» this statement is outside of every graph, plan and test"],
    ['import { a } of "x"', "«of» expected `from` after `}`, found `of`"],
    ['import x from "x"', "«x» a default export cannot be imported"],
    ['import * as x from "x"', "«*» a whole module cannot be imported"],
    ['import "x"', '«"x"» a module without names cannot be imported'],
    ["secret in", "«in» `in` is a reserved word and cannot be the name of an environment variable"],
    ["test for g { }", "«for» expected a title in quotes after `test`, found `for`"],
    ['test "t" { }', '«{» expected `for` after `"t"`, found `{`'],
    ['test "t" for g { mock a }', "«}» expected `=` and a result, or `fails` after `a`, found `}`"],
    ['test "t" for g { run a }', "«run» expected a statement of the test or `}`, found `run`"],
    ["plan p { order random }", "«random» expected `file` after `order`, found `random`"],
    ["plan p { on failure stop }", "«stop» expected `continue`, `no-new` or `kill` after `failure`, found `stop`"],
    ["plan p { task t = f() into x after a }", "«after» expected a statement of the plan or `}`, found `after`"],
    ["type T = { a }", "«}» expected `:` and the field's type after `a`, found `}`"],
    ["type T = [int]", "«[» expected a type after `=`, found `[`"],
    ["type T = map<int>= 3", "«=» expected the type to end after `>`, found `=`"],
    ["graph g {", "«» the graph is never closed: a `}` is missing before this"],
  ])("%s", (text, message) => {
    expect(found(text)[0]).toBe(`NG001 ${message}`);
  });

  it("suggests similar words and lists the available ones", () => {
    expect(parse("grap g {}").diagnostics[0]?.help).toBe("did you mean `graph`?");
    expect(parse(graph("stat x: int")).diagnostics[0]?.help).toBe("did you mean `state`?");
    expect(parse(graph("node n = f() { bogus 3 }")).diagnostics[0]?.help).toContain(
      "`tries` `timeout` `within` `cache`",
    );
  });
});

describe("syntax of other languages is read as its equivalent", () => {
  it.each([
    ["a -> b when x === 'y'", 'a -> b when x == "y"'],
    ["a -> b when x !== 'it\\'s \"q\"'", 'a -> b when x != "it\'s \\"q\\""'],
    ["a -> b when x & y", "a -> b when x && y"],
    ["a -> b when x | y", "a -> b when x || y"],
    ["a -> b when x and y or not z", "a -> b when x && y || !z"],
    ["a -> b when x = 3", "a -> b when x == 3"],
    ["a -> b if x", "a -> b when x"],
    ["a -> b else", "a -> b otherwise"],
    ["a => b", "a -> b"],
    ["a --> b", "a -> b"],
    ["a → b", "a -> b"],
    ["a -> [b, c]", "a -> b, c"],
    ["a, b -> c", "any(a, b) -> c"],
    ["on, failure -> c -> d", "any(on, failure) -> c -> d"],
    ["a -> b;\n  b -> c;", "a -> b\n  b -> c"],
    ["a -> b,\n  node n = f()", "a -> b\n  node n = f()"],
    ['a -> match x { "p" -> b, "q" -> c, else -> d, }', 'a -> match x { "p" -> b "q" -> c else -> d }'],
    ["a -> match { x > 3 -> b, y -> c, !z -> d }", "a -> match { x > 3 -> b y -> c !z -> d }"],
    ["a -> match x { p -> b  q | r -> c  default -> d }", 'a -> match x { "p" -> b  "q" | "r" -> c  else -> d }'],
    ['a -> match x { "p", "q" -> b  otherwise -> d }', 'a -> match x { "p"| "q" -> b  else -> d }'],
    ['a -> match x { "p": b }', 'a -> match x { "p"-> b }'],
    ["node n: f()", "node n= f()"],
    ["node n = await f(x)", "node n = f(x)"],
    ["node n = f(a = 1)", "node n = f(a : 1)"],
    ["node n = f(1 2)", "node n = f(1, 2)"],
    ["node n = { a = 1 }", "node n = { a : 1 }"],
    ["node n = f() into a, b", "node n = f() into { a, b }"],
    ["node n = f() { tries: 3, timeout: 5s }", "node n = f() { tries 3 timeout 5s }"],
    ["node n = f() { retries 3 }", "node n = f() { tries 3 }"],
    ["node n = f() { cache 1h }", "node n = f() { cache for 1h }"],
    ["node n = f() { tries 3 backoff 1s...2s }", "node n = f() { tries 3 backoff 1s..2s }"],
    ["node n = f() { waits a, b, timeout 5s }", "node n = f() { waits a, b timeout 5s }"],
    ["node n = xs.includes(x)", "node n = contains(xs, x)"],
    ["node n = a.b[0].toLowerCase()", "node n = lower(a.b[0])"],
    ['node n = (a + b).trim().split(",")', 'node n = split(trim((a + b)), ",")'],
    ["node n = Math.max(a, b)", "node n = max(a, b)"],
    ["node n = xs?.[0]", "node n = xs[0]"],
    ["state x: Array<string>", "state x: string[]"],
    ["state x: Array<string | int>", "state x: (string | int)[]"],
    ["state x: Record<string, int[]>", "state x: map<int[]>"],
    ["state x: map<string, int>", "state x: map<int>"],
    ["state x: string?", "state x: string | null"],
    ["state x: { a: int; b: int; }", "state x: { a: int, b: int }"],
    ["state x: { a: int b: int }", "state x: { a: int, b: int }"],
    ["# a note\n  a -> b", "// a note\n  a -> b"],
  ])("%s", (body, right) => {
    const wrong = parse(graph(body));
    expect(wrong.diagnostics.length).toBeGreaterThan(0);
    expect(
      wrong.diagnostics.every(({ code, fixes }) => (code === "NG001" || code === "NG003") && fixes.length > 0),
    ).toBe(true);
    const meant = parse(graph(right));
    expect(meant.diagnostics).toEqual([]);
    expect(outline(wrong.file.items)).toBe(outline(meant.file.items));
    // After the first fix of each diagnostic the text has the same tree.
    const after = parse(fixed(graph(body)));
    expect(after.diagnostics.map(({ message }) => `${message} in ${fixed(graph(body))}`)).toEqual([]);
    expect(outline(after.file.items)).toBe(outline(meant.file.items));
  });

  it.each([
    ["a -> b when x not in xs", "a -> b when !(x in xs)", "`not in` is not an operator here"],
    [
      "node n = f(xs.map(x => x.a))",
      undefined,
      "`.map(…)` cannot be called: there are no methods and no functions as values",
    ],
    ["node n = f(x => x)", undefined, "functions cannot be written here"],
    ['node n = "a" + ${x}', 'node n = "a" + x', "`${` is outside a template"],
    ["node n = .5", undefined, "a number begins with a digit"],
  ])("%s", (body, right, message) => {
    const wrong = parse(graph(body));
    expect(wrong.diagnostics.map((item) => item.message)).toEqual([message]);
    if (right !== undefined) expect(outline(wrong.file.items)).toBe(outline(parse(graph(right)).file.items));
    else expect(wrong.diagnostics[0]?.help ?? wrong.diagnostics[0]?.fixes[0]).toBeDefined();
  });

  it("accepts valid syntax that resembles another language", () => {
    const right = `
      state not: bool  state and: bool = not  state default: bool  state length: int
      node await = all_ and -> or any(or, not) -> x
      start -> match { default -> and  not -> or  and -> default }
      a -> b when not.length > 3 || and
      if -> else_
    `;
    expect(found(graph(right))).toEqual([]);
  });
});

describe("NG002: strings, templates and comments without an end", () => {
  it.each([
    ['node n = f("abc', '«"abc»', "this string is never closed"],
    ['node n = "abc\\"', '«"abc\\"»', "this string is never closed"],
    ["node n = `abc ${x", "«`abc ${x»", "this template is never closed"],
    ["node n = `abc ${`x}`", "«`abc ${`x}`»", "this template is never closed"],
  ])("%s", (body, marked, message) => {
    const text = `${graph(body)}\ngraph h { start -> end }`;
    const { file, diagnostics } = parse(text);
    expect(`${diagnostics[0]?.code} ${mark(diagnostics[0] as Diagnostic, text)} ${diagnostics[0]?.message}`).toBe(
      `NG002 ${marked} ${message}`,
    );
    expect(shape(file.items)).toContain("Graph { Edge }");
  });

  it.each([
    ["node n = `abc", "close it with a backtick"],
    ["node n = `abc ${x} d", "close it with a backtick"],
    ["node n = `abc ${x", "close it with `}` and a backtick"],
    ["node n = `abc ${x} d ${y", "close it with `}` and a backtick"],
  ])("offers what closes a template: %s", (body, help) => {
    const [found] = parse(`${graph(body)}\ngraph h { start -> end }`).diagnostics;
    expect([found?.help, found?.fixes[0]?.title]).toEqual([help, help]);
    const [edit] = found?.fixes[0]?.edits ?? [];
    const text = `${graph(body)}\ngraph h { start -> end }`;
    const fixed = `${text.slice(0, edit?.span.start)}${edit?.text}${text.slice(edit?.span.end)}`;
    expect(parse(fixed).diagnostics).toEqual([]);
  });

  it("reports a comment at its beginning", () => {
    expect(found("graph g { start -> end }\n/* abc")).toEqual(["NG002 «/*» this comment is never closed"]);
    expect(found("/*/")).toEqual(["NG002 «/*» this comment is never closed"]);
  });

  it("continues after the line of a template that is never closed", () => {
    // The backticks pair up as `one…`, `two`…: the last one alone has no partner.
    const text = graph("node a = `one\n  node b = `two`\n  node c = `three");
    const { file, diagnostics } = parse(text);
    expect(diagnostics.map(({ code }) => code)).toEqual(["NG002", "NG002"]);
    expect(shape(file.items)).toMatch(/^Graph/);
  });

  it.each([
    "node a = f(`hello ${name)\n  node b = g()\n  start -> a -> b",
    "node a = f(`hello)\n  node b = g(`x`)\n  start -> a -> b",
    "node a = f(`hello)\n  node b = g(`x`, `y`)\n  node c = g(`z`)\n  start -> a -> b",
    "node a = f(`hello {\n  more ${x}\n  start -> a",
    "node a = f(`one ${g(x)} two, { a: 1 })\n  start -> a",
  ])("reports a missing backtick once: %j", (body) => {
    const { diagnostics } = parse(graph(body));
    expect(diagnostics.map(({ code, span }) => [code, span.start])).toEqual([["NG002", graph(body).indexOf("`")]]);
  });
});

describe("line breaks", () => {
  it("a carriage return alone ends a line, of comments and in positions", () => {
    const { file, diagnostics } = parse("graph g {\r  // c\r  node a = f(\r\n)\r  start -> a ->\r}\r");
    expect(diagnostics.map(({ span }) => file.source.position(span.start))).toEqual([{ line: 6, column: 1 }]);
    expect(file.source.line(2)).toBe("  // c");
    expect(file.source.line(5)).toBe("  start -> a ->");
  });
});

describe("NG003: characters outside of strings", () => {
  it.each([
    ["a -> b\u0000", "a control character (U+0000) is not allowed outside strings"],
    ["a -> b\u00a0", "a space that is not a plain space (U+00A0) is not allowed outside strings"],
    ["a -> b\u202e", "a bidirectional control character (U+202E) is not allowed outside strings"],
    ["a -> b // x \u2066 y", "a bidirectional control character (U+2066) is not allowed outside strings"],
    ["a -> b /* \u0007 */", "a control character (U+0007) is not allowed outside strings"],
    ["/// \u200f\n  a -> b", "a bidirectional control character (U+200F) is not allowed outside strings"],
    ["a -> b\ufeff", "the character `\ufeff` (U+FEFF) is not allowed outside strings"],
    ["na\u00efve -> b", "`na\u00efve` is not a name"],
    ["dr\u0430ft -> b", "`dr\u0430ft` contains the Cyrillic letter `\u0430` (U+0430), which looks like `a`"],
    ["\u0410 -> b", "`\u0410` contains the Cyrillic letter `\u0410` (U+0410), which looks like `A`"],
    ["n\u03bfde -> b", "`n\u03bfde` contains the Greek letter `\u03bf` (U+03BF), which looks like `o`"],
    ["a -> \u540d\u524d", "`\u540d\u524d` is not a name"],
    ["node n = \u201cx\u201d", "a typographic quote (U+201C) is not allowed outside strings"],
  ])("%j", (body, message) => {
    const { diagnostics } = parse(graph(body));
    expect([diagnostics[0]?.code, diagnostics[0]?.message]).toEqual(["NG003", message]);
    expect(diagnostics.length).toBeLessThanOrEqual(2);
  });

  it("takes every character in strings and templates, and other languages in comments", () => {
    const text = graph('node n = f("\u202e \u0007 é 名前 😀", `\u202e\u0000 é`) // été 名前 😀 → “ ”');
    expect(found(text)).toEqual([]);
  });
});

describe("NG004: limits", () => {
  const nested = (depth: number) => graph(`node n = ${"(".repeat(depth)}x${")".repeat(depth)}\nnode m = y`);

  it("reads 63 levels of brackets within an expression, which is the 64th", () => {
    expect(found(nested(63))).toEqual([]);
  });

  it.each([
    ["brackets", nested(64), "nested more than 64 levels deep"],
    ["a great many brackets", nested(200_000), "nested more than 64 levels deep"],
    [
      "brackets that never close",
      graph(`node n = ${"[".repeat(100_000)}\nnode m = y`),
      "nested more than 64 levels deep",
    ],
    [
      "records",
      graph(`node n = ${"{ a: ".repeat(90)}x${" }".repeat(90)}\nnode m = y`),
      "nested more than 64 levels deep",
    ],
    [
      "templates",
      graph(`node n = ${"`${".repeat(90)}x${"}`".repeat(90)}\nnode m = y`),
      "nested more than 64 levels deep",
    ],
    [
      "choices",
      graph(`node n = ${"a ? ".repeat(90)}x${" : y".repeat(90)}\nnode m = y`),
      "nested more than 64 levels deep",
    ],
    [
      "types",
      graph(`state x: ${"map<".repeat(90)}int${">".repeat(90)}\nnode m = y`),
      "nested more than 64 levels deep",
    ],
    [
      "a long sum",
      graph(`node n = ${"1 + ".repeat(100_000)}1\nnode m = y`),
      "this expression has more than 1000 operators",
    ],
    [
      "a long chain of members",
      graph(`node n = a${".b".repeat(100_000)}\nnode m = y`),
      "this expression has more than 1000 operators",
    ],
    [
      "many signs",
      graph(`node n = ${"!".repeat(100_000)}x\nnode m = y`),
      "this expression has more than 1000 operators",
    ],
    [
      "a chain of choices",
      graph(`node n = ${"a ? b : ".repeat(100_000)}c\nnode m = y`),
      "this expression has more than 1000 operators",
    ],
    ["a list of lists", graph(`state x: int${"[]".repeat(100_000)}\nnode m = y`), "this type has more than 1000 parts"],
  ])("reports %s once, and reads the next statement", (_, text, message) => {
    const { file, diagnostics } = parse(text);
    expect(diagnostics.map((item) => `${item.code} ${item.message}`)).toEqual([`NG004 ${message}`]);
    expect(shape(file.items)).toMatch(/^Graph \{ (Broken node|Channel) Node \}$/);
  });

  it("has no limit for constructs that do not nest", () => {
    const list = `[${"1, ".repeat(20_000)}]`;
    const union = Array.from({ length: 5_000 }, (_, at) => `"${at}"`).join(" | ");
    const chain = Array.from({ length: 5_000 }, (_, at) => `n${at}`).join(" -> ");
    expect(found(graph(`node n = ${list}\nstate s: ${union}\n${chain}`))).toEqual([]);
  });
});

describe("NG005: large files", () => {
  it("does not read a file beyond 4 MiB", () => {
    const { file, diagnostics } = parse(`${" ".repeat(4 * 1024 * 1024)}x`);
    expect(diagnostics.map(({ code }) => code)).toEqual(["NG005"]);
    expect(file.items).toEqual([]);
  });

  it("does not check a file beyond 10,000 declarations", () => {
    const types = (count: number): string => Array.from({ length: count }, (_, i) => `type T${i} = int\n`).join("");
    expect(parse(types(10_000)).diagnostics).toEqual([]);
    const { file, diagnostics } = parse(types(10_001));
    const message = "this file has more than 10000 declarations";
    expect(diagnostics).toMatchObject([{ code: "NG005", message }]);
    expect(file.items).toEqual([]);
  });

  it("counts bytes, not characters", () => {
    expect(found(`// ${"é".repeat(2 * 1024 * 1024)}`)[0]).toMatch(/^NG005/);
    expect(found(`// ${"e".repeat(2 * 1024 * 1024)}`)).toEqual([]);
  });
});

describe("NG006: literals", () => {
  it.each([
    ["node n = 5sec", "«5sec» `5sec` is neither a number nor a duration"],
    ["node n = 0x1F", "«0x1F» `0x1F` is neither a number nor a duration"],
    ["node n = 1_000", "«1_000» `1_000` is neither a number nor a duration"],
    ["node n = 1.2.3", "«1.2.3» `1.2.3` is neither a number nor a duration"],
    ["node n = 1e", "«1e» `1e` is neither a number nor a duration"],
    ["node n = 1e999", "«1e999» this number is too large"],
    ["node n = 9007199254740993", "«9007199254740993» this whole number is too large to be exact"],
    ["node n = f() { timeout 1.5ms }", "«1.5ms» `1.5ms` is not a whole number of milliseconds"],
    ["node n = f() { timeout 999999999999999d }", "«999999999999999d» this duration is too long"],
    ["node n = f() { timeout 5seconds }", "«5seconds» `5seconds` is neither a number nor a duration"],
    ['node n = "a\\x41b"', "«\\x» `\\x` is not an escape"],
    ['node n = "\\u12"', "«\\u» `\\u` is not an escape"],
    ["node n = `\\q`", "«\\q» `\\q` is not an escape"],
    ["node n = `a\\\n`", "«\\» a backslash at the end of a line has no meaning"],
    [`node n = ${"1".repeat(70_000)}`, `«${"1".repeat(70_000)}» this number is longer than 65536 characters`],
  ])("%s", (body, message) => {
    expect(found(graph(body))).toEqual([`NG006 ${message}`]);
  });

  it("reads a bad duration as the one that it resembles", () => {
    const { file, diagnostics } = parse(graph("node n = f() { timeout 5sec }"));
    expect(diagnostics[0]?.fixes[0]?.edits[0]?.text).toBe("5s");
    expect(outline(file.items)).toContain("Timeout(duration: Duration(milliseconds: 5000))");
  });
});

it("reports a barrier as a member of a barrier", () => {
  const [first] = parse(graph("all(settled(a, b), c) -> d")).diagnostics;
  expect(first?.message).toBe("`settled(…)` cannot be a member of a barrier");
  expect(first?.help).toBe("lead `settled(…)` to a node of its own, and name this node here");
});
