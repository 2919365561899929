/**
 * Mistakes of readers who know another language or engine. Each row has the file and everything that is reported about it: the code,
 * the message and the way out. A row that changes is judged again: would its author know what to do?
 */
import { describe, expect, test } from "vitest";
import { check, memoryHost } from "../../compiler/index.ts";

const host = memoryHost({ "nodes.ts": "export const f = (): number => 1;" });

/** All errors and warnings: code, message, and the help, the title of the fix or the label. */
function found(text: string, path = "main.ngraph"): string[] {
  return check(text, { path, host })
    .diagnostics.filter(({ severity }) => severity !== "info")
    .map(({ code, message, help, fixes, label }) => `${code} ${message} | ${help ?? fixes[0]?.title ?? label}`);
}

describe("a graph", () => {
  test.each<[string, readonly string[]]>([
    [
      "input q: string\noutput r: string\nnode draft-reply = q into r\nstart -> draft-reply",
      [
        "NG001 `draft-reply` is not a name: names have no `-` | names consist of the letters A to Z, digits and `_`",
        "NG001 `draft-reply` is not a name: names have no `-` | names consist of the letters A to Z, digits and `_`",
      ],
    ],
    [
      "input user-id: string\noutput r: string\nnode a = user-id into r\nstart -> a",
      [
        "NG001 `user-id` is not a name: names have no `-` | names consist of the letters A to Z, digits and `_`",
        "NG104 `user-id` is not a name: names have no `-` | the channel is called `user_id`; a subtraction has spaces: `a - b`",
      ],
    ],
    [
      "input q: string\noutput r: string\nnode a = q into r { timeout 5000 }\nstart -> a",
      [
        "NG001 expected a duration, found `5000` | add a unit: `5000ms`, which is `5s`; the units are `ms`, `s`, `m`, `h` and `d`",
      ],
    ],
    [
      'input q: string\noutput r: string\nnode a = shell("x") { timeout 5 s }\nstart -> a',
      ["NG001 expected a duration, found `5` | add a unit: `5s`; the units are `ms`, `s`, `m`, `h` and `d`"],
    ],
    [
      "input xs: string[]\noutput r: string[]\nnode a = upper(x) for x of xs into r\nstart -> a",
      ["NG001 a loop over a list is written with `in`, not `of` | write `in`"],
    ],
    [
      "input xs: string[]\noutput r: string[]\nnode a = upper(x) for x in xs for y in xs into r\nstart -> a",
      [
        "NG001 expected a statement of the graph or `}`, found `for` | the clauses of a node have this order: `for`, `into`, `{ policies }`; one `for` goes over pairs as `for p in [[x, y] for x in xs for y in ys]`",
      ],
    ],
    [
      "input q: string\noutput r: string\ntask a = q into r\nstart -> a",
      ["NG001 a step of a graph is a `node`; a `task` belongs in a plan | write `node`"],
    ],
    [
      "input q: string\noutput r: string\nnode a = q into r\nstart -> a\nedge a -> end",
      ["NG001 expected a statement of the graph or `}`, found `edge` | an edge has no word of its own: `a -> b`"],
    ],
    ['output r: string\nnode a = tool("x") into r\nstart -> a', ["NG114 `tool` needs `name` | add `name: …`"]],
    [
      'output r: string\nnode a = lm(prompt: "x") into r\nstart -> a',
      ["NG105 unknown function `lm` | a function with a similar name exists: `llm`"],
    ],
    [
      'output r: string\nstate s: string[] reduce append\nnode a = "1" into s\nnode b = "2" into s\nnode c = "x" into r\nstart -> a, b\na, b -> c',
      [
        "NG001 `a, b -> …` does not say whether one signal is enough | `any(…)`: each of these nodes signals the target; `all(…)`: the target waits for all of them",
      ],
    ],
    [
      'input q: bool\noutput r: string\nstate s: string[] reduce append\nnode a = "1" into s\nnode b = "2" into s\nnode c = "x" into r\nstart -> a when q\nstart -> b when !q\nall(a, b) -> c',
      [
        "NG405 `s` is written and never read | read it, make it an `output`, or remove `into s`",
        "NG301 `c` can never run: its barrier waits for both arms of one choice | signal it from either: `any(a, b) -> c`",
      ],
    ],
    [
      'output r: string\nstate s: string[] reduce append\nnode a = "1" into s\nnode b = "2" into s\nnode b2 = "2" into s\nnode c = len(s) == 3 ? "x" : "y" into r\nstart -> a, b\nb -> b2\na -> c\nb2 -> c',
      [
        "NG307 `c` can run twice: `a` and `b2` run in parallel and signal it in different steps | in place of these edges, wait for both: `all(a, b2) -> c`, or `settled(a, b2) -> c` if one of them may not run",
      ],
    ],
    [
      "input xs: string[]\noutput r: string\nnode a = last(xs) into r\nstart -> a",
      [
        "NG408 channel `r` does not accept this value | this expression may be `null` here: let the channel be `string | null`",
      ],
    ],
    [
      'output r: string\nstate s: string = "x"\nnode a = s into r\nstart -> a',
      [
        "NG406 the state `s` is never written: it always has its default | let a node write it with `into s`, or make it a constant of the file: `const s = …`",
      ],
    ],
    [
      'output r: string\nnode a = "x" into r\nnode w = "y" into r\nstart -> a\ngoes w',
      [
        "NG001 expected a statement of the graph or `}`, found `goes` | policies are written in braces behind the call: `node a = f(x) { goes … }`",
      ],
    ],
    [
      'output r: string\nnode a = "x" into r { goes w }\nnode w = "y" into r\nstart -> a',
      ["NG117 only imported functions can jump | choose the way with `when` or `match` on the edges of the node"],
    ],
    [
      "input q: string\nnode a = console.log(q)\nstart -> a",
      ["NG001 `console.log(…)` cannot be called | a node prints a line: `node a = print(…)`"],
    ],
    [
      "input q: string\nconst MAX = 3\nnode a = print(q)\nstart -> a",
      [
        "NG001 expected a statement of the graph or `}`, found `const` | a name for an expression is written `derive b = a + 1`; a constant is declared beside the graph",
      ],
    ],
    [
      "input q: string\nlet x = 3\nnode a = print(q)\nstart -> a",
      [
        "NG001 expected a statement of the graph or `}`, found `let` | a name for an expression is written `derive b = a + 1`; a value that changes is a channel: `state a: int = 0`",
      ],
    ],
    [
      'string q\nnode a = print("x")\nstart -> a',
      [
        'NG001 expected a statement of the graph or `}`, found `string` | a channel is declared by its role: `input a: string`, `state a: string = ""`',
      ],
    ],
    [
      "input q\nnode a = print(q)\nstart -> a",
      ["NG001 expected `:` and a type after `q`, found `node` | expected `:` and a type"],
    ],
    [
      'input q = "x"\nnode a = print(q)\nstart -> a',
      ["NG001 expected `:` and a type after `q`, found `=` | every channel has a type: `q: int = …`"],
    ],
    [
      "input q?: string\nnode a = print(q)\nstart -> a",
      [
        "NG001 expected `:` and a type after `q`, found `?` | what may be left out has a default: `q: int | null = null`",
      ],
    ],
    [
      'input q: Array<string>\nnode a = print("x")\nstart -> a',
      ["NG001 `Array<…>` is written `T[]` here | write `string[]`"],
    ],
    [
      'input q: number\nnode a = print("x")\nstart -> a',
      ["NG105 unknown type `number` | write `float`, or `int` for whole numbers"],
    ],
    [
      'input q: Record<string, int>\nnode a = print("x")\nstart -> a',
      ["NG001 `Record<…>` is written `map<T>` here | the keys of a map are strings"],
    ],
    ['input q: any\nnode a = print("x")\nstart -> a', ["NG105 unknown type `any` | write `json`"]],
    [
      'input q: list[str]\nnode a = print("x")\nstart -> a',
      ["NG001 expected `]` after `[`, found `str` | `list[T]` is written `T[]`"],
    ],
    [
      'input q: enum("a", "b")\nnode a = print("x")\nstart -> a',
      [
        'NG105 unknown type `enum` | write the values themselves: `"a" | "b"`',
        "NG001 expected a statement of the graph or `}`, found `(` | statements begin with `input` `output` `state` `memory` `config` `derive` `node` `limit` `max` `defaults` `assert` `drop`, or an edge: `a -> b`",
      ],
    ],
    [
      "input q: string = 'x'\nnode a = print(q)\nstart -> a",
      ['NG001 strings are written in double quotes | replace with `"x"`'],
    ],
    [
      'input q: string\nnode a = print("hi ${q}")\nstart -> a',
      [
        "NG406 the input `q` is never read | text between double quotes is not a template: put it between backticks, `` `…${q}…` ``",
      ],
    ],
    [
      'state v: string\nnode a = ask("name?") into v\nnode b = print("hi ${v}")\nstart -> a -> b',
      [
        "NG405 `v` is written and never read | text between double quotes is not a template: put it between backticks, `` `…${v}…` ``",
      ],
    ],
    [
      'input q: string\nnode a = print("hi {q}")\nstart -> a',
      [
        "NG406 the input `q` is never read | text between double quotes is not a template: put it between backticks, `` `…${q}…` ``",
      ],
    ],
    [
      'input q: bool\nnode a = print("x")\nstart -> a if q',
      ["NG001 a condition begins with `when`, not `if` | write `when`"],
    ],
    [
      'input q: int\nnode a = print("x")\nnode b = print("y")\nstart -> a when q > 1\nstart -> b else',
      ["NG001 an edge for all other cases ends in `otherwise`; `else` begins an arm of `match` | write `otherwise`"],
    ],
    [
      'input q: int\nnode a = print("x")\nif q > 1:\n  start -> a',
      [
        "NG001 expected a statement of the graph or `}`, found `if` | choices are edges: `a -> b when x > 3`, `a -> c otherwise`",
      ],
    ],
    ['node a = print("x")\nstart => a', ["NG001 an arrow is written `->`, not `=>` | replace with `->`"]],
    ['node a = print("x")\nstart --> a', ["NG001 an arrow is written `->`, not `-->` | replace with `->`"]],
    [
      'node a = print("x")\n"start" -> "a"',
      [
        'NG001 expected a statement of the graph or `}`, found the string "start" | the names of nodes have no quotes: `start -> a`',
      ],
    ],
    [
      'node a = print("x")\nSTART -> a\na -> END',
      [
        "NG101 unknown node `START` | a node with a similar name exists: `start`",
        "NG101 unknown node `END` | a node with a similar name exists: `end`",
      ],
    ],
    [
      'node a = print("x")\n__start__ -> a',
      ["NG101 unknown node `__start__` | a node with a similar name exists: `start`"],
    ],
    ['node a = print("x")\nstart -> b', ["NG101 unknown node `b` | the nodes are `a`"]],
    ['node a = shell("x") { retry 3 }\nstart -> a', ["NG001 `retry` is not a policy | replace with `tries`"]],
    ['node a = shell("x") { retries: 3 }\nstart -> a', ["NG001 `retries` is not a policy | replace with `tries`"]],
    ['node a = shell("x") { tries: 3 }\nstart -> a', ["NG001 `tries` takes no `:` | delete it"]],
    [
      'node a = shell("x") { tries 3, timeout 5s }\nstart -> a',
      ["NG001 policies are not separated by commas | delete the comma"],
    ],
    [
      'node a = shell("x") tries 3\nstart -> a',
      ["NG001 expected a statement of the graph or `}`, found `tries` | policies are written in braces: `{ tries … }`"],
    ],
    [
      'output r: string\noutput s: string\nnode a = "x" into r, s\nstart -> a',
      [
        "NG408 this value has no field `r`: the channel does not accept this value | store the whole result: `into channel`",
        "NG001 the fields of a result that go into channels are written in braces | write `{ r, s }`",
        "NG408 this value has no field `s`: the channel does not accept this value | store the whole result: `into channel`",
      ],
    ],
    [
      'output r: string\noutput s: string\nnode a = { r: "x", s: "y" } into [r, s]\nstart -> a',
      [
        "NG001 expected a channel, or `{ field: channel }` after `into`, found `[` | the fields of a result are written in braces: `into { a, b: channel }`",
      ],
    ],
    [
      'output r: string\nnode a = "x"\nr = a\nstart -> a',
      [
        "NG001 expected a statement of the graph or `}`, found `r` | a step is a node, which writes to a channel: `node a = f(x) into r`",
      ],
    ],
    [
      'output r: string\nnode a = "x"\nnode b = a into r\nstart -> a -> b',
      ["NG104 unknown channel `a` | `a` is a node: store its result with `into` and read that channel"],
    ],
    ['node a = "x" into r\nstart -> a', ["NG104 unknown channel `r` | declare it: `state r: …`"]],
    [
      'input q: string\nnode a = "x" into q\nstart -> a',
      ["NG104 `q` is an input: nothing may write it | store the value into a `state` channel"],
    ],
    ['node a = print("x")', ["NG103 nothing starts `g`: no edge leaves `start` | add `start -> a`"]],
    [
      'node a = await print("x")\nstart -> a',
      ["NG001 calls need no `await`: a node is done when its call is | delete it"],
    ],
    [
      "input q: string\noutput r: string\nnode a = q.toUpperCase() into r\nstart -> a",
      ["NG001 `.toUpperCase(…)` is not a method: functions are called by name | write `upper(…)`"],
    ],
    [
      "input q: string[]\noutput r: int\nnode a = q.length into r\nstart -> a",
      ["NG508 `.length` needs a record | write `len(…)`"],
    ],
    [
      'input q: string[]\noutput r: string[]\nnode a = q.push("x") into r\nstart -> a',
      [
        "NG001 `.push(…)` cannot be called: values never change | build a new list: `[...xs, x]`; a channel that collects values has `reduce append`",
      ],
    ],
    [
      'input q: string[]\noutput r: string[]\nnode a = q.map(x => x + "1") into r\nstart -> a',
      [
        "NG001 `.map(…)` cannot be called: there are no methods and no functions as values | write a comprehension: `[f(x) for x in xs if x.ok]`",
      ],
    ],
    [
      'input q: bool\nnode a = print("x")\nstart -> a when q and q\nstart -> end otherwise',
      ["NG001 `and` is not an operator here | replace with `&&`"],
    ],
    [
      'input q: bool\nnode a = print("x")\nstart -> a when not q\nstart -> end otherwise',
      ["NG001 `not` is not an operator here | replace with `!`"],
    ],
    [
      'state q: string | None = None\nnode a = print(q ?? "")\nstart -> a',
      [
        "NG105 unknown type `None` | write `null`",
        "NG408 the default of `q` is not a constant | write a literal, or let a first node compute it",
      ],
    ],
    [
      'state q: string | undefined\nnode a = print(q ?? "")\nstart -> a',
      ["NG105 unknown type `undefined` | write `null`"],
    ],
    [
      "node a = print(process.env.X)\nstart -> a",
      [
        "NG104 unknown channel `process` | a variable of the environment is declared beside the graph, `secret KEY`, and read by its name",
      ],
    ],
    [
      "node a = print(env.X)\nstart -> a",
      [
        "NG104 unknown channel `env` | a variable of the environment is declared beside the graph, `secret KEY`, and read by its name",
      ],
    ],
    [
      'state n: int = 0\noutput r: string\nnode a = "n=" + n into r\nstart -> a',
      ["NG508 `+` needs two numbers or two strings | put values into a template: `` `… ${value}` ``"],
    ],
    [
      "state n: int = 0\nnode a = n++ into n\nstart -> a",
      [
        "NG001 expected an expression after `+`, found `+` | nothing is assigned in an expression: a node writes, `node a = x + 1 into x`",
      ],
    ],
    [
      "state n: int = 0\nnode a = n += 1\nstart -> a",
      [
        "NG001 expected an expression after `+`, found `=` | nothing is assigned in an expression: a node writes, `node a = x + 1 into x`",
      ],
    ],
    [
      'input q: bool\noutput r: string\nnode a = "x" if q else "y" into r\nstart -> a',
      [
        "NG001 expected a statement of the graph or `}`, found `if` | a choice within an expression is written `x > 3 ? a : b`; what runs next is chosen by edges: `a -> b when x > 3`",
      ],
    ],
    [
      'input q: "x" | "y"\nnode a = print("1")\nnode b = print("2")\nstart -> switch q { "x" -> a "y" -> b }',
      [
        "NG001 expected a statement of the graph or `}`, found `q` | choices are edges: `a -> match x { 1 -> b  else -> c }`",
      ],
    ],
    [
      'input q: "x" | "y"\nnode a = print("1")\nnode b = print("2")\nstart -> match q { case "x" -> a  case "y" -> b }',
      [
        'NG001 expected a literal, or `else` after `{`, found `case` | an arm has no `case`: `"a" -> b`',
        'NG001 expected a literal, or `else` after `a`, found `case` | an arm has no `case`: `"a" -> b`',
      ],
    ],
    [
      'input q: "x" | "y"\nnode a = print("1")\nnode b = print("2")\nstart -> match q { "x" => a  "y" => b }',
      [
        "NG001 an arrow is written `->`, not `=>` | replace with `->`",
        "NG001 an arrow is written `->`, not `=>` | replace with `->`",
      ],
    ],
    [
      'input q: "x" | "y"\nnode a = print("1")\nnode b = print("2")\nstart -> match q { "x" -> a  _ -> b }',
      ["NG001 the arm for all other cases begins with `else`, not `_` | write `else`"],
    ],
    [
      'input q: "x" | "y"\nnode a = print("1")\nnode b = print("2")\nstart -> match q { "x" -> a  default -> b }',
      ["NG001 the arm for all other cases begins with `else`, not `default` | write `else`"],
    ],
    [
      'input q: "x" | "y"\nnode a = print("1")\nnode b = print("2")\nstart -> match q { "x" -> a, "y" -> b }',
      ["NG001 arms are not separated by commas | delete the comma"],
    ],
    [
      'node a = print("1")\nnode b = print("2")\nstart -> [a, b]',
      ["NG001 the targets of an edge need no brackets | delete the brackets"],
    ],
    [
      'node a = print("1")\nnode b = print("2")\nstart -> parallel(a, b)',
      [
        "NG001 expected a statement of the graph or `}`, found `(` | nodes run in parallel when one edge leads to all of them: `start -> a, b`",
      ],
    ],
    [
      'node a = print("1")\nnode b = print("2")\nnode c = print("3")\nstart -> a, b\njoin(a, b) -> c',
      [
        "NG001 expected a statement of the graph or `}`, found `join` | a node that waits for both is written `all(a, b) -> c`, one that runs for each of them `any(a, b) -> c`",
      ],
    ],
    [
      'node a = print("1")\nnode b = print("2")\nnode c = print("3")\nstart -> a, b\na + b -> c',
      [
        "NG001 expected a statement of the graph or `}`, found `a` | a node that waits for both is written `all(a, b) -> c`, one that runs for each of them `any(a, b) -> c`",
      ],
    ],
    [
      'node a = print("1")\nnode b = print("2")\nnode c = print("3")\nstart -> a, b\na & b -> c',
      [
        "NG001 expected a statement of the graph or `}`, found `a` | a node that waits for both is written `all(a, b) -> c`, one that runs for each of them `any(a, b) -> c`",
        "NG001 `&` is not an operator here | to require both, write `&&`",
      ],
    ],
    ['node a = print("x"\nstart -> a', ['NG001 expected `,` or `)` after `"x"`, found `start` | expected `,` or `)`']],
    ['node a = print("x")\nnode a = print("y")\nstart -> a', ["NG102 `a` is declared twice | rename one of them"]],
    [
      'output r: string\nnode a = ask("x") into r { timeout 2h }\nstart -> a',
      ["NG612 `timeout` limits an attempt, but `a` waits for an answer | write the deadline: `within 2h`"],
    ],
    [
      'node a = sleep("5s")\nstart -> a',
      [
        "NG408 argument `duration` of `sleep` takes a duration | a duration is a number from 0 with a unit, without quotes: `500ms`, `30s`, `5m`, `2h`, `3d`",
      ],
    ],
    [
      "node a = sleep(5)\nstart -> a",
      [
        "NG408 argument `duration` of `sleep` has no unit: a plain number is milliseconds | write the unit: `5ms` or `5s`",
      ],
    ],
  ])("%s", (text, expected) => {
    expect(found(`graph g {\n  ${text.replaceAll("\n", "\n  ")}\n}`)).toEqual(expected);
  });
});

