/**
 * Runs the built command line on the Node that runs this file: checks, compiles, runs until a pause, answers it, and prints the
 * history. Each command has a time limit. Throws at the first unexpected result.
 */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const program = fileURLToPath(new URL("../dist/cli/ngc.js", import.meta.url));
const directory = mkdtempSync(join(tmpdir(), "ngraph-smoke-"));

function ngc(...args) {
  const { status, stdout, stderr, error } = spawnSync(process.execPath, [program, ...args], {
    cwd: directory,
    encoding: "utf8",
    timeout: 60_000,
    env: { ...process.env, NO_COLOR: "1", NODE_OPTIONS: "" },
  });
  if (error) throw error;
  return { status, stdout, stderr, all: `ngc ${args.join(" ")}: exit ${status}\n${stdout}${stderr}` };
}

function expectExit(result, status) {
  assert.equal(result.status, status, result.all);
  return result;
}

try {
  writeFileSync(join(directory, "nodes.ts"), "export function double(n: number): number {\n  return n * 2;\n}\n");
  writeFileSync(
    join(directory, "flow.ngraph"),
    `import { double } from "./nodes.ts"

graph flow {
  input  n: int
  output twice: int
  state verdict: "yes" | "no"

  node calc = double(n) into twice
  node sure = ask(\`Is \${twice} right?\`) into verdict

  start -> calc -> sure -> match verdict { "yes" -> end  "no" -> calc }
}
`,
  );
  assert.match(expectExit(ngc("--version"), 0).stdout, /^\d+\.\d+\.\d+/);
  expectExit(ngc("check", "flow.ngraph"), 0);
  expectExit(ngc("compile", "flow.ngraph"), 0);
  assert.ok(existsSync(join(directory, "flow.ngraph.ts")));
  const paused = JSON.parse(
    expectExit(ngc("run", "flow.ngraph", "--input", '{"n": 21}', "--thread", "t", "--json"), 3).stdout,
  );
  assert.equal(paused.status, "paused");
  assert.equal(paused.pauses.length, 1);
  const done = JSON.parse(expectExit(ngc("resume", "t", "--answer", "yes", "--json"), 0).stdout);
  assert.deepEqual(done.output, { twice: 42 });
  assert.equal(JSON.parse(expectExit(ngc("threads", "--json"), 0).stdout).threads.length, 1);
  assert.match(expectExit(ngc("history", "t"), 0).stdout, /calc/);
  expectExit(ngc("run", "nowhere.ngraph"), 64);
  console.log(`ok on Node ${process.versions.node}`);
} finally {
  rmSync(directory, { recursive: true, force: true });
}
