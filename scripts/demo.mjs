/**
 * `npm run demo`: checks, draws and runs an example with the built command line, as a user would: a real web server's access
 * log is read in parts, searched for three kinds of trouble at once, and reported on.
 */
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const directory = mkdtempSync(join(tmpdir(), "ngraph-demo-"));
const report = join(directory, "report.md");

function ngc(...args) {
  console.log(`\n$ ngc ${args.join(" ")}`);
  const { status } = spawnSync(process.execPath, [join(root, "dist/cli/ngc.js"), ...args], {
    cwd: root,
    stdio: "inherit",
  });
  if (status !== 0) process.exit(status ?? 1);
}

try {
  ngc("check", "examples/log-triage/triage.ngraph", "-v");
  ngc("graph", "examples/log-triage/triage.ngraph");
  ngc(
    "run",
    "examples/log-triage/triage.ngraph",
    "--input",
    JSON.stringify({ report }),
    "--store",
    `sqlite:${join(directory, "runs.db")}`,
  );
  if (existsSync(report)) console.log(`\n${readFileSync(report, "utf8")}`);
} finally {
  rmSync(directory, { recursive: true, force: true });
}
