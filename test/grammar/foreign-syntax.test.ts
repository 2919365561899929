import { describe, expect, test } from "vitest";
import { check, memoryHost } from "../../compiler/index.ts";

const host = memoryHost({ "nodes.ts": "export const f = (s: string): string => s;" });

const graph = (body: string): string => `import { f } from "./nodes.ts"
graph g {
  input n: int = 1
  input s: string = "a"
  input xs: string[] = []
  output o: string
  state flag: bool = false
  ${body}
}`;

/** The errors of a file: the marked text, the message, and the help or the text of the fix. */
function errors(text: string): string[] {
  const { diagnostics } = check(text, { path: "g.ngraph", host });
  return diagnostics
    .filter((item) => item.severity === "error")
    .map(({ span, message, help, label, fixes }) => {
      const way = help ?? fixes[0]?.title ?? label;
      return `${text.slice(span.start, span.end)} | ${message} | ${way}`;
    });
}

// Syntax of other languages: each error has one message, with its fix.
describe("in a graph", () => {
  test.each([
    ['node a = n === 1 ? "x" : "y" into o', "=== | `===` is not an operator here | `==` is strict already"],
    ["node a = 'x' into o", "'x' | strings are written in double quotes | "],
    ["node a = s into o;", "; | `;` is not needed: statements end without it | delete it"],
    ['node a = xs.length > 0 ? "x" : "y" into o', "length | `.length` needs a record | write `len(…)`"],
    ['node a = xs.includes("a") ? "x" : "y" into o', "includes | `.includes(…)` is not a method"],
    ["node a = f(s) into o { tries 3, timeout 5s }", ", | policies are not separated by commas | delete the comma"],
    ["node a = f(s) into o { timeout 5 }", "5 | expected a duration, found `5` | add a unit: `5s`"],
    [
      "node a = f(s) into o { timeout 5000 }",
      "5000 | expected a duration, found `5000` | add a unit: `5000ms`, which is `5s`",
    ],
    [
      "node a = f(s) into o { timeout 1500 }",
      "1500 | expected a duration, found `1500` | add a unit: `1500ms`; the units are",
    ],
    [
      "node a = f(s) into o { timeot 5s }",
      "timeot | expected a policy or `}` after `{`, found `timeot` | did you mean `timeout`?",
    ],
    ["node a = f(x) for x of xs", "of | a loop over a list is written with `in`, not `of` | write `in`"],
    [
      "node a = join([f(x) for x of xs], s) into o",
      "of | a loop over a list is written with `in`, not `of` | write `in`",
    ],
    ["node a = [y for y in xs when y != s]", "when | the condition of a `for` begins with `if` | "],
    ["node do-it = f(s) into o", "do-it | `do-it` is not a name: names have no `-` | names consist of"],
    ["task a = f(s) into o", "task | a step of a graph is a `node`; a `task` belongs in a plan | write `node`"],
    [
      "node a = f(s) after b",
      "after | expected a statement of the graph or `}`, found `after` | the order of nodes is written as edges: `a -> b`",
    ],
    ["node a = 08 into o", "08 | `08` has a leading zero | write `8`"],
    ["node a = f(s) into o { timeout 05s }", "05 | `05` has a leading zero | write `5`"],
    [
      "let a = s",
      "let | expected a statement of the graph or `}`, found `let` | a name for an expression is written `derive b = a + 1`",
    ],
    [
      "const a = s into o",
      "const | expected a statement of the graph or `}`, found `const` | a name for an expression is written `derive b = a + 1`",
    ],
    ["if (n > 1) { a -> b }", "if | expected a statement of the graph or `}`, found `if` | choices are edges: "],
    ["node a = await f(s) into o", "await | calls need no `await`: a node is done when its call is | "],
    ["node a = h(s) into o", "h | unknown function `h` | import it: "],
    [
      "node a = s -> o",
      "-> | expected a statement of the graph or `}`, found `->` | what a node writes follows `into`",
    ],
    ["node a = s != undefined ? s : s into o", "undefined | unknown channel `undefined` | what is not there is `null`"],
    ["node a = None into o", "None | unknown channel `None` | what is not there is `null`"],
    ['node a = xs?.[0] ?? "" into o', "?. | an index needs no `?.` | `xs[i]` is `null` where there is no such item"],
    ['node a = join(xs.map(x => x), ",") into o', "map | `.map(…)` cannot be called"],
    ["node a = n++ into o", "+ | expected an expression after `+`, found `+` | nothing is assigned in an expression"],
    ["node a = n ** 2 into o", "* | expected an expression after `*`, found `*` | there is no `**`: write `x * x`"],
    ["node a = typeof s into o", "typeof | `typeof` is not an operator here | types are known before the run"],
    ["node a = len(...xs) into o", "... | `...` is written only inside of a list or a record | "],
    [
      "node a = xs.some(x => x.ok) into o",
      "some | `.some(…)` cannot be called: there are no methods and no functions as values | write the condition",
    ],
    ["node a = s into o  start => a", "=> | an arrow is written `->`, not `=>` | replace with `->`"],
    [
      "node a = s into o\n  node b = s\n  start -> a\n  [a, b] -> a",
      "[ | expected a statement of the graph or `}`, found `[` | a barrier is written `all(a, b) -> c`",
    ],
    ["node a = s into o  a -> end if n > 1", "if | a condition begins with `when`, not `if` | "],
    ["node a = s into o  START -> a", "START | unknown node `START` | a node with a similar name exists: `start`"],
    ["state x = 3", "= | expected `:` and a type after `x`, found `=` | every channel has a type: `x: int = …`"],
    [
      "state x?: int",
      "? | expected `:` and a type after `x`, found `?` | what may be left out has a default: `x: int | null = null`",
    ],
    ["state x: int?", "? | a type that may be null is written `T | null` | "],
    ["state x: number", "number | unknown type `number` | write `float`, or `int` for whole numbers"],
    ["state x: boolean", "boolean | unknown type `boolean` | write `bool`"],
    ["state x: Array<string>", "Array<string> | `Array<…>` is written `T[]` here | "],
    ["state x: Record<string, int>", "Record<string, int> | `Record<…>` is written `map<T>` here | "],
  ])("%s", (body, expected) => {
    const found = errors(graph(body));
    expect(found.find((each) => !/^\S+ \| nothing starts/.test(each))).toContain(expected);
  });

  test("a comma between arms, each marked", () => {
    const body = 'node a = s into o  start -> a  a -> match s { "x" -> a, "y" -> end, else -> end }';
    expect(errors(graph(body))).toEqual([
      ", | arms are not separated by commas | delete the comma",
      ", | arms are not separated by commas | delete the comma",
    ]);
  });

  test("`and` and `not`, each marked", () => {
    expect(
      errors(graph("node a = s into o  start -> a  a -> end when n > 1 and not flag  a -> end otherwise")),
    ).toEqual([
      "and | `and` is not an operator here | replace with `&&`",
      "not | `not` is not an operator here | replace with `!`",
    ]);
  });
});

