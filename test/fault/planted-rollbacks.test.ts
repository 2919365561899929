/** Mutation test of the simulation of rollbacks: it finds each of these mistakes, planted into the engine's source. */
import { describe, expect, test } from "vitest";
import { plant } from "./plant.ts";
import { ROLLBACK_BUGS } from "./rollback-bugs.ts";
import { simulateRollbacks } from "./rollback-simulation.ts";

describe("a planted mistake is found", () => {
  test.each(ROLLBACK_BUGS)("$name", { timeout: 300_000 }, async (bug) => {
    expect(await simulateRollbacks(await plant(bug), 7)).not.toEqual([]);
  });
});

test("the same build without a mistake passes", { timeout: 300_000 }, async () => {
  expect(await simulateRollbacks(await plant({ name: "none", edits: [] }), 7)).toEqual([]);
});
