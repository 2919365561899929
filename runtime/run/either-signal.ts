/**
 * A signal that aborts with the first of two.
 *
 * `AbortSignal.any` of Node 20 does not hold its sources. A signal of `AbortSignal.timeout` that has no listener is
 * collected with the garbage, and never aborts. A listener keeps it; the same one twice counts once, so a signal of many
 * runs has one.
 */
export function eitherSignal(first: AbortSignal, second: AbortSignal): AbortSignal {
  for (const source of [first, second]) source.addEventListener("abort", hold, { once: true });
  return AbortSignal.any([first, second]);
}

function hold(): void {}
