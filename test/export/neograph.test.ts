import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { exportNeoGraph } from "../../cli/export/neograph.ts";
import { ExportError } from "../../cli/export/losses.ts";
import { importText } from "../../importers/index.ts";
import { numRuns } from "../support/depth.ts";
import { VALID_FILE_NODES, validFile } from "../support/valid-file-arbitrary.ts";
import { boundGraph, NODES } from "./bound.ts";

const HEAD = 'import { a, b, c, route } from "./nodes.ts"\n';

const exported = async (text: string): Promise<{ readonly json: unknown; readonly losses: readonly string[] }> => {
  const result = exportNeoGraph(await boundGraph(text));
  return { json: JSON.parse(result.text), losses: result.losses.map(({ message }) => message) };
};

/** A topology without its annotations and the names of its graphs. */
function bare(value: unknown, isDefinition = true): unknown {
  if (Array.isArray(value)) return value.map((item) => bare(item, false));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([key]) => !key.startsWith("_comment") && !(isDefinition && key === "name"))
      .map(([key, each]) => [key, bare(each, key === "definition")]),
  );
}

async function roundTrip(json: unknown): Promise<unknown> {
  const imported = await importText(JSON.stringify(json), "g.json", { name: "g", module: "./g.nodes.ts" });
  const bound = await boundGraph(imported.text, { "g.nodes.ts": NODES });
  return JSON.parse(exportNeoGraph(bound).text);
}

test("fields of the input whose channels have other names", async () => {
  const { json, losses } = await exported(`${HEAD}
type S = { error?: json, x?: json }
graph inner {
  input input: S = {}
  output error_: json = null reduce last
  output x: json = null reduce last
  node begin = input into { error?: error_, x? }
  node only = a({ x }) into { x? }
  start -> begin -> only -> end
}
graph outer {
  input input: S = {}
  output error_: json = null reduce last
  output x: json = null reduce last
  node begin = input into { error?: error_, x? }
  node sub = inner(input: { error: error_, x }) into { error_, x }
  start -> begin -> sub -> end
}
`);
  const channels = { error_: { reducer: "overwrite" }, x: { reducer: "overwrite" } };
  expect(json).toMatchObject({
    channels,
    nodes: {
      sub: {
        definition: { channels, nodes: { only: { type: "a" } }, edges: [{ from: "__start__", to: "only" }, {}] },
        input_map: { error_: "error_", x: "x" },
      },
    },
    edges: [
      { from: "__start__", to: "sub" },
      { from: "sub", to: "__end__" },
    ],
  });
  expect(losses).toContain("a run of a topology gets the values of its channels: `error` is `error_` there");
});

test("a topology has channels, nodes, edges, barriers, conditions, pauses, retries and called graphs", async () => {
  const { json, losses } = await exported(`${HEAD}
type S = { log?: json[], x?: json }
graph inner {
  input input: S = {}
  output log: json[] reduce append
  output x: json = 1 reduce last
  derive current = { log, x }
  node begin = input into { log?, x? }
  node only = a(current, { most: -3, tags: ["x", null] }) into { x? }
  start -> begin -> only -> end
}
/// What it does.
graph outer {
  input input: S = {}
  output log: json[] reduce append
  output x: json = null reduce last
  derive current = { log, x }
  defaults { tries 3 backoff 100ms..2s }
  node begin = input into { log?, x? }
  node one = a(current) into { log?, x? } { pause before }
  node two = b(current) into { log?, x? } { pause after }
  node both = c(current) into x
  node sub = inner(input: { log, x }) into { x }
  start -> begin -> one, two
  all(one, two) -> both
  both -> match route(current) { "again" -> one  "inner" -> sub  else -> end }
  sub -> end
}
`);
  expect(losses).toEqual(["a retry policy is of all nodes: `sub` is tried 3 times, too"]);
  expect(json).toEqual({
    schema_version: 1,
    name: "outer",
    description: "What it does.",
    channels: { log: { reducer: "append" }, x: { reducer: "overwrite" } },
    nodes: {
      one: { type: "a" },
      two: { type: "b" },
      both: { type: "c", output_channel: "x", barrier: { wait_for: ["one", "two"] } },
      sub: {
        type: "subgraph",
        definition: expect.objectContaining({
          channels: { log: { reducer: "append" }, x: { reducer: "overwrite", initial: 1 } },
          nodes: { only: { type: "a", most: -3, tags: ["x", null] } },
        }),
        input_map: { log: "log", x: "x" },
        output_map: { x: "x" },
      },
    },
    edges: [
      { from: "__start__", to: "one" },
      { from: "__start__", to: "two" },
      { from: "one", to: "both" },
      { from: "two", to: "both" },
      { from: "sub", to: "__end__" },
    ],
    conditional_edges: [
      { from: "both", condition: "route", routes: { again: "one", inner: "sub", default: "__end__" } },
    ],
    interrupt_before: ["one"],
    interrupt_after: ["two"],
    retry_policy: { max_retries: 2, initial_delay_ms: 100, max_delay_ms: 2000, backoff_multiplier: 2 },
  });
});

