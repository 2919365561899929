/** Rules W1 to W5 under random users and processes that die, against a reference interpreter. */
import { expect, test } from "vitest";
import { createEngine } from "../../runtime/engine/create-engine.ts";
import { scale } from "../support/depth.ts";
import type { Subject } from "./simulate.ts";
import { simulateWaiting } from "./waiting-simulation.ts";
import { memoryStore } from "./world.ts";

const subject: Subject = { createEngine: (table, options) => createEngine(table, options), makeStore: memoryStore };
const SEEDS = scale(4000, 250);

test("threads that wait match the reference interpreter", { timeout: 600_000 }, async () => {
  const covered = new Map<string, number>();
  const found: string[] = [];
  const one = process.env["SEED"];
  const seeds = one === undefined ? Array.from({ length: SEEDS }, (_, seed) => seed) : [Number(one)];
  for (const seed of seeds) {
    const features = new Set<string>();
    const problems = await simulateWaiting(subject, seed, features);
    for (const feature of features) covered.set(feature, (covered.get(feature) ?? 0) + 1);
    if (problems.length > 0) found.push(`SEED=${seed}: ${problems.join("\n  ")}`);
    if (found.length === 5) break;
  }
  expect(found).toEqual([]);
  if (one !== undefined) return;
  for (const feature of FEATURES) expect(covered.get(feature) ?? 0, feature).toBeGreaterThan(SEEDS / 100);
});

const FEATURES = [
  "a bare resume",
  "a deadline beside other waits",
  "a fork from before the wait",
  "a fork of a wait",
  "a look that cannot commit",
  "a process that dies",
  "a repeated signal",
  "a signal",
  "a thread that is due",
  "an answer",
  "status: completed",
  "status: paused",
  "two wake at once",
];
