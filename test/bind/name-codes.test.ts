import { describe, expect, it } from "vitest";
import { explain, findingsOf, graph, marked, MODULES, withFix } from "./bind-text.ts";

interface Case {
  readonly code: string;
  readonly about: string;
  readonly text: string;
  /** What the diagnostic marks. */
  readonly at: string;
  /** Part of its message or help. */
  readonly says?: string;
  /** A similar text without the finding. */
  readonly nearMiss: string;
  readonly files?: Readonly<Record<string, string>>;
}

const HELLO = [`node hello = print("hi")`, `start -> hello`];

const CASES: readonly Case[] = [
  {
    code: "NG101",
    about: "a misspelt target",
    text: graph(...HELLO, `node bye = print("bye")`, `hello -> bey`),
    at: "bey",
    says: "a node with a similar name exists: `bye`",
    nearMiss: graph(...HELLO, `node bye = print("bye")`, `hello -> bye`),
  },
  {
    code: "NG101",
    about: "a misspelt `start`",
    text: graph(`node hello = print("hi")`, `strat -> hello`),
    at: "strat",
    says: "`start`",
    nearMiss: graph(...HELLO),
  },
  {
    code: "NG101",
    about: "a channel used as a node",
    text: graph(`state notes: string = ""`, ...HELLO, `node keep = notes into notes`, `hello -> keep -> notes`),
    at: "notes",
    says: "is a channel",
    nearMiss: graph(`state notes: string = ""`, ...HELLO, `node keep = notes into notes`, `hello -> keep`),
  },
  {
    code: "NG101",
    about: "a name in `waits`",
    text: graph(...HELLO, `node bye = print("bye") { waits helo }`, `hello -> bye`),
    at: "helo",
    nearMiss: graph(...HELLO, `node bye = print("bye") { waits hello }`, `hello -> bye`),
  },
  {
    code: "NG101",
    about: "a name in `goes`",
    text: `import { search } from "./nodes.ts"\n${graph(`node find = search("x") { goes fnid }`, `start -> find`)}`,
    at: "fnid",
    nearMiss: `import { search } from "./nodes.ts"\n${graph(`node find = search("x") { goes find, end }`, `start -> find`)}`,
  },
  {
    code: "NG101",
    about: "a name in an assertion",
    text: graph(...HELLO, `assert once hallo`),
    at: "hallo",
    nearMiss: graph(...HELLO, `assert hello before end`),
  },
  {
    code: "NG102",
    about: "a channel and a node of one name",
    text: graph(`state hello: int = 0`, ...HELLO),
    at: "hello",
    nearMiss: graph(`state count: int = 0`, ...HELLO, `node up = count + 1 into count`, `hello -> up`),
  },
  {
    code: "NG102",
    about: "a type and a graph of one name",
    text: `type main = int\n${graph(...HELLO)}`,
    at: "main",
    nearMiss: `type Main = int\n${graph(...HELLO)}`,
  },
  {
    code: "NG102",
    about: "a policy twice",
    text: graph(`node hello = print("hi") { tries 2 tries 3 }`, `start -> hello`),
    at: "tries 3",
    nearMiss: graph(`node hello = print("hi") { pause before pause after }`, `start -> hello`),
  },
  {
    code: "NG102",
    about: "a node in `goes` twice",
    text: `import { search } from "./nodes.ts"\n${graph(`node find = search("x") { goes end, end }`, `start -> find`)}`,
    at: "end",
    nearMiss: `import { search } from "./nodes.ts"\n${graph(`node find = search("x") { goes end, find }`, `start -> find`)}`,
  },
  {
    code: "NG102",
    about: "a channel written twice by one node",
    text: `import { search } from "./nodes.ts"\n${graph(`output a: json`, `node find = search("x") into { p: a, q: a }`, `start -> find`)}`,
    at: "a",
    nearMiss: `import { search } from "./nodes.ts"\n${graph(`output a: json[] reduce append`, `node find = search("x") into { p: a, q: a }`, `start -> find`)}`,
  },
  {
    code: "NG102",
    about: "a field of a record type twice",
    text: `type T = { a: int, a: int }\n${graph(`state t: T = { a: 1 }`, `node keep = t into t`, `start -> keep`)}`,
    at: "a",
    nearMiss: `type T = { a: int, b: int }\n${graph(`state t: T = { a: 1, b: 2 }`, `node keep = t into t`, `start -> keep`)}`,
  },
  {
    code: "NG103",
    about: "no edge leaves start",
    text: graph(`node hello = print("hi")`, `hello -> end`),
    at: "main",
    says: "start -> hello",
    nearMiss: graph(`node hello = print("hi")`, `start -> hello`, `hello -> end`),
  },
  {
    code: "NG104",
    about: "an unknown channel in an expression",
    text: graph(`input ticket: string`, "node hello = print(`${tiket}`)", `start -> hello`),
    at: "tiket",
    says: "similar name exists: `ticket`",
    nearMiss: graph(`input ticket: string`, "node hello = print(`${ticket}`)", `start -> hello`),
  },
  {
    code: "NG104",
    about: "an enum's value without quotes",
    text: graph(`input kind: "bug" | "idea"`, ...HELLO, `start -> hello when kind == bug`, `start -> end otherwise`),
    at: "bug",
    says: `did you mean the string "bug"`,
    nearMiss: graph(
      `input kind: "bug" | "idea"`,
      ...HELLO,
      `start -> hello when kind == "bug"`,
      `start -> end otherwise`,
    ),
  },
  {
    code: "NG104",
    about: "a node read as a value",
    text: graph(`output n: int`, `node one = 1 into n`, `node two = print(one)`, `start -> one -> two`),
    at: "one",
    says: "read what it writes, `n`",
    nearMiss: graph(`output n: int`, `node one = 1 into n`, `node two = print(n)`, `start -> one -> two`),
  },
  {
    code: "NG104",
    about: "an unknown channel after into",
    text: graph(`output total: int`, `node one = 1 into totl`, `start -> one`),
    at: "totl",
    nearMiss: graph(`output total: int`, `node one = 1 into total`, `start -> one`),
  },
  {
    code: "NG104",
    about: "writing an input",
    text: graph(`input n: int`, `node one = n + 1 into n`, `start -> one`),
    at: "n",
    says: "read-only",
    nearMiss: graph(`input n: int`, `output m: int`, `node one = n + 1 into m`, `start -> one`),
  },
  {
    code: "NG105",
    about: "an unknown function",
    text: `import { search } from "./nodes.ts"\n${graph(`node find = serch("x")`, `node again = search("y")`, `start -> find -> again`)}`,
    at: "serch",
    says: "`search`",
    nearMiss: `import { search } from "./nodes.ts"\n${graph(`node find = search("x")`, `start -> find`)}`,
  },
  {
    code: "NG105",
    about: "a type of another language",
    text: graph(`input n: number`, `node show = print(n)`, `start -> show`),
    at: "number",
    says: "`float`",
    nearMiss: graph(`input n: float`, `node show = print(n)`, `start -> show`),
  },
  {
    code: "NG105",
    about: "a type that contains itself directly",
    text: `type T = T | null\n${graph(`input n: T`, `node show = print(n)`, `start -> show`)}`,
    at: "T",
    nearMiss: `type T = T[] | null\n${graph(`input n: T`, `node show = print(n)`, `start -> show`)}`,
  },
  {
    code: "NG105",
    about: "a missing file",
    text: `import { search } from "./node.ts"\n${graph(`node find = search("x")`, `start -> find`)}`,
    at: `"./node.ts"`,
    says: "`./nodes.ts`",
    nearMiss: `import { search } from "./nodes.js"\n${graph(`node find = search("x")`, `start -> find`)}`,
  },
  {
    code: "NG105",
    about: "a missing export",
    text: `import { serch } from "./nodes.ts"\n${graph(`node find = serch("x")`, `start -> find`)}`,
    at: "serch",
    says: "similar name: `search`",
    nearMiss: `import { search as serch } from "./nodes.ts"\n${graph(`node find = serch("x")`, `start -> find`)}`,
  },
  {
    code: "NG105",
    about: "a type imported as a value",
    text: `import { Ticket } from "./nodes.ts"\n${graph(`input t: Ticket`, `node show = print(t)`, `start -> show`)}`,
    at: "Ticket",
    says: "write `type Ticket`",
    nearMiss: `import { type Ticket } from "./nodes.ts"\n${graph(`input t: Ticket`, `node show = print(t)`, `start -> show`)}`,
  },
  {
    code: "NG105",
    about: "a name that another graph file does not declare",
    files: { ...MODULES, "other.ngraph": graph(...HELLO) },
    text: `import { mian } from "./other.ngraph"\n${graph(`node call = mian()`, `start -> call`)}`,
    at: "mian",
    nearMiss: `import { main as other } from "./other.ngraph"\n${graph(`node call = other()`, `start -> call`)}`,
  },
  {
    code: "NG105",
    about: "an unknown reducer",
    text: graph(`state n: int[] reduce apend`, `node one = 1 into n`, `node show = print(n)`, `start -> one -> show`),
    at: "apend",
    says: "`append`",
    nearMiss: graph(
      `state n: int[] reduce append`,
      `node one = 1 into n`,
      `node show = print(n)`,
      `start -> one -> show`,
    ),
  },
  {
    code: "NG107",
    about: "a node called end",
    text: graph(`node end = print("hi")`, `start -> end`),
    at: "end",
    nearMiss: graph(`node ending = print("hi")`, `start -> ending`),
  },
  {
    code: "NG107",
    about: "a channel called error",
    text: graph(`state error: int = 0`, ...HELLO),
    at: "error",
    nearMiss: graph(`state errors: int = 0`, ...HELLO, `node up = errors + 1 into errors`, `hello -> up`),
  },
  {
    code: "NG107",
    about: "a node called each",
    text: graph(`node each = print("hi")`, `start -> each`),
    at: "each",
    nearMiss: graph(`node every = print("hi")`, `start -> every`),
  },
  {
    code: "NG107",
    about: "a channel called outcome",
    text: graph(`state outcome: int = 0`, ...HELLO),
    at: "outcome",
    nearMiss: graph(`state outcomes: int = 0`, ...HELLO, `node up = outcomes + 1 into outcomes`, `hello -> up`),
  },
  {
    code: "NG107",
    about: "a node called finally",
    text: graph(`node finally = print("hi")`, `start -> finally`),
    at: "finally",
    nearMiss: graph(`node final = print("hi")`, `start -> final`),
  },
  {
    code: "NG107",
    about: "a type with the name of a built-in one",
    text: `type int = string\n${graph(...HELLO)}`,
    at: "int",
    nearMiss: `type Int = string\n${graph(...HELLO)}`,
  },
  {
    code: "NG108",
    about: "an edge twice",
    text: graph(...HELLO, `node bye = print("bye")`, `hello -> bye`, `hello -> bye`),
    at: "bye",
    nearMiss: graph(
      `input a: bool`,
      ...HELLO,
      `node bye = print("bye")`,
      `hello -> bye when a`,
      `hello -> bye when !a`,
    ),
  },
  {
    code: "NG109",
    about: "an edge into start",
    text: graph(...HELLO, `hello -> start`),
    at: "start",
    nearMiss: graph(...HELLO, `hello -> end`),
  },
  {
    code: "NG109",
    about: "an edge out of end",
    text: graph(...HELLO, `hello -> end`, `end -> hello`),
    at: "end",
    nearMiss: graph(...HELLO, `hello -> end`),
  },
  {
    code: "NG109",
    about: "start in a barrier",
    text: graph(...HELLO, `node bye = print("bye")`, `all(start, hello) -> bye`),
    at: "start",
    nearMiss: graph(...HELLO, `node bye = print("bye")`, `all(hello) -> bye`),
  },
  {
    code: "NG109",
    about: "a failure of start",
    text: graph(...HELLO, `start -> hello on error`),
    at: "start",
    nearMiss: graph(...HELLO, `node sorry = print("no")`, `hello -> sorry on error`),
  },
  {
    code: "NG109",
    about: "an edge into finally",
    text: graph(...HELLO, `hello -> finally`),
    at: "finally",
    nearMiss: graph(...HELLO, `node bye = print("bye")`, `finally -> bye`),
  },
  {
    code: "NG109",
    about: "an edge from finally to end",
    text: graph(...HELLO, `finally -> end`),
    at: "end",
    nearMiss: graph(
      ...HELLO,
      `node bye = print("bye")`,
      `finally -> match outcome.status { "failed" -> bye  else -> end }`,
    ),
  },
  {
    code: "NG109",
    about: "finally in a barrier",
    text: graph(...HELLO, `node bye = print("bye")`, `all(finally, hello) -> bye`),
    at: "finally",
    nearMiss: graph(...HELLO, `node bye = print("bye")`, `finally -> bye`),
  },
  {
    code: "NG110",
    about: "names that differ in case",
    text: graph(...HELLO, `node Hello = print("hi")`, `hello -> Hello`),
    at: "Hello",
    nearMiss: graph(...HELLO, `node hello2 = print("hi")`, `hello -> hello2`),
  },
  {
    code: "NG110",
    about: "names that look alike",
    text: graph(`node l1 = print("hi")`, `node ll = print("hi")`, `start -> l1 -> ll`),
    at: "ll",
    nearMiss: graph(`node row_1_11 = print("hi")`, `node row_11_1 = print("hi")`, `start -> row_1_11 -> row_11_1`),
  },
  {
    code: "NG111",
    about: "an unused import",
    text: `import { search, rank } from "./nodes.ts"\n${graph(`node find = search("x")`, `start -> find`)}`,
    at: "rank",
    nearMiss: `import { search, rank } from "./nodes.ts"\n${graph(`node find = search(rank(["x"]))`, `start -> find`)}`,
  },
  {
    code: "NG111",
    about: "an unused secret",
    text: `secret KEY\n${graph(...HELLO)}`,
    at: "KEY",
    nearMiss: `secret KEY\n${graph(`node get = http("https://a.example", headers: { key: KEY })`, `start -> get`)}`,
  },
  {
    code: "NG112",
    about: "files that import each other",
    files: { "b.ngraph": `import { a } from "./main.ngraph"\ngraph b { node x = a()  start -> x }`, "main.ngraph": "" },
    text: `import { b } from "./b.ngraph"\ngraph a { node x = b()  start -> x }`,
    at: `"./main.ngraph"`,
    nearMiss: `graph b { node x = print("")  start -> x }\ngraph a { node x = b()  start -> x }`,
  },
  {
    code: "NG114",
    about: "a missing argument",
    text: graph(`node get = http(method: "GET")`, `start -> get`),
    at: "http",
    says: "`url`",
    nearMiss: graph(`node get = http("https://a.example", method: "GET")`, `start -> get`),
  },
  {
    code: "NG114",
    about: "an unknown argument",
    text: graph(`node get = http(ulr: "https://a.example")`, `start -> get`),
    at: "ulr",
    says: "similar name exists: `url`",
    nearMiss: graph(`node get = http(url: "https://a.example")`, `start -> get`),
  },
  {
    code: "NG114",
    about: "an argument twice",
    text: graph(`node get = http("https://a.example", url: "https://b.example")`, `start -> get`),
    at: "url",
    nearMiss: graph(`node get = http("https://a.example", body: "https://b.example")`, `start -> get`),
  },
  {
    code: "NG114",
    about: "too many arguments",
    text: graph(`node wait = sleep(1s, 2s)`, `start -> wait`),
    at: "2s",
    nearMiss: graph(`node wait = sleep(1s)`, `start -> wait`),
  },
  {
    code: "NG114",
    about: "a positional argument for a graph",
    text: `graph sub { input q: string  node x = print(q)  start -> x }\n${graph(`node call = sub("a")`, `start -> call`)}`,
    at: `"a"`,
    says: "write `q:",
    nearMiss: `graph sub { input q: string  node x = print(q)  start -> x }\n${graph(`node call = sub(q: "a")`, `start -> call`)}`,
  },
  {
    code: "NG114",
    about: "positional and named arguments of a function",
    text: `import { search } from "./nodes.ts"\n${graph(`node find = search("x", limit: 3)`, `start -> find`)}`,
    at: "limit: 3",
    nearMiss: `import { search } from "./nodes.ts"\n${graph(`node find = search(query: "x", limit: 3)`, `start -> find`)}`,
  },
  {
    code: "NG116",
    about: "graphs that call each other",
    text: `graph a { node x = b()  start -> x }\ngraph b { node x = a()  start -> x }\n`,
    at: "a",
    nearMiss: `graph a { node x = b()  start -> x }\ngraph b { node x = print("")  start -> x }\n`,
  },
  {
    code: "NG116",
    about: "a graph that calls itself",
    text: graph(`node again = main()`, `start -> again`),
    at: "main",
    nearMiss: graph(`node main = print("")`, `start -> main`),
  },
  {
    code: "NG117",
    about: "a policy of plans",
    text: graph(`node hello = print("hi") { alone }`, `start -> hello`),
    at: "alone",
    nearMiss: graph(`node hello = print("hi") { idempotent }`, `start -> hello`),
  },
  {
    code: "NG117",
    about: "a jump from what is no function",
    text: graph(`node hello = print("hi") { goes end }`, `start -> hello`),
    at: "goes end",
    nearMiss: graph(...HELLO),
  },
  {
    code: "NG117",
    about: "a condition on a barrier",
    text: graph(`input a: bool`, ...HELLO, `node bye = print("bye")`, `all(hello) -> bye when a`),
    at: "when a",
    nearMiss: graph(
      `input a: bool`,
      ...HELLO,
      `node bye = print("bye")`,
      `all(hello) -> bye`,
      `bye -> end when a`,
      `bye -> end otherwise`,
    ),
  },
  {
    code: "NG006",
    about: "no tries",
    text: graph(`node hello = print("hi") { tries 0 }`, `start -> hello`),
    at: "0",
    nearMiss: graph(`node hello = print("hi") { tries 1 }`, `start -> hello`),
  },
  {
    code: "NG006",
    about: "a backoff that shrinks",
    text: graph(`node hello = print("hi") { tries 2 backoff 5s..200ms }`, `start -> hello`),
    at: "200ms",
    nearMiss: graph(`node hello = print("hi") { tries 2 backoff 200ms..5s }`, `start -> hello`),
  },
  {
    code: "NG006",
    about: "no tokens",
    text: graph(`limit tokens 0`, `node hello = print("hi")`, `start -> hello`),
    at: "0",
    nearMiss: graph(`limit tokens 1`, `node hello = print("hi")`, `start -> hello`),
  },
  {
    code: "NG006",
    about: "no cost",
    text: graph(`limit cost 0`, `node hello = print("hi")`, `start -> hello`),
    at: "0",
    nearMiss: graph(`limit cost 0.01`, `node hello = print("hi")`, `start -> hello`),
  },
  {
    code: "NG102",
    about: "a limit twice",
    text: graph(`limit cost 1`, `limit cost none`, `node hello = print("hi")`, `start -> hello`),
    at: "limit cost none",
    nearMiss: graph(`limit cost 1`, `limit tokens 9`, `node hello = print("hi")`, `start -> hello`),
  },
  {
    code: "NG706",
    about: "nothing in parallel",
    text: graph(`node hello = print("hi") { max parallel 0 }`, `start -> hello`),
    at: "0",
    nearMiss: graph(`node hello = print("hi") { max parallel 1 }`, `start -> hello`),
  },
];

