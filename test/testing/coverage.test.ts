/** The coverage of `test` blocks: which nodes, edges, arms and error routes their runs take. */
import { expect, it } from "vitest";
import { compile } from "../../compiler/compile.ts";
import { CoverageCounter } from "../../testing/coverage.ts";
import { runTest } from "../../testing/run-test.ts";

/** The parts that the tests of a text take, with their numbers, and the places of the others. */
async function cover(text: string): Promise<{ readonly taken: Record<string, number>; readonly missing: string[] }> {
  const { diagnostics, tests, graphs } = compile(text, { path: "g.ngraph" });
  expect(diagnostics.filter(({ severity }) => severity === "error")).toEqual([]);
  const table = graphs[0]?.table;
  if (table === undefined) throw new Error("no table");
  const counter = new CoverageCounter(table);
  for (const test of tests) {
    const { failures } = await runTest(test, table, () => Promise.resolve({}), counter);
    expect(failures).toEqual([]);
  }
  const { parts } = counter.result();
  return {
    taken: Object.fromEntries(
      parts.flatMap(({ kind, text, count }) => (count > 0 ? [[`${kind} ${text}`, count]] : [])),
    ),
    missing: parts.flatMap(({ kind, text, count, line }) => (count > 0 ? [] : [`${line} ${kind} ${text}`])),
  };
}

const GRAPH = `graph g {
  input  kind: "a" | "b" | "c"
  input  size: int
  output text: string
  node read  = llm("read") into text
  node small = "small" into text
  node large = "large" into text
  node again = "again" into text
  node sorry = "sorry" into text
  start -> read
  read -> match kind { "a" -> small  "b" -> small  "c" -> large }
  read -> sorry on error when error.message == "one"
  read -> sorry on error otherwise
  small -> again when size > 3
  small -> again when size > 5
  small -> end otherwise
}
`;

it("counts what the runs take, and names the rest with its line", async () => {
  const test = `test "t" for g { given kind = "c" given size = 1 mock read = "x" expect text == "large" }`;
  expect(await cover(`${GRAPH}${test}`)).toEqual({
    taken: { "node read": 1, "node large": 1, "edge start -> read": 1, 'arm read -> large when kind is "c"': 1 },
    missing: [
      '11 arm read -> small when kind is "a"',
      '11 arm read -> small when kind is "b"',
      '12 error read -> sorry on error when error.message == "one"',
      "5 error read -> sorry on error otherwise",
      "6 node small",
      "14 arm small -> again when size > 3",
      "15 arm small -> again when size > 5",
      "6 arm small -> end otherwise",
      "8 node again",
      "9 node sorry",
    ],
  });
});

it("tells arms with the same targets apart by their conditions", async () => {
  const tests = [
    `test "b" for g { given kind = "b" given size = 4 mock read = "x" expect text == "again" }`,
    `test "one" for g { given kind = "a" given size = 4 mock read fails "one" expect text == "sorry" }`,
  ];
  const { taken, missing } = await cover(`${GRAPH}${tests.join("\n")}`);
  expect(taken).toMatchObject({ 'arm read -> small when kind is "b"': 1, "arm small -> again when size > 3": 1 });
  expect(missing).toContain('11 arm read -> small when kind is "a"');
  expect(missing).toContain("15 arm small -> again when size > 5");
});

it("counts each round of a loop, barriers and the part after finally", async () => {
  const loop = `graph g {
  state n: int = 0
  state m: int = 0
  state last: int
  output done: bool
  node a = n + 1 into n
  node b = m + 1 into m
  node c = true into done
  node d = n into last
  node log = "end"
  start -> a, b
  a -> a when n < 3
  a -> d otherwise
  all(d, b) -> c
  finally -> log
}
test "t" for g { expect done == true && last == 3 }`;
  const { taken, missing } = await cover(loop);
  expect(taken).toMatchObject({ "node a": 3, "arm a -> a when n < 3": 2, "node log": 1, "edge finally -> log": 1 });
  expect(missing).toEqual([]);
});
