/** The order in which the items of a `for` node begin, for the engine and for runs without it. */
import type { Clock } from "../interface/clock.ts";
import { STEPS_UNREAD, waitForTurn, type Turn } from "./take-turns.ts";

/** Items that run at once without a `max parallel`. `Promise.all` refuses two million promises. */
const MOST_AT_ONCE = 1_000_000;

/**
 * Items that start one after the other. Then those that have ended are settled, which is part of the work of the turn. A body that
 * returns a resolved promise ends at once.
 */
const STARTED_AT_ONCE = 32;

/**
 * Begins items in their order, at most `parallel` at a time, with turns of the event loop between them.
 *
 * @param begin begins an item. Returns `true` if the item has ended, otherwise calls `ended` when it has, or `fail` with an error that ends all
 * @returns a promise if some item has not ended
 */
export function beginItems(
  on: { readonly turn: Turn; readonly clock: Clock },
  count: number,
  parallel: number | undefined,
  begin: (index: number, ended: () => void, fail: (error: unknown) => void) => boolean,
): Promise<void> | undefined {
  const limit = Math.min(parallel ?? MOST_AT_ONCE, MOST_AT_ONCE, count);
  let next = 0;
  let started = 0;
  // The workers that have not ended, and the start of the others.
  let open = 1;
  let end: () => void = ignore;
  let reject: (error: unknown) => void = ignore;
  const fail = (error: unknown): void => reject(error);
  const work = (): void => {
    let turn: Promise<void> | undefined;
    while (next < count && (turn = takeItemTurn(on)) === undefined) if (!begin(next++, work, fail)) return;
    if (turn !== undefined) {
      turn.then(() => (next < count && !begin(next++, work, fail) ? undefined : work())).catch(fail);
    } else if (--open === 0) end();
  };
  /** Starts the workers. While there is no turn it starts none: each of them would wait for one. */
  const start = (): void => {
    while (started < limit && next < count) {
      const turn = takeItemTurn(on);
      if (turn !== undefined) {
        turn.then(() => (startOne(), start())).catch(fail);
        return;
      }
      startOne();
      if (started % STARTED_AT_ONCE === 0 && open > 1) {
        Promise.resolve().then(start).catch(fail);
        return;
      }
    }
    if (--open === 0) end();
  };
  /** Starts a worker with the next item. */
  const startOne = (): void => {
    started++;
    if (next >= count) return;
    open++;
    if (begin(next++, work, fail)) work();
  };
  start();
  if (open === 0) return undefined;
  return new Promise<void>((onEnd, onFailure) => {
    end = onEnd;
    reject = onFailure;
  });
}

/**
 * Called before each item: a list may be long. Does nothing on a clock without `nextTurn`.
 *
 * @returns a promise if the item has to wait for the next turn
 */
function takeItemTurn({ turn, clock }: { readonly turn: Turn; readonly clock: Clock }): Promise<void> | undefined {
  if (clock.nextTurn === undefined) return undefined;
  const isRead = ++turn.steps % STEPS_UNREAD === 0;
  return isRead || turn.isOver ? waitForTurn(turn, clock) : undefined;
}

const ignore = (): void => undefined;
