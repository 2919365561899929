/**
 * Promises 2.1 to 3.3, 4.3, 5.2 to 5.8, 6.1 to 7.2 under faults: random graphs with barriers, `for` nodes, sends, jumps, failures,
 * pauses and called graphs, run in a random order of completion on a store that fails, hangs, answers with what is old, hears
 * things twice, and in processes that die; against an interpreter that knows nothing of the engine.
 *
 * A failure names its seed: `SEED=1234 npx vitest run test/fault/simulation` runs that one alone, `SEEDS=200000` more of them.
 */
import { describe, expect, test } from "vitest";
import { createEngine } from "../../runtime/engine.ts";
import { randomFaults, simulate, type Subject } from "./simulate.ts";
import { simulateStoreless } from "./storeless.ts";
import { FAULT_KINDS, memoryStore } from "./world.ts";

const subject: Subject = { createEngine: (table, options) => createEngine(table, options), makeStore: memoryStore };
const ONE = process.env["SEED"] === undefined ? undefined : Number(process.env["SEED"]);
const COUNT = Number(process.env["SEEDS"] ?? 20_000);
const BLOCK = 1000;
/** Seeds whose graphs meet every kind of fault at every call of the store. */
const SWEPT = [3, 8, 21, 34, 55, 70, 101, 144];
const MINUTES = 60_000;

async function problemsOf(from: number, to: number): Promise<string[]> {
  const found: string[] = [];
  for (let seed = from; seed < to && found.length < 5; seed++) {
    const { problems } = await simulate(subject, seed);
    if (problems.length > 0) found.push(`SEED=${seed}: ${problems.join("\n  ")}`);
  }
  return found;
}

describe("simulated runs end as the reference interpreter says", () => {
  const blocks =
    ONE === undefined
      ? Array.from({ length: Math.ceil(COUNT / BLOCK) }, (_, i) => [i * BLOCK, Math.min(COUNT, (i + 1) * BLOCK)])
      : [[ONE, ONE + 1]];
  test.each(blocks)(
    "seeds %i to %i",
    async (from, to) => {
      expect(await problemsOf(from!, to!)).toEqual([]);
    },
    10 * MINUTES,
  );
});

describe.runIf(ONE === undefined)("every fault at every call of the store", () => {
  test.each(SWEPT)(
    "seed %i",
    async (seed) => {
      const { calls } = await simulate(subject, seed, { faults: new Map() });
      expect(calls).toBeGreaterThan(2);
      const found: string[] = [];
      for (const kind of FAULT_KINDS) {
        for (let at = 0; at < calls; at++) {
          const { problems } = await simulate(subject, seed, { faults: new Map([[at, kind]]) });
          if (problems.length > 0) found.push(`${kind} at call ${at}: ${problems.join("\n  ")}`);
        }
      }
      expect(found).toEqual([]);
    },
    10 * MINUTES,
  );
});

test("graphs that pause nowhere end the same way without a store", { timeout: 10 * MINUTES }, async () => {
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

test("a seed says all there is to say", async () => {
  for (const seed of [1, 77, 4711]) {
    const [first, second] = [await simulate(subject, seed), await simulate(subject, seed)];
    expect(first.calls).toBe(second.calls);
    expect([...randomFaults(seed)]).toEqual([...randomFaults(seed)]);
  }
});
