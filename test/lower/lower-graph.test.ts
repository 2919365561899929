/** 1.1: a graph becomes a table of indexed arrays; equal graphs have equal digests. */
import { describe, expect, test } from "vitest";
import { printExpression } from "../../runtime/expression/print-expression.ts";
import { barriersOf, compileText, routesOf, tableOf } from "./compile-text.ts";

const IMPORT = `import { load, save, rank, combine, type Ticket } from "./nodes.ts"\n`;

describe("edges", () => {
  test("chains, forks, joins of plain signals", () => {
    const table = tableOf(`graph g {
      node a = sleep(1)  node b = sleep(1)  node c = sleep(1)  node d = sleep(1)
      start -> a -> b -> c, d
      any(c, d) -> end
    }`);
    expect(routesOf(table)).toEqual({
      start: ["plain a"],
      a: ["plain b"],
      b: ["plain c, d"],
      c: ["plain end"],
      d: ["plain end"],
    });
  });

  test("conditions, matches, cases, error edges", () => {
    const table = tableOf(`graph g {
      input n: int
      state kind: "x" | "y" | "z" = "x"
      node a = sleep(1)  node b = sleep(1)  node c = sleep(1)  node d = sleep(1)
      start -> a when n > 3
      start -> b otherwise
      a -> match kind { "x" -> b  "y" | "z" -> c, d }
      b -> match { n > 9 -> c  n > 5 -> d  else -> end }
      c -> d
      c -> b on error when error.attempts > 1
      c -> end on error otherwise
    }`);
    expect(routesOf(table)).toEqual({
      start: ["when a", "otherwise b"],
      a: ["match x: b; y|z: c, d"],
      b: ["cases ?: c; ?: d; else: end"],
      c: ["plain d", "error when b", "error otherwise end"],
      d: [],
    });
  });

  test("3.1: each barrier edge is its own, one a target, with its own id", () => {
    const table = tableOf(`graph g {
      node a = fail("x")  node b = sleep(1)  node h = sleep(1)  node c = sleep(1)  node d = sleep(1)
      start -> a, b
      a -> h on error
      all(any(a, h), b) -> c, d
      all(c, d) -> end
    }`);
    expect(barriersOf(table)).toEqual({ c: "all a|h, b -> c", d: "all a|h, b -> d", end: "all c, d -> end" });
    expect(routesOf(table)).toMatchObject({
      a: ["plain c[0], d[0]", "error h"],
      h: ["plain c[0], d[0]"],
      b: ["plain c[1], d[1]"],
    });
  });

  test("3.2: `waits` comes first among a target's barriers; signals of members go to it, others do not count", () => {
    const table = tableOf(`graph g {
      state go: bool = false
      node a = sleep(1)  node b = sleep(1)  node c = sleep(1)
      node d = sleep(1) { waits a, b }
      start -> a, b, c
      a -> d when go
      a -> end otherwise
      b -> d
      c -> end
      all(a, b) -> c
    }`);
    expect(barriersOf(table)).toMatchObject({ d: "waits a, b -> d" });
    expect(routesOf(table)).toMatchObject({
      a: ["when d[0]", "otherwise end", "plain c[0]"],
      b: ["plain d[1]", "plain c[1]"],
    });
    expect(table.nodes[3]?.waits).toBe(0);
  });

  test("several barriers of one target are numbered", () => {
    const table = tableOf(`graph g {
      node a = sleep(1)  node b = sleep(1)  node c = sleep(1)  node d = sleep(1)  node e = sleep(1)
      start -> a, b, c, d
      all(a, b) -> e
      all(c, d) -> e
    }`);
    expect(Object.keys(barriersOf(table))).toEqual(["e", "e#2"]);
  });
});

