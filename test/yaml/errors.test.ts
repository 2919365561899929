import { describe, expect, test } from "vitest";
import { parseYaml } from "../../grammar/yaml/parse-yaml.ts";

/** Reads a text in which `«…»` marks the expected place of the first diagnostic. */
function first(marked: string) {
  const start = marked.indexOf("«");
  const end = marked.indexOf("»") - 1;
  const text = marked.replace("«", "").replace("»", "");
  const { diagnostics } = parseYaml(text, { path: "g.yaml" });
  const [diagnostic] = diagnostics;
  return { diagnostic, expected: { start, end }, diagnostics };
}

type Case = readonly [marked: string, message: string, help?: string];

function cases(code: string, all: readonly Case[]): void {
  for (const [marked, message, help] of all) {
    test(marked, () => {
      const { diagnostic, expected } = first(marked);
      expect(diagnostic?.code).toBe(code);
      expect(diagnostic?.message).toBe(message);
      expect(diagnostic?.span).toEqual(expected);
      if (help !== undefined) expect(diagnostic?.help).toBe(help);
    });
  }
}

const NODE_KEYS = "a key with a similar name exists:";

describe("NG010: YAML syntax", () => {
  cases("NG010", [
    [
      "graph: g\nnodes: { a: { call: f, args: [«`»x`] } }",
      "plain value cannot start with reserved character `",
      'a template goes in quotes: "`…`"',
    ],
    [
      "graph: g\nnodes:\n  a: { call: f, into: x\n«n»odes: {}",
      "flow map in block collection must be sufficiently indented and end with a }",
    ],
    [
      "graph: g\ndoc: «a»: b",
      "nested mappings are not allowed in compact mappings",
      "a value with `: ` or over several lines goes in quotes",
    ],
    ["graph: g\nnodes:\n«\t»a: f(x)", "tabs are not allowed as indentation", "indent with spaces"],
    ["graph: g\nstate: { a: «*t» }", "there is no anchor `&t`", "nothing is anchored before this line"],
    ["graph: g\nstate: { a: &x int, b: «*t» }", "there is no anchor `&t`", "anchored before it: `&x`"],
    [
      "«%YAML 1.1»\n---\ngraph: g",
      "this document needs YAML 1.1",
      "delete the `%YAML` line: the text is read as YAML 1.2",
    ],
    [
      "«%YAML 9.9»\n---\ngraph: g",
      "unsupported directive `%YAML 9.9`",
      "delete the line: the text is read as YAML 1.2",
    ],
    ["«%FOO bar»\n---\ngraph: g", "unsupported directive `%FOO bar`"],
  ]);

  test("a document with syntax errors is broken, the others are read", () => {
    const { file, diagnostics } = parseYaml("graph: a\nnodes: { b: f(x\n---\ngraph: c\n");
    expect(diagnostics.every(({ code }) => code === "NG010")).toBe(true);
    expect(file.items.map(({ kind }) => kind)).toEqual(["Broken", "Graph"]);
    expect(file.items[0]).toMatchObject({ of: "graph", names: expect.arrayContaining(["a", "b"]) as string[] });
  });
});

describe("NG011: unknown key", () => {
  cases("NG011", [
    ["«grpah»: g", "a document has no key `grpah`", `${NODE_KEYS} \`graph\``],
    ["graph: g\n«node»: {}", "a graph has no key `node`", `${NODE_KEYS} \`nodes\``],
    ["graph: g\n«max_parallel»: 3", "a graph has no key `max_parallel`", `${NODE_KEYS} \`max parallel\``],
    ["graph: g\nnodes:\n  a: { call: f, «timout»: 3s }", "a node has no key `timout`", `${NODE_KEYS} \`timeout\``],
    ['graph: g\nstate: { a: { type: int, «"init"»: 1 } }', "a channel has no key `init`"],
    ["graph: g\nedges: [{ from: a, «target»: b, to: c }]", "an edge has no key `target`"],
    ["graph: g\nedges: [{ from: a, match: x, arms: [{ «case»: 1, to: b }] }]", "an arm has no key `case`"],
    ["plan: p\ntasks: { a: { call: f, «afer»: [b] } }", "a task has no key `afer`", `${NODE_KEYS} \`after\``],
    ["test: t\nfor: g\n«expected»: x", "a test has no key `expected`", `${NODE_KEYS} \`expect\``],
    [
      "types: { A: { «role»: string } }",
      "a type's map has no key `role`",
      'a record type is written as in the text, in quotes: `"{ role: string }"`',
    ],
    [
      "Comment: pays\n«StartAt»: A\nStates: { A: { Type: Pass, End: true } }",
      "this document is a state machine of Amazon States Language, not a graph",
      "`ngc import FILE` writes it as a graph",
    ],
    [
      "name: g\n«nodes»:\n  - name: a\nedges:\n  - { from: __start__, to: a }",
      "this document is a specification of langgraph-gen, not a graph",
      "`ngc import FILE` writes it as a graph",
    ],
    ["«StartAt»: A", "a document has no key `StartAt`"],
    ["graph: g\n«<<»: { a: b }", "merge keys (`<<`) are not part of YAML 1.2"],
  ]);

  test("the known keys are listed, and a similar one is offered as a fix", () => {
    const { diagnostic } = first("graph: g\n«edge»: []");
    expect(diagnostic?.notes[0]).toMatch(/^the keys of a graph are `graph`, `was`, `doc`, .* and `edges`$/);
    expect(diagnostic?.fixes).toEqual([
      { title: "rename to `edges`", edits: [{ span: { start: 9, end: 13 }, text: "edges" }] },
    ]);
  });
});

