import { expect } from "vitest";
import { createEngine } from "../../runtime/engine/create-engine.ts";
import type { Subject } from "./simulate.ts";
import { memoryStore } from "./world.ts";

const subject: Subject = { createEngine: (table, options) => createEngine(table, options), makeStore: memoryStore };

/**
 * Expects that a simulation finds no problem in the engine, and meets each feature in more than a hundredth of its seeds. The
 * environment variable SEED runs one seed alone.
 */
export async function expectSeeds(
  simulate: (subject: Subject, seed: number, covered: Set<string>) => Promise<readonly string[]>,
  count: number,
  wanted: readonly string[],
): Promise<void> {
  const covered = new Map<string, number>();
  const found: string[] = [];
  const one = process.env["SEED"];
  const seeds = one === undefined ? Array.from({ length: count }, (_, seed) => seed) : [Number(one)];
  for (const seed of seeds) {
    const features = new Set<string>();
    const problems = await simulate(subject, seed, features);
    for (const feature of features) covered.set(feature, (covered.get(feature) ?? 0) + 1);
    if (problems.length > 0) found.push(`SEED=${seed}: ${problems.join("\n  ")}`);
    if (found.length === 5) break;
  }
  expect(found).toEqual([]);
  if (one !== undefined) return;
  for (const feature of wanted) expect(covered.get(feature) ?? 0, feature).toBeGreaterThan(count / 100);
}
