import { describe, expect, it } from "vitest";
import type { Broken, Item } from "../../grammar/ast.ts";
import { parse } from "../../grammar/parse.ts";
import { outline } from "./tree.ts";

function read(text: string) {
  const { file, diagnostics } = parse(text);
  return {
    shape: shape(file.items),
    places: diagnostics.map((item) => {
      const { line, column } = file.source.position(item.span.start);
      return `${item.code} ${line}:${column}`;
    }),
    broken: file.items.flatMap(bodyOf).filter((each): each is Broken => each.kind === "Broken"),
    diagnostics,
    file,
  };
}

function bodyOf(item: Item): readonly { readonly kind: string }[] {
  return "statements" in item ? item.statements : [item];
}

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

describe("one mistake costs one statement", () => {
  it("continues at the next line that begins one", () => {
    const result = read(`graph g {
  state a int
  node b = f(
  c -> d
  node e = = 3
  f -> g
  limit step 3
  assert a befor b
  all(a b) ->
  node h = i
}`);
    expect(result.shape).toBe(
      "Graph { Broken channel Broken node Edge Broken node Edge Broken other Broken other Broken edge Node }",
    );
    expect(result.places).toEqual([
      "NG001 2:11",
      "NG001 4:5",
      "NG001 5:12",
      "NG001 7:9",
      "NG001 8:12",
      "NG001 9:9",
      "NG001 9:12",
    ]);
  });

  it("names what a broken statement may have declared or used", () => {
    const { broken } = read("graph g {\n  node a = draft(x y) z\n  b -> c on fire\n}");
    expect(broken.map(({ of, names }) => [of, names])).toEqual([
      ["other", ["z"]],
      ["edge", ["b", "c", "on", "fire"]],
    ]);
  });

  it("keeps the default after a broken type", () => {
    const { file, places } = read(
      "graph g {\n  state a: ?? = 3 reduce sum\n  state b: map<int = {}\n  state c: {\n    x: 3 4\n  }\n  state d: int\n}",
    );
    expect(places).toEqual(["NG001 2:12", "NG001 3:20", "NG001 5:10"]);
    expect(outline(file.items)).toBe(
      "[Graph(name: g, statements: [Channel(role: state, name: a, type: BrokenType(names: []), initial: Number(value: 3, isFloat: false), reducer: sum), Channel(role: state, name: b, type: BrokenType(names: [map, int]), initial: Record(fields: [])), Channel(role: state, name: c, type: BrokenType(names: [x])), Channel(role: state, name: d, type: int)])]",
    );
  });

  it("keeps the statement around a broken expression in brackets", () => {
    const { file, places } = read(
      'graph g {\n  node a = f(x +, g(y)) into z { tries 3 }\n  node b = [1, ), 2] into y\n  node c = `a ${x +} b ${y}` + (1 *) + { a: } + xs[] + "c"\n}',
    );
    expect(places).toEqual(["NG001 2:17", "NG001 3:16", "NG001 4:20", "NG001 4:36", "NG001 4:45", "NG001 4:52"]);
    expect(outline(file.items)).toBe(
      "[Graph(name: g, statements: [Node(name: a, call: BrokenExpr(names: [f, x, g, y]), output: ChannelOutput(channel: z), policies: [Tries(attempts: Count(value: 3))]), " +
        "Broken(of: node, names: [node, b, into, y]), " +
        'Node(name: c, call: Binary(operator: +, left: Binary(operator: +, left: Binary(operator: +, left: Binary(operator: +, left: Template(parts: [TemplateText(value: a ), BrokenExpr(names: [x]), TemplateText(value:  b ), y]), right: BrokenExpr(names: [])), right: BrokenExpr(names: [a])), right: BrokenExpr(names: [xs])), right: "c"), policies: [])])]',
    );
  });

  it("reads every arm and every policy, and takes the statement for broken when one was", () => {
    const result = read(`graph g {
  a -> match x {
    "p" -> b
    q > 3 -> c
    "r" -> d d
    "s" ->
    else -> e
  }
  a -> match { x > -> b  y -> c }
  node n = f() {
    tries many
    timeout 3s
    bogus
    cache for ever
    alone
  }
  n -> end
}`);
    expect(result.shape).toBe("Graph { Broken edge Broken edge Broken node Edge }");
    expect(result.places).toEqual([
      "NG001 4:5",
      "NG001 5:14",
      "NG001 7:5",
      "NG001 9:20",
      "NG001 11:11",
      "NG001 13:5",
      "NG001 14:15",
    ]);
  });
});

