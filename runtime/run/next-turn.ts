/** Work of the engine and of stores that a turn of the event loop begins with. Apart from `take-turns.ts`, because a module without the engine has none. */
import type { Clock } from "../interface/clock.ts";
import { beginTurn, TURN_MS, type Turn } from "./take-turns.ts";

/** Does work at the beginning of the next turn, whose time it takes. It must not throw. */
export function atNextTurn(turn: Turn, clock: Clock, work: () => void): void {
  if (clock.nextTurn === undefined) return queueMicrotask(work);
  if (turn.since === undefined) beginTurn(turn, clock);
  turn.doNext = doNext;
  (turn.next ??= []).push(work);
}

/** Continues a run in work of `atNextTurn`, when the runs that wait have continued. */
export function continueLast(turn: Turn, resolve: () => void): void {
  turn.waiting.push(resolve);
}

/** Does what the turn begins with, for as long as it has time; at least the first work. */
function doNext(turn: Turn, clock: Clock, next: readonly (() => void)[]): void {
  for (let at = 0; at < next.length; at++) {
    if (at > 0 && clock.now() - turn.since! >= TURN_MS) {
      turn.next = [...next.slice(at), ...(turn.next ?? [])];
      return;
    }
    next[at]!();
  }
}
