/** Turns of the event loop within a step: within long work of the engine, and after work that cannot be cut. */
import type { Clock } from "../interface/clock.ts";
import type { Json, JsonObject } from "../value/json.ts";
import { isOwnLong } from "../value/own-values.ts";
import { toEnd, type Work } from "../value/work.ts";
import type { Shared } from "./shared.ts";
import { beginTurn, turnOf, waitForTurn, type Turn } from "./take-turns.ts";

/**
 * Does work in parts, with a turn between two of them when the time of a turn is used up.
 *
 * @returns a promise if the work has to wait for a turn
 */
export function inTurns<T>({ turn, clock }: Pick<Shared, "turn" | "clock">, work: Work<T>): T | Promise<T> {
  if (clock.nextTurn === undefined) return toEnd(work);
  for (;;) {
    const part = work.next();
    if (part.done === true) return part.value;
    const wait = waitForTurn(turn, clock);
    if (wait !== undefined) return goOn(wait, turn, clock, work);
  }
}

async function goOn<T>(first: Promise<void>, turn: Turn, clock: Clock, work: Work<T>): Promise<T> {
  await first;
  for (;;) {
    const part = work.next();
    if (part.done === true) return part.value;
    const wait = waitForTurn(turn, clock);
    if (wait !== undefined) await wait;
  }
}

/** Number of items whose check or copy takes a good part of a turn. A millisecond has one to five thousand of them. */
const MANY_ITEMS = 2000;

/** How deep in records a long list is searched. */
const LEVELS = 3;

/**
 * Called after work over a value that cannot be cut, such as the check of a result. If the value is a long list, or has one in its
 * fields, the run waits for the next turn where it next can.
 *
 * @param value a frozen copy
 * @returns whether it is one
 */
export function endTurnAfter({ turn, clock }: Pick<Shared, "turn" | "clock">, value: Json): boolean {
  if (typeof value !== "object" || clock.nextTurn === undefined || !isLong(value, LEVELS)) return false;
  if (turn.since === undefined) beginTurn(turn, clock);
  turn.isOver = true;
  return true;
}

/**
 * Called after the copy of an argument of a call, which is the work of this turn.
 *
 * @param copy the argument itself if it is not JSON, and so has no copy
 * @returns a promise if the call has to wait for the next turn
 */
export function turnAfterCopy<T extends Json>(clock: Clock, argument: T, copy: T): Promise<void> | undefined {
  const work = { turn: turnOf(clock), clock };
  return copy !== argument && endTurnAfter(work, copy) ? waitForTurn(work.turn, clock) : undefined;
}

function isLong(value: Json, levels: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (Array.isArray(value)) return value.length >= MANY_ITEMS;
  // Not the names of a record with many fields: a list of them costs as much as the check.
  if (isOwnLong(value)) return true;
  if (levels > 0) for (const name in value) if (isLong((value as JsonObject)[name]!, levels - 1)) return true;
  return false;
}
