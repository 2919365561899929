/** `ngraph/testing`: the `test` blocks of files on disk, with the functions that they import. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, it, onTestFinished } from "vitest";
import { assertPassed, runTests } from "../../api/testing.ts";

const GRAPH = `
import { double } from "./nodes.js"
graph g {
  input  a: int
  output b: int
  node d = double(a) into b
  start -> d
}
test "a number is doubled" for g { given a = 2  expect b == 4 }
test "a mock replaces the function" for g { given a = 2  mock d = 7  expect b == 7 }
test "another result" for g { given a = 3  expect b == 7 }
`;
const NODES = "/** @param {number} a @returns {number} */\nexport function double(a) { return 2 * a; }\n";

function write(files: Readonly<Record<string, string>>): string {
  const directory = mkdtempSync(join(tmpdir(), "ngraph-tests-"));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(directory, name), text);
  return directory;
}

it("returns the result of each test in the order of the file", async () => {
  const results = await runTests(join(write({ "g.ngraph": GRAPH, "nodes.js": NODES }), "g.ngraph"));
  expect(results.map(({ title, ok, status }) => [title, ok, status])).toEqual([
    ["a number is doubled", true, "completed"],
    ["a mock replaces the function", true, "completed"],
    ["another result", false, "completed"],
  ]);
  for (const result of results.slice(0, 2)) expect(() => assertPassed(result)).not.toThrow();
  const [, , last] = results;
  if (last === undefined) throw new Error("no third result");
  expect(() => assertPassed(last)).toThrow(/g\.ngraph\(11,44\): not satisfied: expect b == 7\n {2}b is 6$/);
});

it("loads TypeScript for an import of `./nodes.js`, and calls `load` with the URL of the module", async () => {
  const source = "export function double(a: number): number { return 2 * a; }\n";
  const directory = write({ "g.ngraph": GRAPH, "nodes.ts": source });
  const loaded: string[] = [];
  const load = (url: string): Promise<object> => {
    loaded.push(url);
    return Promise.resolve({ double: () => 4 });
  };
  const path = join(directory, "g.ngraph");
  expect(await runTests(path, { load, filter: "doubled" })).toMatchObject([{ ok: true }]);
  expect(loaded).toEqual([pathToFileURL(join(directory, "nodes.ts")).href]);
});

it("reports a module that lacks the function as a failure of the test", async () => {
  const directory = write({ "g.ngraph": GRAPH, "nodes.js": NODES });
  const [result] = await runTests(join(directory, "g.ngraph"), { load: () => Promise.resolve({}) });
  expect(result).toMatchObject({ ok: false, status: null });
  expect(result?.failures[0]?.message).toBe("the run did not start: ./nodes.js exports no function `double`");
});

it("throws the findings of a file with errors", async () => {
  const directory = write({ "g.ngraph": "graph g { start -> nowhere }" });
  await expect(runTests(join(directory, "g.ngraph"))).rejects.toThrow(/has errors\n\n[^]*NG101[^]*nowhere/);
});
