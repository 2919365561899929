/** 5.7 to 6.3 under users who edit graphs, repair threads and migrate them, against a reference interpreter. */
import { expect, test } from "vitest";
import { createEngine } from "../../runtime/engine/create-engine.ts";
import { scale } from "../support/depth.ts";
import { simulateEdits } from "./edits-simulation.ts";
import type { Subject } from "./simulate.ts";
import { memoryStore } from "./world.ts";

const subject: Subject = { createEngine: (table, options) => createEngine(table, options), makeStore: memoryStore };
const SEEDS = scale(1000, 30);

test("edited threads match the reference interpreter", { timeout: 600_000 }, async () => {
  const covered = new Map<string, number>();
  const found: string[] = [];
  const one = process.env["SEED"];
  const seeds = one === undefined ? Array.from({ length: SEEDS }, (_, seed) => seed) : [Number(one)];
  for (const seed of seeds) {
    const features = new Set<string>();
    const problems = await simulateEdits(subject, seed, features);
    for (const feature of features) covered.set(feature, (covered.get(feature) ?? 0) + 1);
    if (problems.length > 0) found.push(`SEED=${seed}: ${problems.join("\n  ")}`);
    if (found.length === 5) break;
  }
  expect(found).toEqual([]);
  if (one !== undefined) return;
  for (const feature of FEATURES) expect(covered.get(feature) ?? 0, feature).toBeGreaterThan(SEEDS / 100);
});

const FEATURES = [
  "a fork: accepted",
  "a further run: accepted",
  "a migration: accepted",
  "a process that dies",
  "a recovered thread",
  "a signal that does not fit",
  "a signal that fits",
  "an answer that does not fit",
  "an answer that does not fit a gate",
  "an answer that fits",
  "an update as a node of an unfinished step: accepted",
  "an update: NG_BAD_INPUT",
  "an update: NG_DRIFT",
  "another graph",
  "declared names",
  "edit: add channel, drift",
  "edit: add input, drift",
  "edit: list",
  "edit: reducer, drift",
  "edit: remove channel",
  "edit: rename channel",
  "edit: rename graph, drift",
  "edit: rename node, drift",
  "edit: retype, drift",
  "the former version of the graph",
];
