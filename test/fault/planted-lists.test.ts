/** Mutation test of the simulation of lists: it finds each of these mistakes, planted into the engine's source. */
import { describe, expect, test } from "vitest";
import { LIST_BUGS } from "./list-bugs.ts";
import { simulateLists } from "./list-simulation.ts";
import { plant } from "./plant.ts";

describe("a planted mistake is found", () => {
  test.each(LIST_BUGS)("$name", { timeout: 600_000 }, async (bug) => {
    const planted = await plant(bug);
    let problems: readonly string[] = [];
    for (let seed = 0; seed < 1000 && problems.length === 0; seed++) problems = await simulateLists(planted, seed);
    expect(problems).not.toEqual([]);
  });
});
