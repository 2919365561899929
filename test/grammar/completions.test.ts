import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { completionsAt } from "../../grammar/index.ts";

/** The completions at `‸`, words and symbols as their text, others by kind. */
function at(marked: string): string[] {
  const offset = marked.indexOf("‸");
  const found = completionsAt(marked.replace("‸", ""), offset);
  return found.map(({ kind, text }) => (kind === "name" ? "NAME" : text));
}

describe("completionsAt", () => {
  it.each([
    ["‸", ["const", "graph", "import", "plan", "secret", "test", "type"]],
    ["graph g {}\n‸", ["const", "graph", "import", "plan", "secret", "test", "type"]],
    ["graph g {}\npl‸", ["plan"]],
    ["import { a } ‸", ["from"]],
    ["graph ‸", ["NAME"]],
    [
      "graph g {\n  ‸",
      [
        "NAME",
        "}",
        "all",
        "any",
        "assert",
        "config",
        "defaults",
        "derive",
        "drop",
        "input",
        "limit",
        "max",
        "memory",
        "node",
        "output",
        "settled",
        "state",
      ],
    ],
    ["graph g {\n  node a = f()\n  limit ‸", ["->", "cost", "steps", "tokens"]],
    ["graph g {\n  state x‸", ["NAME"]],
    ["graph g {\n  state x ‸", [":"]],
    ["graph g {\n  node a = f() in‸\n  start -> a\n}", ["NAME", "in", "input", "into"]],
    ["graph g {\n  start -> a when x ‸", undefined],
    ['graph g {\n  a -> match x {\n    "b" ‸', ["->", "|"]],
    ["graph g {\n  a -> b on ‸", ["->", "error"]],
    ["graph g {\n  node a = f() { tries 3 ba‸ }", ["backoff"]],
    ["graph g {\n  node a = f() { pause ‸", ["after", "before"]],
    ["plan p {\n  task a = f() after ‸", ["NAME", "any", "done", "failed"]],
    ["plan p {\n  on failure ‸", ["continue", "kill", "no"]],
    ['test "t" for g {\n  ‸', ["}", "answer", "expect", "given", "mock", "signal"]],
    ['test "t" for g {\n  mock a ‸', ["=", "fails"]],
    ["graph g {\n  node a = `text ${x ‸}`", undefined],
  ] as const)("%s", (marked, expected) => {
    if (expected === undefined) {
      expect(at(marked)).toEqual(expect.arrayContaining(["&&", "==", "in", "?"]));
      expect(at(marked)).not.toContain("===");
    } else expect(at(marked)).toEqual(expected);
  });

  it.each(['node a = f("te‸xt")', "node a = `te‸xt`", "// no‸te", "/// no‸te", "node a = 3 3 ‸"])(
    "has none in %s",
    (statement) => {
      expect(at(`graph g {\n  ${statement}\n}`)).toEqual([]);
    },
  );

  it("contains the next token at each place of the examples", () => {
    const text = readFileSync("examples/review-loop/review.ngraph", "utf8");
    for (const word of text.matchAll(/(?<=^ +)(?:node|input|output|state|limit|assert|into|when)\b/gm)) {
      expect(completionsAt(text, word.index).map((item) => item.text)).toContain(word[0]);
    }
  });

  it("takes no longer at the end of a long text: earlier statements do not count", () => {
    const text = `graph g {\n${"  node a = f(x) into y\n".repeat(2000)}  start -> a o`;
    expect(completionsAt(text, text.length).map((item) => item.text)).toContain("on");
  });
});
