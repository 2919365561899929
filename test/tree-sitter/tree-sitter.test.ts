/**
 * The tree-sitter grammar against the parser: the same tokens and the same nodes, with the same spans, for all texts that the parser reads
 * without a diagnostic. The C code of the grammar is compiled with tree-sitter's library.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, describe, expect, it } from "vitest";
import { parse } from "../../grammar/parse.ts";
import { randomFile } from "../grammar/random-file.ts";
import { SHOWCASE } from "../grammar/showcase.ts";
import { numRuns } from "../support/depth.ts";
import { exampleFiles } from "../support/example-files.ts";
import { grammarJson } from "./grammar-json.ts";
import { nodesOfFile, nodesOfTree, tokensOfText, tokensOfTree } from "./same-tree.ts";
import { allNodes, hasCompiler, TreePrinter } from "./tree-printer.ts";

const FOLDER = "editors/tree-sitter-ngraph";
const QUERIES = readdirSync(join(FOLDER, "queries"), { recursive: true, encoding: "utf8" })
  .filter((path) => path.endsWith(".scm"))
  .map((path) => join(FOLDER, "queries", path))
  .sort();

function filesOf(folder: string): string[] {
  return readdirSync(folder)
    .filter((path) => path.endsWith(".ngraph"))
    .map((path) => join(folder, path));
}

/** Kinds of statements to begin random texts with, as test/grammar/derivations.test.ts does. */
const STARTS: readonly (readonly [start: string, wrap: (text: string) => string, runs: number])[] = [
  ["file", (text) => text, 1000],
  ["statement", (text) => `graph g {${text}\n}`, 1000],
  ["edge", (text) => `graph g {${text}\n}`, 500],
  ["planStatement", (text) => `plan p {${text}\n}`, 500],
  ["testLine", (text) => `test "t" for g {${text}\n}`, 500],
  ["type", (text) => `type T = ${text}`, 300],
  ["expr", (text) => `graph g { node n =${text}\n}`, 1000],
];

it("has the src/grammar.json that follows from grammar.js", () => {
  const { $schema: _, ...written } = JSON.parse(readFileSync(`${FOLDER}/src/grammar.json`, "utf8")) as Record<
    string,
    unknown
  >;
  expect(written).toEqual(grammarJson(`${FOLDER}/grammar.js`));
});

it("is compiled where the tests decide", () => {
  expect(hasCompiler() || process.env["CI"] === undefined).toBe(true);
});

describe.runIf(hasCompiler())("the compiled grammar", () => {
  const printer = new TreePrinter();
  afterAll(() => printer.dispose());

  /** Compares the texts that the parser reads without a diagnostic, and returns their number. */
  function compare(texts: readonly string[]): number {
    const valid = texts.filter((text) => parse(text).diagnostics.length === 0);
    printer.trees(valid).forEach((tree, at) => {
      const text = valid[at] ?? "";
      const wrong = allNodes(tree).filter((node) => node.isWrong);
      expect({ text, wrong: wrong.map(({ type, start, end }) => `${type} ${start}..${end}`) }).toEqual({
        text,
        wrong: [],
      });
      expect({ text, tokens: tokensOfTree(tree) }).toEqual({ text, tokens: tokensOfText(text, tree) });
      expect({ text, nodes: nodesOfTree(tree) }).toEqual({ text, nodes: nodesOfFile(parse(text).file) });
    });
    return valid.length;
  }

  it("reads a file with every part of the language", () => {
    expect(compare([SHOWCASE])).toBe(1);
  });

  it("reads the examples, the graphs of the library and the fixtures of the checks", () => {
    const examples = exampleFiles(".ngraph").map((path) => readFileSync(path, "utf8"));
    expect(compare(examples)).toBe(examples.length);
    const others = [...filesOf("stdlib/graphs"), ...filesOf("test/checks/fixtures")];
    expect(compare(others.map((path) => readFileSync(path, "utf8")))).toBeGreaterThan(others.length * 0.9);
  });

  it.each(STARTS)("reads random texts of docs/grammar.ebnf: %s", (start, wrap, runs) => {
    const seeds = fc.sample(fc.integer(), { numRuns: numRuns(runs), seed: 71 });
    const texts = seeds.flatMap((seed) => {
      const file = randomFile(seed, start);
      return file === undefined ? [] : [wrap(file.text)];
    });
    expect(compare(texts)).toBeGreaterThan(texts.length * 0.9);
  });

  it.each([
    ['graph g { node = print("a") start -> a }', "graph g"],
    ["graph g { state x int }", "state x"],
    ["graph g { a -> }", "a ->"],
    ["graph g { node a = (1 + }", "(1 +"],
    ["graph { }", "graph {"],
  ])("has an error in %s", (text) => {
    expect(allNodes(printer.trees([text])[0]!).some((node) => node.isWrong)).toBe(true);
  });

  it("keeps the declarations around a mistake", () => {
    const text =
      "graph g {\n  input a: string\n  node x = print(a\n  node y = print(a)\n  start -> x\n}\ngraph h { start -> z }\n";
    const types = allNodes(printer.trees([text])[0]!).map(
      ({ type, start, end }) => `${type} ${text.slice(start, end).split("\n")[0]}`,
    );
    for (const part of ["channel input a: string", "edge start -> x", "graph graph h { start -> z }"])
      expect(types).toContain(part);
  });

  it.each(QUERIES)("compiles %s", (query) => {
    expect(printer.captures(query, SHOWCASE).length).toBeGreaterThan(0);
  });

  it("colours words by their place", () => {
    const text = "graph node { node limit = shell(`ls ${on}`) into on  limit -> on }\n";
    const last = new Map(
      printer.captures(`${FOLDER}/queries/highlights.scm`, text).map(([name, part]) => [part, name] as const),
    );
    expect(Object.fromEntries(last)).toEqual({
      graph: "keyword",
      node: "keyword",
      limit: "function",
      into: "keyword",
      shell: "function.call",
      on: "function",
      "`ls ${on}`": "string",
      "${": "punctuation.special",
      "}": "punctuation.bracket",
      "{": "punctuation.bracket",
      "(": "punctuation.bracket",
      ")": "punctuation.bracket",
      "->": "operator",
      "=": "operator",
    });
  });

  it("colours every keyword", () => {
    const types = JSON.parse(readFileSync(`${FOLDER}/src/node-types.json`, "utf8")) as {
      type: string;
      named: boolean;
    }[];
    const coloured = readFileSync(`${FOLDER}/queries/highlights.scm`, "utf8");
    const words = types.filter(({ type, named }) => !named && /^[a-z]+$/.test(type)).map(({ type }) => type);
    // Coloured as nodes.
    const others = new Set(["input", "output", "state", "memory", "config", "true", "false", "null", "otherwise"]);
    expect(words.length).toBeGreaterThan(60);
    expect(words.filter((word) => !others.has(word) && !coloured.includes(`"${word}"`))).toEqual([]);
  });

  it("injects the commands of `shell`", () => {
    const captures = printer.captures(
      `${FOLDER}/queries/injections.scm`,
      'graph g { node n = shell("ls -l") node m = print("x") }',
    );
    expect(captures).toContainEqual(["injection.content", "ls -l"]);
  });
});
