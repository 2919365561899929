/**
 * The findings of NeoGraph's compiler and validator (cases C52, C86 - C92) and the errors of langgraph-go's
 * construction (LG-05 - LG-13, LG-78). The codes are those of this project; `docs/deviations.md` lists the differences.
 */
import { describe, expect, test } from "vitest";
import { compile } from "../../compiler/compile.ts";
import { memoryHost } from "../../compiler/load/host.ts";
import { createEngine, type Table } from "../../runtime/index.ts";
import { tableOf } from "../support/graph.ts";

interface Case {
  readonly name: string;
  readonly graph: string;
  /** All errors and warnings, as `code:severity`, in the order of the text. */
  readonly found: readonly string[];
  /** Words in the message of the first finding. */
  readonly says?: readonly string[];
}

const cases: readonly Case[] = [
  { name: "C91: a valid graph", graph: `output x: int = 0  node a = 1 into x  start -> a -> end`, found: [] },
  {
    name: "C91, LG-12: an edge to a node that is not there (e3)",
    graph: `node a = 1  start -> a -> ghost`,
    found: ["NG101:error"],
    says: ["ghost"],
  },
  {
    name: "C92: a route to one",
    graph: `state m: string = ""  node a = 1  start -> a  a -> match m { "x" -> ghost  else -> end }`,
    found: ["NG101:error"],
    says: ["ghost"],
  },
  {
    name: "C91: a barrier that a member never signals (e8)",
    graph: `node a = 1  node b = 1  node j = 1 { waits a, b }  start -> a, b  a -> j  b -> end  j -> end`,
    found: ["NG301:error"],
    says: ["j", "b"],
  },
  {
    name: "C91: branches of different length meet without a barrier (e9)",
    graph: `node a = 1  node s1 = 1  node s2 = 1  node j = 1  start -> a, s1  s1 -> s2  any(a, s2) -> j  j -> end`,
    found: ["NG307:warning"],
    says: ["j", "a", "s2"],
  },
  {
    name: "C92: the same with a barrier",
    graph: `node a = 1  node s1 = 1  node s2 = 1  node j = 1  start -> a, s1  s1 -> s2  all(a, s2) -> j  j -> end`,
    found: [],
  },
  {
    name: "C91: a closed condition that is not covered (e10)",
    graph: `state m: "x" | "y" = "x"  node a = m into m  node b = 1  start -> a  a -> match m { "x" -> b }  b -> end`,
    found: ["NG501:error"],
    says: ["m", "y"],
  },
  {
    name: "C92: an arm for a value that cannot be",
    graph: `state m: "x" | "y" = "x"  node a = m into m  node b = 1  start -> a
      a -> match m { "x" -> b  "y" -> b  "maybe" -> b }  b -> end`,
    found: ["NG513:error"],
    says: ["maybe"],
  },
  {
    name: "C91, C92: an island (e7)",
    graph: `node a = 1  node island = 1  start -> a -> end  island -> end`,
    found: ["NG201:error"],
    says: ["island"],
  },
  {
    name: "C91, C92: a cycle without a way out (e11)",
    graph: `node a = 1  node b = 1  start -> a -> b -> a`,
    found: ["NG204:error"],
    says: ["a", "b"],
  },
  { name: "C92: a node without edges is no trap", graph: `node a = 1  node b = 1  start -> a -> b`, found: [] },
  {
    name: "C91: a write to a channel that is not declared (e4)",
    graph: `node a = 1 into nowhere  start -> a -> end`,
    found: ["NG104:error"],
    says: ["nowhere"],
  },
  {
    name: "C91: an unused channel (e6)",
    graph: `state dead: int = 0  node a = 1  start -> a -> end`,
    found: ["NG406:warning"],
    says: ["dead"],
  },
  {
    name: "C92: an output that is only written is used",
    graph: `output x: int = 0  node a = 1 into x  start -> a -> end`,
    found: [],
  },
  {
    name: "C91: two writers in one step (e5)",
    graph: `output x: int = 0  node a = 1 into x  node b = 2 into x  start -> a, b  any(a, b) -> end`,
    found: ["NG401:error"],
    says: ["x", "a", "b"],
  },
  {
    name: "C88: a misspelt statement",
    graph: `nod a = 1  start -> end`,
    found: ["NG001:error"],
    says: ["nod"],
  },
  {
    name: "C88: a misspelt policy",
    graph: `node a = 1 { trys 3 }  start -> a -> end`,
    found: ["NG001:error"],
    says: ["trys"],
  },
  {
    name: "C88: several mistakes are reported together",
    graph: `output x: strng = 0  node a = 1 into y  start -> b`,
    found: ["NG105:error", "NG104:error", "NG101:error"],
  },
  {
    name: "C52: a reducer that is not there, with what is meant",
    graph: `output x: int = 0 reduce sums  node a = 1 into x  start -> a -> end`,
    found: ["NG105:error"],
    says: ["sums", "sum"],
  },
  {
    name: "LG-07: two nodes of one name",
    graph: `node a = 1  node a = 2  start -> a -> end`,
    found: ["NG102:error"],
    says: ["a"],
  },
  {
    name: "LG-09: a start that is not there",
    graph: `node a = 1  start -> ghost  a -> end`,
    found: ["NG101:error"],
    says: ["ghost"],
  },
  { name: "LG-13: nothing starts", graph: `node a = 1  a -> end`, found: ["NG103:error"] },
  {
    name: "LG-78: no attempt at all",
    graph: `node a = 1 { tries 0 }  start -> a -> end`,
    found: ["NG006:error"],
    says: ["tries"],
  },
];

