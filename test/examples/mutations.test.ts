/**
 * Mutation testing of the examples: small mistakes in their graphs, which the `test` blocks of the same file must find. Coverage shows
 * that a test takes an edge; only a mutant shows that the test compares the result.
 */
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { compile } from "../../api/compile-text.ts";
import { runTests } from "../../api/testing.ts";
import { loadFunctions } from "../../api/load-functions.ts";
import { hasErrors } from "../../diagnostics/diagnostic.ts";
import { runTest } from "../../testing/run-test.ts";
import { scale } from "../support/depth.ts";
import { exampleFiles } from "../support/example-files.ts";

const load = (url: string): Promise<object> => import(/* @vite-ignore */ url) as Promise<object>;

const EXAMPLES = exampleFiles(".ngraph")
  // A plan has no tests.
  .filter((path) => !readFileSync(path, "utf8").includes("\nplan "));

interface Mutant {
  readonly path: string;
  readonly text: string;
  /** The line, before and after. */
  readonly change: string;
}

/** Replacements of one place of a line: comparisons, logic, numbers, strings, targets, conditions and results. */
function changesOf(line: string, nodes: readonly string[]): string[] {
  const found: string[] = [];
  const replace = (pattern: RegExp, replacements: (text: string) => readonly string[]): void => {
    for (const match of line.matchAll(pattern)) {
      for (const text of replacements(match[0])) {
        found.push(line.slice(0, match.index) + text + line.slice(match.index + match[0].length));
      }
    }
  };
  const code = line.trimStart();
  const isEdge = / -> /.test(line);
  const isExpression = /^(node \w+ = (?!\w+\()|derive |assert )/.test(code);
  if (!isEdge && !isExpression && !/^(node|state|output) /.test(code)) return [];
  if (isEdge || isExpression) {
    const swapped: Readonly<Record<string, string>> = {
      "==": "!=",
      "!=": "==",
      "<": ">=",
      "<=": "<",
      ">": "<=",
      ">=": ">",
      "&&": "||",
      "||": "&&",
    };
    replace(/(?<= )(==|!=|<=|>=|<|>|&&|\|\|)(?= )/g, (operator) => [swapped[operator] ?? operator]);
    replace(/\b(true|false)\b/g, (value) => [value === "true" ? "false" : "true"]);
    replace(/"\w[^"]*"/g, (text) => [`${text.slice(0, -1)}!"`]);
    replace(/ when [^{}]*$/g, () => [""]);
    // A branch of its own line is absent.
    if (/^\S+ -> \S+( on error| when |$)/.test(code)) found.push("");
    if (isEdge) replace(/(?<=-> )\w+/g, (target) => nodes.filter((each) => each !== target).slice(0, 3));
  }
  if (isEdge || isExpression || /^(state|output) /.test(code)) {
    replace(/(?<![\w.])\d+(?![\w.])/g, (digits) => [String(Number(digits) + 1)]);
  }
  if (code.startsWith("node ")) replace(/ into \w+/g, () => [""]);
  return found;
}

function mutantsOf(path: string): Mutant[] {
  const source = readFileSync(path, "utf8");
  const end = source.indexOf('\ntest "');
  const lines = source.slice(0, end).split("\n");
  const nodes = lines.flatMap((line) => /^ {2}node (\w+)/.exec(line)?.[1] ?? []);
  return lines.flatMap((line, at) =>
    changesOf(line, nodes).map((changed) => ({
      path,
      text: [...lines.slice(0, at), changed, ...lines.slice(at + 1)].join("\n") + source.slice(end),
      change: `${path}: ${line.trim()}\n  -> ${changed.trim()}`,
    })),
  );
}

/** Whether a test of the file fails. `undefined`: the compiler refuses the mutant, so that no test runs. */
async function isFound({ path, text }: Mutant): Promise<boolean | undefined> {
  const { diagnostics, tests, graphs } = compile(text, { path });
  if (hasErrors(diagnostics)) return undefined;
  for (const each of tests) {
    const table = graphs.find(({ bound }) => bound === each.graph)?.table;
    if (table === undefined) return undefined;
    if (!(await runTest(each, table, (needed) => loadFunctions(needed, load))).ok) return true;
  }
  return false;
}

test.each(EXAMPLES.flatMap((path) => [path, path.replace(/\.ngraph$/, ".yaml")]))(
  "the tests of %s pass",
  async (path) => {
    const results = await runTests(path, { load });
    expect(results.length).toBeGreaterThan(1);
    expect(results.flatMap(({ title, failures }) => failures.map(({ message }) => `${title}: ${message}`))).toEqual([]);
  },
);

test("the tests of the examples find nine of ten mutants that compile", { timeout: 300_000 }, async () => {
  const wanted = scale(200, 20);
  const all = EXAMPLES.flatMap(mutantsOf);
  const seen = new Set<Mutant>();
  const missed: string[] = [];
  let ran = 0;
  // The stride shares no factor with the count, so that the mutants of all examples come early.
  const stride = [97, 101, 103].find((prime) => all.length % prime !== 0) ?? 1;
  for (let index = 0; ran < wanted && seen.size < all.length; index++) {
    const mutant = all[(index * stride) % all.length];
    if (mutant === undefined) break;
    seen.add(mutant);
    const found = await isFound(mutant);
    if (found === undefined) continue;
    ran++;
    if (!found) missed.push(mutant.change);
  }
  expect(ran).toBe(wanted);
  if (missed.length > wanted / 10) throw new Error(`not found:\n${missed.join("\n")}`);
});
