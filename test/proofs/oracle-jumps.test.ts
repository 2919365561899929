/**
 * Jump targets in groups (`compiler/explore/jump-groups.ts`) against the engine. The compiler searches for groups among
 * many targets only. Here it searches for groups of all nodes that jump, so the small random graphs of the oracle have them.
 */
import { describe, expect, test } from "vitest";
import { generateGraph } from "./engine/generate.ts";
import { judge } from "./engine/judge.ts";
import { plantCompiler } from "./engine/plant-compiler.ts";
import { GROUPS_OF_FEW, PLANTED_IN_GROUPS } from "./engine/planted-mistakes.ts";

const GRAPHS = 500;
const RUNS = 12;

/** Nodes with two targets or more, apart from `end`. */
const SEVERAL_TARGETS = /goes (?:\w+, )+(?!end)\w|goes end, \w+, \w|goes \w+, end, \w/;

/** Random graphs with such nodes. */
function* graphs(): Generator<{ readonly text: string; readonly seed: number }> {
  let left = GRAPHS;
  for (let seed = 0; left > 0; seed++) {
    const text = generateGraph(seed);
    if (!SEVERAL_TARGETS.test(text)) continue;
    left--;
    yield { text, seed };
  }
}

describe("jumps to targets in different groups", () => {
  test("are proven as the engine runs them", { timeout: 600_000 }, async () => {
    const checker = await plantCompiler([GROUPS_OF_FEW]);
    for (const { text, seed } of graphs())
      expect((await judge(text, { seed, runs: RUNS, checker }))?.mistakes ?? [], `seed ${seed}:\n${text}`).toEqual([]);
  });

  test.each(PLANTED_IN_GROUPS)("a mistake is found: $name", { timeout: 600_000 }, async ({ mutations }) => {
    const checker = await plantCompiler(mutations);
    let found: string | undefined;
    for (const { text, seed } of graphs()) {
      found = (await judge(text, { seed, runs: RUNS, checker }))?.mistakes[0]?.kind;
      if (found !== undefined) break;
    }
    expect(found).toBeDefined();
  });
});
