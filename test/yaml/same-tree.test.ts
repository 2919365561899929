import { describe, expect, test } from "vitest";
import { parse } from "../../grammar/parse.ts";
import { parseYaml } from "../../grammar/yaml/parse-yaml.ts";
import { withoutSpans } from "../support/without-spans.ts";

/** The tree of a YAML text that is free of mistakes. */
function yamlTree(text: string): unknown {
  const { file, diagnostics } = parseYaml(text);
  expect(diagnostics.map(({ message }) => message)).toEqual([]);
  return withoutSpans(file.items);
}

function textTree(text: string): unknown {
  const { file, diagnostics } = parse(text);
  expect(diagnostics.map(({ message }) => message)).toEqual([]);
  return withoutSpans(file.items);
}

/** Statements of a graph `g`, as keys of its document and as text. */
const GRAPHS: readonly (readonly [what: string, yaml: string, text: string])[] = [
  ["nothing", "", ""],
  ["channels by role", "input: { a: string }\noutput: { b: int }", "input a: string output b: int"],
  ["state and memory", "state: { a: 'string[]' }\nmemory: { b: map<int> }", "state a: string[] memory b: map<int>"],
  ["an empty section", "state:\nnodes:\nedges:", ""],
  [
    "a default of plain data",
    "state: { a: { type: json, default: { x: [1, -2.5, null, true, text] } } }",
    'state a: json = { x: [1, -2.5, null, true, "text"] }',
  ],
  ["a default that is an expression", "state: { a: { type: int, expr: 2 * 3 } }", "state a: int = 2 * 3"],
  ["a reducer", "state: { a: { type: 'int[]', reduce: append } }", "state a: int[] reduce append"],
  ["documentation of a channel", "state: { a: { type: int, doc: How many. } }", "/// How many.\nstate a: int"],
  [
    "documentation over several lines",
    "state:\n  a:\n    type: int\n    doc: |\n      One.\n\n        Two.\n",
    "/// One.\n///\n///   Two.\nstate a: int",
  ],
  ["limits", "limits: { steps: 40, max parallel: 3 }", "limit steps 40 max parallel 3"],
  ["limits of usage", "limits: { tokens: 4000, cost: 0.25 }", "limit tokens 4000 limit cost 0.25"],
  ["no limit of usage", "limits: { tokens: none, cost: none }", "limit tokens none limit cost none"],
  ["no limit", "limits: { steps: none }", "limit steps none"],
  ["tasks at a time", "max parallel: 3", "max parallel 3"],
  [
    "a call with positional arguments",
    "nodes: { a: { call: f, args: [x, 1, true, 'y + 1', '\"text\"'] } }",
    'node a = f(x, 1, true, y + 1, "text")',
  ],
  [
    "a call with named arguments",
    "nodes: { a: { call: llm, args: { prompt: '`Hi ${x}`', max: 3 } } }",
    "node a = llm(prompt: `Hi ${x}`, max: 3)",
  ],
  [
    "a call with data",
    "nodes: { a: { call: shell, with: { command: npm test, env: { A: b } } } }",
    'node a = shell(command: "npm test", env: { A: "b" })',
  ],
  ["a call with both", "nodes: { a: { call: f, args: [x], with: { y: z } } }", 'node a = f(x, y: "z")'],
  [
    "a call with expressions by position and by name, and data",
    "nodes: { a: { call: ask, args: ['`Send ${x}?`', { details: x }], with: { choices: [a, b] } } }",
    'node a = ask(`Send ${x}?`, details: x, choices: ["a", "b"])',
  ],
  ["a call without arguments", "nodes: { a: { call: f } }", "node a = f()"],
  ["an expression", "nodes: { a: { expr: rounds + 1, into: rounds } }", "node a = rounds + 1 into rounds"],
  ["an expression that calls", "nodes: { a: { expr: 'f(x)' } }", "node a = f(x)"],
  ["the short form of a node", "nodes: { a: 'f(x)', b: 3 }", "node a = f(x) node b = 3"],
  [
    "fields into channels",
    "nodes: { a: { call: f, into: { reply: reply, score: points } } }",
    "node a = f() into { reply, score: points }",
  ],
  ["fields as a list", "nodes: { a: { call: f, into: [reply, score] } }", "node a = f() into { reply, score }"],
  [
    "fields as text",
    "nodes: { a: { call: f, into: '{ reply, score: points }' } }",
    "node a = f() into { reply, score: points }",
  ],
  [
    "one task an item",
    "nodes: { a: { call: f, args: [doc], for: 'doc in docs', max parallel: 8 } }",
    "node a = f(doc) for doc in docs { max parallel 8 }",
  ],
  [
    "tries, backoff, timeout",
    "nodes: { a: { call: f, tries: 4, backoff: 200ms..5s, timeout: 10s } }",
    "node a = f() { tries 4 backoff 200ms..5s timeout 10s }",
  ],
  ["backoff before tries", "nodes: { a: { call: f, backoff: 1s, tries: 4 } }", "node a = f() { tries 4 backoff 1s }"],
  [
    "cache",
    "nodes: { a: { call: f, cache: true }, b: { call: f, cache: 1h }, c: { call: f, cache: false } }",
    "node a = f() { cache } node b = f() { cache for 1h } node c = f()",
  ],
  [
    "cache with inputs",
    "nodes: { a: { call: f, cache: { for: 1h, inputs: [a.txt] } } }",
    'node a = f() { cache for 1h inputs "a.txt" }',
  ],
  ["waits and goes", "nodes: { a: { call: f, waits: [b, c], goes: end } }", "node a = f() { waits b, c goes end }"],
  [
    "pauses",
    "nodes: { a: { call: f, pause: before }, b: { call: f, pause: [before, after] } }",
    "node a = f() { pause before } node b = f() { pause before pause after }",
  ],
  ["flags", "nodes: { a: { call: f, idempotent: true, alone: false } }", "node a = f() { idempotent }"],
  ["documentation of a node", "nodes: { a: { doc: Does it., call: f } }", "/// Does it.\nnode a = f()"],
  [
    "assertions",
    "asserts: [approve before end, once charge, eventually reply, never deploy with migrate, n > 3 at reply]",
    "assert approve before end assert once charge assert eventually reply assert never deploy with migrate assert n > 3 at reply",
  ],
  ["one assertion", "asserts: once charge", "assert once charge"],
  [
    "edges as text",
    "edges: [start -> a, 'any(a, b) -> c, d', 'all(a, any(b, c)) -> d -> e', a -> b on error, a -> b otherwise, 'a -> match x { \"y\" -> b  else -> c }']",
    'start -> a any(a, b) -> c, d all(a, any(b, c)) -> d -> e a -> b on error a -> b otherwise a -> match x { "y" -> b else -> c }',
  ],
  [
    "edges as maps",
    "edges: [{ from: a, to: b }, { any: [a, b], to: [c, d], when: x > 1 }, { from: a, to: b, otherwise: true }, { from: a, to: b, on error: true }]",
    "a -> b any(a, b) -> c, d when x > 1 a -> b otherwise a -> b on error",
  ],
  ["a condition that is a literal", "edges: [{ from: a, to: b, when: true }]", "a -> b when true"],
  ["barriers as maps", "edges: [{ all: [a, { any: [b, c] }], to: d }]", "all(a, any(b, c)) -> d"],
  ["settled as a map", "edges: [{ settled: [a, { any: [b, c] }], to: [d, e] }]", "settled(a, any(b, c)) -> d, e"],
  ["settled as a string", "edges: ['settled(a, b) -> c -> d']", "settled(a, b) -> c -> d"],
  ["a chain as a map", "edges: [{ from: a, via: [b, c], to: d, doc: Why. }]", "/// Why.\na -> b -> c -> d"],
  [
    "a match as a map",
    "edges: [{ from: a, match: x, arms: [{ is: y, to: [b, c] }, { is: [1, -2.0, null, true], to: d }, { else: e }] }]",
    'a -> match x { "y" -> b, c 1 | -2.0 | null | true -> d else -> e }',
  ],
  [
    "a match of conditions",
    "edges: [{ from: a, arms: [{ when: x > 9, to: b }, { else: [c, d] }] }]",
    "a -> match { x > 9 -> b else -> c, d }",
  ],
];

