/** Random documents and programs: each is imported as text that the compiler can read, or refused with a place. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { check } from "../../api/index.ts";
import { memoryHost } from "../../compiler/load/host.ts";
import { format } from "../../grammar/index.ts";
import { ImportError, importText } from "../../importers/index.ts";
import { numRuns } from "../support/depth.ts";

const name = fc.constantFrom(
  "a",
  "b",
  "c",
  "d d",
  "match",
  "end",
  "__proto__",
  "constructor",
  "日本",
  "A",
  "1",
  "x-y",
  "start",
  "begin",
  "current",
  "input",
);
const end = fc.oneof(
  { weight: 5, arbitrary: name },
  { weight: 1, arbitrary: fc.constantFrom("__start__", "__end__", "ghost") },
);
const value = fc.jsonValue({ maxDepth: 3, noUnicodeString: false });
const text = fc.oneof(
  fc.string({ maxLength: 12, unit: "grapheme" }),
  fc.constantFrom("`${x}", "*/", "//", '"\\', "\u2028x", "a\nb"),
);
const sometimes = <T>(arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> =>
  fc.option(arbitrary, { nil: undefined });

const topology = fc.record({
  schema_version: fc.constantFrom(0, 1, undefined),
  name: sometimes(fc.oneof(name, text)),
  _comment: sometimes(text),
  channels: fc.dictionary(
    name,
    fc.record({ reducer: fc.constantFrom("append", "overwrite", undefined, "own"), initial: sometimes(value) }),
    { maxKeys: 4 },
  ),
  nodes: fc.dictionary(
    name,
    fc.record({
      type: fc.oneof(name, fc.constantFrom("llm_call", "tool_dispatch", "intent_classifier")),
      barrier: sometimes(fc.record({ wait_for: fc.array(name, { maxLength: 3 }) })),
      config: sometimes(value),
      note: sometimes(text),
    }),
    { minKeys: 1, maxKeys: 5 },
  ),
  edges: fc.array(
    fc.oneof(
      fc.record({ from: end, to: end }),
      fc.record({ from: end, condition: name, routes: fc.dictionary(fc.oneof(name, text), end, { maxKeys: 3 }) }),
    ),
    { maxLength: 8 },
  ),
  interrupt_before: sometimes(fc.array(name, { maxLength: 2 })),
  retry_policy: sometimes(
    fc.record({ max_retries: fc.integer({ min: -1, max: 5 }), initial_delay_ms: fc.integer({ min: 0, max: 100_000 }) }),
  ),
});
const kahn = fc.record({
  version: fc.constant(1),
  nodes: fc.array(
    fc.record({
      id: name,
      deliverable: text,
      depends_on: fc.array(name, { maxLength: 2 }),
      touches: fc.array(text, { maxLength: 2 }),
      done_when: fc.array(text, { maxLength: 2 }),
      max_ralph_iters: fc.integer({ min: 0, max: 4 }),
    }),
    { maxLength: 4 },
  ),
});
const scripts = fc.record({
  name: text,
  scripts: fc.dictionary(fc.oneof(name, text), fc.oneof(text, fc.constantFrom("npm run a && npm run b", "npm run c"))),
});

const path = fc.constantFrom(
  "$",
  "$.a",
  "$.a.b",
  "$.list",
  "$.list[0]",
  "$['d d'].c",
  "$.a[*].b",
  "$..x",
  "$$.State.Name",
  "$v.x",
  "States.Format('{}', $.a)",
);
const jsonata = fc.constantFrom(
  "{% $states.input.a %}",
  "{% $v + 1 %}",
  "{% $sum($states.input.list.b) %}",
  "{% a and %}",
  "{% $states.input.a = 'x' %}",
);
const ends = fc.oneof(fc.record({ Next: name }), fc.record({ End: fc.constant(true) }));
const rule = fc.oneof(
  fc.record({ Variable: path, NumericGreaterThan: fc.double({ noNaN: true, noDefaultInfinity: true }), Next: name }),
  fc.record({ Variable: path, StringEquals: text, Next: name }),
  fc.record({ Variable: path, StringMatches: text, Next: name }),
  fc.record({ Variable: path, IsNumeric: fc.boolean(), Next: name }),
  fc.record({ Variable: path, TimestampLessThanPath: path, Next: name }),
  fc.record({ Not: fc.record({ Variable: path, BooleanEquals: fc.boolean() }), Next: name }),
  fc.record({ Condition: fc.oneof(jsonata, fc.boolean()), Next: name }),
);
const errors = fc.array(fc.constantFrom("States.ALL", "States.Timeout", "States.TaskFailed", "Own", "a b"), {
  minLength: 1,
  maxLength: 2,
});
const flow = (fields: Record<string, fc.Arbitrary<unknown>>): fc.Arbitrary<unknown> =>
  fc.tuple(fc.record(fields), ends).map(([own, way]) => ({ ...own, ...way }));
const paths = {
  InputPath: sometimes(fc.oneof(path, fc.constant(null))),
  OutputPath: sometimes(fc.oneof(path, fc.constant(null))),
  ResultPath: sometimes(fc.oneof(path, fc.constant(null))),
  Parameters: sometimes(fc.oneof(value, fc.record({ "x.$": path }))),
  Assign: sometimes(fc.dictionary(fc.constantFrom("v", "w.$", "data"), fc.oneof(path, jsonata, value), { maxKeys: 2 })),
  Output: sometimes(fc.oneof(jsonata, value)),
  Comment: sometimes(text),
};
const caught = {
  Retry: sometimes(
    fc.array(
      fc.record({
        ErrorEquals: errors,
        MaxAttempts: sometimes(fc.nat(4)),
        IntervalSeconds: sometimes(fc.nat(9)),
        BackoffRate: sometimes(fc.constantFrom(1, 1.5, 2)),
      }),
      { maxLength: 2 },
    ),
  ),
  Catch: sometimes(
    fc.array(fc.record({ ErrorEquals: errors, Next: name, ResultPath: sometimes(path), Output: sometimes(jsonata) }), {
      maxLength: 2,
    }),
  ),
};
/** Two of three state machines name existing states only. */
const { machine } = fc.letrec<{ machine: Record<string, unknown>; state: unknown }>((tie) => ({
  machine: fc
    .tuple(
      fc.dictionary(name, tie("state"), { minKeys: 1, maxKeys: 4, depthIdentifier: "machine" }),
      fc.constantFrom("JSONPath", "JSONata", undefined),
      fc.nat(2),
    )
    .map(([states, query, kind]) => {
      const names = Object.keys(states);
      const whole = { QueryLanguage: query, StartAt: names[0], States: states };
      if (kind === 0) return whole;
      const known = (key: string, each: unknown): unknown =>
        (key === "Next" || key === "Default") && typeof each === "string" && !names.includes(each)
          ? names.at(-1)
          : each;
      return JSON.parse(JSON.stringify(whole), known) as typeof whole;
    }),
  state: fc.oneof(
    { depthIdentifier: "machine", maxDepth: 2 },
    flow({ Type: fc.constant("Pass"), Result: sometimes(value), ...paths }),
    fc.record({ Type: fc.constant("Succeed") }),
    flow({
      Type: fc.constant("Task"),
      Resource: fc.constantFrom(
        "arn:aws:lambda:us-east-1:1:function:f-x",
        "arn:aws:states:::sqs:sendMessage.waitForTaskToken",
        "x",
      ),
      TimeoutSeconds: sometimes(fc.integer({ min: 1, max: 90 })),
      ResultSelector: sometimes(fc.record({ "r.$": path })),
      Arguments: sometimes(fc.oneof(jsonata, value)),
      ...paths,
      ...caught,
    }),
    fc.record({
      Type: fc.constant("Choice"),
      Choices: fc.array(rule, { minLength: 1, maxLength: 3 }),
      Default: sometimes(name),
    }),
    flow({ Type: fc.constant("Wait"), Seconds: fc.oneof(fc.nat(99), jsonata) }),
    flow({ Type: fc.constant("Wait"), TimestampPath: path }),
    fc.record({ Type: fc.constant("Fail"), Error: sometimes(text), CausePath: sometimes(path) }),
    flow({
      Type: fc.constant("Parallel"),
      Branches: fc.array(tie("machine"), { minLength: 1, maxLength: 2 }),
      ...paths,
      ...caught,
    }),
    flow({
      Type: fc.constant("Map"),
      ItemsPath: sometimes(path),
      MaxConcurrency: sometimes(fc.nat(3)),
      ItemProcessor: tie("machine"),
      ItemSelector: sometimes(fc.record({ "i.$": path })),
      ...paths,
      ...caught,
    }),
  ),
}));

async function readable(source: string, path: string): Promise<boolean> {
  let imported: Awaited<ReturnType<typeof importText>>;
  try {
    imported = await importText(source, path, { name: "source", module: "./nodes.ts" });
  } catch (error) {
    if (!(error instanceof ImportError)) throw error;
    expect(error.message).not.toContain("the language cannot say");
    return false;
  }
  expect(await format(imported.text)).toBe(imported.text);
  const host = memoryHost({ "nodes.ts": imported.stubs ?? "" });
  const { diagnostics } = check(imported.text, { path: "source.ngraph", host });
  // Findings about the graph itself are the source's; names, types and syntax are the importer's.
  const own = diagnostics.filter(({ code, severity }) => severity === "error" && /^NG(?:0|1(?!03|09|16)|5)/.test(code));
  expect(
    own.map(({ code, message }) => `${code} ${message}`),
    imported.text,
  ).toEqual([]);
  return true;
}

test("random documents", async () => {
  let count = 0;
  await fc.assert(
    fc.asyncProperty(fc.oneof({ weight: 4, arbitrary: topology }, kahn, scripts, fc.jsonValue()), async (source) => {
      if (await readable(JSON.stringify(source), "source.json")) count++;
    }),
    { numRuns: numRuns(1_000) },
  );
  expect(count).toBeGreaterThan(numRuns(1_000) / 20);
});

test("random state machines", async () => {
  let count = 0;
  await fc.assert(
    fc.asyncProperty(machine, async (source) => {
      if (await readable(JSON.stringify(source), "source.asl.json")) count++;
    }),
    { numRuns: numRuns(1_000) },
  );
  expect(count).toBeGreaterThan(numRuns(1_000) / 20);
});

const PROGRAM = `const S = Annotation.Root({ a: Annotation<string>, b: Annotation({ reducer: (x, y) => x.concat(y), default: () => [] }) });
const g = new StateGraph(S).addNode("one", (s) => ({ a: "x" })).addNode("two", two).addEdge(START, "one").addEdge("one", "two");
g.addConditionalEdges("two", (s) => (s.a ? "one" : END));
export const app = g.compile({ interruptBefore: ["two"] });
`;

test("damaged programs", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(
        fc.record({
          at: fc.nat({ max: PROGRAM.length }),
          remove: fc.nat({ max: 12 }),
          add: fc.constantFrom("", "(", ")", '"', "x", ",", "{", "}", "...", ".addNode(", "null"),
        }),
        { minLength: 1, maxLength: 3 },
      ),
      async (edits) => {
        const damaged = edits.reduce(
          (program, { at, remove, add }) => program.slice(0, at) + add + program.slice(at + remove),
          PROGRAM,
        );
        await readable(damaged, "source.ts");
      },
    ),
    { numRuns: numRuns(1_000) },
  );
});
