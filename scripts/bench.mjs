/**
 * Runs the benchmarks: `npm run bench` runs all of them, `npm run bench -- engine plan` the named ones. Each benchmark is a program in
 * `bench/` that prints one table. The peers are installed in `bench/peers/` on first use.
 */
import { spawnSync } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const folder = join(root, "bench");
const known = readdirSync(folder)
  .filter((name) => name.endsWith(".ts"))
  .map((name) => name.slice(0, -3));
const wanted = process.argv.slice(2);
const unknown = wanted.filter((name) => !known.includes(name));
if (unknown.length > 0) {
  console.error(`no benchmark named ${unknown.join(", ")}; there are: ${known.join(", ")}`);
  process.exit(64);
}

if (!existsSync(join(folder, "peers/node_modules"))) {
  console.error("installing the peers to compare with …");
  const install = spawnSync("npm", ["ci", "--ignore-scripts", "--no-audit", "--no-fund"], {
    cwd: join(folder, "peers"),
    stdio: ["ignore", "ignore", "inherit"],
  });
  if (install.status !== 0) console.error("they could not be installed: rows that need them are left out");
}

await import("./generate-table-validator.mjs");
for (const name of wanted.length > 0 ? wanted : known) {
  const outfile = join(root, "node_modules/.cache/ngraph-bench", `${name}.mjs`);
  await build({
    entryPoints: [join(folder, `${name}.ts`)],
    bundle: true,
    packages: "external",
    platform: "node",
    format: "esm",
    target: "node20",
    outfile,
    logLevel: "warning",
  });
  console.log(`\n## ${name}\n`);
  const run = spawnSync(process.execPath, ["--expose-gc", outfile], { cwd: root, stdio: "inherit" });
  if (run.status !== 0) process.exit(run.status ?? 1);
}