describe("a graph in YAML is the tree of its text", () => {
  test.each(GRAPHS)("%s", (_what, yaml, text) => {
    expect(yamlTree(`graph: g\n${yaml}`)).toEqual(textTree(`graph g { ${text}\n}`));
  });
});

const DOCUMENTS: readonly (readonly [what: string, yaml: string, text: string])[] = [
  [
    "imports",
    "imports: { ./a.ts: [f, type T, rank as r, type], ./b.ngraph: g }",
    'import { f, type T, rank as r, type } from "./a.ts" import { g } from "./b.ngraph"',
  ],
  [
    "types",
    "types: { M: '{ a: string, b?: int }', N: { type: M | null, doc: Or not. } }",
    "type M = { a: string, b?: int }\n/// Or not.\ntype N = M | null",
  ],
  ["secrets", "secrets: [A, { name: B, doc: Of b. }]", "secret A\n/// Of b.\nsecret B"],
  ["one secret", "secrets: A", "secret A"],
  [
    "declarations beside a graph",
    "imports: { a.ts: f }\ngraph: g\ntypes: { T: int }",
    'import { f } from "a.ts" type T = int graph g {}',
  ],
  [
    "declarations in the order of their keys",
    "types: { T: int }\nimports: { a.ts: f }",
    'type T = int import { f } from "a.ts"',
  ],
  ["documentation of a graph", "graph: g\ndoc: What it does.", "/// What it does.\ngraph g {}"],
  ["several documents", "graph: a\n---\ngraph: b\n---\n# nothing\n", "graph a {} graph b {}"],
  [
    "a plan",
    "plan: p\ndoc: Ships.\nmax parallel: 3\norder: file\npools: { gpu: 2 }\non failure: no-new\ninput: { v: string }\ntasks: { a: { call: shell, with: { command: x } }, b: 'f(v)' }",
    '/// Ships.\nplan p { max parallel 3 order file pool gpu 2 on failure no-new input v: string task a = shell(command: "x") task b = f(v) }',
  ],
  [
    "dependencies",
    "plan: p\ntasks: { a: { call: f, after: b }, c: { call: f, after any: [a, b] }, d: { call: f, after done: [a] } }",
    "plan p { task a = f() after b task c = f() after any a, b task d = f() after done a }",
  ],
  [
    "a task's clauses",
    "plan: p\ntasks:\n  a:\n    doc: Why.\n    call: f\n    args: [v]\n    for: v in [1, 2]\n    after: [b]\n    when: x\n    into: y\n    touches: [a.ts, b.ts]\n    reads: c.ts\n    done when: ['shell(\"t\")', ok]\n    tries: 6\n    pool: [gpu, { disk: 2 }]\n    estimate: 5m\n    alone: true",
    'plan p { /// Why.\ntask a = f(v) for v in [1, 2] after b when x into y { touches "a.ts", "b.ts" touches read "c.ts" done when shell("t") done when ok tries 6 pool gpu pool disk 2 estimate 5m alone } }',
  ],
  [
    "a test",
    "test: it works\nfor: g\ngiven: { a: the text }\nmock: { b: { x: 1 } }\nanswer: { c: yes }\nexpect: ['ran a, [b, c]', status failed, 'x == 1']",
    'test "it works" for g { given a = "the text" mock b = { x: 1 } answer c = "yes" expect ran a, [b, c] expect status failed expect x == 1 }',
  ],
  [
    "a test's lines as text",
    "test: t\nfor: g\ngiven: [a = 1 + 2]\nmock: ['b = 1 then x', 'c fails \"no\"']\nanswer: ['d = 1 then 2']\nexpect: ok",
    'test "t" for g { given a = 1 + 2 mock b = 1 then x mock c fails "no" answer d = 1 then 2 expect ok }',
  ],
  [
    "a test's lines as maps",
    "test: t\nfor: g\ngiven: [{ channel: a, value: [1] }]\nmock: [{ node: b, returns: 1, then: [2, 3] }, { node: c, fails: no }]\nanswer: [{ node: d, value: 1, then: [2] }]\nexpect: [{ ran: [a, [b, c]] }, { status: failed }]",
    'test "t" for g { given a = [1] mock b = 1 then 2 then 3 mock c fails "no" answer d = 1 then 2 expect ran a, [b, c] expect status failed }',
  ],
];

