import { describe, expect, test } from "vitest";
import { check, memoryHost } from "../../compiler/index.ts";

// Mistakes that newcomers make. Each has its code, the marked text, and the phrase of the message that describes the
// remedy.

const host = memoryHost({ "nodes.ts": "export const f = (s: string): string => s;" });

const graph = (body: string): string => `import { f } from "./nodes.ts"
graph main {
  input n: int = 1
  input s: string = "a"
  input xs: string[] = []
  output o: string
  state flag: bool = false
  state my_state: string = ""
${body}
}`;
const plan = (body: string): string => `plan main {\n  input s: string = "a"\n${body}\n}`;

/** A row: the text, `CODE marked text`, and a phrase of the message, the help or a fix. */
type Row = readonly [text: string, at: string, phrase: string];

function verify(text: string, path: string, [, at, phrase]: Row): void {
  const { diagnostics } = check(text, { path, host });
  // NG103, a missing start edge, is another mistake of the short texts.
  const errors = diagnostics.filter(({ code, severity }) => code !== "NG103" && (severity === "error" || text === ""));
  const shown = errors.map(({ code, span, message, help, fixes }) => {
    const fix = fixes.map(({ title, edits }) => `${title} ${edits.map((edit) => edit.text).join("")}`).join(" ");
    return `${code} ${text.slice(span.start, span.end)} | ${message} | ${help ?? ""} | ${fix}`;
  });
  const [first] = shown;
  expect(first, shown.join("\n")).toMatch(new RegExp(`^${at.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")} \\|`));
  expect(first).toContain(phrase);
}