describe("in a plan", () => {
  test.each([
    ["node a = f(s)", "node | a step of a plan is a `task`; a `node` belongs in a graph | write `task`"],
    [
      "a -> b",
      "a | expected a statement of the plan or `}`, found `a` | a plan has no edges: write the order on the task",
    ],
    [
      "task a = f(s) needs b",
      "needs | expected a statement of the plan or `}`, found `needs` | dependencies are written",
    ],
    [
      "task a = f(s) { depends b }",
      "depends | expected a policy or `}` after `{`, found `depends` | the order of tasks",
    ],
    ['task a = f(s) { touch "src" }', "touch | `touch` is not a policy | replace with `touches`"],
  ])("%s", (body, expected) => {
    const text = `import { f } from "./nodes.ts"\nplan p {\n  input s: string = "a"\n  ${body}\n}`;
    expect(errors(text)[0]).toContain(expected);
  });
});

test("the help for an expression that may be null names no function", () => {
  const { diagnostics } = check(graph("node a = last(xs) into o  start -> a"), { path: "g.ngraph", host });
  expect(diagnostics.find(({ code }) => code === "NG408")?.help).toBe(
    "this expression may be `null` here: let the channel be `string | null`",
  );
});

test.each([
  ["g.ngraph", ""],
  ["g.ngraph", "\n \n"],
  ["g.yaml", ""],
])("an empty file is a warning: %s %j", (path, text) => {
  const { diagnostics } = check(text, { path });
  expect(diagnostics.map(({ severity, message }) => `${severity}: ${message}`)).toEqual([
    "warning: this file is empty",
  ]);
});

describe("outside of graphs", () => {
  test.each([
    [
      "export graph g {}",
      "export | expected `graph`, `plan`, `test`, `type`, `import`, `const` or `secret`, found `export` | delete `export`",
    ],
    [
      "interface T { a: int }",
      "interface | expected `graph`, `plan`, `test`, `type`, `import`, `const` or `secret`, found `interface` | a record type is written",
    ],
    [
      "type T { a: int }",
      "{ | expected `=` and a type after `T`, found `{` | a record type is written `type T = { … }`",
    ],
    [
      'enum T { "a" }',
      "enum | expected `graph`, `plan`, `test`, `type`, `import`, `const` or `secret`, found `enum` | an enum is a union of strings",
    ],
    ['import f from "./nodes.ts"', "f | a default export cannot be imported | name what you need"],
    ['import * as f from "./nodes.ts"', "* | a whole module cannot be imported | name what you need"],
    ["# a comment\ntype T = int", "# | comments begin with `//`, not `#` | "],
    [
      "let N = 3",
      "let | expected `graph`, `plan`, `test`, `type`, `import`, `const` or `secret`, found `let` | a constant is written `const A = 3`",
    ],
  ])("%s", (text, expected) => {
    expect(errors(text)[0]).toContain(expected);
  });
});
