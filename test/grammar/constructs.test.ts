import { readFileSync } from "node:fs";
import { parse } from "../../grammar/parse.ts";
import { describe, expect, it } from "vitest";
import type { ChannelDecl, EdgeDecl, GraphDecl, Identifier, NodeDecl, TaskDecl } from "../../grammar/ast.ts";
import { grouped, read, readExpression, readGraph, readPlan, readStatement, readTest, readType } from "./read.ts";
import { outline } from "./tree.ts";

const names = (list: readonly Identifier[] | undefined) => list?.map(({ name }) => name);

describe("files", () => {
  it("hold nothing, and comments", () => {
    expect(read("").items).toEqual([]);
    expect(read("\uFEFF\r\n  // only this\n").items).toEqual([]);
  });

  it("import values and types under names of their own", () => {
    const [first] = read(`import { a, type B, c as d, type E as F, type, type as g, as, } from "./x.ts"`).items;
    expect(first?.kind).toBe("Import");
    if (first?.kind !== "Import") return;
    expect(first.from.value).toBe("./x.ts");
    expect(first.names.map((name) => [name.isType, name.imported.name, name.local.name])).toEqual([
      [false, "a", "a"],
      [true, "B", "B"],
      [false, "c", "d"],
      [true, "E", "F"],
      [false, "type", "type"],
      [false, "type", "g"],
      [false, "as", "as"],
    ]);
    expect(first.names[0]?.local).toBe(first.names[0]?.imported);
  });

  it("declare types and secrets", () => {
    const items = read(
      `type Message = { role: "user" | "assistant", content: string, at?: int }\nsecret API_KEY`,
    ).items;
    expect(outline(items)).toMatchInlineSnapshot(
      `"[Type(name: Message, type: RecordType(fields: [RecordTypeField(name: role, optional: false, type: UnionType(members: [LiteralType(value: user), LiteralType(value: assistant)])), RecordTypeField(name: content, optional: false, type: string), RecordTypeField(name: at, optional: true, type: int)])), Secret(name: API_KEY)]"`,
    );
  });

  it("keep comments in source order, with their places", () => {
    const text = "// one\ngraph g { /* two */ }\n//// three\n/// documents nothing";
    const { comments } = read(text);
    expect(comments.map((comment) => [comment.kind, comment.text])).toEqual([
      ["LineComment", "// one"],
      ["BlockComment", "/* two */"],
      ["LineComment", "//// three"],
      ["LineComment", "/// documents nothing"],
    ]);
    for (const { span, text: written } of comments) expect(text.slice(span.start, span.end)).toBe(written);
  });

  it("attach documentation to the declaration below", () => {
    const text = [
      "/// A type.",
      "type T = int",
      "/// A secret.",
      "secret S",
      "/// First line.   ",
      "///",
      "///   indented",
      "graph g {",
      "  /// A channel.",
      "  // not in between",
      "  input x: int",
      "  /// A node.",
      "  node n = x",
      "  /// An edge.",
      "  start -> n",
      "  /// not a declaration",
      "  limit steps 3",
      "}",
      "/// A plan.",
      "plan p {",
      "  /// A task.",
      "  task t = f()",
      "}",
    ].join("\n");
    const file = read(text);
    const [type, secret, graph, plan] = file.items;
    const docs = [
      type,
      secret,
      graph,
      ...(graph as GraphDecl).statements,
      plan,
      ...(plan?.kind === "Plan" ? plan.statements : []),
    ];
    expect(docs.map((item) => (item !== undefined && "doc" in item ? item.doc?.text : undefined))).toEqual([
      "A type.",
      "A secret.",
      "First line.\n\n  indented",
      "A channel.",
      "A node.",
      "An edge.",
      undefined,
      "A plan.",
      "A task.",
    ]);
    expect(file.comments.map((comment) => comment.text)).toEqual(["// not in between", "/// not a declaration"]);
    const { doc } = graph as GraphDecl;
    expect(text.slice(doc?.span.start, doc?.span.end)).toBe("/// First line.   \n///\n///   indented");
  });

  it("may be written on one line", () => {
    const text = `import{a}from"./a.ts"type T=int secret S graph g{input x:T state y:int=0 node n=a(x)into y start->n n->end}plan p{task t=a()}test"t"for g{given x=1 expect y==2}`;
    expect(read(text).items.map((item) => item.kind)).toEqual(["Import", "Type", "Secret", "Graph", "Plan", "Test"]);
  });

  it("read the showcase and every other graph of the language reference", () => {
    const guide = readFileSync(new URL("../../docs/language.md", import.meta.url), "utf8");
    const blocks = [...guide.matchAll(/```ngraph\n([^]*?)```/g)].map((found) => found[1] ?? "");
    expect(blocks.length).toBeGreaterThan(3);
    const whole = blocks.filter((block) =>
      /^(?:\/\/\/ .*\n)*(?:import|graph|plan|test|type)\b/m.test(block.trimStart().split("\n")[0] ?? ""),
    );
    expect(whole.length).toBeGreaterThan(3);
    for (const block of whole) read(block);
  });
});

