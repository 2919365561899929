/**
 * Jump targets in groups (`compiler/explore/jump-groups.ts`) against the engine. The compiler searches for groups among
 * many targets only. Here it searches for groups of all nodes that jump, so the small random graphs of the oracle have them.
 */
import { describe, expect, test } from "vitest";
import { isFull } from "../support/depth.ts";
import { mutation, type Mutation, swap } from "../support/mutate.ts";
import { generateGraph } from "./engine/generate.ts";
import { judge } from "./engine/judge.ts";
import { type Checker, plantCompiler } from "./engine/plant-compiler.ts";

const GROUPS = "explore/jump-groups.ts";
const ALWAYS = mutation(GROUPS, "few-targets", "");

/** Nodes with two targets or more, apart from `end`. */
const SEVERAL_TARGETS = /goes (?:\w+, )+(?!end)\w|goes end, \w+, \w|goes \w+, end, \w/;

/** The first mistake on graphs that jump. */
async function firstMistake(checker: Checker, graphs: number): Promise<string | undefined> {
  let judged = 0;
  for (let seed = 0; judged < graphs; seed++) {
    const text = generateGraph(seed);
    if (!SEVERAL_TARGETS.test(text)) continue;
    judged++;
    const [mistake] = (await judge(text, { seed, runs: 12, checker }))?.mistakes ?? [];
    if (mistake !== undefined) return `seed ${seed}: ${mistake.kind}: ${mistake.text}\n${text}`;
  }
  return undefined;
}

describe("jumps to targets in different groups", () => {
  test("are proven as the engine runs them", { timeout: 600_000 }, async () => {
    expect(await firstMistake(await plantCompiler([ALWAYS]), isFull ? 600 : 30)).toBeUndefined();
  });

  test.runIf(isFull).each<[string, Mutation]>([
    ["branches that share a place", mutation(GROUPS, "branches-meet", swap("meet(a.nodes, b.nodes) ||", ""))],
    ["branches that jump again", mutation(GROUPS, "jumping-branch", swap("branch.dependsOnOthers || ", ""))],
  ])("the oracle finds a compiler that ignores %s", { timeout: 600_000 }, async (_, mistake) => {
    expect(await firstMistake(await plantCompiler([ALWAYS, mistake]), 2000)).toBeDefined();
  });
});
