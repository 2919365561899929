/**
 * Every verdict of `check` on random graphs, compared with what the real engine does under an adversary.
 *
 * - `NGRAPH_TEST_DEPTH=full` compares 300 graphs too. Above that, verdicts that are known to be wrong occur (docs/proofs.md).
 * - `SEED=1234 npx vitest run --project deep test/proofs/oracle-engine.test.ts` compares one graph, and prints it with what is wrong.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { hasErrors } from "../../diagnostics/diagnostic.ts";
import { bindText } from "../checks/support/bind-text.ts";
import { scale } from "../support/depth.ts";
import { Coverage, FEATURES, PROPERTIES } from "./engine/coverage.ts";
import { generateGraph } from "./engine/generate.ts";
import { judge, type Mistake } from "./engine/judge.ts";
import { shrink } from "./engine/shrink.ts";

const GRAPHS = scale(300, 300);
const RUNS = 12;
const PARTS = scale(3, 3);
const ONE_SEED = process.env["SEED"];

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

describe("verdicts of check hold in the engine", () => {
  const coverage = new Coverage();
  const counts = new Map<string, number>();
  let [bound, drawn] = [0, 0];
  const add = (what: string): void => void counts.set(what, (counts.get(what) ?? 0) + 1);

  const compare = async (seed: number): Promise<string[]> => {
    const text = generateGraph(seed);
    drawn++;
    const judged = await judge(text, { seed, runs: RUNS });
    if (judged === undefined) return [];
    bound++;
    for (const property of coverage.add(judged)) add(property);
    return Promise.all(judged.mistakes.slice(0, 2).map((mistake) => explain(text, seed, mistake)));
  };

  if (ONE_SEED !== undefined) {
    it(`seed ${ONE_SEED}`, { timeout: 600_000 }, async () => {
      console.log(generateGraph(Number(ONE_SEED)));
      expect(await compare(Number(ONE_SEED))).toEqual([]);
    });
    return;
  }

  for (let part = 0; part < PARTS; part++) {
    const [first, end] = [Math.floor((GRAPHS * part) / PARTS), Math.floor((GRAPHS * (part + 1)) / PARTS)];
    it(`on random graphs ${first} to ${end - 1}`, { timeout: 900_000 }, async () => {
      const wrong: string[] = [];
      for (let seed = first; seed < end && wrong.length < 5; seed++) wrong.push(...(await compare(seed)));
      expect(wrong.join("\n\n")).toBe("");
    });
  }

  it("compares most graphs, and half of them have each property that is proven", () => {
    expect(bound).toBeGreaterThan(drawn * 0.7);
    const share = (has: string, lacks: string): number =>
      (counts.get(has) ?? 0) / ((counts.get(has) ?? 0) + (counts.get(lacks) ?? 0));
    const pairs = [
      ["race free", "race"],
      ["bounded", "not bounded"],
      ["exhaustive", "gap"],
      ...["before", "once", "eventually", "never"].map((form) => [`${form} proven`, `${form} refuted`]),
    ];
    for (const [has = "", lacks = ""] of pairs) {
      expect(share(has, lacks), has).toBeGreaterThanOrEqual(0.5);
      expect(counts.get(lacks), lacks).toBeGreaterThan(0);
    }
    expect(share("sound", "not sound"), "sound").toBeGreaterThanOrEqual(0.45);
  });

  it("meets each part of the language with each property", () => {
    if (GRAPHS > 1000) console.log(coverage.table());
    const missing = FEATURES.filter((feature) =>
      PROPERTIES.every((property) => coverage.count(feature, property) === 0),
    );
    expect(missing).toEqual([]);
  });
});

describe.each(["past-mistakes", "small-graphs"])("verdicts on %s", (name) => {
  const folder = join(import.meta.dirname, "engine", name);
  it.each(readdirSync(folder))("%s", { timeout: 120_000 }, async (file) => {
    const text = readFileSync(join(folder, file), "utf8");
    const judged = await judge(text, { seed: 1, runs: 200 });
    // Some are refused by now.
    if (judged === undefined) expect(hasErrors(bindText(text).diagnostics)).toBe(true);
    expect(judged?.mistakes ?? []).toEqual([]);
  });
});