describe("types", () => {
  it.each([
    ["string", "string"],
    ["-1.0", "LiteralType(value: -1, isFloat: true)"],
    ["-0", "LiteralType(value: 0)"],
    ["null", "LiteralType(value: null)"],
    ["true", "LiteralType(value: true)"],
    ["int[][]", "ListType(item: ListType(item: int))"],
    ["map<map<int>>", "MapType(value: MapType(value: int))"],
    ["map", "map"],
    ["(int | null)[]", "ListType(item: UnionType(members: [int, LiteralType(value: null)]))"],
    ['| "a" | "b"', "UnionType(members: [LiteralType(value: a), LiteralType(value: b)])"],
    ["{}", "RecordType(fields: [])"],
  ])("%s", (text, type) => {
    expect(outline(readType(text))).toBe(type);
  });

  it("name fields by words, reserved words and strings", () => {
    const type = readType(`{ in: int, "a b"?: string, c?: { d: null }, }`);
    if (type.kind !== "RecordType") throw new Error(type.kind);
    expect(type.fields.map(({ name, optional }) => [name.name, name.quoted, optional])).toEqual([
      ["in", false, false],
      ["a b", true, true],
      ["c", false, true],
    ]);
  });
});

describe("channels", () => {
  it("have a role, a type, a default and a reducer", () => {
    const [a, b, c, d] = readGraph(
      `input a: string output b: int = 3 state c: T[] = [] reduce append memory d: map<int>= {} reduce mine`,
    ) as ChannelDecl[];
    expect(
      [a, b, c, d].map((channel) => [
        channel?.role,
        channel?.name.name,
        channel?.initial === undefined ? "" : grouped(channel.initial),
        channel?.reducer?.name,
      ]),
    ).toEqual([
      ["input", "a", "", undefined],
      ["output", "b", "3", undefined],
      ["state", "c", "[]", "append"],
      ["memory", "d", "{}", "mine"],
    ]);
  });

  it("take the `=` of `>=` after a map", () => {
    const channel = readStatement(`state m: map<map<int> >= {}`) as ChannelDecl;
    expect(channel.type.kind).toBe("MapType");
    expect(channel.type.span).toEqual({ start: 19, end: 33 });
    const union = readStatement(`state m: int | map<int>= {}`) as ChannelDecl;
    expect(union.type).toMatchObject({ kind: "UnionType", span: { start: 19, end: 33 } });
  });

  it("leave `reduce` to the next edge where `->` follows", () => {
    expect(readGraph("state a: int reduce -> a").map(({ kind }) => kind)).toEqual(["Channel", "Edge"]);
    expect(readGraph("state a: int = b reduce -> a").map(({ kind }) => kind)).toEqual(["Channel", "Edge"]);
  });
});