describe("a plan", () => {
  test.each<[string, readonly string[]]>([
    ['node a = shell("x")', ["NG001 a step of a plan is a `task`; a `node` belongs in a graph | write `task`"]],
    ['task a = shell("x") { touch "a.ts" }', ["NG001 `touch` is not a policy | replace with `touches`"]],
    [
      'task a = shell("x")\ntask b = shell("y")\na -> b',
      [
        "NG001 expected a statement of the plan or `}`, found `a` | a plan has no edges: write the order on the task that runs later, `task b = … after a`",
      ],
    ],
    [
      'task a = shell("x")\ntask b = shell("y")\nedge a -> b',
      [
        "NG001 expected a statement of the plan or `}`, found `edge` | a plan has no edges: write the order on the task that runs later, `task b = … after a`",
      ],
    ],
    [
      'task a = shell("x")\ntask b = shell("y") depends a',
      ["NG001 expected a statement of the plan or `}`, found `depends` | dependencies are written `after a, b`"],
    ],
    [
      'task a = shell("x")\ntask b = shell("y") needs: [a]',
      ["NG001 expected a statement of the plan or `}`, found `needs` | dependencies are written `after a, b`"],
    ],
    [
      'task a = shell("x")\ntask b = shell("y") after [a]',
      [
        "NG001 expected the name of a task after `after`, found `[` | tasks are listed without colon and brackets: `after a, b`",
      ],
    ],
    [
      'task a = shell("x")\ntask b = shell("y") { after a }',
      [
        "NG001 expected a policy or `}` after `{`, found `after` | the order of tasks is written before the policies: `task b = … after a { … }`",
      ],
    ],
    [
      "task a: npm test",
      [
        "NG001 `=` comes before the task's call | write `=`",
        "NG104 unknown channel `npm` | declare it: `state npm: …`",
        'NG001 expected a statement of the plan or `}`, found `test` | a call has parentheses: `f(x)`; a command is a string: `shell("npm test")`',
      ],
    ],
    [
      'task a = shell("x")\nstart -> a',
      [
        "NG001 expected a statement of the plan or `}`, found `start` | a plan has no edges: write the order on the task that runs later, `task b = … after a`",
      ],
    ],
  ])("%s", (text, expected) => {
    expect(found(`plan p {\n  ${text.replaceAll("\n", "\n  ")}\n}`)).toEqual(expected);
  });
});