describe("a document is the tree of its text", () => {
  test.each(DOCUMENTS)("%s", (_what, yaml, text) => {
    expect(yamlTree(yaml)).toEqual(textTree(text));
  });
});

describe("scalars", () => {
  const value = (yaml: string) => {
    const { file, diagnostics } = parseYaml(`test: t\nfor: g\ngiven:\n  a: ${yaml}`);
    expect(diagnostics).toEqual([]);
    const [item] = file.items;
    const line = item?.kind === "Test" ? item.items[0] : undefined;
    return line?.kind === "Given" ? withoutSpans(line.value) : undefined;
  };

  test.each([
    ["0x1F", { kind: "Number", value: 31, isFloat: false, raw: "31" }],
    ["1.50", { kind: "Number", value: 1.5, isFloat: true, raw: "1.50" }],
    [".5", { kind: "Number", value: 0.5, isFloat: true, raw: "0.5" }],
    ["1.", { kind: "Number", value: 1, isFloat: true, raw: "1.0" }],
    ["1e3", { kind: "Number", value: 1000, isFloat: true, raw: "1e3" }],
    ["+7", { kind: "Number", value: 7, isFloat: false, raw: "7" }],
    ["-7", { kind: "Unary", operator: "-", operand: { kind: "Number", value: 7, isFloat: false, raw: "7" } }],
    ["!!str 7", { kind: "String", value: "7" }],
    ["yes", { kind: "String", value: "yes" }],
    ["1_000", { kind: "String", value: "1_000" }],
    ["2020-01-01", { kind: "String", value: "2020-01-01" }],
    ["~", { kind: "Null" }],
    ["", { kind: "Null" }],
    ["TRUE", { kind: "Bool", value: true }],
    ["|\n    two\n    lines\n", { kind: "String", value: "two\nlines\n" }],
    [
      "[a, b: c]",
      {
        kind: "List",
        items: [
          { kind: "String", value: "a" },
          {
            kind: "Record",
            fields: [
              {
                kind: "RecordField",
                name: { kind: "Key", name: "b", quoted: false },
                value: { kind: "String", value: "c" },
              },
            ],
          },
        ],
      },
    ],
  ])("%s", (yaml, tree) => {
    expect(value(yaml)).toEqual(tree);
  });

  test("fields of data are any keys, `__proto__` among them", () => {
    expect(value('{ __proto__: 1, "a b": 2, 3: 4, true: 5, "<<": 6 }')).toMatchObject({
      kind: "Record",
      fields: ["__proto__", "a b", "3", "true", "<<"].map((name) => ({ name: { name } })),
    });
  });

  test("nodes and channels may be called `__proto__` and `constructor`", () => {
    const { file, diagnostics } = parseYaml(
      "graph: g\nstate: { __proto__: int }\nnodes: { constructor: f(x), __proto__: f(x) }",
    );
    expect(diagnostics).toEqual([]);
    const [graph] = file.items;
    expect(graph?.kind === "Graph" ? graph.statements.length : 0).toBe(3);
  });
});

describe("aliases", () => {
  test("expand to the value that they name", () => {
    const yaml =
      "graph: g\nnodes:\n  a: { call: f, args: &args [x, y], tries: &tries 3 }\n  b: { call: f, args: *args, tries: *tries }";
    expect(yamlTree(yaml)).toEqual(textTree("graph g { node a = f(x, y) { tries 3 } node b = f(x, y) { tries 3 } }"));
  });

  test("an anchor may be set again", () => {
    expect(yamlTree("graph: g\nstate: { a: &t int, b: *t, c: &t string, d: *t }")).toEqual(
      textTree("graph g { state a: int state b: int state c: string state d: string }"),
    );
  });
});