describe("NG012: duplicate key", () => {
  cases("NG012", [
    ["graph: g\n«graph»: h", "the key `graph` appears twice in this map"],
    ["graph: g\nnodes:\n  a: f(x)\n  b: f(x)\n  «a»: f(y)", "the key `a` appears twice in this map"],
    ['graph: g\nnodes: { a: { call: f, with: { x: 1, «"x"»: 2 } } }', "the key `x` appears twice in this map"],
    ["graph: g\nstate: { __proto__: int, «__proto__»: int }", "the key `__proto__` appears twice in this map"],
  ]);

  test("the first one is shown too", () => {
    const { diagnostic } = first("graph: g\n«graph»: h");
    expect(diagnostic?.labels.map(({ span, message }) => [span, message])).toEqual([
      [{ start: 0, end: 5 }, "first here"],
    ]);
  });
});

describe("NG013: aliases beyond bound", () => {
  cases("NG013", [
    ["graph: g\nnodes: { a: { call: f, args: &x [1, «*x»] } }", "the alias `*x` refers to a value that contains it"],
    [
      "graph: &g g\nnodes: &n { a: { call: f, with: { y: «*n» } } }",
      "the alias `*n` refers to a value that contains it",
    ],
  ]);

  test("a few lines that unfold into millions of values are refused", () => {
    const letters = "abcdefghi".split("");
    const lines = letters.slice(1).map((letter, at) => `${letter}: &${letter} [${`*${letters[at]}, `.repeat(9)}1]`);
    const { diagnostics } = parseYaml(`test: t\nfor: g\ngiven:\n  a: &a [1, 2, 3]\n  ${lines.join("\n  ")}\n`);
    expect(diagnostics.map(({ code }) => code)).toEqual(["NG013"]);
    expect(diagnostics[0]?.message).toBe("the aliases of this file expand into more than 10000 values");
  });

  test("aliases that nest beyond the limit are refused", () => {
    const nested = (depth: number, inside: string) => `${"[".repeat(depth)}${inside}${"]".repeat(depth)}`;
    const { diagnostics } = parseYaml(
      `test: t\nfor: g\ngiven:\n  a: &a ${nested(40, "1")}\n  b: ${nested(40, "*a")}\n`,
    );
    expect(diagnostics.map(({ code }) => code)).toEqual(["NG013"]);
    expect(diagnostics[0]?.message).toBe("this alias nests values more than 64 levels deep");
  });
});

