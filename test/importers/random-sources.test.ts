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
