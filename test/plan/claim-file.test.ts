/** Processes that find the claim of a dead run at the same moment: one of them gets it. */
import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { build } from "esbuild";
import { expect, test } from "vitest";
import type { Holder } from "../../cli/plan/claim-file.ts";
import { thisMachine } from "../../cli/plan/machine.ts";
import { numRuns } from "../support/depth.ts";

const PROCESSES = 5;
const ROUNDS = numRuns(60);
/** Milliseconds of a round. */
const ROUND = 20;

/** Takes the claim of each round at its time, prints which it got, and lives until its input ends. */
const TAKER = `
import { takeClaim } from "./cli/plan/claim-file.ts";
const [directory, start, own] = process.argv.slice(2);
const got = [];
for (let round = 0; round < ${ROUNDS}; round++) {
  while (Date.now() < Number(start) + round * ${ROUND});
  const holder = takeClaim(\`\${directory}/\${round}.json\`, { ...JSON.parse(own), pid: process.pid }, []);
  if (holder === undefined) got.push(round);
}
console.log(JSON.stringify(got));
process.stdin.resume();
`;

test("one of several processes replaces the claim of a dead run", async () => {
  // Below the project, so that the package with SQLite is found.
  const cache = join(process.cwd(), "node_modules", ".cache");
  mkdirSync(cache, { recursive: true });
  const directory = mkdtempSync(join(cache, "claims-"));
  const children: ReturnType<typeof spawn>[] = [];
  try {
    const taker = join(directory, "taker.mjs");
    await build({
      stdin: { contents: TAKER, resolveDir: process.cwd() },
      outfile: taker,
      bundle: true,
      platform: "node",
      format: "esm",
      packages: "external",
      logLevel: "error",
    });
    const own: Omit<Holder, "pid"> = {
      ...thisMachine(),
      started: undefined,
      run: "r",
      thread: null,
      plan: "p",
      kind: "plan",
      directory,
      since: "2026-01-01T00:00:00.000Z",
    };
    // No process has this id: it is beyond the largest one.
    const dead = JSON.stringify({ ...own, pid: 2 ** 30 });
    for (let round = 0; round < ROUNDS; round++) writeFileSync(join(directory, `${round}.json`), dead);
    const start = String(Date.now() + 2_000);
    const taken = await Promise.all(
      Array.from({ length: PROCESSES }, () => {
        const child = spawn(process.execPath, [taker, directory, start, JSON.stringify(own)]);
        children.push(child);
        return firstOutput(child);
      }),
    );
    const rounds = taken.flatMap((line) => JSON.parse(line) as number[]);
    expect(rounds.toSorted((a, b) => a - b)).toEqual(Array.from({ length: ROUNDS }, (_, round) => round));
  } finally {
    for (const child of children) child.kill("SIGKILL");
    rmSync(directory, { recursive: true, force: true });
  }
}, 300_000);

/** What the process prints first; its error messages if it ends before. */
function firstOutput(child: ReturnType<typeof spawn>): Promise<string> {
  return new Promise((resolve, reject) => {
    let errors = "";
    child.stderr!.on("data", (chunk) => (errors += String(chunk)));
    child.stdout!.once("data", (chunk) => resolve(String(chunk)));
    child.once("close", () => reject(new Error(errors)));
  });
}
