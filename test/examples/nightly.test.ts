/** `examples/nightly`, in both spellings, with a server that fails at first. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { createEngine } from "../../api/create-engine.ts";
import { compileFile } from "../../api/index.ts";
import type { Table } from "../../runtime/table/table.ts";
import { MemoryStore } from "../../runtime/stores/memory.ts";
import { createFile } from "../../stdlib/nodes/file.ts";

/** Starts a server that answers with the texts in their order, then with the last one. `undefined` is a failure. */
async function serve(answers: readonly (string | undefined)[]): Promise<{ source: string; paths: string[] }> {
  const paths: string[] = [];
  const server = createServer((request, response) => {
    const answer = answers[Math.min(paths.length, answers.length - 1)];
    paths.push(request.url ?? "");
    response.writeHead(answer === undefined ? 503 : 200).end(answer);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  return { source: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, paths };
}

async function runNight(spelling: string, answers: readonly (string | undefined)[]) {
  const root = mkdtempSync(join(tmpdir(), "ngraph-nightly-"));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  const { table } = await compileFile(`examples/nightly/nightly.${spelling}`);
  const { source, paths } = await serve(answers);
  const builtins = { file: createFile({ root }) };
  const engine = createEngine(table as Table, { builtins, random: () => 0, store: new MemoryStore() });
  const result = await engine.run({ day: "2026-11-24" }, { config: { source }, thread: "night" });
  return { result, paths, read: (path: string) => readFileSync(join(root, path), "utf8") };
}

test.each(["ngraph", "yaml"])("a server that fails twice delays the report: %s", async (spelling) => {
  const { result, paths, read } = await runNight(spelling, [undefined, undefined, "product,count,price\nlamp,2,10\n"]);
  expect(result.error).toBeNull();
  expect(paths).toEqual(["/2026-11-24.csv", "/2026-11-24.csv", "/2026-11-24.csv"]);
  expect(result.output).toEqual({ report: "reports/2026-11-24.md", total: 20 });
  expect(read("reports/2026-11-24.md")).toBe("# Sales of 2026-11-24\n\n- lamp: 2\n\nTotal: 20\n");
});

test("a text that is no table fails the run, with a note", async () => {
  const { result, paths, read } = await runNight("ngraph", ["product,count,price\nlamp,many,10\n"]);
  expect(result).toMatchObject({ status: "failed", error: { message: expect.stringContaining("no report of") } });
  expect(paths).toHaveLength(1);
  expect(read("reports/2026-11-24.failed.md")).toBe("There is no report of 2026-11-24.\n");
});
