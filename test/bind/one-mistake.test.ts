import { describe, expect, it } from "vitest";
import { compile } from "../../compiler/compile.ts";
import { memoryHost } from "../../compiler/load/host.ts";
import { explain, graph } from "./bind-text.ts";
import { isDeep } from "../support/depth.ts";
import { REFERENCE_GRAPH, REFERENCE_FILES } from "../support/reference-graph.ts";

function findings(text: string, files: Readonly<Record<string, string>> = REFERENCE_FILES): string {
  const { diagnostics } = compile(text, { path: "support.ngraph", host: memoryHost(files) });
  return explain(diagnostics.filter(({ severity }) => severity !== "info"));
}

/** Words of the showcase outside comments and strings, with their places; in quick a quarter of them. */
function words(): { word: string; at: number }[] {
  const blank = (match: string): string => " ".repeat(match.length);
  const code = REFERENCE_GRAPH.replace(/\/\/.*$/gm, blank).replace(/`[^`]*`/g, blank);
  const all = [...code.matchAll(/[A-Za-z_]\w{2,}/g)].map((match) => ({ word: match[0], at: match.index }));
  return isDeep ? all : all.filter((_, index) => index % 4 === 0);
}

describe("one mistake, one error", () => {
  it("the showcase has none", () => {
    expect(findings(REFERENCE_GRAPH)).toBe("");
  });

  it("each word of the showcase with two letters swapped", () => {
    const wrong: string[] = [];
    for (const { word, at } of words()) {
      const typo = word.slice(0, -2) + (word.at(-1) ?? "") + (word.at(-2) ?? "");
      // The graph's own name is used nowhere.
      if (typo === word || word === "support") continue;
      const found = findings(REFERENCE_GRAPH.slice(0, at) + typo + REFERENCE_GRAPH.slice(at + word.length));
      if (!found.startsWith("error") || found.includes("\n")) wrong.push(`${typo}:\n${found}`);
    }
    expect(wrong).toEqual([]);
  });

  it("each word of the showcase left out", () => {
    const wrong: string[] = [];
    for (const { word, at } of words()) {
      const found = findings(REFERENCE_GRAPH.slice(0, at) + REFERENCE_GRAPH.slice(at + word.length));
      const errors = found.split("\n").filter((line) => line.startsWith("error")).length;
      if (errors > 4) wrong.push(`without ${word} at ${at}:\n${found}`);
    }
    expect(wrong).toEqual([]);
  });

  it.each([
    ["a broken declaration silences what it declares", [`state x: = 1`, `node a = print(x)`, `start -> a`]],
    ["a broken node silences its edges", [`node a = print(`, `node b = print(1)`, `start -> a -> b`]],
    [
      "a broken edge silences what it may have led to",
      [`node a = print(1)`, `node b = print(2)`, `start -> a`, `a -> -> b`],
    ],
    ["a broken policy leaves the node", [`node a = print(1) { tries many }`, `node b = print(2)`, `start -> a -> b`]],
    ["an unknown type fits everywhere", [`input x: Foo`, `node a = print(x.y + 1)`, `start -> a`]],
    [
      "an unknown channel fits everywhere",
      [`output o: int`, `node a = x.y + upper(x) into o`, `node b = print(x)`, `start -> a -> b`],
    ],
    [
      "a wrong operand fits everywhere",
      [`input n: int`, `output o: string`, `node a = upper(n + "a") into o`, `start -> a`],
    ],
    ["a wrong reducer takes everything", [`output o: int reduce many`, `node a = "x" into o`, `start -> a`]],
  ])("%s", (_about, statements) => {
    const found = findings(graph(...statements));
    expect(found).toMatch(/^error/);
    expect(found.split("\n"), found).toHaveLength(1);
  });
});