describe("mistakes in a graph are found before it runs", () => {
  test.each(cases)("$name", ({ graph, found, says = [] }) => {
    const { diagnostics } = compile(`graph g { ${graph} }`, { path: "case.ngraph", host: memoryHost({}) });
    const reported = diagnostics.filter(({ severity }) => severity !== "info");
    expect(reported.map(({ code, severity }) => `${code}:${severity}`)).toEqual(found);
    const text = `${reported[0]?.message ?? ""} ${reported[0]?.help ?? ""}`;
    for (const word of says) expect(text).toContain(word);
  });
});

describe("tables", () => {
  const table = tableOf(`graph g { output x: json = null  node a = 1 into x  start -> a -> end }`);

  test.each([
    ["nodes", {}],
    ["channels", "none"],
    ["start", 3],
    ["barriers", null],
  ])("C86: `%s` of the wrong kind is refused with its place", (field, value) => {
    expect(() => createEngine({ ...table, [field]: value } as unknown as Table)).toThrow(
      expect.objectContaining({ code: "NG_BAD_TABLE", message: expect.stringContaining(field) as string }) as Error,
    );
  });

  test("C87: a start value of null stays null, any other value is kept", () => {
    expect(table.channels[0]).toMatchObject({ name: "x", initial: null });
    const kept = tableOf(`graph g { output x: int = 42  node a = 1 into x  start -> a -> end }`);
    expect(kept.channels[0]).toMatchObject({ initial: 42 });
  });

  test("C90: layout and comments do not change the digest, edges and barriers do", () => {
    const digest = (text: string): string => tableOf(`graph g { ${text} }`).digest;
    const plain = digest(`node a = 1  node b = 1  node j = 1  start -> a, b  all(a, b) -> j`);
    expect(digest(`node a = 1 // first\n  node b = 1\n\n  node j = 1\n start -> a, b\n  all(a, b) -> j`)).toBe(plain);
    expect(digest(`node a = 1  node b = 1  node j = 1  start -> a, b  any(a, b) -> j`)).not.toBe(plain);
    expect(digest(`node a = 1  node b = 1  node j = 1  start -> a, b  all(a, b) -> j  j -> a`)).not.toBe(plain);
  });
});