describe("nodes", () => {
  it("call, repeat, store, and have policies", () => {
    const node = readStatement(
      `node n = f(x, k: 1) for x in xs into { a, b: c, "d": e } { tries 4 backoff 200ms..5s timeout 10s }`,
    );
    expect(outline(node)).toMatchInlineSnapshot(
      `"Node(name: n, call: Call(callee: f, args: [Argument(value: x), Argument(name: k, value: Number(value: 1, isFloat: false))]), each: ForClause(item: x, list: xs), output: FieldsOutput(fields: [OutputField(field: a, channel: a), OutputField(field: b, channel: c), OutputField(field: "d", channel: e)]), policies: [Tries(attempts: Count(value: 4), backoff: (min: Duration(milliseconds: 200), max: Duration(milliseconds: 5000))), Timeout(duration: Duration(milliseconds: 10000))])"`,
    );
  });

  it("repeat with an index and a condition, and store parts and whole values", () => {
    expect(outline(readStatement("node n = f(x) for x, i in xs if i > 0 into set a"))).toMatchInlineSnapshot(
      `"Node(name: n, call: Call(callee: f, args: [Argument(value: x)]), each: ForClause(item: x, index: i, list: xs, condition: Binary(operator: >, left: i, right: Number(value: 0, isFloat: false))), output: ChannelOutput(set: true, channel: a), policies: [])"`,
    );
    expect(outline(readStatement('node n = f() into { a?, "b"?: c, d: set e, set: set }'))).toMatchInlineSnapshot(
      `"Node(name: n, call: Call(callee: f, args: []), output: FieldsOutput(fields: [OutputField(field: a, optional: true, channel: a), OutputField(field: "b", optional: true, channel: c), OutputField(field: d, set: true, channel: e), OutputField(field: set, channel: set)]), policies: [])"`,
    );
  });

  it("are derived names beside", () => {
    expect(outline(readStatement("derive open = [t for t in tasks if !t.done]"))).toMatchInlineSnapshot(
      `"Derive(name: open, value: Comprehension(value: t, clauses: [ForClause(item: t, list: tasks, condition: Unary(operator: !, operand: Member(object: t, property: done, optional: false)))]))"`,
    );
    const [first, second] = readGraph("state derive: int derive -> a  derive derive = 1 node a = derive");
    expect([first?.kind, second?.kind]).toEqual(["Channel", "Edge"]);
  });

  it("have every policy", () => {
    const node = readStatement(
      `node n = f() { tries 2 backoff 1s  timeout 10s cache cache for 1h cache inputs "a", "b" cache for 1d inputs "c" cache variables "CI" tools "node --version", "cc" max parallel 3 waits a, b goes a, end
        pause before pause after idempotent touches "x", "y" touches read "z" alone done when a == 1 pool gpu pool cpu 2 estimate 5m outputs "dist/**", "x" interactive }`,
    ) as NodeDecl;
    expect(outline(node.policies)).toMatchInlineSnapshot(
      `"[Tries(attempts: Count(value: 2), backoff: (min: Duration(milliseconds: 1000))), Timeout(duration: Duration(milliseconds: 10000)), Cache(), Cache(duration: Duration(milliseconds: 3600000)), Cache(inputs: ["a", "b"]), Cache(duration: Duration(milliseconds: 86400000), inputs: ["c"]), Cache(variables: ["CI"], tools: ["node --version", "cc"]), MaxParallel(count: Count(value: 3)), Waits(nodes: [a, b]), Goes(nodes: [a, end]), Pause(when: before), Pause(when: after), Idempotent(), Touches(mode: write, paths: ["x", "y"]), Touches(mode: read, paths: ["z"]), Alone(), DoneWhen(check: Binary(operator: ==, left: a, right: Number(value: 1, isFloat: false))), Pool(name: gpu), Pool(name: cpu, count: Count(value: 2)), Estimate(duration: Duration(milliseconds: 300000)), Outputs(paths: ["dist/**", "x"]), Interactive()]"`,
    );
  });

  it("store into one channel, or nowhere", () => {
    const [a, b, c] = readGraph("node a = f() into x node b = rounds + 1 node c = b into -> d") as NodeDecl[];
    expect(a?.output?.kind).toBe("ChannelOutput");
    expect(b?.output).toBeUndefined();
    expect(c?.output).toBeUndefined();
  });
});

describe("constants", () => {
  it("have a value", () => {
    expect(outline(read("const LIMIT = 3 * 2\nconst const = [1]").items)).toMatchInlineSnapshot(
      `"[Const(name: LIMIT, value: Binary(operator: *, left: Number(value: 3, isFloat: false), right: Number(value: 2, isFloat: false))), Const(name: const, value: List(items: [Number(value: 1, isFloat: false)]))]"`,
    );
  });
});

