/** `memory` in runs of the engine, with a store in memory and one on disk. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { createEngine } from "../../api/create-engine.ts";
import { compile } from "../../compiler/index.ts";
import type { EngineOptions, RunResult } from "../../runtime/interface/engine-options.ts";
import { MemoryStore } from "../../runtime/stores/memory.ts";
import { SqliteStore } from "../../runtime/stores/sqlite.ts";
import type { Table } from "../../runtime/table/table.ts";
import { checkText } from "../checks/support/check-text.ts";

const directory = mkdtempSync(join(tmpdir(), "ngraph-memory-node-"));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

async function run(call: string, type: string, options: EngineOptions): Promise<RunResult> {
  const source = `graph g { input user: string  output o: ${type}  node a = ${call} into o  start -> a }`;
  const { tables, diagnostics } = compile(source, { path: "g.ngraph" });
  expect(diagnostics.filter(({ severity }) => severity === "error")).toEqual([]);
  return createEngine(tables.get("g") as Table, options).run({ user: "ada" });
}

const valueOf = async (call: string, type: string, options: EngineOptions): Promise<unknown> => {
  const { error, output } = await run(call, type, options);
  expect(error).toBeNull();
  return output?.["o"];
};

describe.each([
  ["a store in memory", () => new MemoryStore()],
  ["a file", () => new SqliteStore(join(directory, "items.db"))],
])("with %s", (_, open) => {
  test("items outlive threads", async () => {
    const store = open();
    const at = 'namespace: ["users", user]';
    expect(await valueOf(`memory(get: "color", ${at})`, "string | null", { store })).toBeNull();
    await run(`memory(put: "color", ${at}, value: "red", ttl: 30d)`, "json", { store });
    await run(`memory(put: "size", ${at}, value: { n: 3 })`, "json", { store });
    expect(await valueOf(`memory(get: "color", ${at})`, "string | null", { store })).toBe("red");
    expect(await valueOf('memory(list: "users")', "{ key: string, value: json }[]", { store })).toEqual([
      { namespace: ["users", "ada"], key: "color", value: "red" },
      { namespace: ["users", "ada"], key: "size", value: { n: 3 } },
    ]);
    expect(await valueOf('memory(list: "users", filter: { n: 3 }, limit: 5)', "json", { store })).toHaveLength(1);
    expect(await valueOf(`memory(delete: "color", ${at})`, "bool", { store })).toBe(true);
    expect(await valueOf(`memory(delete: "color", ${at})`, "bool", { store })).toBe(false);
    if (store instanceof SqliteStore) store.close();
  });
});

test("a search returns the most similar items first", async () => {
  const vectors = (texts: readonly string[]): number[][] =>
    texts.map((text) => [text.includes("cat") ? 1 : 0, text.includes("dog") ? 1 : 0, 0.1]);
  const options = { store: new MemoryStore(), memory: { vectors } };
  await run('memory(put: "1", namespace: "facts", value: "a dog barks")', "json", options);
  await run('memory(put: "2", namespace: "facts", value: "a cat sleeps")', "json", options);
  const type = "{ key: string, value: string, score: float | null }[]";
  const found = await valueOf('memory(search: "my cat", namespace: "facts", limit: 1)', type, options);
  expect(found).toEqual([
    { namespace: ["facts"], key: "2", value: "a cat sleeps", score: expect.closeTo(1) as number },
  ]);
});

test("failures name their cause", async () => {
  const without = await run('memory(get: "a", namespace: "b")', "json", {});
  expect(without).toMatchObject({ status: "failed", error: { code: "NG_NO_STORE" } });
  const empty = await run('memory(put: "a", namespace: [], value: 1)', "json", { store: new MemoryStore() });
  expect(empty.error?.message).toContain("at least one part");
  const search = await run('memory(search: "a", namespace: "b")', "json", { store: new MemoryStore() });
  expect(search.error?.message).toContain("vectors");
  const wrong = await run('memory(get: "a", namespace: "b")', "string", { store: new MemoryStore() });
  expect(wrong.status).toBe("failed");
});

test("the forms are checked", () => {
  const errors = (call: string): readonly string[] =>
    checkText(`graph g { output o: json  node a = ${call} into o  start -> a }`, { raw: true }).diagnostics.flatMap(
      ({ severity, message }) => (severity === "error" ? [message] : []),
    );
  expect(errors('memory(get: "a")')).toEqual([expect.stringContaining("needs `namespace`")]);
  expect(errors('memory(put: "a", namespace: "b")')).toEqual([expect.stringContaining("needs `value`")]);
  expect(errors('memory(get: "a", namespace: "b", ttl: 1d)')).toEqual(["`memory` with `get` does not take `ttl`"]);
  expect(errors('memory(namespace: "b")')).toHaveLength(1);
});

test("an item is untrusted text", () => {
  const text = `graph g { state x: string  node a = memory(get: "a", namespace: "b") into x
    node run = shell(\`echo \${raw(x)}\`)  start -> a -> run }`;
  const found = checkText(text, { raw: true }).diagnostics.find(({ code }) => code === "NG412");
  expect(found?.label).toContain("an item of the long-term memory");
});
