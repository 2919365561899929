/**
 * Promises 2.1 to 7.2 under faults. Random graphs have barriers, `for` nodes, sends, jumps, failures, timeouts, pauses
 * and called graphs. They run in a random order of completion, in processes that die, on a store that fails, hangs,
 * returns old results and executes calls twice. A random user resumes, forks, edits and runs them again. Each
 * checkpoint is compared with an interpreter that shares no code with the engine.
 *
 * A failure names its seed. `SEED=1234 npx vitest run test/fault/simulation.test.ts` reduces that seed and prints its
 * run line by line; `SEEDS=200000` runs more seeds.
 */
import { describe, expect, test } from "vitest";
import { createEngine } from "../../runtime/engine/create-engine.ts";
import { scale } from "../support/depth.ts";
import { everyFault, replay } from "./replay.ts";
import { randomFaults, simulate, type Subject } from "./simulate.ts";
import { simulateStoreless } from "./storeless.ts";
import { memoryStore } from "./world.ts";

const subject: Subject = { createEngine: (table, options) => createEngine(table, options), makeStore: memoryStore };
const ONE = process.env["SEED"] === undefined ? undefined : Number(process.env["SEED"]);
const COUNT = Number(process.env["SEEDS"] ?? scale(20_000, 500));
const BLOCK = scale(1000, 250);
const MINUTES = 60_000;

if (ONE === undefined) manySeeds();
else {
  const seed = ONE;
  test("reports one seed line by line", { timeout: 10 * MINUTES }, async () => {
    console.info(await replay(subject, seed));
    expect((await simulate(subject, seed)).problems).toEqual([]);
  });
}

function manySeeds(): void {
  describe("simulated threads match the reference interpreter", () => {
    const covered = new Map<string, number>();
    const blocks = Array.from({ length: Math.ceil(COUNT / BLOCK) }, (_, i) => [
      i * BLOCK,
      Math.min(COUNT, (i + 1) * BLOCK),
    ]);

    test.each(blocks)(
      "seeds %i to %i",
      async (from, to) => {
        const found: string[] = [];
        for (let seed = from!; seed < to! && found.length < 5; seed++) {
          const result = await simulate(subject, seed);
          for (const feature of result.covered) covered.set(feature, (covered.get(feature) ?? 0) + 1);
          if (result.problems.length > 0) found.push(`SEED=${seed}: ${result.problems.join("\n  ")}`);
        }
        expect(found).toEqual([]);
      },
      10 * MINUTES,
    );

    test("every feature and every fault occurs often enough", () => {
      const rows = FEATURES.map((feature) => [feature, covered.get(feature) ?? 0] as const);
      console.info(rows.map(([feature, count]) => `${String(count).padStart(7)}  ${feature}`).join("\n"));
      expect([...covered.keys()].filter((feature) => !FEATURES.includes(feature))).toEqual([]);
      // At least one seed in a thousand.
      expect(rows.filter(([, count]) => count < COUNT / 1000)).toEqual([]);
    });
  });

  /** Features and faults of seeds. */
  const FEATURES: readonly string[] = [
    "a barrier that waits",
    "a settled barrier that waits",
    "a body that hangs",
    "a body that misfit",
    "a body that permanent",
    "a body that throws",
    "a call that hangs, and a cancellation",
    "a call that hangs, and an end",
    "a checkpoint by its label",
    "a failure that a resume gets over",
    "a drained engine",
    "a drained run",
    "a fork",
    "a fork at a node",
    "a fork at a node to another thread",
    "a fork to another thread",
    "a further attempt",
    "a further turn",
    "a goto",
    "a low limit of steps",
    "a pause: after",
    "a pause: before",
    "a pause: interrupt",
    "a run",
    "a sent item",
    "a version with marked names",
    "a version with plain names",
    "an abandoned run",
    "an edit",
    "an edit as a node",
    "an edit as a task of an unfinished step",
    "an allowed failure",
    "an error edge",
    "an exclusive goto",
    "another version of the table",
    "asked: fork",
    "asked: fork refused, NG_THREAD_BUSY",
    "asked: label",
    "asked: resume",
    "asked: resume from",
    "asked: resume from refused, NG_UNKNOWN_CHECKPOINT",
    "asked: resume refused, NG_BAD_ANSWER",
    "asked: resume refused, NG_DRIFT",
    "asked: resume refused, NG_NOT_PAUSED",
    "asked: run",
    "asked: run refused, NG_THREAD_BUSY",
    "asked: update",
    "durability: async",
    "durability: exit",
    "durability: sync",
    "fault: NG_BAD_RESULT",
    "fault: NG_CONCURRENT_WRITE",
    "fault: NG_NODE_FAILED",
    "fault: NG_NODE_TIMEOUT",
    "fault: NG_REDUCER_FAILED",
    "several waiting items",
    "status: cancelled",
    "status: completed",
    "status: failed",
    "status: incomplete",
    "status: paused",
    "status: running",
    "status: limit",
    "store: crash after",
    "store: crash before",
    "store: delivered twice",
    "store: error after",
    "store: error before",
    "store: hang",
    "store: stale read",
    "two runners",
  ];

  /** Seeds that meet every kind of fault at every call of the store. */
  const SWEPT = scale([3, 8, 21, 34, 70, 101, 201, 300, 377, 405, 512, 610], [3, 21, 70]);

  describe("every fault at every call of the store", () => {
    test.each(SWEPT)(
      "seed %i",
      async (seed) => {
        const { calls } = await simulate(subject, seed, { faults: new Map() });
        expect(calls).toBeGreaterThan(2);
        const found: string[] = [];
        for (const [at, kind] of everyFault(calls)) {
          const { problems } = await simulate(subject, seed, { faults: new Map([[at, kind]]) });
          if (problems.length > 0) found.push(`${kind} at call ${at}: ${problems.join("\n  ")}`);
        }
        expect(found).toEqual([]);
      },
      10 * MINUTES,
    );
  });
}

test("graphs without pauses end the same way without a store", { timeout: 10 * MINUTES }, async () => {
  const found: string[] = [];
  let ran = 0;
  for (let seed = ONE ?? 0; seed < (ONE === undefined ? Math.min(COUNT, 6000) : ONE + 1) && found.length < 5; seed++) {
    const problems = await simulateStoreless(subject, seed);
    if (problems !== undefined) ran++;
    if (problems !== undefined && problems.length > 0) found.push(`SEED=${seed}: ${problems.join("\n  ")}`);
  }
  expect(found).toEqual([]);
  if (ONE === undefined) expect(ran).toBeGreaterThan(COUNT / 50);
});

test("a report describes its seed", async () => {
  for (const seed of [1, 77, 4711]) {
    const [first, second] = [await simulate(subject, seed), await simulate(subject, seed)];
    expect(first.calls).toBe(second.calls);
    expect([...first.covered]).toEqual([...second.covered]);
    expect([...randomFaults(seed)]).toEqual([...randomFaults(seed)]);
  }
});