describe("edges", () => {
  const edge = (text: string) => readStatement(text) as EdgeDecl;

  it("have sources, chains and targets", () => {
    expect(outline(edge("any(a, b) -> c -> d, e when x > 3"))).toMatchInlineSnapshot(
      `"Edge(source: NodeList(nodes: [a, b]), chain: [c], to: Targets(nodes: [d, e], onError: false, guard: When(condition: Binary(operator: >, left: x, right: Number(value: 3, isFloat: false)))))"`,
    );
    expect(outline(edge("all(a, any(b, c),) -> d on error otherwise"))).toMatchInlineSnapshot(
      `"Edge(source: AllOf(members: [a, AnyOf(nodes: [b, c])]), chain: [], to: Targets(nodes: [d], onError: true, guard: Otherwise()))"`,
    );
  });

  it("match values", () => {
    const { to } = edge(`a -> match x.y { "p" | "q" -> b -1 | 2.5 -> c, d null | true -> e else -> end }`);
    if (to.kind !== "MatchValue") throw new Error(to.kind);
    expect(grouped(to.subject)).toBe("x.y");
    expect(to.arms.map(({ patterns, targets }) => [patterns.map(({ value }) => value), names(targets)])).toEqual([
      [["p", "q"], ["b"]],
      [
        [-1, 2.5],
        ["c", "d"],
      ],
      [[null, true], ["e"]],
      [[], ["end"]],
    ]);
  });

  it("match conditions", () => {
    const { to } = edge(`a -> match { x > 9 -> b !y -> c, d [1][0] == z -> e -x < 0 -> f (g) -> h else -> end }`);
    if (to.kind !== "MatchCondition") throw new Error(to.kind);
    expect(
      to.arms.map(({ condition, targets }) => [condition === undefined ? "else" : grouped(condition), names(targets)]),
    ).toEqual([
      ["(x > 9)", ["b"]],
      ["(!y)", ["c", "d"]],
      ["([1][0] == z)", ["e"]],
      ["((-x) < 0)", ["f"]],
      ["g", ["h"]],
      ["else", ["end"]],
    ]);
  });

  it("may join nodes whose names are words of the language", () => {
    const text = `node -> state  any(limit, max) -> assert  all -> any  input -> on -> when_done  on -> into, for  a -> reduce  match_ -> node  if -> then`;
    expect(readGraph(text).map(({ kind }) => kind)).toEqual(Array(8).fill("Edge"));
  });

  it("read a word of a clause as the next edge's source where `->` or `,` follows it", () => {
    expect(readGraph("a -> b on -> c").length).toBe(2);
    expect(readGraph("a -> b, on  failure -> c").length).toBe(2);
    expect(readGraph("a -> b, max  any(parallel, c) -> d").length).toBe(2);
    expect(readGraph("a -> b when not  c -> d").length).toBe(2);
  });

  it("read `drop` as the last target where a statement begins on the next line", () => {
    for (const next of ["node c = 1", "any(b, drop) -> c", "drop mood", "state note: string"]) {
      expect(readGraph(`a -> b, drop\n${next}`)).toMatchObject([
        { kind: "Edge", to: { nodes: [{ name: "b" }, { name: "drop" }] } },
        {},
      ]);
    }
  });
});

describe("limits and assertions", () => {
  it("read every form", () => {
    const text = `limit steps 40 limit steps none max parallel 3 assert a before b assert once c assert eventually d assert never e with f assert once_ before g assert n > 3 at a assert (once) at b assert at at at`;
    expect(outline(readGraph(text))).toMatchInlineSnapshot(
      `"[Limit(of: steps, value: Count(value: 40)), Limit(of: steps, value: none), Limit(of: parallel, value: Count(value: 3)), Assert(form: before, node: a, other: b), Assert(form: once, node: c), Assert(form: eventually, node: d), Assert(form: never, node: e, other: f), Assert(form: before, node: once_, other: g), Assert(form: at, node: a, condition: Binary(operator: >, left: n, right: Number(value: 3, isFloat: false))), Assert(form: at, node: b, condition: once), Assert(form: at, node: at, condition: at)]"`,
    );
  });
});

describe("plans", () => {
  it("have settings, channels and tasks", () => {
    const text = `max parallel 3 order file pool gpu 2 on failure no-new on failure continue on failure kill input x: int`;
    expect(outline(readPlan(text))).toMatchInlineSnapshot(
      `"[PlanMaxParallel(count: Count(value: 3)), PlanOrder(order: file), PlanPool(name: gpu, count: Count(value: 2)), PlanOnFailure(mode: no-new), PlanOnFailure(mode: continue), PlanOnFailure(mode: kill), Channel(role: input, name: x, type: int)]"`,
    );
  });

  it("have tasks with dependencies, conditions, a matrix", () => {
    const [task] = readPlan(
      `task t = shell("x") for v in ["20", "22"] after any a, b when x > 1 into { y } { touches "p" alone }`,
    ) as TaskDecl[];
    expect(task?.each?.item.name).toBe("v");
    expect([
      task?.trigger,
      names(task?.after),
      task?.condition === undefined ? "" : grouped(task.condition),
      task?.output?.kind,
      task?.policies.length,
    ]).toEqual(["any", ["a", "b"], "(x > 1)", "FieldsOutput", 2]);
  });

  it.each([
    ["after a, b", "all", ["a", "b"]],
    ["after done a", "done", ["a"]],
    ["after any", "all", ["any"]],
    ["after any, a", "all", ["any", "a"]],
    ["after any done", "any", ["done"]],
    ["after done into x", "all", ["done"]],
    ["after a, drop into x", "all", ["a", "drop"]],
    ["after any task u = g()", "all", ["any"]],
    ["after any task", "any", ["task"]],
    ["after failed a, b", "failed", ["a", "b"]],
    ["after failed, a", "all", ["failed", "a"]],
    ["after done a, done b", "done", ["a", "b"]],
  ])("%s", (clause, trigger, after) => {
    const [task] = readPlan(`task t = f() ${clause}`) as TaskDecl[];
    expect([task?.trigger, names(task?.after)]).toEqual([trigger, after]);
  });
});

