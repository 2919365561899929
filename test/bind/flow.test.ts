import { describe, expect, it } from "vitest";
import { bindText, explain, graph } from "./bind-text.ts";

/** Channel `x` starts as null; `use` needs a number. The finding for its read shows what binding knows there. */
function readAfter(...statements: readonly string[]): string {
  const text = graph(
    `input flag: bool`,
    `input kind: "a" | "b"`,
    `state x: int`,
    `output out: int`,
    `node set = 1 into x`,
    `node other = print("")`,
    `node third = print("")`,
    ...statements,
    // Everything is read somewhere.
    `node end_flag = print([flag, kind == "a"])`,
    `use -> end_flag`,
  );
  const { diagnostics } = bindText(text);
  return diagnostics.map((item) => item.code).join(" ");
}

const USE = `node use = x + 1 into out`;

describe("what has been written where", () => {
  it("after its writer", () => {
    expect(readAfter(USE, `start -> set -> use`, `start -> other -> third`)).toBe("");
  });
  it("not beside its writer", () => {
    expect(readAfter(USE, `start -> set, use`, `start -> other -> third`)).toBe("NG509");
  });
  it("not where one way avoids its writer", () => {
    expect(
      readAfter(USE, `start -> other`, `other -> set when flag`, `other -> use otherwise`, `set -> third -> use`),
    ).toBe("NG509");
  });
  it("where both ways write", () => {
    expect(
      readAfter(
        USE,
        `node set2 = 2 into x`,
        `start -> other`,
        `other -> set when flag`,
        `other -> set2 otherwise`,
        `any(set, set2) -> third`,
        `third -> use`,
      ),
    ).toBe("");
  });
  it("after a barrier, when one of its members writes", () => {
    expect(readAfter(USE, `start -> set, other`, `all(set, other) -> third`, `third -> use`)).toBe("");
  });
  it("not after a barrier whose writing member others may stand for", () => {
    expect(readAfter(USE, `start -> set, other`, `all(any(set, other)) -> third`, `third -> use`)).toBe("NG509");
  });
  it("after `waits`", () => {
    expect(
      readAfter(
        `node use = x + 1 into out { waits set, other }`,
        `start -> set, other`,
        `any(set, other) -> use`,
        `other -> third`,
      ),
    ).toBe("");
  });
  it("not where the writer failed", () => {
    expect(readAfter(USE, `start -> set`, `set -> use on error`, `set -> other -> third`)).toBe("NG509");
  });
  it("where its failed predecessor had come after the writer", () => {
    expect(readAfter(USE, `start -> set -> other`, `other -> use on error`, `other -> third`)).toBe("");
  });
  it("not in the first round of a loop", () => {
    expect(
      readAfter(
        `node use = (x ?? 0) + 1 into x`,
        `node last = x into out`,
        `start -> use`,
        `use -> last`,
        `last -> use when flag`,
        `last -> other otherwise`,
        `other -> set -> third`,
      ),
    ).toBe("");
    expect(
      readAfter(
        `node use = x + 1 into x`,
        `node last = x into out`,
        `start -> use`,
        `use -> last`,
        `last -> use when flag`,
        `last -> other otherwise`,
        `other -> set -> third`,
      ),
    ).toBe("NG509");
  });
  it("where a condition on the way says so, also further on", () => {
    const ways = [`start -> other`, `other -> set when flag`, `other -> third otherwise`, `set -> third`];
    expect(readAfter(USE, ...ways, `third -> use when x != null`, `third -> end otherwise`)).toBe("");
    expect(
      readAfter(
        `node more = print("")`,
        USE,
        ...ways,
        `third -> more when x != null`,
        `third -> end otherwise`,
        `more -> use`,
      ),
    ).toBe("");
    expect(readAfter(USE, ...ways, `third -> use when x == null`, `third -> end otherwise`)).toBe("NG508");
    expect(readAfter(USE, ...ways, `third -> end when x == null`, `third -> use otherwise`)).toBe("");
    expect(readAfter(USE, ...ways, `third -> match { x == null -> end  else -> use }`)).toBe("");
    expect(readAfter(USE, ...ways, `third -> match x { null -> end  else -> use }`)).toBe("");
    expect(readAfter(USE, ...ways, `third -> match x { 1 -> use  else -> end }`)).toBe("");
  });
  it("in conditions: after the node's own write, not where it failed", () => {
    expect(readAfter(USE, `start -> set`, `set -> use when x > 0`, `set -> other otherwise`, `other -> third`)).toBe(
      "",
    );
    expect(
      readAfter(
        `node use = print("") `,
        `start -> set`,
        `set -> use`,
        `set -> other on error when x > 0`,
        `other -> third`,
        `node out2 = 1 into out`,
        `use -> out2`,
      ),
    ).toBe("NG403");
  });
  it("through a jump the result was not applied", () => {
    const text = `import { search } from "./nodes.ts"\n${graph(
      `state x: json[]`,
      `node set = search("") into x { goes use }`,
      `node use = print(len(x))`,
      `start -> set -> use`,
    )}`;
    expect(bindText(text).diagnostics.map((item) => item.code)).toEqual(["NG509"]);
  });
  it("nothing is concluded while edges are missing", () => {
    expect(readAfter(USE, `start -> sett`, `sett -> use`, `start -> other -> third`)).toBe("NG101");
  });
  it("memory may hold what an earlier run wrote", () => {
    const text = graph(`memory x: int`, "node show = print(`${x}`)", `node set = 1 into x`, `start -> show -> set`);
    expect(explain(bindText(text).diagnostics)).toContain("warning NG403");
  });
});

