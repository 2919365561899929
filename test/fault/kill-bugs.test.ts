/** Mutation test of the kill sweep: it finds each of these mistakes, which a run without a kill does not show. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { FAST_DIRECTORY } from "../stores/temporary-directory.ts";
import { tableOf } from "../support/graph.ts";
import { KILL_BUGS } from "./kill-bugs.ts";
import { KILL_FUNCTIONS, KILL_GRAPH } from "./kill-graph.ts";
import { sqlitePlace } from "./kill-place.ts";
import { NEVER, runTrial, runUntil, type Trial } from "./kill-sweep.ts";
import { plantedText } from "./plant.ts";
import { everyNth, isBroad, sample } from "../support/depth.ts";

const table = tableOf(KILL_GRAPH, KILL_FUNCTIONS);
let directory: string;
let trials = 0;

beforeAll(() => {
  directory = mkdtempSync(join(FAST_DIRECTORY, "ngraph-kill-bugs-"));
  writeFileSync(join(directory, "table.json"), JSON.stringify(table));
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

describe("a planted mistake is found", () => {
  test.each(isBroad ? everyNth(KILL_BUGS, 3) : sample(KILL_BUGS))("$name", { timeout: 1_800_000 }, async (bug) => {
    const resolveDir = fileURLToPath(new URL("programs", import.meta.url));
    const contents = readFileSync(join(resolveDir, "run-and-die.ts"), "utf8");
    const file = join(directory, `planted-${++trials}.mjs`);
    writeFileSync(file, await plantedText(bug, { contents, resolveDir, loader: "ts" }));
    const program = pathToFileURL(file);

    const { result: expected } = await runTrial(makeTrial([]));
    const unkilled = { ...makeTrial([]), program };
    const points = (await runUntil(unkilled, NEVER))!.length;
    expect((await runTrial(unkilled)).result).toBe(expected);

    // The recovery is the planted engine's too. A step that has no factor in common with the count comes by all points.
    const step = [61, 67, 71].find((prime) => points % prime !== 0)!;
    let found: unknown;
    for (let n = 0; n < points && found === undefined; n++) {
      const trial = { ...makeTrial([(n * step) % points, NEVER]), program };
      found = await runTrial(trial).then(
        ({ result }) => (result === expected ? undefined : "another end"),
        (error: unknown) => error,
      );
    }
    expect(found).toBeDefined();
  });
});

function makeTrial(kills: readonly number[]): Trial {
  const name = join(directory, `${++trials}`);
  const place = sqlitePlace(`${name}.db`, "auto");
  return { place, table, tableFile: join(directory, "table.json"), ledger: `${name}.ledger`, kills };
}
