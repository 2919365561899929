import { readdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { describe, expect, test } from "vitest";
import { failuresOf, replayFinding } from "../../cli/replay/replay-finding.ts";
import { replayTrace } from "../../cli/replay/replay-trace.ts";
import { compile } from "../../compiler/index.ts";

const FOLDERS = ["fixtures", "verdicts"].map((name) => join(import.meta.dirname, "../checks", name));

const traces = FOLDERS.flatMap((folder) => readdirSync(folder).map((file) => join(folder, file)))
  .filter((file) => file.endsWith(".ngraph"))
  .flatMap((path) => {
    const file = basename(path);
    const { diagnostics, graphs } = compile(readFileSync(path, "utf8"), { path: file });
    return diagnostics.flatMap(({ code, severity, trace = [], message, span }) => {
      const graph = graphs.find(({ bound }) => {
        const own = bound.declaration.span;
        return own.start <= span.start && span.end <= own.end;
      });
      // A run can end at any point: what such a trace begins with is not known.
      if (trace.length === 0 || trace[0]?.entry === "finally" || graph === undefined) return [];
      return [{ file, code, severity, message, trace, bound: graph.bound }];
    });
  });

describe("every trace of a fixture replays, and the failure happens", () => {
  test("there are many, of many codes", () => {
    expect(new Set(traces.map(({ code }) => code)).size).toBeGreaterThanOrEqual(15);
  });

  let computed = 0;

  test.each(traces)("$file $code", async ({ code, severity, trace, bound }) => {
    const replayed = await replayFinding(bound, trace, code);
    expect(failuresOf(replayed, code)).not.toEqual([]);
    if (replayed.isComputed) computed++;
    // A run that may be impossible is reported as a warning at most.
    expect(replayed.isComputed || severity !== "error").toBe(true);
  });

  test("with conditions computed, except for a few warnings", () => {
    expect(computed).toBeGreaterThan(traces.length * 0.85);
  });
});

const GRAPH = `import { act } from "functions"
graph g {
  state word: string
  state kind: "a" | "b"
  state list: string[] = []
  node one = act() into kind { goes two, three }
  node two = act() into word
  node three = act(item) for item in list into word
  node four = act()
  start -> one
  one -> match kind { "a" -> two, three  "b" -> four }
  one -> four on error when error.code == "a, b"
  one -> two on error otherwise
  two -> four when word == "x, y"
  two -> three when word != "x, y"
  three -> end
}
`;

const bound = compile(GRAPH).graphs[0]!.bound;
const step = (ran: string[], chose: Record<string, string> = {}) => ({ step: 0, ran, chose, barriers: {} });

describe("a trace written by hand", () => {
  test.each([
    ["an arm", [step(["one"], { one: '"b"' }), step(["four"])]],
    ["a jump", [step(["one"], { one: "goto three" }), step(["three"])]],
    ["a jump to two", [step(["one"], { one: "goto two, three" }), step(["two", "three"])]],
    ["a jump that takes the step over", [step(["one"], { one: "exclusive goto two" }), step(["two"])]],
    ["a send beside an arm", [step(["one"], { one: '"b", send two' }), step(["two", "four"])]],
    ["a failure", [step(["one"], { one: "on error, otherwise" }), step(["two"])]],
    [
      "a condition with a comma",
      [step(["one"], { one: "goto two" }), step(["two"], { two: 'when word == "x, y"' }), step(["four"])],
    ],
    [
      "a failure's condition with a comma",
      [step(["one"], { one: 'on error, when error.code == "a, b"' }), step(["four"])],
    ],
  ])("goes %s", async (_, trace) => {
    const { steps } = await replayTrace(bound, trace);
    expect(steps.map((nodes) => nodes.toSorted())).toEqual(trace.map(({ ran }) => ran.toSorted()));
  });

  test.each([
    ["a node that is not there", [step(["nowhere"])], /step 0 .*`nowhere`.* no such node/],
    ["an edge that is not there", [step(["one"], { one: '"c"' })], /step 0 .*`one` chooses "c", but has no such edge/],
    ["another way", [step(["one"], { one: '"b"' }), step(["two"])], /step 1 .*`two` ran, but the graph runs `four`/],
    ["more steps", [step(["one"], { one: '"b"' }), step(["four"]), step(["two"])], /step 2 .*the run has ended/],
    ["a failure without an edge", [step(["one"]), step(["four"], { four: "on error" })], /no such edge/],
  ])("that has %s does not fit, and says where", async (_, trace, message) => {
    await expect(replayTrace(bound, trace)).rejects.toThrow(message);
    await expect(replayTrace(bound, trace)).rejects.toMatchObject({ code: "trace_misfit" });
  });
});

test.each([
  ["all(any(one, two), three)", ["`one`, `two` fill one place of the barrier in front of `join` in the same step"]],
  ["all(one, two, three)", []],
])("a replay shows the signals of one step that %s counts once", async (barrier, expected) => {
  const { graphs } = compile(`import { act } from "functions"
graph g {
  node one = act()
  node two = act()
  node three = act()
  node join = act()
  start -> one, two, three
  ${barrier} -> join -> end
}
`);
  const replayed = await replayFinding(graphs[0]!.bound, [step(["one", "two", "three"])], "NG309");
  expect(failuresOf(replayed, "NG309").map(({ text }) => text)).toEqual(expected);
});