test("a loss has its place, and each condition a name", async () => {
  const bound = await boundGraph(`${HEAD}
graph g {
  input n: int
  output o: int = 0 reduce sum
  node one = a(n + 1) into o { timeout 3s }
  node two = n into o
  node three = sleep(1s)
  start -> one
  one -> match { n > 3 -> two  n < -3 -> three  else -> end }
  two -> three when n == 1
  three -> end
}
`);
  const { text, losses } = exportNeoGraph(bound);
  expect(losses.map((loss) => `${loss.file.range(loss.span).start.line}: ${loss.message}`)).toEqual([
    "4: channels of a topology have no types",
    "5: NeoGraph has no reducer `sum`",
    "6: the argument `n + 1` is left out: a node of NeoGraph reads the whole state",
    "6: the policy `timeout 3s` of `one` has no form in a topology",
    "7: a node of NeoGraph is a function, and `two` is an expression",
    "8: NeoGraph has no node type `sleep` with this meaning",
    '10: a condition of a topology is a function: `one_route` returns "case_1" or "case_2" or "default"',
    '11: a condition of a topology is a function: `two_route` returns "true" or "default"',
  ]);
  expect(losses.every(({ help }) => help !== "")).toBe(true);
  expect(JSON.parse(text)).toMatchObject({
    nodes: { one: { type: "a", output_channel: "o" }, three: { type: "sleep" } },
    conditional_edges: [
      { condition: "one_route", routes: { case_1: "two", case_2: "three", default: "__end__" } },
      { condition: "two_route", routes: { true: "three", default: "__end__" }, _comment: ["true: n == 1"] },
    ],
  });
});

describe("what would be another graph is refused, with a place and a way out", () => {
  const refusals: Readonly<Record<string, readonly [body: string, message: string]>> = {
    "an error edge": ["start -> one  one -> two on error", "`on error`"],
    rollback: ["start -> one  one -> rollback", "`rollback`"],
    finally: ["start -> one  finally -> two", "`finally`"],
    settled: ["start -> one, two  settled(one, two) -> three", "`settled`"],
    "a barrier of alternatives": [
      "start -> one, two  one -> four  all(any(one, four), two) -> three",
      "a member of a barrier",
    ],
    "two barriers of one node": [
      "start -> one, two, four  all(one, two) -> three  all(one, four) -> three",
      "has one barrier",
    ],
    "a route with two targets": ['start -> match s { "x" -> one, two  else -> three }', "leads to one node"],
    "a route with the key of the others": ['start -> match s { "default" -> one  else -> two }', "is taken"],
    "otherwise beside several": [
      'start -> one when s == "x"  start -> two when s == "y"  start -> three otherwise',
      "beside several",
    ],
    "a node with items": ["start -> each_one", "runs once for each item"],
  };
  test.each(Object.entries(refusals))("%s", async (_, [edges, message]) => {
    const bound = await boundGraph(
      `${HEAD}
graph g {
  input s: string
  node one = a(s)
  node two = a(s)
  node three = a(s)
  node four = a(s)
  node each_one = a(i) for i in split(s, ",")
  ${edges}
}
`.replace("node each_one", edges.includes("each_one") ? "node each_one" : "//"),
    );
    const run = (): unknown => exportNeoGraph(bound);
    expect(run).toThrow(ExportError);
    try {
      run();
    } catch (error) {
      if (!(error instanceof ExportError)) throw error;
      expect(error.message).toContain(message);
      expect(error.help).not.toBe("");
      expect(error.span.end).toBeGreaterThan(error.span.start);
    }
  });
});