describe("channels", () => {
  test("stand by role, and start with what their reducers start with", () => {
    const table = tableOf(
      `${IMPORT}
      graph g {
        memory past: string[] reduce append
        state  plain: string
        state  total: int reduce sum
        state  least: int reduce min
        state  facts: map<int> reduce merge
        state  names: string[] reduce union
        state  mixed: int = 7 reduce combine
        output reply: string[] = ["a"]
        input  topic: string
        input  count: int = 3
        node a = load(topic, count, past, names) into reply
        start -> a
      }`,
    );
    expect(table.channels.map(({ name, role, initial, reducer }) => [name, role, initial, reducer?.kind])).toEqual([
      ["topic", "input", undefined, undefined],
      ["count", "input", 3, undefined],
      ["reply", "output", ["a"], undefined],
      ["plain", "state", null, undefined],
      ["total", "state", 0, "sum"],
      ["least", "state", null, "min"],
      ["facts", "state", {}, "merge"],
      ["names", "state", [], "union"],
      ["mixed", "state", 7, "function"],
      ["past", "memory", [], "append"],
    ]);
    expect(table.functions.map(({ name }) => name)).toEqual(["combine", "load"]);
  });

  test("expressions refer to them by their place in the table, and each stands once", () => {
    const table = tableOf(`graph g {
      state  late: int = 0
      input  early: int
      node a = early + late into late
      node b = early + late into late
      start -> a -> b
    }`);
    const names = { channels: table.channels.map(({ name }) => name), functions: [] };
    expect(table.expressions.map((expression) => printExpression(expression, names))).toEqual(["early + late"]);
  });
});

test("policies, outputs, effects, limits, assertions", () => {
  const table = tableOf(`${IMPORT}
    secret KEY
    graph g {
      input  docs: string[]
      output notes: json[] = []
      state  id: int = 0
      state  name: string = ""
      limit steps none
      max parallel 3
      node every = load(doc) for doc in docs into notes { max parallel 2  tries 3 backoff 10ms  timeout 2s  idempotent }
      node pick = http(url: "https://example.org", headers: { key: KEY }) into { status: id, body: name } { pause before  pause after  timeout 1s }
      node jump = save(id) { goes every, end }
      assert every before pick
      assert never every with jump
      start -> every -> pick -> jump
    }`);
  const [each, pick, jump] = table.nodes;
  expect(each).toMatchObject({
    each: { item: "doc", parallel: 2 },
    tries: { attempts: 3 },
    timeout: 2000,
    idempotent: true,
  });
  expect(each?.tries?.backoff?.min).toBe(10);
  expect(pick).toMatchObject({ pauseBefore: true, pauseAfter: true, timeout: 1000 });
  expect(pick?.output).toEqual({
    kind: "fields",
    fields: [
      { field: "status", channel: 2 },
      { field: "body", channel: 3 },
    ],
  });
  expect(jump?.goes).toEqual([0, -1]);
  expect(table.limits).toEqual({ steps: null, parallel: 3 });
  expect(table.effects).toEqual(["code", "net:example.org"]);
  expect(table.secrets).toEqual(["KEY"]);
  expect(table.assertions).toEqual([
    { kind: "before", first: 0, then: 1 },
    { kind: "never", node: 0, with: 2 },
  ]);
});

describe("called graphs", () => {
  const CHILD = `import { load } from "../nodes.ts"\ngraph child { input x: int  output y: int  node a = load(x) into y  start -> a }`;

  test("stand in the table, complete in themselves, each once", () => {
    const table = tableOf(
      `import { child } from "./lib/child.ngraph"
       graph main {
         output r: int
         node one = child(x: 1) into { y: r }
         node two = child(x: 2) into { y: r }
         start -> one -> two
       }`,
      { "lib/child.ngraph": CHILD },
    );
    expect(table.graphs.map(({ name }) => name)).toEqual(["child"]);
    expect(table.nodes.map(({ call }) => call)).toMatchObject([
      { kind: "graph", graph: 0, args: [{ name: "x" }] },
      { kind: "graph", graph: 0 },
    ]);
    expect(table.effects).toEqual(["code"]);
    expect(table.graphs[0]?.debug?.file).toBe("lib/child.ngraph");
  });

  test("count for the digest", () => {
    const main = `import { child } from "./child.ngraph"\ngraph main { output r: int  node one = child(x: 1) into { y: r }  start -> one }`;
    const child = CHILD.replace("../", "./");
    const digest = tableOf(main, { "child.ngraph": child }).digest;
    expect(tableOf(main, { "child.ngraph": `// said\n${child}` }).digest).toBe(digest);
    expect(tableOf(main, { "child.ngraph": child.replace("load(x)", "x + 1") }).digest).not.toBe(digest);
  });
});