describe("a file", () => {
  test.each<[string, readonly string[]]>([
    [
      "graph my-graph {\n  input q: string\n  output r: string\n  node a = q into r\n  start -> a\n}\n",
      ["NG001 `my-graph` is not a name: names have no `-` | names consist of the letters A to Z, digits and `_`"],
    ],
    ["", ['NG001 this file is empty | declare a graph: `graph hello { node greet = print("hi")  start -> greet }`']],
    [
      'node a = print("x")\nstart -> a\n',
      [
        "NG001 this statement is outside of every graph, plan and test | write it between the braces of `graph … { … }`",
      ],
    ],
    [
      'flow g {\n  node a = print("x")\n  start -> a\n}\n',
      [
        "NG001 expected `graph`, `plan`, `test`, `type`, `import`, `const` or `secret`, found `flow` | a graph is written `graph NAME { … }`, tasks that depend on each other `plan NAME { … }`",
      ],
    ],
    [
      'workflow g {\n  node a = print("x")\n  start -> a\n}\n',
      [
        "NG001 expected `graph`, `plan`, `test`, `type`, `import`, `const` or `secret`, found `workflow` | it is called `graph` here, or `plan` for a list of tasks that depend on each other",
      ],
    ],
    [
      'import f from "./nodes.ts"\ngraph g {\n  node a = f()\n  start -> a\n}\n',
      [
        'NG001 a default export cannot be imported | name what you need: `import { search, type Ticket } from "./nodes.ts"`',
      ],
    ],
    [
      'import * as f from "./nodes.ts"\ngraph g {\n  node a = f()\n  start -> a\n}\n',
      [
        'NG001 a whole module cannot be imported | name what you need: `import { search, type Ticket } from "./nodes.ts"`',
      ],
    ],
    [
      'const f = require("./nodes.ts")\ngraph g {\n  node a = f()\n  start -> a\n}\n',
      [
        "NG408 `require` is not a library function | a constant is made of literals, other constants and library functions",
        "NG105 `f` is a constant, not a function | expected a function",
      ],
    ],
    [
      'import { f } from "./nodes"\ngraph g {\n  node a = f()\n  start -> a\n}\n',
      ["NG105 no file `./nodes` | a file with a similar name exists: `./nodes.ts`"],
    ],
    [
      "from nodes import f\ngraph g {\n  node a = f()\n  start -> a\n}\n",
      [
        'NG001 expected `graph`, `plan`, `test`, `type`, `import`, `const` or `secret`, found `from` | names to import come first: `import { f } from "./nodes.ts"`',
      ],
    ],
    [
      'graph g {\n  node a = print("x")\n  start -> a\n',
      ["NG001 the graph is never closed: a `}` is missing before this | close it"],
    ],
  ])("%s", (text, expected) => {
    expect(found(text)).toEqual(expected);
  });
});

