/**
 * Turns of the event loop. Steps of synchronous nodes over a synchronous store never return to it by themselves: no timer
 * would fire, no signal would arrive, no other run would continue. So runs yield to it.
 */
import type { Clock } from "../interface/clock.ts";
import type { Shared } from "./shared.ts";

/** How long all runs together may block the event loop, in milliseconds. */
const TURN_MS = 10;

/** The limit for one run on a clock without `nextTurn`, where yielding costs a timer. */
const TIMER_TURN_MS = 50;

/** The clock is read once in this many steps of a run without a store: a read costs a good part of a small step. */
const STEPS_UNREAD = 8;

/** The work since the last turn of the event loop. */
export interface Turn {
  /** Steps so far. */
  steps: number;
  /** When the first step after the last turn was taken, in milliseconds; `undefined` before it. */
  since: number | undefined;
  /** Resolves at the next turn; set with `since`. */
  next: Promise<void> | undefined;
}

const TURNS = new WeakMap<Clock, Turn>();

/** The turn that all runs on a clock share: many short runs must not block the event loop together. */
export function turnOf(clock: Clock): Turn {
  if (clock.nextTurn === undefined) return newTurn();
  let turn = TURNS.get(clock);
  if (turn === undefined) TURNS.set(clock, (turn = newTurn()));
  return turn;
}

function newTurn(): Turn {
  return { steps: 0, since: undefined, next: undefined };
}

/**
 * Called before each step.
 *
 * @returns a promise if the run has to wait for the next turn
 */
export function takeTurns({ turn, clock, durable }: Shared): Promise<void> | undefined {
  const isRead = ++turn.steps % STEPS_UNREAD === 0;
  if (clock.nextTurn === undefined) return isRead ? waitForTimer(turn, clock) : undefined;
  // A step with a store may block for long.
  return isRead || durable !== undefined ? waitForTurn(turn, clock) : undefined;
}

function waitForTurn(turn: Turn, clock: Clock): Promise<void> | undefined {
  const now = clock.now();
  if (turn.since !== undefined) return now - turn.since < TURN_MS ? undefined : turn.next;
  turn.since = now;
  turn.next = new Promise((resolve) => {
    clock.nextTurn?.(() => {
      turn.since = undefined;
      resolve();
    });
  });
  return undefined;
}

function waitForTimer(turn: Turn, clock: Clock): Promise<void> | undefined {
  const now = clock.now();
  turn.since ??= now;
  if (now - turn.since < TIMER_TURN_MS) return undefined;
  return new Promise((resolve) => {
    clock.setTimeout(() => {
      turn.since = clock.now();
      resolve();
    }, 0);
  });
}
