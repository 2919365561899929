/** `undo` and `rollback`: the forms that are allowed, and the types of the arguments. */
import { describe, expect, it } from "vitest";
import { bindText, explain } from "./bind-text.ts";

const FILES = {
  "nodes.ts": `export const reserve = async (n: number): Promise<string> => String(n);
    export const cancel = async (ref: string): Promise<void> => undefined;
    export const cancelAll = async (refs: string[], n: number): Promise<void> => undefined;
    export const auth = async (header: string, ref: string): Promise<void> => undefined;`,
};

function found(statements: string): string[] {
  const text = `import { reserve, cancel, cancelAll, auth } from "./nodes.ts"
    secret TOKEN
    graph inner { node a = print("x") start -> a }
    graph trip { input n: float = 1  ${statements} }`;
  const { diagnostics } = bindText(text, FILES);
  const errors = diagnostics.filter(({ severity }) => severity === "error");
  return errors.map((item) => `${item.code} ${item.message}`).sort();
}

const booking = (undo: string, state = "output ref: string | null"): string =>
  `${state}  node book = reserve(n) into ref { ${undo} }  start -> book -> end  book -> rollback on error`;

describe("undo", () => {
  it("reads the written value with the type of the result", () => {
    expect(found(booking("undo cancel(ref)"))).toEqual([]);
    expect(found(booking("undo cancel(ref) { tries 3 backoff 1s..5s timeout 10s }"))).toEqual([]);
    expect(found(booking("undo cancelAll(ref, n)", "output ref: string[] = [] reduce append"))).toEqual([]);
    expect(found(booking("undo cancel(ref)", "output ref: string[] = [] reduce append"))).not.toEqual([]);
    const items = "output refs: string[] = []  node book = reserve(x) for x in [n] into refs { undo cancel(refs) }";
    expect(found(`${items} start -> book -> end  book -> rollback on error`)).toEqual([]);
  });

  it("takes secrets by their names", () => {
    expect(found(booking("undo auth(`Bearer ${TOKEN}`, ref)"))).toEqual([]);
    expect(found(booking('undo auth("Bearer " + TOKEN, ref)'))).toEqual([
      "NG620 an argument of `undo` computes with a secret, which is stored by its name",
    ]);
  });

  it.each([
    ["undo ask(`Cancel ${ref}?`)", "NG620 `undo` of `book` waits"],
    ["undo sleep(1s)", "NG620 `undo` of `book` waits"],
    ["undo inner()", "NG620 `undo` of `book` calls a graph"],
    ["undo ref", "NG620 `undo` of `book` calls no function"],
    ["cache  undo cancel(ref)", "NG620 `book` has `undo` and `cache`"],
    ["undo cancel(ref)  undo cancel(ref)", "NG102 `undo` is stated twice"],
    ["undo cancel(ref) { tries 0 }", "NG006 `tries` is at least 1"],
    ["undo cancl(ref)", "NG105 there is no function, built-in node or graph `cancl`"],
    ["undo cancel(reff)", "NG104 unknown channel `reff`"],
  ])("%s", (undo, message) => {
    expect(found(booking(undo)).map((line) => line.slice(0, 5))).toEqual([message.slice(0, 5)]);
    if (message.startsWith("NG620")) expect(found(booking(undo))).toEqual([message]);
  });

  it("has only `tries` and `timeout`", () => {
    const [first] = bindText(
      `graph g { node a = print("x") { undo print("y") { cache } } start -> a }`,
      {},
    ).diagnostics;
    expect(explain(first === undefined ? [] : [first])).toContain("expected `tries`, `timeout` or `}`");
  });
});

describe("rollback", () => {
  const one = "output ref: string | null  node book = reserve(n) into ref { undo cancel(ref) }";

  it.each([
    ["start -> book -> rollback", []],
    ["start -> book  book -> rollback when ref == null  book -> end otherwise", []],
    ['start -> book  book -> match ref { "a" -> rollback  else -> end }', []],
    ["node two = 1 into m  state m: int = 0  start -> book, two  all(book, two) -> rollback", []],
    ["start -> rollback  start -> book", ["NG109 no edge may lead from `start` to `rollback`"]],
    ["start -> book  rollback -> book", ["NG109 no edge may leave `rollback`"]],
    ["start -> book  all(book, rollback) -> end", ["NG109 `rollback` cannot be a member of a barrier"]],
    ["node rollback = 1  start -> book", ["NG107 `rollback` is a reserved name"]],
    ["state rollback: int = 0  start -> book", ["NG107 `rollback` is a reserved name"]],
  ])("%s", (edges, expected) => {
    expect(found(`${one} ${edges}`)).toEqual(expected);
  });
});
