/** Every verdict of `check` on random graphs, compared with what the real engine does under an adversary. */
import { describe, expect, it } from "vitest";
import { scale } from "../../support/depth.ts";
import { COMMON, Coverage, FEATURES, PROPERTIES, RARE, REFUTED } from "./coverage.ts";
import { generateGraph } from "./generate.ts";
import { judge, type Mistake } from "./judge.ts";
import { shrink } from "./shrink.ts";

const RUNS = 12;
const PARTS = 5;

async function mistakesOf(text: string, seed: number): Promise<readonly Mistake[]> {
  const judged = await judge(text, { seed, runs: RUNS });
  return judged?.mistakes ?? [];
}

/** The mistake on the smallest graph that still shows it. */
async function explain(text: string, seed: number, { kind }: Mistake): Promise<string> {
  const has = (mistakes: readonly Mistake[]): Mistake | undefined => mistakes.find((each) => each.kind === kind);
  const small = await shrink(text, async (candidate) => has(await mistakesOf(candidate, seed)) !== undefined);
  return `seed ${seed}: ${kind}: ${has(await mistakesOf(small, seed))?.text ?? ""}\n${small}`;
}

/** Describes the wrong verdicts on the graph of a seed; the seed also determines the runs. */
export async function wrongVerdicts(
  seed: number,
  text: string,
  note: (judged: NonNullable<Awaited<ReturnType<typeof judge>>>) => void = () => undefined,
): Promise<string[]> {
  const judged = await judge(text, { seed, runs: RUNS });
  if (judged === undefined) return [];
  note(judged);
  return Promise.all(judged.mistakes.slice(0, 2).map((mistake) => explain(text, seed, mistake)));
}

/** Compares the graphs of the seeds from `start` on: `full` of them, or `quick`. */
export function describeEngine(start: number, full: number, quick: number): void {
  const graphs = scale(full, quick);
  describe(`verdicts of check hold in the engine on ${graphs} graphs`, () => {
    const coverage = new Coverage();
    const counts = new Map<string, number>();
    let bound = 0;

    for (let part = 0; part < PARTS; part++) {
      const [first, end] = [part, part + 1].map((each) => start + Math.floor((graphs * each) / PARTS)) as [
        number,
        number,
      ];
      it(`seeds ${first} to ${end - 1}`, { timeout: 900_000 }, async () => {
        const wrong: string[] = [];
        for (let seed = first; seed < end && wrong.length < 5; seed++) {
          const found = await wrongVerdicts(seed, generateGraph(seed), (judged) => {
            bound++;
            for (const property of coverage.add(judged)) counts.set(property, (counts.get(property) ?? 0) + 1);
          });
          wrong.push(...found);
        }
        expect(wrong.join("\n\n")).toBe("");
      });
    }

    it("compares most graphs, and half of them have each property that is proven", () => {
      expect(bound).toBeGreaterThan(graphs * 0.7);
      const share = (has: string, lacks: string): number =>
        (counts.get(has) ?? 0) / ((counts.get(has) ?? 0) + (counts.get(lacks) ?? 0));
      const pairs = [
        ["sound", "not sound"],
        ["race free", "race"],
        ["bounded", "not bounded"],
        ["exhaustive", "gap"],
        ...["before", "once", "eventually", "never"].map((form) => [`${form} proven`, `${form} refuted`]),
      ];
      // The share in a hundred graphs is less certain.
      const least = graphs >= 1000 ? 0.5 : 0.4;
      for (const [has = "", lacks = ""] of pairs) {
        expect(share(has, lacks), has).toBeGreaterThanOrEqual(least);
        // A hundred graphs do not refute assertions of each form.
        if (graphs >= 1000) expect(counts.get(lacks), lacks).toBeGreaterThan(0);
      }
    });

    it("meets each part of the language with each property", () => {
      if (graphs >= 1000) console.log(coverage.table());
      const isMet = (feature: string, property: string): boolean => coverage.count(feature, property) > 0;
      const some = (feature: string, properties: readonly string[]): boolean =>
        properties.some((property) => isMet(feature, property));
      // Fewer graphs do not meet every combination, or the rarest parts.
      if (graphs < 5000) {
        const unmet = FEATURES.filter((feature) => !some(feature, PROPERTIES));
        expect(unmet.length, unmet.join()).toBeLessThan(FEATURES.length / 10);
        return;
      }
      const common = FEATURES.filter((feature) => !RARE.has(feature));
      const missing = common.flatMap((feature) => [
        ...COMMON.filter((property) => !isMet(feature, property)).map((property) => `${feature}: ${property}`),
        ...(some(feature, REFUTED) ? [] : [`${feature}: an assertion that does not hold`]),
      ]);
      expect(missing).toEqual([]);
    });
  });
}
