/** Rules R1 to R6 for a process that dies before or after each of its writes. */
import { expect, test } from "vitest";
import { scale } from "../support/depth.ts";
import { simulateRollbacks } from "./rollback-simulation.ts";

test("a rollback continues after a crash, and undoes everything once", { timeout: 300_000 }, async () => {
  const problems = await simulateRollbacks(undefined, scale(1, 7));
  expect(problems.slice(0, 20)).toEqual([]);
});
