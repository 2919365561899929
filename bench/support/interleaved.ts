/** Microseconds a run, in the fastest of many blocks. The blocks of the runs take turns in one process, so that the machine's pace is the same in all of them. */
export async function interleaved(
  runs: readonly (() => Promise<unknown>)[],
  size: number,
  rounds = 40,
): Promise<readonly number[]> {
  const least = runs.map(() => Number.POSITIVE_INFINITY);
  for (let round = 0; round < rounds; round++) {
    for (const [at, run] of runs.entries()) least[at] = Math.min(least[at]!, await block(run, size));
  }
  return least;
}

async function block(run: () => Promise<unknown>, size: number): Promise<number> {
  const begin = process.hrtime.bigint();
  for (let at = 0; at < size; at++) await run();
  return Number(process.hrtime.bigint() - begin) / 1000 / size;
}

/**
 * Runs without a signal, with one signal for all runs, with a new signal that the run does not have, and with a new one that it has. The
 * garbage of new signals slows what runs beside them, so these are two comparisons.
 */
export async function withSignals(
  run: (options?: { readonly signal: AbortSignal }) => Promise<unknown>,
  size: number,
): Promise<readonly number[]> {
  const { signal } = new AbortController();
  const shared = await interleaved([() => run(), () => run({ signal })], size);
  const beside = (): Promise<unknown> => {
    void new AbortController().signal;
    return run();
  };
  const own = await interleaved([beside, () => run({ signal: new AbortController().signal })], size);
  return [...shared, ...own];
}