describe("NG014: wrong YAML type", () => {
  cases("NG014", [
    [
      "«- a»\n- b",
      "expected a map with the key `graph`, `plan`, `test`, `imports`, `types` or `secrets`, found a list",
    ],
    [
      "«just text»",
      "expected a map with the key `graph`, `plan`, `test`, `imports`, `types` or `secrets`, found the string `just text`",
    ],
    ["graph: «[g]»", "expected a name for the graph, found a list"],
    [
      "graph: «2nd»",
      "expected a name for the graph, found the string `2nd`",
      "names consist of the letters A to Z, digits and `_`",
    ],
    ["graph«:»\nnodes: {}", "expected a name for the graph, found nothing"],
    [
      "graph: g\nedges: [{ «from»: [a, b], to: c }]",
      "`from` takes one node: a list does not say whether one signal is enough",
      "`any: […]`: each of these nodes signals the target; `all: […]`: the target waits for all of them",
    ],
    ["graph: g\nnodes: «[a, b]»", "expected a map from names to nodes, found a list"],
    ["graph: g\nnodes: { «true»: f(x) }", "expected a name for the node, found `true`"],
    ["graph: g\nnodes: { ? «[a]»\n: f(x) }", "expected a name as key, found a list"],
    [
      "graph: g\nnodes:\n  a: { call: f, timeout: «30» }",
      "expected a duration such as `30s`, found the number 30",
      "add a unit: `30s`; the units are `ms`, `s`, `m`, `h` and `d`",
    ],
    ["graph: g\nnodes:\n  a: { call: f, tries: «1.5» }", "expected a number of attempts, found the number 1.5"],
    ["graph: g\nnodes:\n  a: { call: f, tries: «-1» }", "expected a number of attempts, found the number -1"],
    ["graph: g\nnodes:\n  a: { call: f, waits: «[]» }", "expected a name or a list of names, found an empty list"],
    ["graph: g\nnodes:\n  a: { call: f, pause: «never» }", "expected `before` or `after`, found the string `never`"],
    ["graph: g\nnodes:\n  a: { call: f, idempotent: «1» }", "expected true, found the number 1"],
    ["graph: g\nnodes:\n  a: { call: f, args: «x» }", "expected a list or a map of expressions, found the string `x`"],
    [
      "graph: g\nnodes:\n  a: { call: f, args: [«[x]»] }",
      "expected an expression, or a map of expressions by name, found a list",
    ],
    [
      "graph: g\nnodes:\n  a: { call: f, for: «docs» }",
      "expected `ITEM in LIST`, found the string `docs`",
      "for example `for: doc in documents`",
    ],
    ["graph: g\nnodes:\n  a: { «into»: x }", "a node needs `call` or `expr`"],
    ["graph: g\nnodes:\n  a: { call: f, «expr»: x }", "`call` and `expr` exclude each other"],
    [
      "graph: g\nnodes:\n  a: { call: f, «backoff: 1s» }",
      "`backoff` needs `tries`",
      "add the number of attempts: `tries: 3`",
    ],
    ["graph: g\nstate: { a: { «default»: 1 } }", "a channel needs the key `type`"],
    ["graph: g\nstate: { a: { type: int, default: 1, «expr: 2» } }", "`default` and `expr` exclude each other"],
    ["graph: g\nedges: «a -> b»", "expected a list of edges, found the string `a -> b`"],
    ["graph: g\nedges: [«7»]", "expected an edge, such as `a -> b`, found the number 7"],
    ["graph: g\nedges: [{ «from»: a }]", "an edge needs the key `to` or `arms`"],
    ["graph: g\nedges: [{ «to»: a }]", "an edge needs the key `from`, `any`, `all` or `settled`"],
    ["graph: g\nedges: [{ all: [a, b], «from»: c, to: d }]", "`all` and `from` exclude each other"],
    ["graph: g\nedges: [{ from: a, to: b, when: x, «otherwise»: true }]", "`when` and `otherwise` exclude each other"],
    ["graph: g\nedges: [{ from: a, «match: x», to: b }]", "`match` needs the key `arms`"],
    ["graph: g\nedges: [{ from: a, arms: [«{ is: 1, to: b }»] }]", "an arm with `is` does not fit here"],
    ["graph: g\nedges: [{ from: a, match: x, arms: [«{ to: b }»] }]", "this arm has no `is`, `when` or `else`"],
    [
      "graph: g\nedges: [{ from: a, match: x, arms: [{ is: «{ y: 1 }», to: b }] }]",
      "expected a literal: a string, a number, true, false or null, found a map",
    ],
    ["graph: g\nnodes: { a: { call: f, with: { x: «.inf» } } }", "expected a finite number, found `.inf`"],
    ["graph: g\nnodes: { a: «!js» f }", "the tag `!js` has no meaning here"],
    ["graph: g\nnodes: { a: { call: f, with: { x: «!!binary» aGk= } } }", "the tag `!!binary` has no meaning here"],
    ["plan: p\ntasks: { a: { call: f, after: [b], «after any»: [c] } }", "`after` and `after any` exclude each other"],
    ["plan: p\norder: «name»", "expected `file`, found the string `name`"],
    ["«test»: t", "a test needs the key `for`"],
    ["test: «5»\nfor: g", "expected a title, found the number 5", 'put it in quotes: "5"'],
    ["test: t\nfor: g\nmock: [{ node: «a» }]", "a mock has either `returns` (and `then`) or `fails`"],
    ["imports: { a.ts: [«1»] }", "expected a name to import, found the number 1"],
    [
      "«nodes: { a: f(x) }»",
      "expected the key `graph`, `plan` or `test` with the name of what this document describes, found a map",
    ],
  ]);

  test("a broken part affects only itself", () => {
    const { file } = parseYaml(
      "graph: g\nnodes:\n  a: { call: f, timeout: 30, into: x }\n  b: { call: f }\nedges: [a =, a -> b]\n",
    );
    const [graph] = file.items;
    expect(graph?.kind === "Graph" ? graph.statements.map(({ kind }) => kind) : []).toEqual([
      "Broken",
      "Node",
      "Broken",
      "Edge",
    ]);
    expect(graph?.kind === "Graph" ? graph.statements[0] : undefined).toMatchObject({
      of: "node",
      names: ["a", "call", "f", "timeout", "into", "x"],
    });
  });
});

