/**
 * Turns of the event loop. Steps of synchronous nodes over a synchronous store never return to it by themselves: no timer
 * would fire, no signal would arrive, no other run would continue. So runs yield to it.
 */
import type { Clock } from "../interface/clock.ts";
import type { Shared } from "./shared.ts";

/**
 * How long all runs together may block the event loop, in milliseconds. The value is below the goal of one turn every
 * 10 ms, because the step in progress still has to end, and because the clock counts whole milliseconds.
 */
export const TURN_MS = 6;

/** The limit for one run on a clock without `nextTurn`, where yielding costs a timer. */
const TIMER_TURN_MS = 50;

/** The clock is read once in this many steps of a run without a store: a read costs a good part of a small step. */
export const STEPS_UNREAD = 8;

/** The work since the last turn of the event loop. */
export interface Turn {
  /** Steps so far. */
  steps: number;
  /** When the first step after the last turn was taken, in milliseconds; `undefined` before it. */
  since: number | undefined;
  /** The time of the turn is used up: every further step waits. */
  isOver: boolean;
  /** Work that the next turn begins with: it takes its time before the runs that wait. Set with `doNext` (`next-turn.ts`). */
  next: (() => void)[] | undefined;
  doNext: ((turn: Turn, clock: Clock, next: readonly (() => void)[]) => void) | undefined;
  /** Runs that wait for a turn, first come first served. */
  waiting: (() => void)[];
  /** Index of the first run in `waiting`. Removing it from a long list would move all others. */
  first: number;
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
  return { steps: 0, since: undefined, isOver: false, next: undefined, doNext: undefined, waiting: [], first: 0 };
}

/**
 * Called before each step.
 *
 * @returns a promise if the run has to wait for the next turn
 */
export function takeTurns({
  turn,
  clock,
  durable,
}: Pick<Shared, "turn" | "clock" | "durable">): Promise<void> | undefined {
  const isRead = ++turn.steps % STEPS_UNREAD === 0;
  if (clock.nextTurn === undefined) return isRead ? waitForTimer(turn, clock) : undefined;
  // A step with a store may block for long.
  return isRead || turn.isOver || durable !== undefined ? waitForTurn(turn, clock) : undefined;
}

/**
 * Called before a run starts: a program may start many runs at once.
 *
 * @param isDurable the run has a store
 * @returns a promise if the run has to wait for a turn
 */
export function takeFirstTurn(clock: Clock, isDurable: boolean): Promise<void> | undefined {
  if (clock.nextTurn === undefined) return undefined;
  const turn = turnOf(clock);
  const isRead = ++turn.steps % STEPS_UNREAD === 0;
  return isRead || turn.isOver || isDurable ? waitForTurn(turn, clock) : undefined;
}

/** @returns a promise if the time of the turn is used up */
export function waitForTurn(turn: Turn, clock: Clock): Promise<void> | undefined {
  if (turn.since === undefined) {
    beginTurn(turn, clock);
    return undefined;
  }
  turn.isOver ||= clock.now() - turn.since >= TURN_MS;
  if (!turn.isOver) return undefined;
  return new Promise((resolve) => {
    turn.waiting.push(resolve);
  });
}

export function beginTurn(turn: Turn, clock: Clock): void {
  turn.since = clock.now();
  clock.nextTurn?.(() => {
    turn.since = undefined;
    turn.isOver = false;
    const { next } = turn;
    if (next === undefined && turn.waiting.length === 0) return;
    beginTurn(turn, clock);
    turn.next = undefined;
    if (next !== undefined) turn.doNext!(turn, clock, next);
    if (turn.waiting.length > 0) continueNext(turn, clock, true);
  });
}

/** Continues the runs that wait, one after the other, for as long as the turn has time; at least the first one. */
function continueNext(turn: Turn, clock: Clock, isFirst: boolean): void {
  if (turn.since === undefined || turn.isOver) return;
  turn.isOver = clock.now() - turn.since >= TURN_MS;
  if (turn.isOver && !isFirst) return;
  const resolve = turn.waiting[turn.first++];
  if (turn.first >= turn.waiting.length) {
    turn.waiting = [];
    turn.first = 0;
  }
  if (resolve === undefined) return;
  resolve();
  // The step of this run comes first.
  queueMicrotask(() => continueNext(turn, clock, false));
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