describe("what conditions say of the node behind them", () => {
  const shapes = `type Shape = { kind: "circle", r: float } | { kind: "square", side: float }\n`;
  const read = (...statements: readonly string[]): string =>
    explain(
      bindText(shapes + graph(`input shape: Shape`, `input name: string | null`, `output out: json`, ...statements))
        .diagnostics,
    );
  it("an arm of match narrows an alternative", () => {
    expect(
      read(
        `node round_one = shape.r into out`,
        `node other = [shape.side, name] into out`,
        `start -> match shape.kind { "circle" -> round_one  "square" -> other }`,
      ),
    ).toBe("");
  });
  it("ways that meet keep what both say", () => {
    const ways = (second: string): string =>
      read(
        `node a = upper(name) into out`,
        `node b = print(shape)`,
        `start -> a when name != null`,
        `start -> b otherwise`,
        `b -> a when ${second}`,
        `b -> end otherwise`,
      );
    expect(ways(`name == "x"`)).toBe("");
    expect(ways(`shape.kind == "circle"`)).toContain("NG509");
  });
  it("a barrier comes later than the condition: nothing is kept", () => {
    expect(
      read(
        `node a = upper(name) into out`,
        `node b = print(shape)`,
        `node c = print("")`,
        `start -> b when name != null`,
        `start -> end otherwise`,
        `start -> c`,
        `all(b, c) -> a`,
      ),
    ).toContain("NG509");
  });
});

describe("the failure that led to a node", () => {
  const read = (...statements: readonly string[]): string =>
    explain(bindText(graph(`output out: string`, `node a = print("")`, ...statements)).diagnostics);
  it("is readable behind `on error`", () => {
    expect(read(`node b = error.message into out`, `start -> a`, `a -> b on error`)).toBe("");
  });
  it("is readable in the condition of the edge", () => {
    expect(read(`node b = "" into out`, `start -> a`, `a -> b on error when error.code == "X"`)).toBe("");
  });
  it("may be null where the node is reached otherwise too", () => {
    expect(read(`node b = error.message into out`, `start -> a`, `a -> b`, `a -> b on error`)).toContain("NG509");
    expect(read(`node b = error?.message ?? "" into out`, `start -> a`, `a -> b`, `a -> b on error`)).toBe("");
  });
});

describe("the end of a run", () => {
  const read = (...statements: readonly string[]): string =>
    explain(
      bindText(graph(`output out: string | null`, `state x: string`, `node a = "" into x`, `start -> a`, ...statements))
        .diagnostics,
    );

  it("`outcome` is readable where only `finally` leads", () => {
    expect(read(`node b = outcome.status into out`, `finally -> b`)).toBe("");
    expect(read(`node c = print("")`, `node b = outcome.status into out`, `finally -> c -> b`)).toBe("");
    expect(read(`node b = "" into out`, `finally -> match outcome.status { "failed" -> b  else -> end }`)).toBe("");
  });
  it("elsewhere it may be null", () => {
    expect(read(`node b = outcome.status into out`, `a -> b`)).toContain("NG509");
    expect(read(`node b = outcome.status into out`, `finally -> b`, `a -> b`)).toContain("NG509");
    expect(read(`node b = outcome?.status into out`, `finally -> b`, `a -> b`)).toBe("");
  });
  it("a channel without a default may be unwritten, because a run can end before its writer", () => {
    expect(read(`node b = x + "" into out`, `finally -> b`)).toContain("NG509");
    expect(read(`node b = x + "" into out`, `finally -> b when x != null`, `finally -> end otherwise`)).toBe("");
    expect(read(`node c = "" into x`, `node b = x + "" into out`, `finally -> c -> b`)).toBe("");
  });
  it("`Outcome` and `Failure` are types", () => {
    expect(
      read(
        `state how: Outcome | null`,
        `state why: Failure | null`,
        `node b = outcome into how`,
        `node c = outcome.error into why`,
        `node d = how?.error?.message ?? why?.code into out`,
        `finally -> b -> c -> d`,
      ),
    ).toBe("");
  });
});
