/**
 * A signal that aborts with the first of two.
 *
 * `AbortSignal.any` of Node 20 and 24 does not hold its sources: a signal of `AbortSignal.timeout` that nothing else holds is collected with
 * the garbage, and never aborts.
 */
export function eitherSignal(first: AbortSignal, second: AbortSignal): AbortSignal {
  const either = AbortSignal.any([first, second]);
  sources.set(either, [first, second]);
  return either;
}

const sources = new WeakMap<AbortSignal, readonly AbortSignal[]>();
