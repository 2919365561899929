import { describe, expect, it } from "vitest";
import { scale } from "../../support/depth.ts";
import { type Comparison, compare } from "./compare.ts";
import { type Feature, FEATURES } from "./features.ts";
import type { Family } from "./random-graph.ts";

/** The comparison of one graph, without its states, which need too much memory. */
interface Seen extends Pick<Comparison, "features" | "gaps" | "alarms"> {
  readonly verdicts: Pick<Comparison["verdicts"], "sound" | "deadlock" | "race" | "holds">;
}

export interface FamilyFacts {
  readonly graphs: number;
  /** Verdicts that graphs of this family cannot have, or always have. */
  readonly without?: readonly string[];
}

const PARTS = 4;

/**
 * Every verdict of the proofs against all runs of small random graphs, executed through the scheduler that the engine
 * runs on;
 * every trace that claims to be feasible is one of those runs. Each seed is always the same graph.
 */
export function describeFamily(family: Family, { graphs: allGraphs, without = [] }: FamilyFacts): void {
  const graphs = scale(allGraphs, allGraphs / 20);
  describe(`proofs agree with brute force on ${graphs} graphs (${family})`, () => {
    const compared: Seen[] = [];
    for (let part = 0; part < PARTS; part++) {
      const first = Math.floor((graphs * part) / PARTS);
      const end = Math.floor((graphs * (part + 1)) / PARTS);
      it(`from ${first} to ${end - 1}`, { timeout: 900_000 }, () => {
        for (let seed = first; seed < end; seed++) {
          const found = compare(seed, family);
          if (found === undefined) continue;
          const { sound, deadlock, race, holds } = found.verdicts;
          compared.push({ ...pick(found), verdicts: { sound, deadlock, race, holds } });
          expect(found.differences, `graph ${seed}:\n${found.graph.text}`).toEqual([]);
        }
      });
    }

    it("compares most of them, and every verdict is at least one in twenty", () => {
      expect(compared.length).toBeGreaterThan(graphs * 0.9);
      for (const [verdict, share] of Object.entries(sharesOf(compared))) {
        if (!without.includes(verdict)) expect(share, verdict).toBeGreaterThanOrEqual(0.05);
      }
    });

    it("has every feature that proofs may go wrong with", () => {
      const count = (feature: Feature): number => compared.filter(({ features }) => features.has(feature)).length;
      for (const feature of FEATURES) expect(count(feature), feature).toBeGreaterThanOrEqual(graphs / 100);
    });

    it("says how many findings no run bears out", () => {
      const sum = (of: (seen: Seen) => number): number => compared.reduce((total, seen) => total + of(seen), 0);
      const chances = sum(({ alarms }) => alarms.chances);
      const rate = (alarms: number): string => `${((100 * alarms) / chances).toFixed(2)} %`;
      const followed = sum(({ alarms }) => alarms.followed);
      const free = sum(({ alarms }) => alarms.free);
      console.log(
        `false alarms (${family}): ${rate(followed)} with conditions, ${rate(free)} without, of ${chances} verdicts`,
      );
      if (family === "beyond") expect(followed).toBeLessThan(free + 1);
      else expect(followed).toBe(0);
    });
  });
}

function pick({ features, gaps, alarms }: Comparison): Pick<Comparison, "features" | "gaps" | "alarms"> {
  return { features, gaps, alarms };
}

/** By verdict: the part of the graphs that has it. */
function sharesOf(compared: readonly Seen[]): Readonly<Record<string, number>> {
  const share = (accept: (found: Seen) => boolean): number => compared.filter(accept).length / compared.length;
  const holds = (index: number, value: boolean): number => share(({ verdicts }) => verdicts.holds[index] === value);
  return {
    sound: share(({ verdicts }) => verdicts.sound),
    unsound: share(({ verdicts }) => !verdicts.sound),
    deadlock: share(({ verdicts }) => verdicts.deadlock),
    race: share(({ verdicts }) => verdicts.race),
    before: holds(0, true),
    "not before": holds(0, false),
    once: holds(1, true),
    "more than once": holds(1, false),
    eventually: holds(2, true),
    "not always": holds(2, false),
    never: holds(3, true),
    together: holds(3, false),
    exhaustive: share(({ gaps }) => gaps.length === 0),
    "not exhaustive": share(({ gaps }) => gaps.length > 0),
  };
}
