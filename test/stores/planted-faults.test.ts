/** The suite is worth what it finds: each of these mistakes, planted into a store that passes it, fails the case that is about it. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { planter, PLANTED_FAULTS } from "./planted-faults.ts";

let plants: Awaited<ReturnType<typeof planter>>;
beforeAll(async () => {
  plants = await planter();
});
afterAll(() => plants.dispose());

describe("the suite finds out a store where", () => {
  it.each(PLANTED_FAULTS)("$name", async ({ edits, foundBy }) => {
    const { storeConformance, makeStore } = await plants.plant(edits);
    const found = storeConformance.filter(({ name }) => name.startsWith(foundBy));
    expect(found, `cases that begin with "${foundBy}"`).toHaveLength(1);
    await expect(found[0]!.run(makeStore)).rejects.toThrow(found[0]!.name);
  });
});

it("a store without a mistake, built the same way, passes it", async () => {
  const { storeConformance, makeStore } = await plants.plant([]);
  // A store in memory has one process, which does not survive a crash.
  const lacking = ["", "crash", "secondProcess"];
  for (const { run } of storeConformance) expect(lacking).toContain((await run(makeStore)).join());
});