describe("a YAML file", () => {
  test.each<[string, readonly string[]]>([
    [
      "graph: g\nnodes:\n  - a: { call: print, with: { text: x } }\nedges:\n  - start -> a\n",
      ["NG014 expected a map from names to nodes, found a list | write `name: …` for each, without `-`"],
    ],
    [
      "graph: g\nsteps:\n  a: { call: print, with: { text: x } }\nedges:\n  - start -> a\n",
      ["NG011 a graph has no key `steps` | the steps of a graph are `nodes`"],
    ],
    [
      "graph: g\nnodes:\n  a: { call: print, args: { text: hello world } }\nedges:\n  - start -> a\n",
      [
        "NG001 expected the end after `hello`, found `world` | arguments are expressions; plain text goes under `with`, or needs its own quotes: '\"text\"'",
      ],
    ],
    [
      "graph: g\nnodes:\n\ta: { call: print, with: { text: x } }\nedges:\n  - start -> a\n",
      ["NG010 tabs are not allowed as indentation | indent with spaces"],
    ],
    [
      "graph: g\nnodes:\n  a: { call: print, with: { text: x }, timeout: 5000 }\nedges:\n  - start -> a\n",
      [
        "NG014 expected a duration such as `30s`, found the number 5000 | add a unit: `5000ms`, which is `5s`; the units are `ms`, `s`, `m`, `h` and `d`",
      ],
    ],
    [
      "graph: g\nnodes:\n  a: { call: print, with: { text: x } }\nedges:\n  start: a\n",
      ["NG014 expected a list of edges, found a map | write `- a -> b` for each, or `- { from: a, to: b }`"],
    ],
    [
      "name: g\nnodes:\n  a: { call: print, with: { text: x } }\nedges:\n  - start -> a\n",
      ["NG011 a document has no key `name` | the name follows the kind of the document: `graph: main`"],
    ],
  ])("%s", (text, expected) => {
    expect(found(text, "main.ngraph.yaml")).toEqual(expected);
  });
});
