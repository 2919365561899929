import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";

/** Builds `dist/` once, before the tests that run it. `NGRAPH_TEST_NO_BUILD=1` keeps the existing build. */
export default function buildOnce(): void {
  if (process.env["NGRAPH_TEST_NO_BUILD"] === "1") return;
  const root = fileURLToPath(new URL("../..", import.meta.url));
  execFileSync(process.execPath, ["scripts/build.mjs"], { cwd: root, stdio: ["ignore", "ignore", "inherit"] });
  // Several projects have this setup.
  process.env["NGRAPH_TEST_NO_BUILD"] = "1";
}