describe("names and structure", () => {
  it("every code has a case; NG113 and NG115 need files", () => {
    const codes = ["NG101", "NG102", "NG103", "NG104", "NG105", "NG107", "NG108", "NG109", "NG110", "NG111", "NG112"];
    const covered = new Set(CASES.map(({ code }) => code));
    expect([...codes, "NG114", "NG116", "NG117"].filter((code) => !covered.has(code))).toEqual([]);
  });

  it.each(CASES)("$code: $about", ({ code, text, at, says, files }) => {
    const diagnostics = findingsOf(text, files);
    const own = diagnostics.filter((item) => item.code === code);
    expect(own, explain(diagnostics)).toHaveLength(1);
    const [found] = own;
    if (found === undefined) return;
    expect(marked(found)).toBe(at);
    if (says !== undefined) expect(`${found.message} ${found.help ?? ""} ${found.label}`).toContain(says);
    const fixed = withFix(found);
    if (fixed !== undefined) expect(explain(findingsOf(fixed, files)), fixed).not.toContain("error");
    // One mistake, one error.
    const others = diagnostics.filter((item) => item !== found && item.severity === "error");
    expect(explain(others)).toBe("");
  });

  it.each(CASES)("$code near miss: $about", ({ nearMiss, files }) => {
    const diagnostics = findingsOf(nearMiss, files);
    expect(explain(diagnostics)).toBe("");
  });
});
