/** Habits of other languages and frameworks: the help says how the same is written here. */
import { expect, test } from "vitest";
import { check, memoryHost } from "../../compiler/index.ts";

const host = memoryHost({ "n.ts": 'export const f = (): string => "x";' });

test.each<readonly [text: string, code: string, help: string]>([
  [
    'const { f } = require("./n.ts")\ngraph g {\n  output o: string\n  node a = f() into o\n  start -> a\n}\n',
    "NG001",
    'names to import come first: `import { f } from "./nodes.ts"`',
  ],
  [
    'graph g {\n  output o: string\n  node a = "x"\n  start -> a\n  return a\n}\n',
    "NG001",
    "the result of a graph is what its nodes write to its `output` channels",
  ],
  ['plan p {\n  task a = sh("npm test")\n}\n', "NG105", 'a command is `shell("…")`'],
  [
    'plan p {\n  task a = shell("x") matrix v in [1, 2]\n}\n',
    "NG001",
    "a task runs once for each value: `task a = f(v) for v in [1, 2]`",
  ],
  [
    'plan p {\n  parallel 4\n  task a = shell("x")\n}\n',
    "NG001",
    "tasks run in parallel unless one comes `after` another; `max parallel 4` bounds how many",
  ],
  [
    "plan: p\ntasks:\n  a: { call: shell, args: ['\"npm test\"'], cwd: packages/web }\n",
    "NG014",
    "the folder is an expression; plain text needs its own quotes: '\"packages/web\"'",
  ],
  [
    "graph: g\noutputs: { o: string }\nnodes:\n  a: { value: '\"x\"', into: [o] }\nedges: [start -> a]\n",
    "NG011",
    "a key with a similar name exists: `output`",
  ],
  [
    "graph: g\noutputs: { o: string }\nnodes:\n  a: { call: http, args: ['\"http://x.y\"'], into: o, retry: 3 }\nedges: [start -> a]\n",
    "NG011",
    "a key with a similar name exists: `output`",
  ],
  [
    "graph: g\ninputs: { k: string }\noutputs: { o: string }\nnodes:\n  a: { value: '\"x\"', into: o }\nedges:\n  - from: start\n    match: k\n    cases: { a: a, default: end }\n",
    "NG011",
    "a key with a similar name exists: `input`",
  ],
  [
    "plan: p\ntasks:\n  a: { call: shell, args: ['\"x\"'] }\n  b: { call: shell, args: ['\"y\"'], needs: a }\n",
    "NG011",
    "write `after`, with the names of the tasks",
  ],
  [
    'graph g {\n  output o: string\n  node a = "x" into o\n  begin -> a\n}\n',
    "NG101",
    "a graph begins at `start`, and ends at `end`",
  ],
  [
    "graph g {\n  state i: int = 0\n  node a = i + 1 into i\n  i += 1\n start -> a\n}\n",
    "NG001",
    "a channel is changed by a node that writes to it: `node a = i + 1 into i`",
  ],
  [
    "graph g {\n  state i: int = 0\n  node a = i + 1 into i\n  i++\n start -> a\n}\n",
    "NG001",
    "a channel is changed by a node that writes to it: `node a = i + 1 into i`",
  ],
  [
    'graph g {\n  output o: string\n  node a = fail("x") into o on error -> b\n  node b = "y" into o\n  start -> a\n}\n',
    "NG001",
    "`on error` follows the target of an edge: `a -> b on error`",
  ],
  [
    'graph g {\n  input n: list[int]\n input m: Dict[str, int]\n input q: Optional[str]\n input r: Literal["a", "b"]\n input s: Union[int, str]\n  output o: int\n  node a = len(n) into o\n  start -> a\n}\n',
    "NG001",
    "`list[T]` is written `T[]`",
  ],
  [
    'graph g {\n  output o: string\n  node a = "x" into o\n  edges { start -> a }\n}\n',
    "NG001",
    "an edge is a statement of the graph, without a block: `a -> b`",
  ],
  [
    'graph g {\n  output o: string\n  nodes {\n a = "x" into o\n }\n  start -> a\n}\n',
    "NG001",
    "each node is a statement of the graph, without a block: `node a = f(x) into y`",
  ],
  [
    'const { f } = require("./n.ts")\ngraph g {\n  output o: string\n  node a = f() into o\n  start -> a\n}\n',
    "NG001",
    'names to import come first: `import { f } from "./nodes.ts"`',
  ],
  ['plan p {\n  task a = sh("npm test")\n}\n', "NG105", 'a command is `shell("…")`'],
  [
    'plan p {\n  task a = shell("x") matrix v in [1, 2]\n  parallel 4\n  node b = shell("x")\n  job c = shell("x")\n  if true { task d = shell("x") }\n}\n',
    "NG001",
    "a task runs once for each value: `task a = f(v) for v in [1, 2]`",
  ],
  ['graph g {\n  output o: string\n  node a = throw("x") into o\n  start -> a\n}\n', "NG105", '`fail("…")` fails'],
  [
    'graph g {\n  input n: string\n  output o: string\n  node a = n into o\n  start -> a\n}\ntest "t" for g { assert o == "x" }',
    "NG001",
    'what must hold is written `expect o == "x"`',
  ],
  [
    'graph g {\n  input n: string\n  output o: string\n  node a = n into o\n  start -> a\n}\ntest "t" for g { input { n: "x" }\n expect o == "x" }',
    "NG001",
    'the values of inputs are written `given n = "x"`',
  ],
  [
    'graph g {\n  input n: string\n  output o: string\n  node a = n into o\n  start -> a\n}\ntest g { expect o == "x" }',
    "NG001",
    'a test is written `test "what it shows" for g { … }`',
  ],
  [
    'graph g {\n  input n: string\n  output o: string\n  node a = n into o\n  start -> a\n}\ntest "t" for g with { n: "x" } { expect o == "x" }',
    "NG508",
    'a case is a record: `with [{ ticket: "a" }, { ticket: "b" }]`',
  ],
  [
    'graph g {\n  input n: string\n  output o: string\n  node a = n into o\n  start -> a\n}\nit "t" for g { expect o == "x" }',
    "NG001",
    'a test is written `test "what it shows" for g { … }`',
  ],
  [
    'graph g {\n  input n: string\n  output o: string\n  node a = n into o\n  start -> a\n}\ntest "t" for g { run { n: "x" }\n mock a = "y"\n expect o == "x" }',
    "NG001",
    'the values of inputs are written `given n = "x"`',
  ],
  [
    'secret KEY = "abc"\ngraph g {\n  input n: string\n  output o: string\n  node a = n into o\n  start -> a\n}\n',
    "NG001",
    "the value of a secret comes from the environment variable of its name: `secret KEY`",
  ],
  [
    "graph g {\n  output o: string\n  node a = process.env.KEY into o\n  start -> a\n}\n",
    "NG104",
    "a variable of the environment is declared beside the graph, `secret KEY`, and read by its name",
  ],
  [
    'graph g {\n  output o: string\n  node a = env("KEY") into o\n  start -> a\n}\n',
    "NG105",
    "a variable of the environment is declared beside the graph, `secret KEY`, and read by its name",
  ],
  [
    "graph g {\n  input n: int\n output o: int\n  derive d: int = n + 1\n  node a = d into o\n  start -> a\n}\n",
    "NG001",
    "a derived name has the type of its expression: `derive d = …`",
  ],
  [
    "graph g {\n  state o: int[] = [] reduce add\n  node a = [1] into o\n  start -> a\n}\n",
    "NG105",
    "the reducer is called `append` here",
  ],
  [
    "graph g {\n  state o: int = 0 reduce add\n  node a = 1 into o\n  start -> a\n}\n",
    "NG105",
    "the reducer is called `sum` here",
  ],
  [
    "graph g {\n  state o: int = 0 reduce (a, b) => a + b\n  node a = 1 into o\n  start -> a\n}\n",
    "NG001",
    "a reducer is a name: `last`, `append`, `sum`, `min`, `max`, `merge`, `union`, or an imported function",
  ],
  [
    'graph g {\n  state o: { a: string } = { a: "" }\n  node a = "x" into o.a\n  start -> a\n}\n',
    "NG001",
    "write the new record: `{ ...o, field: value }`; a channel with `reduce merge` takes the changed fields alone",
  ],
  [
    'graph g {\n  state o: string[] = []\n  node a = "x" into o[0]\n  start -> a\n}\n',
    "NG001",
    "write the new list; a channel with `reduce append` takes further items alone",
  ],
  [
    "graph g {\n  input xs: int[]\n  output o: int[]\n  for x in xs { node a = x into o }\n  start -> a\n}\n",
    "NG001",
    "a node runs once for each item: `node a = f(x) for x in xs`",
  ],
  [
    "graph g {\n  output o: int[]\n  node a = [x for x in 1..3] into o\n  start -> a\n}\n",
    "NG001",
    "the whole numbers from 1 to 3 are `range(1, 4)`",
  ],
  [
    "graph g {\n  input xs: int[]\n  output o: int[]\n  node a = xs[0:2] into o\n  start -> a\n}\n",
    "NG001",
    "a part of a list or text is `slice(xs, from, to)`",
  ],
  [
    "graph g {\n  input r: { a: int }\n  output o: { a: int, b: int }\n  node a = { **r, b: 1 } into o\n  start -> a\n}\n",
    "NG001",
    "the fields of a record are copied with `...r`",
  ],
  [
    'graph g {\n  input k: int\n  output o: string\n  node a = "x" into o\n  start -> a when k <> 1\n  start -> end otherwise\n}\n',
    "NG001",
    "not equal is written `!=`",
  ],
  [
    "graph g {\n  input k: int\n  output o: float\n  node a = k ** 2 into o\n  start -> a\n}\n",
    "NG001",
    "there is no `**`: write `x * x`",
  ],
  [
    "graph g {\n  input k: int\n  output o: int\n  node a = k // 2 into o\n  start -> a\n}\n",
    "NG406",
    "`//` begins a comment, which hides an `into o`; numbers are divided with `/`, and `round(x / y)` is an int",
  ],
  [
    'graph g {\n  input k: int\n  output o: string\n  node a = "n" + k into o\n  start -> a\n}\n',
    "NG508",
    "put values into a template: `` `… ${value}` ``",
  ],
  [
    'graph g {\n  output o: string\n  node a = ask("ok?", options: ["y", "n"]) into o\n  start -> a\n}\n',
    "NG114",
    "it takes `question`, `choices` and `details`",
  ],
  [
    'graph g {\n  output o: string\n  node a = pause("ok?") into o\n  start -> a\n}\n',
    "NG105",
    'a person is asked with `ask("…", choices: ["yes", "no"])`',
  ],
  [
    'graph g {\n  output o: bool\n  node a = approve("ok?") into o\n  start -> a\n}\n',
    "NG105",
    'a person is asked with `ask("…", choices: ["yes", "no"])`',
  ],
  [
    "graph g {\n  node a = sleep(5m) { timeout 5 minutes }\n  start -> a\n}\n",
    "NG001",
    "add a unit: `5s`; the units are `ms`, `s`, `m`, `h` and `d`",
  ],
  [
    'graph g {\n  output o: string\n  node a = http.post("http://x.y", { a: 1 }) into o\n  start -> a\n}\n',
    "NG001",
    'a request is `http(url, method: "POST", body: …)`',
  ],
  [
    'graph g {\n  output o: string\n  node a = h.o into o\n  start -> a\n}\ngraph h { output o: string node a = "x" into o start -> a }',
    "NG104",
    "`h` is a graph: call it in a node, `node a = h() into …`",
  ],
  [
    'graph g {\n  output o: string\n  subgraph h { node a = "x" into o }\n  start -> h\n}\n',
    "NG001",
    "a graph stands beside others and is called in a node: `node a = part(x) into y`",
  ],
  [
    "version 1\ngraph g {\n  input n: string\n  output o: string\n  node a = n into o\n  start -> a\n}\n",
    "NG001",
    "remove it: a file has no version",
  ],
  [
    'graph g {\n  output o: string\n  @retry(3)\n  node a = "x" into o\n  start -> a\n}\n',
    "NG001",
    "a name is written without a sign before it",
  ],
  ["plan: p\nsteps:\n  - shell: x\n", "NG011", "the steps of a plan are `tasks`"],
  [
    "graph: g\nnodes:\n  a: { call: print, args: [1] }\nedges:\n  start: a\n",
    "NG014",
    "write `- a -> b` for each, or `- { from: a, to: b }`",
  ],
  [
    "graph: g\nnodes:\n  a: { call: print, args: [1], next: end }\nedges: [start -> a]\n",
    "NG011",
    "the order of nodes is written under `edges`: `a -> b`",
  ],
  [
    "graph: g\ninput: { k: int }\nnodes:\n  a: { call: print, args: [1], if: k > 1 }\nedges: [start -> a]\n",
    "NG011",
    "a condition stands at an edge: `{ from: start, to: a, when: x > 3 }`",
  ],
  [
    "graph: g\ninput: { k: int }\nnodes:\n  a: { call: print, args: [1] }\nedges: [{ from: start, to: a, if: k > 1 }, { from: start, to: end, else: true }]\n",
    "NG011",
    "a condition is written under `when`",
  ],
  [
    "graph: g\ntypes: { T: { a: string } }\nnodes:\n  a: { call: print, args: [1] }\nedges: [start -> a]\n",
    "NG011",
    'a record type is written as in the text, in quotes: `"{ role: string }"`',
  ],
  [
    "graph: g\nimports: [./n.ts]\nnodes:\n  a: { call: f }\nedges: [start -> a]\n",
    "NG014",
    'write `"./nodes.ts": [f]` for each, without `-`',
  ],
  [
    "graph: g\nimport: { f: ./n.ts }\nnodes:\n  a: { call: f }\nedges: [start -> a]\n",
    "NG011",
    "a key with a similar name exists: `imports`",
  ],
  [
    "plan: p\ntasks:\n  a: { call: shell, args: ['\"npm test\"'], cwd: packages/web }\n  b: { call: shell, args: ['\"x\"'], cwd: web }\n",
    "NG014",
    "the folder is an expression; plain text needs its own quotes: '\"packages/web\"'",
  ],
  [
    "plan: p\ntasks:\n  a: { call: shell, args: npm test }\n",
    "NG014",
    "one argument is a list of one: `args: ['\"text\"']`",
  ],
  [
    "plan: p\ntasks:\n  a: { call: shell, with: npm test }\n",
    "NG014",
    'an argument has a name: `{ prompt: "text" }`; a list is written under `args`',
  ],
  [
    "plan: p\ntasks:\n  a: { call: shell, args: ['\"x\"'] }\n  b: { call: shell, args: ['\"x\"'], after: [a] , when: status == done }\n",
    "NG104",
    '`status(a)` is how the task `a` ended: `status(a) == "done"`',
  ],
  [
    "graph: g\ninput: { n: string }\nnodes:\n  a: { call: print, args: ['hi ${n}'] }\nedges: [start -> a]\n",
    "NG001",
    "text that contains values has backticks inside of the quotes: '`Hello ${name}`'",
  ],
  [
    "graph: g\ninput: { n: string }\nnodes:\n  a: { call: print, args: ['{{ n }}'] }\nedges: [start -> a]\n",
    "NG001",
    "a value is read by its name alone, `n`; text that contains it has backticks: '`… ${n} …`'",
  ],
  [
    "graph: g\ninput: { n: string }\nnodes:\n  a: { call: print, args: ['${{ n }}'] }\nedges: [start -> a]\n",
    "NG001",
    "write the value itself, or the whole text as a template: `` `… ${value} …` ``",
  ],
  [
    "graph: g\nnodes:\n  a: { call: print, args: [1] }\n  a: { call: print, args: [2] }\nedges: [start -> a]\n",
    "NG012",
    "delete one of them, or rename it",
  ],
])("%s", (text, code, help) => {
  const path = /^(?:graph|plan|name):/.test(text) ? "main.ngraph.yaml" : "main.ngraph";
  const { diagnostics } = check(text, { path, host });
  expect(diagnostics.map((found) => `${found.code} ${found.help ?? ""}`)).toContain(`${code} ${help}`);
});
