import type { Shared } from "./shared.ts";

/** How long a run may keep its host busy before others have their turn. */
const TURN_MS = 50;

/** The clock is read once in so many steps: reading it costs a good part of a small step. */
const STEPS_UNREAD = 8;

/**
 * Steps of quick nodes follow each other without ever coming back to the host's event loop, and over a store that answers
 * at once they all do: no timer would fire, no signal arrive, no other run go on. So now and then they wait for a turn.
 *
 * @returns `undefined` as long as there is nothing to wait for
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
    const goOn = (): void => {
      shared.busySince = clock.now();
      resolve();
    };
    if (clock.nextTurn === undefined) clock.setTimeout(goOn, 0);
    else clock.nextTurn(goOn);
  });
}
