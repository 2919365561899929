import { createRandom } from "./random.ts";

/** Makes the choices of one run. */
export interface Chooser {
  /** An option, from 0. `weights` matter to random choices only. */
  choose(weights: readonly number[]): number;
  /** Choices so far: which of how many. */
  readonly made: readonly { readonly chosen: number; readonly of: number }[];
}

/** Follows a script as far as it goes, then takes the first option, or a random one. */
export function createChooser(script: readonly number[], seed?: number): Chooser {
  const random = seed === undefined ? undefined : createRandom(seed);
  const made: { chosen: number; of: number }[] = [];
  return {
    made,
    choose: (weights) => {
      const of = weights.length;
      let chosen = 0;
      const scripted = script[made.length];
      if (scripted !== undefined) chosen = Math.min(scripted, of - 1);
      else if (random !== undefined && of > 1) {
        let left = random.next() * weights.reduce((sum, weight) => sum + weight, 0);
        while (chosen < of - 1 && (left -= weights[chosen] ?? 0) >= 0) chosen++;
      }
      made.push({ chosen, of });
      return chosen;
    },
  };
}

/** The script that follows in depth-first order; `undefined` after the last one. */
export function nextScript(made: Chooser["made"]): readonly number[] | undefined {
  for (let at = made.length - 1; at >= 0; at--) {
    const { chosen, of } = made[at] ?? { chosen: 0, of: 1 };
    if (chosen + 1 < of) return [...made.slice(0, at).map((choice) => choice.chosen), chosen + 1];
  }
  return undefined;
}