describe("dependencies with several words", () => {
  it.each([
    ["after a, b, done c, d, failed e", ["a", "b", "c", "d", "e"], ["all", "all", "done", "done", "failed"]],
    ["after failed a, done b, failed c", ["a", "b", "c"], ["failed", "done", "failed"]],
    ["after a, done, failed b", ["a", "done", "b"], ["all", "all", "failed"]],
  ])("%s", (clause, after, needs) => {
    const [task] = readPlan(`task t = f() ${clause}`) as TaskDecl[];
    expect([task?.trigger, names(task?.after), task?.needs]).toEqual(["mixed", after, needs]);
  });

  it("refuse `any` beside another word", () => {
    const { diagnostics } = parse("plan p { task t = f() after a, any b }", { path: "p.ngraph" });
    expect(diagnostics.map(({ help }) => help)).toEqual([
      "`any` cannot be mixed with other words: add a task in between that comes after `any` of them",
    ]);
  });
});

describe("earlier names of a graph", () => {
  it("end with the word of a statement", () => {
    const { file, diagnostics } = parse("graph g was f, defaults { }");
    expect(diagnostics).toEqual([]);
    expect(file.items[0]).toMatchObject({ was: [{ name: "f" }, { name: "defaults" }] });
  });
});

describe("tests", () => {
  it("read every line", () => {
    const text = `given ticket = "x" mock a = "b" mock draft = { score: 0.1 } then { score: 0.9 } mock c fails "no" answer d = "send" then "again"
      expect ran a, [b, c], d expect ran [a] expect status failed expect reply == "x" expect !ok`;
    expect(outline(readTest(text))).toMatchInlineSnapshot(
      `"[Given(channel: ticket, value: "x"), Mock(node: a, results: ["b"]), Mock(node: draft, results: [Record(fields: [RecordField(name: score, value: Number(value: 0.1, isFloat: true))]), Record(fields: [RecordField(name: score, value: Number(value: 0.9, isFloat: true))])]), MockFails(node: c, message: "no"), Answer(node: d, values: ["send", "again"]), ExpectRan(steps: [[a], [b, c], [d]]), ExpectRan(steps: [[a]]), ExpectStatus(status: failed), Expect(condition: Binary(operator: ==, left: reply, right: "x")), Expect(condition: Unary(operator: !, operand: ok))]"`,
    );
  });

  it("read delays, signals and the expectations about ends", () => {
    const text = `mock a = 1 then 2 after 3d mock b fails "no" after 30m signal s = 1 then 2 signal "x.y" = 3
      expect never ran a, b expect paused at a expect fails with NG_NODE_TIMEOUT expect undone b, a`;
    expect(readTest(text).map(({ kind }) => kind)).toEqual([
      "Mock",
      "MockFails",
      "Signal",
      "Signal",
      "ExpectNeverRan",
      "ExpectPausedAt",
      "ExpectFailsWith",
      "ExpectUndone",
    ]);
    const [mock, fails, named, quoted] = readTest(text);
    expect(mock).toMatchObject({ results: [{}, {}], delay: { raw: "3d", milliseconds: 259_200_000 } });
    expect(fails).toMatchObject({ delay: { milliseconds: 1_800_000 } });
    expect(named).toMatchObject({ name: { kind: "Identifier", name: "s" }, values: [{}, {}] });
    expect(quoted).toMatchObject({ name: { kind: "String", value: "x.y" } });
  });

  it("distinguish the words of expectations from channels", () => {
    const kinds = (text: string) => readTest(text).map(({ kind }) => kind);
    expect(kinds("expect never expect paused expect fails expect undone")).toEqual(Array(4).fill("Expect"));
    expect(kinds("expect undone == 1 expect paused && fails")).toEqual(["Expect", "Expect"]);
    expect(kinds("expect undone signal x = 1 expect undone signal, a")).toEqual(["Expect", "Signal", "ExpectUndone"]);
  });

  it("distinguish traces and statuses from channels of that name", () => {
    const kinds = (text: string) => readTest(text).map(({ kind }) => kind);
    expect(kinds("expect ran expect status")).toEqual(["Expect", "Expect"]);
    expect(kinds("expect ran mock, expect")).toEqual(["ExpectRan"]);
    expect(kinds("expect ran == 1 expect status == 2 expect status.x")).toEqual(["Expect", "Expect", "Expect"]);
    expect(kinds("expect (ran)[0] expect ran mock x = 1")).toEqual(["Expect", "Expect", "Mock"]);
    expect(kinds("expect ran or, and given x = 1")).toEqual(["ExpectRan", "Given"]);
  });

  it("read words that begin statements of graphs and plans as names", () => {
    const kinds = (text: string) => readTest(text).map(({ kind }) => kind);
    for (const form of ["ran", "never ran", "undone"]) {
      for (const word of ["drop", "limit", "node", "task", "pool", "max"]) {
        expect(kinds(`expect ${form} a, ${word} expect x == 1`)).toHaveLength(2);
        expect(kinds(`expect ${form} a, ${word}\nmock a = 1`)).toHaveLength(2);
      }
    }
  });
});