describe("braces that are missing or too many", () => {
  it("ends a graph where the next item begins", () => {
    const result = read(
      'graph a {\n  start -> x\n\ngraph b {\n  start -> y\n}\ntype T = int\nplan c {\n  task t = f()\ntest "t" for a {\n  expect ran x\n}',
    );
    expect(result.shape).toBe("Graph { Edge }  Graph { Edge }  Type  Plan { Task }  Test { ExpectRan }");
    expect(result.places).toEqual(["NG001 4:1", "NG001 10:1"]);
  });

  it("does so within an indented text too", () => {
    expect(read("    graph a {\n      start -> x\n    graph b {\n      start -> y\n    }").shape).toBe(
      "Graph { Edge }  Graph { Edge }",
    );
  });

  it("ends policies and arms where a statement begins", () => {
    const result = read(
      'graph a {\n  node x = f() {\n    tries 3\n  start -> x\n  x -> match y {\n    "p" -> z\n  node q = f()\n}\ngraph b {\n}',
    );
    expect(result.shape).toBe("Graph { Broken node Edge Broken edge Node }  Graph {  }");
    expect(result.diagnostics.map(({ message }) => message)).toEqual([
      "this `{` is never closed",
      "this `{` is never closed",
    ]);
  });

  it("continues after a brace that closes a graph too early", () => {
    const result = read("graph a {\n  node x = f() { tries 3 } }\n  start -> x\n}\n}\ngraph b {\n}");
    expect(result.shape).toBe("Graph { Node Edge }  Broken other  Graph {  }");
    expect(result.places).toEqual(["NG001 2:28", "NG001 5:1"]);
  });

  it("reads the body of a graph, plan or test whose head is broken", () => {
    const result = read(
      "graph {\n  a - > b\n}\nplan p\n  task t = = f()\n}\ntest for g {\n  expect ==\n}\ngraph g {\n}",
    );
    expect(result.shape).toBe("Broken graph  Broken plan  Broken test  Graph {  }");
    expect(result.places).toEqual(["NG001 1:7", "NG001 2:3", "NG001 5:3", "NG001 5:12", "NG001 7:6", "NG001 8:10"]);
  });
});

describe("line breaks mean nothing, and explain a mistake", () => {
  it("reports a statement that continues into the next line", () => {
    const result = read(
      "graph g {\n  state a: int =\n  state b: int = 3\n  a -> b when\n  c -> d\n  node n = f() into\n  node m = g()\n}",
    );
    expect(result.shape).toBe("Graph { Broken channel Channel Broken edge Edge Broken node Node }");
    expect(result.diagnostics.map(({ message }) => message)).toEqual([
      "the statement is not finished after `=`",
      "expected the end of the edge, found `->`",
      "the statement is not finished after `into`",
    ]);
    expect(result.diagnostics.map(({ notes }) => notes[0])).toEqual([
      "line breaks do not end statements: `state` was read as its continuation",
      "line 4 ends after `when`, and line breaks do not end statements: `c` was read as a part of the statement above",
      "line breaks do not end statements: `node` was read as its continuation",
    ]);
  });

  it("does so between items", () => {
    const result = read("secret\ngraph g {\n}\ntype T =\ntype U = int\n");
    expect(result.shape).toBe("Broken secret  Graph {  }  Broken type  Type");
    expect(result.diagnostics.map(({ message }) => message)).toEqual([
      "the statement is not finished after `secret`",
      "the statement is not finished after `=`",
    ]);
  });

  it("reports a bracket that is never closed", () => {
    const { diagnostics, shape: all } = read("graph g {\n  node a = f(x,\n  node b = g()\n}");
    expect(all).toBe("Graph { Broken node Node }");
    expect(diagnostics[0]?.notes).toEqual([
      "line 2 ends after `,`, and line breaks do not end statements: `node` was read as a part of the statement above",
    ]);
  });
});

describe("the number of diagnostics", () => {
  it("keeps at most 200 diagnostics, and stops reading there", () => {
    const { diagnostics, shape: all } = read(`graph g {\n${"  node = 3\n".repeat(5_000)}}\ngraph h {\n}`);
    expect(diagnostics).toHaveLength(200);
    expect(all).toContain("Broken node");
  });

  it("has one diagnostic for each place", () => {
    const { diagnostics } = read("graph g {\n  a -> \u201c\n  b -> é \n}");
    expect(new Set(diagnostics.map(({ span }) => span.start)).size).toBe(diagnostics.length);
  });

  it("sorts by place", () => {
    const { diagnostics } = read("graph g {\n  a => b;\n  b => c;\n  # x\n  node = 3\n}");
    const starts = diagnostics.map(({ span }) => span.start);
    expect(starts).toEqual(starts.toSorted((a, b) => a - b));
    expect(starts).toHaveLength(6);
  });
});
