/**
 * Turns of the event loop. Steps of synchronous nodes over a synchronous store never return to it by themselves: no timer
 * would fire, no signal would arrive, no other run would continue. So runs yield to it.
 */
import type { Clock } from "../interface/clock.ts";
import { toEnd, type Work } from "../value/work.ts";
import type { Shared } from "./shared.ts";

/**
 * How long all runs together may block the event loop, in milliseconds. The value is below the goal of one turn every
 * 10 ms, because the step in progress still has to end, and because the clock counts whole milliseconds.
 */
const TURN_MS = 6;

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
  /** The time of the turn is used up: every further step waits. */
  isOver: boolean;
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
  return { steps: 0, since: undefined, isOver: false, waiting: [], first: 0 };
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
 * Called before each item of a `for` node: a list may be long. Does nothing on a clock without `nextTurn`.
 *
 * @returns a promise if the item has to wait for the next turn
 */
export function takeItemTurn({ turn, clock }: Shared): Promise<void> | undefined {
  if (clock.nextTurn === undefined) return undefined;
  const isRead = ++turn.steps % STEPS_UNREAD === 0;
  return isRead || turn.isOver ? waitForTurn(turn, clock) : undefined;
}

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

/**
 * Called after work over a value that cannot be cut, such as the check of a result. If the value is a long list, the run
 * waits for the next turn where it next can.
 *
 * @returns whether it is one
 */
export function endTurnAfter({ turn, clock }: Shared, value: unknown): boolean {
  if (!Array.isArray(value) || value.length < MANY_ITEMS || clock.nextTurn === undefined) return false;
  if (turn.since === undefined) begin(turn, clock);
  turn.isOver = true;
  return true;
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

function waitForTurn(turn: Turn, clock: Clock): Promise<void> | undefined {
  if (turn.since === undefined) {
    begin(turn, clock);
    return undefined;
  }
  turn.isOver ||= clock.now() - turn.since >= TURN_MS;
  if (!turn.isOver) return undefined;
  return new Promise((resolve) => {
    turn.waiting.push(resolve);
  });
}

function begin(turn: Turn, clock: Clock): void {
  turn.since = clock.now();
  clock.nextTurn?.(() => {
    turn.since = undefined;
    turn.isOver = false;
    if (turn.waiting.length === 0) return;
    begin(turn, clock);
    continueNext(turn, clock, true);
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