describe("expressions", () => {
  it.each([
    ["a + b * c - d", "((a + (b * c)) - d)"],
    ["a ?? b || c && d == e < f + g * -h", "(a ?? (b || (c && (d == (e < (f + (g * (-h))))))))"],
    ["a - b - c", "((a - b) - c)"],
    ["a / b % c * d", "(((a / b) % c) * d)"],
    ["a == b != c", "((a == b) != c)"],
    ["x in xs && y in ys", "((x in xs) && (y in ys))"],
    ["!a.b && !!c", "((!a.b) && (!(!c)))"],
    ["- -1", "(-(-1))"],
    ["-a.b[0]", "(-a.b[0])"],
    ["(a + b) * c", "((a + b) * c)"],
    ["a ? b : c ? d : e", "(a ? b : (c ? d : e))"],
    ["a ? b ? c : d : e", "(a ? (b ? c : d) : e)"],
    ["a ? b + 1 : c", "(a ? (b + 1) : c)"],
    ["a?.b.in[f(x)].length", "a?.b.in[f(x)].length"],
    ["f()", "f()"],
    ["f(a, b,)", "f(a, b)"],
    ["f(a: 1, in: 2, match: x ? y : z)", "f(a: 1, in: 2, match: (x ? y : z))"],
    ["f(x ? y : z)", "f((x ? y : z))"],
    ["[]", "[]"],
    ["[1, [2],]", "[1, [2]]"],
    ['{ a, b: 1, "c d": 2, in: 3, }', "{a: a, b: 1, c d: 2, in: 3}"],
    ["[x.n for x in xs if x.ok]", "[x.n for x in xs if x.ok]"],
    ["[for for for in for]", "[for for for in for]"],
    ["1.0e3 + 2h", "(1.0e3 + 2h)"],
    ["`a${b}c`", "`a${b}c`"],
    ["true ? null : false", "(true ? null : false)"],
  ])("%s", (text, expected) => {
    expect(grouped(readExpression(text))).toBe(expected);
  });

  it("keep the parentheses of an operand in its span", () => {
    const binary = readExpression("(a + b) * (c)");
    expect(binary.span).toEqual({ start: 19, end: 32 });
    if (binary.kind !== "Binary") throw new Error(binary.kind);
    expect(binary.left.span).toEqual({ start: 20, end: 25 });
    expect(binary.operatorSpan).toEqual({ start: 27, end: 28 });
  });

  it("know whole numbers, floats and durations", () => {
    expect(outline(readExpression("[1, 1.0, 1e3, 90m, 1.5s]"))).toMatchInlineSnapshot(
      `"List(items: [Number(value: 1, isFloat: false), Number(value: 1, isFloat: true), Number(value: 1000, isFloat: true), DurationLiteral(milliseconds: 5400000), DurationLiteral(milliseconds: 1500)])"`,
    );
  });
});