describe("limits of the text", () => {
  test("NG003: control and bidirectional characters are to be escaped", () => {
    expectForbidden(["graph: g\ndoc: a«\u0007»b", "graph: g\n# «\u202e»\n", 'graph: g\ndoc: "«\u2066»"']);
  });
  test("NG003: documentation cannot contain control characters", () => {
    expectForbidden(['graph: g\ndoc: "a «\\u202e»"'.replace("«\\u202e»", "«\\»u202e")]);
  });
  test("NG004: lists and maps nest 64 levels", () => {
    const nested = (depth: number) => `test: t\nfor: g\ngiven: { a: ${"[".repeat(depth)}${"]".repeat(depth)} }`;
    expect(parseYaml(nested(60)).diagnostics).toEqual([]);
    for (const text of [
      nested(70),
      "[".repeat(20_000),
      "- ".repeat(20_000),
      "{a: ".repeat(10_000),
      "? ".repeat(10_000),
    ]) {
      expect(parseYaml(text).diagnostics.map(({ code }) => code)).toEqual(["NG004"]);
    }
  });
  test("NG005: four mebibytes are the most", () => {
    const { file, diagnostics } = parseYaml(`graph: g\n#${"x".repeat(4 * 1024 * 1024)}`);
    expect(diagnostics.map(({ code }) => code)).toEqual(["NG005"]);
    expect(file.items).toEqual([]);
  });
  test("NG005: 10,000 documents are the most", () => {
    const { file, diagnostics } = parseYaml("---\ngraph: g\n".repeat(10_001));
    expect(diagnostics.map(({ code }) => code)).toEqual(["NG005"]);
    expect(file.items).toEqual([]);
  });
  test("NG006: whole numbers are exact", () => {
    const { diagnostic, expected } = first("test: t\nfor: g\ngiven: { a: «12345678901234567890» }");
    expect(diagnostic?.code).toBe("NG006");
    expect(diagnostic?.span).toEqual(expected);
  });

  function expectForbidden(all: readonly string[]): void {
    for (const marked of all) {
      const { diagnostic, expected } = first(marked);
      expect(diagnostic?.code).toBe("NG003");
      expect(diagnostic?.span).toEqual(expected);
    }
  }
});

describe("large files", () => {
  const lines = (count: number, line: (index: number) => string) =>
    Array.from({ length: count }, (_, index) => line(index)).join("\n");

  test("20,000 keys of one map are read, and a duplicate among them is found", () => {
    const { file, diagnostics } = parseYaml(`graph: g\nstate:\n${lines(20_000, (at) => `  k${at}: int`)}\n  k7: int\n`);
    expect(diagnostics.map(({ code }) => code)).toEqual(["NG012"]);
    const [graph] = file.items;
    expect(graph?.kind === "Graph" ? graph.statements.length : 0).toBe(20_000);
  });

  test("20,000 aliases and 20,000 mistakes end in bounded findings", () => {
    for (const text of [
      `graph: g\nstate:\n  a: &t int\n${lines(20_000, (at) => `  k${at}: *t`)}`,
      `graph: g\n${lines(20_000, (at) => `k${at}: 1`)}`,
      `graph: g\n${lines(5_000, () => "a: b: c")}`,
    ]) {
      expect(parseYaml(text).diagnostics.length).toBeLessThanOrEqual(200);
    }
  });
});

describe("clauses of a node behind its expression", () => {
  cases("NG001", [
    [
      "graph: g\nnodes: { a: f(x) «into» y }",
      "expected the end after `)`, found `into`",
      "`into` is a key of the node: `{ expr: …, into: reply }`",
    ],
    [
      "graph: g\nnodes:\n  a: { expr: f(x) «for» x in xs }",
      "expected the end after `)`, found `for`",
      "`for` is a key of the node: `{ expr: …, for: x in xs }`",
    ],
    [
      "graph: g\nnodes:\n  a: f(x) «{» tries 3 }",
      "expected the end after `)`, found `{`",
      "policies are keys of the node: `{ expr: …, tries: 3 }`",
    ],
    [
      "graph: g\nnodes:\n  a: f(x) «y»",
      "expected the end after `)`, found `y`",
      "this is an expression; text needs its own quotes: '\"text\"'",
    ],
  ]);
});
