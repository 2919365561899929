/**
 * Mutation test of the simulation: it finds each of these mistakes, planted into the engine's source, within its seeds.
 */
import { afterAll, describe, expect, test } from "vitest";
import { plant } from "./plant.ts";
import { PLANTED_BUGS } from "./planted-bugs.ts";
import { simulate } from "./simulate.ts";
import { sample } from "../support/depth.ts";

const SEEDS = 20_000;

describe("a planted mistake is found", () => {
  const needed: string[] = [];
  afterAll(() => console.info(`seeds that it took\n${needed.join("\n")}`));

  test.each(sample(PLANTED_BUGS))(
    "$name",
    async (bug) => {
      const subject = await plant(bug);
      let seed = 0;
      let problems: readonly string[] = [];
      for (; seed < SEEDS && problems.length === 0; seed++) problems = (await simulate(subject, seed)).problems;
      needed.push(`${String(seed).padStart(7)}  ${bug.name}: ${problems[0]?.slice(0, 100) ?? "not found"}`);
      expect(problems, `after ${seed} seeds`).not.toEqual([]);
    },
    600_000,
  );
});

test("the same build without a mistake passes", async () => {
  const subject = await plant({ name: "none", edits: [] });
  for (let seed = 0; seed < 100; seed++) expect((await simulate(subject, seed)).problems).toEqual([]);
});
