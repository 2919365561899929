import { describe, expect, it } from "vitest";
import { explain, findingsOf, graph, marked, withFix } from "./bind-text.ts";

interface Case {
  readonly code: string;
  readonly about: string;
  readonly text: string;
  readonly at: string;
  readonly says?: string;
  readonly severity?: "warning";
  readonly nearMiss: string;
}

/** A node whose expression is under test, in a graph with some channels. */
const INPUTS = [
  `input n: int`,
  `input x: float`,
  `input s: string`,
  `input flag: bool`,
  `input data: json`,
  `input xs: string[]`,
  `input ns: int[]`,
  `input m: map<int>`,
  `input kind: "bug" | "idea" | "question"`,
  `input maybe: string | null`,
  `input user: User`,
  `input shape: Circle | Square`,
];
const TYPES = `type User = { name: string, age?: int, boss: User | null }
type Circle = { kind: "circle", r: float }
type Square = { kind: "square", side: float }
`;

function expression(text: string, type = "json"): string {
  const names = new Set(text.match(/(?<![.\w"])[a-z]+\b/g));
  const inputs = INPUTS.filter((line) => names.has(/^input (\w+)/.exec(line)?.[1] ?? ""));
  return TYPES + graph(...inputs, `output out: ${type}`, `node calc = ${text} into out`, `start -> calc`);
}

function imported(body: string): string {
  return `import { search, rank, combine } from "./nodes.ts"\n${body}`;
}

const CASES: readonly Case[] = [
  {
    code: "NG408",
    about: "a default of another type",
    text: graph(`state n: int = "1"`, `node up = n + 1 into n`, `start -> up`),
    at: `"1"`,
    says: 'expected `int`, found `"1"`',
    nearMiss: graph(`state n: int = 1`, `node up = n + 1 into n`, `start -> up`),
  },
  {
    code: "NG408",
    about: "a float default of an int",
    text: graph(`state n: int = 1.0`, `node up = n + 1 into n`, `start -> up`),
    at: `1.0`,
    nearMiss: graph(`state n: float = 1`, `node up = n + 1 into n`, `start -> up`),
  },
  {
    code: "NG408",
    about: "a default that is computed",
    text: graph(`input k: int`, `state n: int = k`, `node up = n + k into n`, `start -> up`),
    at: `k`,
    says: "not a constant",
    nearMiss: graph(`input k: int`, `state n: int = -1`, `node up = n + k into n`, `start -> up`),
  },
  {
    code: "NG408",
    about: "a field inside a default",
    text: graph(`state p: { at: { x: int, y: int } } = { at: { x: 1, y: "2" } }`, `node up = p into p`, `start -> up`),
    at: `"2"`,
    says: "expected `int`",
    nearMiss: graph(
      `state p: { at: { x: int, y: int } } = { at: { x: 1, y: 2 } }`,
      `node up = p into p`,
      `start -> up`,
    ),
  },
  {
    code: "NG408",
    about: "a field that a default lacks",
    text: graph(`state p: { x: int, y: int } = { x: 1 }`, `node up = p into p`, `start -> up`),
    at: `{ x: 1 }`,
    says: "field `y` is missing",
    nearMiss: graph(`state p: { x: int, y?: int } = { x: 1 }`, `node up = p into p`, `start -> up`),
  },
  {
    code: "NG408",
    about: "a misspelt optional field of a literal",
    text: graph(`state p: { x: int, label?: string } = { x: 1, lable: "a" }`, `node up = p into p`, `start -> up`),
    at: `lable`,
    says: "`label`",
    nearMiss: graph(`state p: { x: int, label?: string } = { x: 1, label: "a" }`, `node up = p into p`, `start -> up`),
  },
  {
    code: "NG408",
    about: "a reducer that needs a list",
    text: graph(`state n: int reduce append`, `node up = 1 into n`, `node show = print(n)`, `start -> up -> show`),
    at: `append`,
    says: "`n: int[]`",
    nearMiss: graph(
      `state n: int[] reduce append`,
      `node up = 1 into n`,
      `node show = print(n)`,
      `start -> up -> show`,
    ),
  },
  {
    code: "NG408",
    about: "a reducer that needs numbers",
    text: graph(`state n: string reduce sum`, `node up = "a" into n`, `node show = print(n)`, `start -> up -> show`),
    at: `sum`,
    nearMiss: graph(`state n: float reduce sum`, `node up = 1 into n`, `node show = print(n)`, `start -> up -> show`),
  },
  {
    code: "NG408",
    about: "an imported reducer without a default",
    text: imported(
      graph(
        `state n: int reduce combine`,
        `node up = search(rank([])) into n`,
        `node show = print(n)`,
        `start -> up -> show`,
      ),
    ),
    at: `combine`,
    says: "needs a default",
    nearMiss: imported(
      graph(
        `state n: int = 0 reduce combine`,
        `node up = search(rank([])) into n`,
        `node show = print(n)`,
        `start -> up -> show`,
      ),
    ),
  },
  {
    code: "NG408",
    about: "a merged record that cannot start empty",
    text: graph(
      `state p: { x: int } reduce merge`,
      `node up = { x: 1 } into p`,
      `node show = print(p)`,
      `start -> up -> show`,
    ),
    at: `p`,
    nearMiss: graph(
      `state p: { x?: int } reduce merge`,
      `node up = { x: 1 } into p`,
      `node show = print(p)`,
      `start -> up -> show`,
    ),
  },
  {
    code: "NG408",
    about: "a result that does not fit its channel",
    text: expression("n / 2", "int"),
    at: "n / 2",
    says: "`round(…)`",
    nearMiss: expression("round(n / 2)", "int"),
  },
  {
    code: "NG408",
    about: "a channel for what has no result",
    text: graph(`output out: string`, `node say = print("hi") into out`, `start -> say`),
    at: "out",
    says: "remove the `into`",
    nearMiss: graph(`output out: string | null`, `node say = print("hi") into out`, `start -> say`),
  },
  {
    code: "NG408",
    about: "a field that a built-in node does not give",
    text: graph(`output page: string`, `node get = http("https://a.example") into { bdy: page }`, `start -> get`),
    at: "page",
    says: "`body`",
    nearMiss: graph(`output page: string`, `node get = http("https://a.example") into { body: page }`, `start -> get`),
  },
  {
    code: "NG408",
    about: "an argument of another type",
    text: graph(`node wait = sleep("1s")`, `start -> wait`),
    at: `"1s"`,
    says: "argument `duration` of `sleep`",
    nearMiss: graph(`node wait = sleep(1s)`, `start -> wait`),
  },
  {
    code: "NG408",
    about: "an argument of a graph",
    text: `graph sub { input q: string  node x = print(q)  start -> x }\n${graph(`node call = sub(q: 1)`, `start -> call`)}`,
    at: `1`,
    nearMiss: `graph sub { input q: string  node x = print(q)  start -> x }\n${graph(`node call = sub(q: "1")`, `start -> call`)}`,
  },
  {
    code: "NG408",
    about: "results of a `for` into a channel for one",
    text: graph(
      `input xs: string[]`,
      `output out: string`,
      "node every = upper(x) for x in xs into out",
      `start -> every`,
    ),
    at: `out`,
    says: "one list: `string[]`",
    nearMiss: graph(
      `input xs: string[]`,
      `output out: string[]`,
      "node every = upper(x) for x in xs into out",
      `start -> every`,
    ),
  },
  {
    code: "NG408",
    about: "a whole result where one of its fields fits",
    text: graph(`input url: string`, `output page: string`, `node get = http(url) into page`, `start -> get`),
    at: "page",
    says: "`into { body: page }`",
    nearMiss: graph(
      `input url: string`,
      `output page: string`,
      `node get = http(url) into { body: page }`,
      `start -> get`,
    ),
  },
  {
    code: "NG114",
    about: "a policy among the arguments",
    text: graph(`input url: string`, `node get = http(url, timeout: 5s)`, `start -> get`),
    at: "timeout",
    says: "`{ timeout 5s }`",
    nearMiss: graph(`input url: string`, `node get = http(url) { timeout 5s }`, `start -> get`),
  },
  {
    code: "NG509",
    about: "the way out, with the name of the value",
    text: expression("maybe", "string"),
    at: "maybe",
    says: "`maybe ?? …`",
    nearMiss: expression(`maybe != null ? maybe : ""`, "string"),
  },
  {
    code: "NG508",
    about: "numbers and strings",
    text: expression("s + n"),
    at: "+",
    says: "template",
    nearMiss: expression("`${s}${n}`"),
  },
  {
    code: "NG508",
    about: "a string minus a number",
    text: expression("s - n"),
    at: "-",
    nearMiss: expression("n - 1"),
  },
  {
    code: "NG508",
    about: "a condition that is no bool",
    text: expression("n ? 1 : 2"),
    at: "n",
    says: "`… != 0`",
    nearMiss: expression("n != 0 ? 1 : 2"),
  },
  {
    code: "NG508",
    about: "a list as a condition",
    text: expression("flag && xs"),
    at: "xs",
    says: "len",
    nearMiss: expression("flag && len(xs) > 0"),
  },
  {
    code: "NG508",
    about: "a record spread into a list",
    text: expression("[... m]"),
    at: "m",
    says: "values(",
    nearMiss: expression("[...values(m), 1]"),
  },
  {
    code: "NG508",
    about: "a list spread into a record",
    text: expression("{ ... xs }"),
    at: "xs",
    says: "[...xs, x]",
    nearMiss: expression("{ ... m }"),
  },
  {
    code: "NG508",
    about: "`some` of values that are no conditions",
    text: expression("some(xs)"),
    at: "xs",
    says: "some([x.ok for x in xs])",
    nearMiss: expression("some([len(each) > 1 for each in xs])"),
  },
  { code: "NG508", about: "`!` of a number", text: expression("!n"), at: "n", nearMiss: expression("!flag") },
  {
    code: "NG508",
    about: "comparing a number with a string",
    text: expression("n < s"),
    at: "<",
    nearMiss: expression("n < x"),
  },
  {
    code: "NG508",
    about: "equality of types without common values",
    text: expression("n == s"),
    at: "n == s",
    nearMiss: expression("n == x * 2"),
  },
  {
    code: "NG508",
    about: "equality with a literal of another kind",
    text: expression("s == 3"),
    at: "3",
    nearMiss: expression(`s == "3"`),
  },
  {
    code: "NG508",
    about: "a field that a record does not have",
    text: expression("user.nmae"),
    at: "nmae",
    says: "`name`",
    nearMiss: expression("user.name"),
  },
  {
    code: "NG508",
    about: "a field of some alternatives only",
    text: expression("shape.r"),
    at: "r",
    says: "test which one",
    nearMiss: expression(`shape.kind == "circle" ? shape.r : 0`),
  },
  {
    code: "NG508",
    about: "`.length`",
    text: expression("xs.length"),
    at: "length",
    says: "`len(…)`",
    nearMiss: expression("len(xs)"),
  },
  {
    code: "NG508",
    about: "a part of unknown json",
    text: expression("data.title"),
    at: "title",
    says: "`json` value is unknown",
    nearMiss: expression(`data == "title"`),
  },
  {
    code: "NG508",
    about: "going over a map",
    text: expression("[v for v in m]"),
    at: "m",
    says: "`values(…)`",
    nearMiss: expression("[v for v in values(m)]"),
  },
  {
    code: "NG508",
    about: "looking for text with `in`",
    text: expression(`"a" in s`),
    at: "s",
    says: "contains",
    nearMiss: expression(`contains(s, "a")`),
  },
  {
    code: "NG508",
    about: "a list indexed by a string",
    text: expression(`xs["0"]`),
    at: `"0"`,
    nearMiss: expression(`xs[0]`),
  },
  {
    code: "NG508",
    about: "a string indexed",
    text: expression(`s[0]`),
    at: `s`,
    says: "split",
    nearMiss: expression(`split(s, "")[0]`),
  },
  {
    code: "NG508",
    about: "an argument of a library function",
    text: expression(`upper(n)`),
    at: `n`,
    nearMiss: expression(`upper(s)`),
  },
  {
    code: "NG508",
    about: "the sum of strings",
    text: expression(`sum(xs)`),
    at: `xs`,
    nearMiss: expression(`sum(ns)`),
  },
  {
    code: "NG508",
    about: "matching a list",
    text: graph(`input xs: string[]`, `node a = print("")`, `start -> match xs { "a" -> a  else -> end }`),
    at: `xs`,
    says: "literals",
    nearMiss: graph(`input xs: string[]`, `node a = print("")`, `start -> match first(xs) { "a" -> a  else -> end }`),
  },
  {
    code: "NG508",
    about: "`for` over a number",
    text: graph(`input n: int`, `node a = print(i) for i in n`, `start -> a`),
    at: `n`,
    nearMiss: graph(`input n: int`, `node a = print(i) for i in range(n)`, `start -> a`),
  },
  {
    code: "NG509",
    about: "a field of what may be null",
    text: expression("user.boss.name"),
    at: "user.boss",
    says: "?.name",
    nearMiss: expression("user.boss?.name"),
  },
  {
    code: "NG509",
    about: "arithmetic with an optional field",
    text: expression("user.age + 1"),
    at: "user.age",
    nearMiss: expression("(user.age ?? 0) + 1"),
  },
  {
    code: "NG509",
    about: "arithmetic with an item",
    text: expression("ns[0] + 1"),
    at: "ns[0]",
    nearMiss: expression("ns[0] != null ? ns[0] + 1 : 0"),
  },
  {
    code: "NG509",
    about: "a nullable value stored",
    text: expression("maybe", "string"),
    at: "maybe",
    nearMiss: expression(`maybe ?? ""`, "string"),
  },
  {
    code: "NG509",
    about: "a nullable argument",
    text: expression("upper(maybe)"),
    at: "maybe",
    nearMiss: expression("maybe == null ? s : upper(maybe)"),
  },
  {
    code: "NG509",
    about: "a channel that some way has not written",
    text: graph(
      `input flag: bool`,
      `state n: int`,
      `output out: int`,
      `node set = 1 into n`,
      `node use = n + 1 into out`,
      `start -> set when flag`,
      `start -> use otherwise`,
      `set -> use`,
    ),
    at: "n",
    says: "give `n` a default",
    nearMiss: graph(
      `input flag: bool`,
      `state n: int = 0`,
      `output out: int`,
      `node set = 1 into n`,
      `node use = n + 1 into out`,
      `start -> set when flag`,
      `start -> use otherwise`,
      `set -> use`,
    ),
  },
  {
    code: "NG403",
    about: "a channel that nothing writes",
    text: graph(`state n: int`, `node show = print(n)`, `start -> show`),
    at: "n",
    says: "nothing writes it",
    nearMiss: graph(`input n: int = 1`, `node show = print(n)`, `start -> show`),
  },
  {
    code: "NG403",
    about: "a read before every write",
    text: graph(`state n: int`, `node show = print(n)`, `node set = 1 into n`, `start -> show -> set`),
    at: "n",
    says: "before anything writes it",
    nearMiss: graph(`state n: int`, `node show = print(n)`, `node set = 1 into n`, `start -> set -> show`),
  },
  {
    code: "NG403",
    about: "a read that some way has not written",
    severity: "warning",
    text: graph(
      `input flag: bool`,
      `state n: int`,
      `node set = 1 into n`,
      "node use = print(`${n}`)",
      `start -> set when flag`,
      `start -> use otherwise`,
      `set -> use`,
    ),
    at: "n",
    says: "n: int | null",
    nearMiss: graph(
      `input flag: bool`,
      `state n: int | null`,
      `node set = 1 into n`,
      "node use = print(`${n}`)",
      `start -> set when flag`,
      `start -> use otherwise`,
      `set -> use`,
    ),
  },
  {
    code: "NG406",
    about: "a channel without a part",
    severity: "warning",
    text: graph(`state n: int = 0`, `node show = print("")`, `start -> show`),
    at: "n",
    nearMiss: graph(`state n: int = 0`, `node show = print(n)`, `node add = n + 1 into n`, `start -> show -> add`),
  },
  {
    code: "NG406",
    about: "a state with a default that nothing writes",
    severity: "warning",
    text: graph(`state n: int = 0`, `node show = print(n)`, `start -> show`),
    at: "n",
    says: "never written",
    nearMiss: graph(`input n: int = 0`, `node show = print(n)`, `start -> show`),
  },
  {
    code: "NG406",
    about: "an input that nothing reads",
    severity: "warning",
    text: graph(`input n: int`, `node show = print("")`, `start -> show`),
    at: "n",
    nearMiss: graph(`input n: int`, `node show = print("")`, `start -> show when n > 0`, `start -> end otherwise`),
  },
  {
    code: "NG406",
    about: "an output that nothing writes",
    severity: "warning",
    text: graph(`output n: int = 0`, `node show = print(n)`, `start -> show`),
    at: "n",
    nearMiss: graph(`output n: int = 0`, `node up = n + 1 into n`, `start -> up`),
  },
  {
    code: "NG510",
    about: "an unknown function",
    text: expression("len(lowr(s))"),
    at: "lowr",
    says: "`lower`",
    nearMiss: expression("len(lower(s))"),
  },
  {
    code: "NG510",
    about: "too few arguments",
    text: expression("split(s)"),
    at: "split(s)",
    says: "2 arguments",
    nearMiss: expression(`split(s, ",")`),
  },
  {
    code: "NG510",
    about: "too many arguments",
    text: expression("len(s, s)"),
    at: "len(s, s)",
    nearMiss: expression("min(n, 1, 2)"),
  },
  {
    code: "NG510",
    about: "a named argument of the library",
    text: expression("len(value: s)"),
    at: "value",
    nearMiss: expression("len(s)"),
  },
  {
    code: "NG511",
    about: "a reference back",
    text: expression(`matches(s, "(a)\\\\1")`),
    at: `"(a)\\\\1"`,
    nearMiss: expression(`matches(s, "^(a+)+$")`),
  },
  {
    code: "NG511",
    about: "a pattern that is computed",
    text: expression(`matches(s, s)`),
    at: `s`,
    nearMiss: expression(`matches(s, "s")`),
  },
  {
    code: "NG512",
    about: "equality of floats",
    severity: "warning",
    text: expression(`x == 0.3`),
    at: `==`,
    nearMiss: expression(`x == 0`),
  },
  {
    code: "NG513",
    about: "a value that an enum does not have",
    text: expression(`kind == "bugg"`),
    at: `"bugg"`,
    says: `"bug"`,
    nearMiss: expression(`kind == "bug"`),
  },
  {
    code: "NG513",
    about: "a list of values with one that is none",
    text: expression(`kind in ["bug", "ida"]`),
    at: `"ida"`,
    nearMiss: expression(`kind in ["bug", "idea"]`),
  },
  {
    code: "NG513",
    about: "an arm that no value takes",
    text: graph(
      `input kind: "bug" | "idea"`,
      `node a = print("")`,
      `start -> match kind { "bug" -> a  "ideas" -> end }`,
    ),
    at: `"ideas"`,
    says: `"idea"`,
    nearMiss: graph(
      `input kind: "bug" | "idea"`,
      `node a = print("")`,
      `start -> match kind { "bug" -> a  "idea" -> end }`,
    ),
  },
  {
    code: "NG514",
    about: "a node called in an argument",
    text: expression(`len(http("https://a.example"))`),
    at: `http`,
    says: "node of its own",
    nearMiss: expression(`len("https://a.example")`),
  },
  {
    code: "NG514",
    about: "a node called in a condition",
    text: graph(`node a = print("")`, `start -> a when ask("go?") == "yes"`, `start -> end otherwise`),
    at: `ask`,
    nearMiss: graph(
      `state go: string`,
      `node q = ask("go?") into go`,
      `node a = print("")`,
      `start -> q`,
      `q -> a when go == "yes"`,
      `q -> end otherwise`,
    ),
  },
];

describe("data and expressions", () => {
  it("every code has a case", () => {
    const codes = ["NG403", "NG406", "NG408", "NG508", "NG509", "NG510", "NG511", "NG512", "NG513", "NG514"];
    const covered = new Set(CASES.map(({ code }) => code));
    expect(codes.filter((code) => !covered.has(code))).toEqual([]);
  });

  it.each(CASES)("$code: $about", ({ code, text, at, says, severity = "error" }) => {
    const diagnostics = findingsOf(text);
    const own = diagnostics.filter((item) => item.code === code);
    expect(own, explain(diagnostics)).toHaveLength(1);
    const [found] = own;
    if (found === undefined) return;
    expect(found.severity).toBe(severity);
    expect(marked(found)).toBe(at);
    if (says !== undefined) expect([found.message, found.help, found.label].join(" ")).toContain(says);
    const fixed = withFix(found);
    if (fixed !== undefined) expect(explain(findingsOf(fixed)), fixed).not.toContain("error");
    const others = diagnostics.filter((item) => item !== found);
    expect(explain(others)).toBe("");
  });

  it.each(CASES)("$code near miss: $about", ({ nearMiss }) => {
    expect(explain(findingsOf(nearMiss))).toBe("");
  });
});
