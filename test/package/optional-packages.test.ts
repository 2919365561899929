/** The program without its optional packages: each command that needs one names it, and how it is installed. */
import { spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, expect, test } from "vitest";

const root = fileURLToPath(new URL("../..", import.meta.url));
const directory = mkdtempSync(join(tmpdir(), "ngraph-alone-"));
afterAll(() => rmSync(directory, { recursive: true, force: true }));
// Outside of the project, no package is found.
for (const name of ["dist", "package.json"]) cpSync(join(root, name), join(directory, name), { recursive: true });
writeFileSync(join(directory, "one.ngraph"), "graph one { output x: int  node a = 1 into x  start -> a -> end }");
writeFileSync(
  join(directory, "ask.ngraph"),
  'graph ask { output x: string  node a = llm("hi") into x { timeout 5s }  start -> a -> end }',
);

test.each([
  [["mcp", "one.ngraph", "--store", "memory"], 1, "npm install @modelcontextprotocol/sdk"],
  [["run", "ask.ngraph", "--store", "memory"], 1, "npm install ai zod"],
  [["threads", "--store", "postgres://localhost:1/x"], 1, "npm install pg"],
])("ngc %j", { timeout: 60_000 }, (args, status, remedy) => {
  const result = spawnSync(process.execPath, [join(directory, "dist/cli/ngc.js"), ...args], {
    cwd: directory,
    encoding: "utf8",
    input: "",
    timeout: 240_000,
    env: { ...process.env, OPENAI_API_KEY: "none", NGRAPH_MODEL: "small" },
  });
  expect(result.stderr).toContain(remedy);
  expect(result.stderr).not.toContain("this is a bug");
  expect(result.status).toBe(status);
});
