/** The conformance suite finds mistakes: with each planted fault the expected case fails, without a fault all pass. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { mutationPoints } from "../support/mutate.ts";
import { planter, PLANTED_FAULTS, sourceTexts } from "./planted-faults.ts";

let plants: Awaited<ReturnType<typeof planter>>;
beforeAll(async () => {
  plants = await planter();
});
afterAll(() => plants.dispose());

describe("the suite finds the fault:", () => {
  it.each(PLANTED_FAULTS)("$name", async ({ edits, foundBy }) => {
    const { storeConformance, makeStore } = await plants.plant(edits);
    const found = storeConformance.filter(({ name }) => name.startsWith(foundBy));
    expect(found, `cases that begin with "${foundBy}"`).toHaveLength(1);
    await expect(found[0]!.run(makeStore)).rejects.toThrow(found[0]!.name);
  });
});

it("a store without a fault, built the same way, passes the suite", async () => {
  const { storeConformance, makeStore } = await plants.plant([]);
  // The store cannot test a crash or a second process, because its disk is in memory.
  const lacking = ["", "crash", "secondProcess"];
  for (const { run } of storeConformance) expect(lacking).toContain((await run(makeStore)).join());
});

it("every mutation point of the store is used", () => {
  const used = new Set(PLANTED_FAULTS.flatMap(({ edits }) => edits.map(({ file, point }) => `${file}: ${point}`)));
  const points = [...sourceTexts()].flatMap(([file, text]) => mutationPoints(text).map((point) => `${file}: ${point}`));
  expect(points.filter((point) => !used.has(point))).toEqual([]);
});