describe("1.1: the digest", () => {
  const TEXT = `${IMPORT}
    graph g {
      input  n: int
      state  total: int = 0 reduce sum
      output last: json
      node a = load(n) into last
      node b = n * 2 into total
      node c = save(total, rank(n)) { waits a, b }
      start -> a, b
      a -> c
      b -> c
      c -> end
    }`;

  test("does not depend on comments, documentation, layout, or where kinds of statements stand", () => {
    const moved = `
      /// Says what it does.
      graph g {
        start -> a, b // both
        a -> c   b -> c
        output last: json  /* later */ input n: int
        node a = load(n)
          into last
        c -> end
        node b = n*2 into total
        /// Documented.
        node c = save( total, rank(n) ) { waits a, b }
        state total: int = 0 reduce sum
      }
      ${IMPORT}`;
    expect(tableOf(moved).digest).toBe(tableOf(TEXT).digest);
  });

  test.each([
    ["a node's order", (text: string) => text.replace(/(node a.*)\n(.*node b.*)/, "$2\n$1")],
    ["a name", (text: string) => text.replaceAll("last", "newest")],
    ["a default", (text: string) => text.replace("int = 0", "int = 1")],
    ["an argument", (text: string) => text.replace("n * 2", "n * 3")],
    ["a policy", (text: string) => text.replace("{ waits a, b }", "{ waits a, b timeout 1s }")],
    ["an edge", (text: string) => text.replace("c -> end", "")],
  ])("depends on %s", (_, change) => {
    expect(change(TEXT)).not.toBe(TEXT);
    expect(tableOf(change(TEXT)).digest).not.toBe(tableOf(TEXT).digest);
  });
});

describe("a file with errors", () => {
  test("gives no table, whatever else is in it", () => {
    const { table, tables, graphs, diagnostics } = compileText(
      `graph good { node a = sleep(1)  start -> a }\ngraph bad { node a = sleep(missing)  start -> a }`,
    );
    expect(diagnostics.some((item) => item.severity === "error")).toBe(true);
    expect(table).toBeUndefined();
    expect(tables.size).toBe(0);
    expect(graphs.map((graph) => graph.name)).toEqual(["good", "bad"]);
  });

  test("an error in a called graph counts, and an error in another graph does not", () => {
    const child = `graph bad { node a = sleep(1)  node b = sleep(1)  start -> a  a -> a }\ngraph good { node a = sleep(1)  start -> a }`;
    const main = (name: string): string =>
      `import { ${name} } from "./child.ngraph"\ngraph main { node a = ${name}()  start -> a }`;
    expect(compileText(main("bad"), { "child.ngraph": child }).table).toBeUndefined();
    expect(compileText(main("good"), { "child.ngraph": child }).table).toBeDefined();
  });
});

test("the table is frozen all through", () => {
  const open: unknown[] = [tableOf(`graph g { state x: json = { a: [1] }  node a = x into x  start -> a }`)];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (typeof next !== "object" || next === null) continue;
    expect(Object.isFrozen(next)).toBe(true);
    open.push(...(Object.values(next) as unknown[]));
  }
});

test("hostile names are data: `__proto__`, `constructor`, `toString`", () => {
  const table = tableOf(`graph toString {
    input  __proto__: int
    output constructor: int
    state  hasOwnProperty: map<int> = { __proto__: 1, "a b": 2 }
    node   __proto__2 = __proto__ + 1 into constructor
    node   valueOf = hasOwnProperty into hasOwnProperty
    start -> __proto__2 -> valueOf
  }`);
  expect(table.channels.map(({ name }) => name)).toEqual(["__proto__", "constructor", "hasOwnProperty"]);
  expect(JSON.stringify(table.channels[2]?.initial)).toBe('{"__proto__":1,"a b":2}');
  expect(({} as { a?: number }).a).toBeUndefined();
});
