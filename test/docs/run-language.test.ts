/**
 * Runs the graphs of the language reference. Values of the declared type replace the results of calls. Expressions,
 * routes and reducers are those of the page.
 */
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { sampleValue } from "../../cli/replay/sample-value.ts";
import { compile } from "../../compiler/index.ts";
import type { CompilerHost } from "../../compiler/load/host.ts";
import type { NodeContext } from "../../runtime/interface/context.ts";
import { createEngine } from "../../runtime/index.ts";
import type { Json } from "../../runtime/value/json.ts";
import { MemoryStore } from "../../runtime/stores/memory.ts";
import type { Table } from "../../runtime/table/table.ts";
import { fencedBlocks } from "./fenced-blocks.ts";

const host: CompilerHost = {
  readFile: (path) => (path.endsWith("nodes.ts") ? `export * from "anything";` : undefined),
  realPath: (path) => path,
};

const graphs = fencedBlocks(readFileSync("docs/language.md", "utf8"))
  .filter(({ language }) => language === "ngraph" || language === "yaml")
  .flatMap(({ language, line, text }) => {
    const { tables } = compile(text, { path: `language-${line}.${language}`, host });
    return [...tables.values()].flatMap((table) =>
      table.kind === "graph" ? [[table.name, line, table] as const] : [],
    );
  });

const mock = ({ expects }: NodeContext): Json => (expects === undefined ? null : sampleValue(expects));

/** Values for the inputs that have no default. */
function inputOf({ channels, types }: Table): Record<string, Json> {
  const given = channels.filter(({ role, initial }) => role === "input" && initial === undefined);
  return Object.fromEntries(given.map(({ name, type }) => [name, sampleValue({ type, types })]));
}

describe("docs/language.md", () => {
  test("has graphs", () => expect(graphs.length).toBeGreaterThan(15));

  test.each(graphs)("%s (line %i) runs to its end", async (_, __, table) => {
    const called = table.nodes.filter(({ call }) => call.kind !== "expression");
    const engine = createEngine(table, {
      // Reducers: the newer value.
      functions: Object.fromEntries(
        table.functions.map(({ name }) => [name, (_current: Json, update: Json) => update]),
      ),
      mocks: Object.fromEntries(called.map(({ name }) => [name, mock])),
      secrets: () => "",
      store: new MemoryStore(),
    });
    let result = await engine.run(inputOf(table), { thread: "t", maxSteps: 30 });
    expect(result.steps.length).toBeGreaterThan(0);
    // `pause before` and `pause after`.
    while (result.status === "paused") result = await engine.resume("t");
    // One waits for a condition that is never true with these values.
    expect(result.error?.code ?? result.status).toMatch(/^(?:completed|NG_STEP_LIMIT)$/);
  });
});
