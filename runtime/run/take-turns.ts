import type { Shared } from "./shared.ts";

/** How long a run may block the event loop of its host. */
const TURN_MS = 50;

/** The clock is read once in this many steps: a read costs a good part of a small step. */
const STEPS_UNREAD = 8;

/**
 * Yields to the event loop of the host. Steps of synchronous nodes over a synchronous store never return to it by
 * themselves: no timer would fire, no signal would arrive, no other run would continue.
 *
 * @returns `undefined` if the run need not wait
 */
export function takeTurns(shared: Shared): Promise<void> | undefined {
  return ++shared.stepsTaken % STEPS_UNREAD === 0 ? waitForTurn(shared) : undefined;
}

function waitForTurn(shared: Shared): Promise<void> | undefined {
  const { clock } = shared;
  const now = clock.now();
  shared.busySince ??= now;
  if (now - shared.busySince < TURN_MS) return undefined;
  return new Promise((resolve) => {
    const resume = (): void => {
      shared.busySince = clock.now();
      resolve();
    };
    if (clock.nextTurn === undefined) clock.setTimeout(resume, 0);
    else clock.nextTurn(resume);
  });
}
