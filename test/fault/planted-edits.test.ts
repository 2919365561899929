/** Mutation test of the simulation of edits: it finds each of these mistakes, planted into the engine's source. */
import { describe, expect, test } from "vitest";
import { EDIT_BUGS } from "./edit-bugs.ts";
import { simulateEdits } from "./edits-simulation.ts";
import { plant } from "./plant.ts";

/** Seeds that are searched from the recorded one on: a change to the simulation moves the seeds that find a mistake. */
const SEEDS = 400;

describe("a planted mistake is found", () => {
  test.each(EDIT_BUGS)("$name", { timeout: 600_000 }, async (bug) => {
    const planted = await plant(bug);
    let problems: readonly string[] = [];
    let seed = bug.seed;
    for (; seed < bug.seed + SEEDS && problems.length === 0; seed++) problems = await simulateEdits(planted, seed);
    console.info(`${bug.name}: seed ${seed - 1}: ${problems[0]?.slice(0, 100) ?? "not found"}`);
    expect(problems).not.toEqual([]);
  });
});
