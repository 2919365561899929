/**
 * Every verdict of `check` on random graphs, compared with what the real engine does under an adversary: the first part of
 * the graphs, and graphs that were judged wrongly in the past.
 *
 * - `NGRAPH_TEST_DEPTH=full` compares 20,000 graphs, in three files.
 * - `SEED=1234 npx vitest run --project deep test/proofs/oracle-engine.test.ts` compares one graph, and prints it with what
 *   is wrong.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { hasErrors } from "../../diagnostics/diagnostic.ts";
import { bindText } from "../checks/support/bind-text.ts";
import { describeEngine, wrongVerdicts } from "./engine/compare-engine.ts";
import { generateBasicGraph, generateGraph } from "./engine/generate.ts";
import { judge } from "./engine/judge.ts";

const ONE_SEED = process.env["SEED"];

/** Seeds of graphs on which a verdict was wrong. The smallest graphs that show each mistake are in `past-mistakes/`. */
const PAST_SEEDS = [
  ...[597, 763, 905, 1004, 1242, 1363, 1656, 1663, 1678, 1746, 1781, 1783, 2000, 2376, 2398, 2467, 2469, 3902],
  ...[
    2621, 4037, 4101, 4825, 4974, 5794, 6071, 6221, 6813, 7753, 10016, 10093, 10163, 10311, 10626, 10999, 11050, 11266,
    11448, 11639, 11776,
  ],
  ...[20897, 21366, 21448, 21509, 21529, 23256, 23874, 24424, 27995],
];

if (ONE_SEED === undefined) {
  describeEngine(0, 5000, 200);

  describe("verdicts that were wrong", () => {
    it.each(PAST_SEEDS)("seed %d", { timeout: 300_000 }, async (seed) => {
      expect(await wrongVerdicts(seed, generateBasicGraph(seed))).toEqual([]);
    });
  });

  describe.each(["past-mistakes", "small-graphs"])("verdicts on %s", (name) => {
    const folder = join(import.meta.dirname, "engine", name);
    it.each(readdirSync(folder))("%s", { timeout: 300_000 }, async (file) => {
      const text = readFileSync(join(folder, file), "utf8");
      const judged = await judge(text, { seed: 1, runs: 200 });
      // Some are refused by now.
      if (judged === undefined) expect(hasErrors(bindText(text).diagnostics)).toBe(true);
      expect(judged?.mistakes ?? []).toEqual([]);
    });
  });
} else {
  it(`seed ${ONE_SEED}`, { timeout: 600_000 }, async () => {
    console.log(generateGraph(Number(ONE_SEED)));
    expect(await wrongVerdicts(Number(ONE_SEED), generateGraph(Number(ONE_SEED)))).toEqual([]);
  });
}