describe("in a graph", () => {
  const A = "node a = f(s) into o\nstart -> a\n";
  test.each<Row>([
    ["node a = print(my-state)\nstart -> a", "NG104 my-state", "write `my_state`"],
    ["node a = my-state into o\nstart -> a", "NG104 my-state", "a subtraction has spaces"],
    ["node do-it = f(s)\nstart -> do-it -> end", "NG001 do-it", "write `do_it`"],
    ['node a = sleep("5 min")\nstart -> a', 'NG408 "5 min"', "write `5m`"],
    ["node a = sleep(5.5)\nstart -> a", "NG408 5.5", "write `5500ms`"],
    ["node a = sleep(-5)\nstart -> a", "NG408 -5", "a number from 0 with a unit"],
    ["node a = sleep(5 min)\nstart -> a", "NG001 5 min", "write `5m`"],
    ["node a = sleep(1h30m)\nstart -> a", "NG006 1h30m", "write `90m`"],
    ["node a = f(s) => o\nstart -> a", "NG001 =>", "follows `into`"],
    ["node a = f(s) -> o\nstart -> a", "NG001 ->", "follows `into`"],
    ["node a = f(s) to o\nstart -> a", "NG001 to", "follows `into`"],
    ["node a = f(s) into result\nstart -> a", "NG104 result", "declare it, `state result: …`"],
    ["o = f(s)", "NG001 o", "`node a = f(x) into o`"],
    ['print("x")', "NG001 print", "`node a = print(…)`"],
    ['node a = print "x"\nstart -> a', 'NG001 "x"', "a call has parentheses"],
    ["node a = f s into o\nstart -> a", "NG104 f", "call it, `f(…)`"],
    ["node a = f(s into o\nstart -> a", "NG001 into", "expected `,` or `)`"],
    ["node a = f(s) into o tries 3\nstart -> a", "NG001 tries", "policies are written in braces"],
    ["node a: f(s)\nstart -> a", "NG001 :", "write `=`"],
    ["node a = f(s) into o { timeout 5000 }\nstart -> a", "NG001 5000", "`5000ms`, which is `5s`"],
    ["node a = f(s) into o { retry 3 }\nstart -> a", "NG001 retry", "replace with `tries`"],
    ["node a = f(s) into o { when n > 1 }\nstart -> a", "NG001 when", "`a -> b when x > 3`"],
    ["if (n > 1) { a -> end }", "NG001 if", "choices are edges"],
    [`${A}if n > 1 then a -> end`, "NG001 if", "choices are edges"],
    [`${A}a -> end when n > 1\nelse a -> a`, "NG001 else", "`a -> c otherwise`"],
    [`${A}a -> end if n > 1`, "NG001 if", "write `when`"],
    [`${A}a -> end when flag is true`, "NG001 is", "`==` and `!=`"],
    [`${A}a -> end when flag and n > 1`, "NG001 and", "`&&`"],
    [`${A}a -> end when s = "x"`, "NG001 =", "`==`"],
    [`${A}a -> end when s === "x"`, "NG001 ===", "`==`"],
    [`${A}a -> end when s <> "x"`, "NG001 >", "not equal is written `!=`"],
    [`${A}a -> end when flag == True`, "NG104 True", "write `true`"],
    [`${A}a -> end when s == None`, "NG104 None", "`null`"],
    [`${A}a -> end when len(xs)`, "NG508 len(xs)", "`… != 0`"],
    [`${A}a on error -> end`, "NG001 a", "`a -> b on error`"],
    [`${A}a -> end: n > 1`, "NG001 :", "`a -> b when x > 3`"],
    [`${A}a -> match s { case "x" -> end }`, "NG001 case", "an arm has no `case`"],
    [`${A}a => end`, "NG001 =>", "replace with `->`"],
    [`${A}a --> end`, "NG001 -->", "replace with `->`"],
    ["node a = f(s) into o\nstart > a", "NG001 start", "an arrow is written `->`"],
    ["node a = f(s)\nnode b = f(s)\nstart -> (a, b)", "NG001 (a, b)", "delete the brackets"],
    ["node a = f(s)\nnode b = f(s)\nstart -> a | b", "NG001 |", "separated by commas"],
    ['node a = "x" if n > 1 else "y" into o', "NG001 if", "`x > 3 ? a : b`"],
    ["node a = if n > 1 then s else s into o", "NG001 if", "`x > 3 ? a : b`"],
    ["for x in xs { node a = f(x) }", "NG001 for", "`node a = f(x) for x in xs`"],
    ["node a = f(x) for x of xs\nstart -> a", "NG001 of", "write `in`"],
    ["node a = (f(x) for x in xs) into o", "NG001 for", "`[f(x) for x in xs]`"],
    ["node a = (x) => x into o", "NG001 =>", "functions cannot be written here"],
    ["node a = lambda x: x into o", "NG001 lambda", "functions are written in TypeScript"],
    ['node a = f"Hello {s}" into o', 'NG001 "Hello {s}"', "between backticks"],
    ["node a = 'x' into o\nstart -> a", "NG001 'x'", 'replace with `"x"`'],
    ['node a = print("""x""")', 'NG001 "x"', "between backticks"],
    ["node a = xs.length into o\nstart -> a", "NG508 length", "`len(…)`"],
    ["node a = print(state.flag)\nstart -> a", "NG104 state", "by its name alone"],
    ["node a = print(this.flag)\nstart -> a", "NG104 this", "by its name alone"],
    ["node a = print($s)\nstart -> a", "NG001 $", "without a sign before it"],
    ['node a = console.log("x")\nstart -> a', "NG001 log", "`node a = print(…)`"],
    ['node a = fetch("http://x")\nstart -> a', "NG105 fetch", "`http(url)`"],
    ["node a = f(s) into o\nnode b = f(a)\nstart -> a -> b", "NG104 a", "read what it writes, `o`"],
    ["node a = f(s) into o\nnode b = await o\nstart -> a -> b", "NG001 await", "no value needs `await`"],
    ["task a = f(s) into o\nstart -> a", "NG001 task", "write `node`"],
    ["string q", "NG001 string", "`input a: string`"],
    ["input a: int, b: int", "NG001 ,", "delete the comma"],
    ["input q: str", "NG105 str", "rename to `string`"],
    ["input q: string?", "NG001 ?", "write `| null`"],
    ["-- a comment", "NG001 --", "comments begin with `//`"],
    ["# a comment", "NG001 #", "comments begin with `//`"],
    ["node 1st = f(s)", "NG006 1st", "names begin with a letter"],
  ])("%s", (text, at, phrase) => verify(graph(text), "main.ngraph", [text, at, phrase]));
});

test("a node whose name is a unit begins an edge on the same line", () => {
  const text =
    "graph g { input n: int = 1 node s = 1 node d = 2 start -> s when n > 5 d -> end start -> d when n <= 5 s -> d }";
  expect(check(text, { path: "main.ngraph", host }).diagnostics.filter(({ severity }) => severity === "error")).toEqual(
    [],
  );
});