const node = fc.record({
  call: fc.constantFrom("a", "b", "c"),
  config: fc.constantFrom("", ', { most: 3, mode: "x" }', ", { list: [1, { deep: true }, null], rate: -0.5 }"),
  writes: fc.constantFrom("", " into x", " into { x?, log? }", " into { log? }"),
  pause: fc.constantFrom("", " { pause before }", " { pause after }"),
});
const sayable = fc
  .record({
    stages: fc.array(fc.array(node, { minLength: 1, maxLength: 3 }), { minLength: 1, maxLength: 4 }),
    ways: fc.array(fc.nat(3), { minLength: 5, maxLength: 5 }),
    retry: fc.constantFrom("", "  defaults { tries 3 backoff 100ms..2s }\n", "  defaults { tries 2 }\n"),
    calls: fc.boolean(),
    start: fc.constantFrom("null", '"v"', '{ "a": [1, 2.5] }'),
  })
  .map(({ stages, ways, retry, calls, start }) => {
    const nodes: string[] = [];
    const edges: string[] = [];
    let before = ["start"];
    for (const [at, stage] of stages.entries()) {
      const names = stage.map((_, index) => `n${at}_${index}`);
      for (const [index, { call, config, writes, pause }] of stage.entries())
        nodes.push(
          calls && index === 1
            ? `  node ${names[index]} = inner(${at % 2 === 0 ? "input: { k: x, log }" : ""}) into { k: x }`
            : `  node ${names[index]} = ${call}(current${config})${writes}${pause}`,
        );
      const [only = "", ...more] = before;
      const way = at === 0 ? 0 : ways[at];
      if (more.length > 0) edges.push(`all(${before.join(", ")}) -> ${names.join(", ")}`);
      else if (way === 1 && only !== "start")
        edges.push(
          `${only} -> match route(current) { ${names.map((name, index) => `"k${index}" -> ${name}`).join("  ")}  else -> end }`,
        );
      else if (way === 2 && only !== "start")
        edges.push(`${only} -> ${names[0]} when x == 1`, ...names.slice(1).map((name) => `${only} -> ${name}`));
      else edges.push(`${only} -> ${names.join(", ")}`);
      // Only one branch of a condition runs: a barrier would stay open.
      before = way === 1 || way === 2 ? [names[0]!] : names;
    }
    for (const name of before) edges.push(`${name} -> end`);
    return `import { a, b, c, route } from "./nodes.ts"
${calls ? INNER.replace("%", start) : ""}graph g {
  output x: json = ${start} reduce last
  output log: json[] reduce append
  derive current = { x, log }
${retry}${nodes.join("\n")}
${edges.map((edge) => `  ${edge}`).join("\n")}
}
`;
  });
const INNER = `type Inner = { k?: json, log?: json[] }
graph inner {
  input input: Inner = {}
  output k: json = %
  output log: json[] reduce append
  node begin = input into { k?, log? }
  node deep = a({ k, log }, { "odd key": "é" }) into { k?, log? }
  start -> begin -> deep -> end
}
`;

test("random graphs that a topology can say are the same topology after an import", async () => {
  await fc.assert(
    fc.asyncProperty(sayable, async (text) => {
      const { json } = await exported(text);
      expect(bare(await roundTrip(json))).toEqual(bare(json));
    }),
    { numRuns: numRuns(300) },
  );
});

test("random graphs are exported as topologies that the importer reads, or refused with a place", async () => {
  await fc.assert(
    fc.asyncProperty(validFile, async (text) => {
      const bound = await boundGraph(text, { "nodes.ts": VALID_FILE_NODES });
      try {
        const { text: json } = exportNeoGraph(bound);
        const imported = await importText(json, "g.json", { name: "g", module: "./g.nodes.ts" });
        expect(imported.text).toContain("graph ");
      } catch (error) {
        if (!(error instanceof ExportError)) throw error;
        expect(error.file.text.slice(error.span.start, error.span.end)).not.toBe("");
      }
    }),
    { numRuns: numRuns(300) },
  );
});
