/** The choices of one run, made in the order in which the run asks for them. */
export interface ChoiceScript {
  /**
   * Chooses an option, from 0.
   *
   * @param channels the channels whose values the choice decides; `undefined` if it can decide anything
   */
  choose(options: number, channels: readonly number[] | undefined): number;
  readonly made: readonly MadeChoice[];
}

interface MadeChoice {
  readonly chosen: number;
  readonly of: number;
  readonly channels: readonly number[] | undefined;
}

/** Follows a script, then takes first options or (with `random`) random ones. */
export function createScript(script: readonly number[], random?: () => number): ChoiceScript {
  const made: MadeChoice[] = [];
  return {
    made,
    choose: (options, channels) => {
      const next = random === undefined ? 0 : Math.floor(random() * options);
      const chosen = Math.min(script[made.length] ?? next, options - 1);
      made.push({ chosen, of: options, channels });
      return chosen;
    },
  };
}

/**
 * The next script in depth-first order; `undefined` after the last one. Only choices that decide a relevant channel are
 * changed (conflict-directed backjumping): no other choice changes where the last run left the path.
 */
export function nextScript(
  made: ChoiceScript["made"],
  relevant: ReadonlySet<number> | undefined,
): readonly number[] | undefined {
  for (let at = made.length - 1; at >= 0; at--) {
    const { chosen, of, channels } = made[at]!;
    if (chosen + 1 >= of) continue;
    if (relevant !== undefined && channels?.some((channel) => relevant.has(channel)) === false) continue;
    return [...made.slice(0, at).map((choice) => choice.chosen), chosen + 1];
  }
  return undefined;
}

/** Numbers from 0 to 1 (mulberry32). */
export function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}
