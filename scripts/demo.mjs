/**
 * `npm run demo`: checks, draws and runs an example with the built command line. The example analyses a real web server's access log and
 * writes a report. Checkpoints are stored in `.ngraph/runs.db`.
 */
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const graph = "examples/log-triage/triage.ngraph";

function ngc(...args) {
  console.log(`\n$ ngc ${args.join(" ")}`);
  const { status } = spawnSync(process.execPath, [join(root, "dist/cli/ngc.js"), ...args], {
    cwd: root,
    stdio: "inherit",
  });
  if (status !== 0) process.exit(status ?? 1);
}

ngc("check", graph);
ngc("graph", graph);
ngc("run", graph);
console.log(
  `\nThe report is in examples/log-triage/report.md, the run's checkpoints are in .ngraph/runs.db (ngc threads lists its runs).`,
);
