/** Mutation test of the simulation of waits: it finds each of these mistakes, planted into the engine's source. */
import { describe, expect, test } from "vitest";
import { plant } from "./plant.ts";
import { WAITING_BUGS } from "./waiting-bugs.ts";
import { simulateWaiting } from "./waiting-simulation.ts";

describe("a planted mistake is found", () => {
  test.each(WAITING_BUGS)("$name", { timeout: 600_000 }, async (bug) => {
    const planted = await plant(bug);
    let problems: readonly string[] = [];
    for (let seed = 0; seed < 1000 && problems.length === 0; seed++) problems = await simulateWaiting(planted, seed);
    expect(problems).not.toEqual([]);
  });
});
