/**
 * Every verdict of `check` on random graphs with a `finally` part, `rollback`, undos and configuration, compared with what the
 * engine does under an adversary, which also cancels runs.
 */
import { describe, expect, it } from "vitest";
import { scale } from "../support/depth.ts";
import { wrongVerdicts } from "./engine/compare-engine.ts";
import { featuresOf, propertiesOf } from "./engine/coverage.ts";
import { generateGraphWithEnds } from "./engine/generate.ts";

const GRAPHS = scale(1000, 30);

/** Seeds of graphs on which a verdict was wrong. */
const PAST_SEEDS = [46, 71, 236, 331, 744, 1212];

/** Parts of the language that only these graphs have, by what their text shows. */
const IN_TEXT: Readonly<Record<string, RegExp>> = {
  "edge to rollback": / -> rollback$/m,
  "error edge to rollback": / -> rollback on error/,
  "rollback in a choice": / -> rollback (when|otherwise|else|\})/,
  "barrier to rollback": /all\(.*\) -> rollback/,
  "goes rollback": /goes .*rollback/,
  undo: /\bundo back/,
  finally: / finally -> /,
  "barrier after finally": /all\(f0, f1\)/,
  "condition on outcome": /outcome\./,
  "loop after finally": /f2 -> f0/,
  "node of both parts": /finally -> n\d|f1 -> n\d/,
  config: /^ {2}config /m,
  "config without a default": /^ {2}config [^=]*$/m,
};
const IN_RUNS = ["rolled back", "undo", "undo fails", "cancelled", "configured"];
const PROPERTIES = ["sound", "not sound", "race free", "bounded", "exhaustive", "eventually proven", "never proven"];

/** Pairs that the graphs of this generator are too few, or too plain, to meet. */
const NOT_MET: ReadonlySet<string> = new Set(["barrier to rollback: sound", "loop after finally: sound"]);

describe(`verdicts of check hold at the ends of ${GRAPHS} graphs`, () => {
  const met = new Set<string>();

  it("random graphs", { timeout: 900_000 }, async () => {
    const wrong: string[] = [];
    for (let seed = 0; seed < GRAPHS && wrong.length < 5; seed++) {
      const text = generateGraphWithEnds(seed);
      const found = await wrongVerdicts(seed, text, (judged) => {
        const shown = Object.keys(IN_TEXT).filter((name) => IN_TEXT[name]?.test(text) === true);
        for (const property of propertiesOf(judged))
          for (const feature of [...shown, ...featuresOf(judged)]) met.add(`${feature}: ${property}`);
      });
      wrong.push(...found);
    }
    expect(wrong.join("\n\n")).toBe("");
  });

  it("meets each part of the language with each property", () => {
    // A few graphs do not meet every combination.
    const properties = GRAPHS < 1000 ? [] : PROPERTIES;
    const features = [...Object.keys(IN_TEXT), ...IN_RUNS];
    const missing = features.flatMap((feature) =>
      properties.map((property) => `${feature}: ${property}`).filter((pair) => !met.has(pair) && !NOT_MET.has(pair)),
    );
    expect(missing).toEqual([]);
    expect(met.size).toBeGreaterThan(0);
  });

  it.each(PAST_SEEDS)("seed %d", { timeout: 300_000 }, async (seed) => {
    expect(await wrongVerdicts(seed, generateGraphWithEnds(seed))).toEqual([]);
  });
});