describe("in a plan", () => {
  test.each<Row>([
    ['node a = shell("x")', "NG001 node", "write `task`"],
    ["edge a -> b", "NG001 edge", "a plan has no edges"],
    ['task a = "npm test"', 'NG508 "npm test"', '`shell("npm test")`'],
    ["task a = `npm run ${s}`", "NG508 `npm run ${s}`", "run it with `shell`"],
    ['task a = ["npm", "test"]', 'NG508 ["npm", "test"]', "call something"],
    ['task a = shell("x")\ntask b = shell("y") after [a]', "NG001 [", "`after a, b`"],
    ['task a = shell("x")\ntask b = shell("y") needs a', "NG001 needs", "`after a, b`"],
    ['task a = shell("x") { touch "src" }', "NG001 touch", "replace with `touches`"],
    ['task a = shell("x") { when s == "b" }', "NG001 when", "`task a = f(x) when x > 3`"],
  ])("%s", (text, at, phrase) => verify(plan(text), "main.ngraph", [text, at, phrase]));
});

describe("in a file", () => {
  const REST = '\ngraph g { node a = print("x")  start -> a }';
  test.each<Row>([
    ["", "NG001 ", "declare a graph"],
    [`import f from "./nodes.ts"${REST}`, "NG001 f", "name what you need"],
    [`import f, g from "./nodes.ts"${REST}`, "NG001 f", "name what you need"],
    [`from nodes import f${REST}`, "NG001 from", "names to import come first"],
    [`import { f } from "./nodes"${REST}`, 'NG105 "./nodes"', "`./nodes.ts`"],
    ['graph my-graph { node a = print("x")  start -> a }', "NG001 my-graph", "write `my_graph`"],
    ['graph g() { node a = print("x")  start -> a }', "NG001 (", "has no parameters"],
    ['graph g:\n  node a = print("x")\n  start -> a', "NG001 :", "written in braces"],
    ['node a = print("x")\nstart -> a', "NG001 node", "between the braces of `graph … { … }`"],
    ['graph: main\nnodes:\n  a: print("x")', "NG001 :", "`.ngraph.yaml`"],
    ['{"graph": "main"}', "NG001 {", "`.ngraph.yaml`"],
    [`secret KEY = "abc"${REST}`, "NG001 =", "environment variable"],
    [`enum Color { red, green }${REST}`, "NG001 enum", "union of strings"],
  ])("%s", (text, at, phrase) => verify(text, "main.ngraph", [text, at, phrase]));

  test("a module in place of a graph is one error", () => {
    const { diagnostics } = check("export const x = 3;\nexport const y = 4;", { path: "nodes.ts", host });
    expect(diagnostics.map(({ message }) => message)).toEqual(["this is not a graph file: its name ends in `.ts`"]);
  });
});

describe("in YAML", () => {
  const yaml = (nodes: string): string => `graph: main\nnodes:\n${nodes}\nedges: [start -> a]\n`;
  test.each<Row>([
    [yaml('  - a: print("x")'), 'NG014 - a: print("x")', "without `-`"],
    [yaml('  a:\n    call: print("x")'), 'NG014 print("x")', "arguments are written under `args`"],
    [yaml('  a:\n    run: print("x")'), "NG011 run", "written under `call`"],
    [yaml("  a:\n    print: x"), "NG011 print", "written under `call`"],
    [yaml("  a:\n    call: print\n    with: { text: x }\n    timeout: 5000"), "NG014 5000", "`5000ms`"],
    [yaml("  a:\n    call: print\n    with: { text: x }\n    needs: b"), "NG011 needs", "under `edges`"],
    [yaml('  my-node: print("x")'), "NG001 my-node", "write `my_node`"],
    ['graph: main\nnode:\n  a: print("x")', "NG011 node", "`nodes`"],
    ['graph: main\nnodes:\n  a: print("x")\nedges:\n  start: a', "NG014 start: a", "`- a -> b`"],
    [
      "graph: main\nstate: { my_state: string }\nnodes:\n  a: print(my-state)\nedges: [start -> a]",
      "NG104 my-state",
      "`my_state`",
    ],
    ['name: main\nnodes:\n  a: print("x")', "NG011 name", "`graph: main`"],
    ['plan: p\nnodes:\n  a: shell("x")', "NG011 nodes", "`tasks`"],
    ['plan: p\ntasks:\n  a: shell("x")\n  b: { expr: shell("y"), depends_on: a }', "NG011 depends_on", "`after`"],
    ['graph: main\nnodes:\n\ta: print("x")', "NG010 \t", "indent with spaces"],
  ])("%s", (text, at, phrase) => verify(text, "main.ngraph.yaml", [text, at, phrase]));
});
