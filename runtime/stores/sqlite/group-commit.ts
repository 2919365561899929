import { systemClock } from "../../interface/clock.ts";
import { atNextTurn, continueLast } from "../../run/next-turn.ts";
import { turnOf } from "../../run/take-turns.ts";
import type { MaybePromise } from "../../value/json.ts";
import type { Connection } from "./connection.ts";

/** A call that waits for the transaction of its group. */
interface Waiting {
  readonly isRead: boolean;
  readonly call: () => unknown;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Maximum time for the calls of a group without the commit, in milliseconds: timers and other events must not wait
 * long.
 */
const MAX_GROUP_MS = 4;

/**
 * Group commit: the calls of one turn of the event loop share one transaction, in which each call is a savepoint. A
 * call settles after the commit, so it is durable then. If a call fails, only its savepoint is rolled back. Syncing the
 * disk is most of the cost of a transaction, so many threads on one file are several times faster.
 *
 * A call runs at once while no other run is active: waiting for the end of the turn would only delay it.
 */
export class GroupCommit {
  readonly #connection: Connection;
  #waiting: Waiting[] = [];
  /** The calls wait one turn more, in which runs make further calls. */
  #waitsForRuns = false;
  /** Claims that runs hold through this view. */
  readonly #claims = new Set<string>();

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  /** To be called before a claim is taken. */
  begin(claim: string): void {
    this.#claims.add(claim);
  }

  /** To be called when a claim has ended, or could not be taken. */
  end(claim: string): void {
    this.#claims.delete(claim);
  }

  write<T>(call: () => T): MaybePromise<T> {
    return this.#run(false, call);
  }

  /** Reads of a group come before its writes, so that staged rows are flushed once. */
  read<T>(call: () => T): MaybePromise<T> {
    return this.#run(true, call);
  }

  /** Commits all calls that wait. */
  flush(): void {
    this.#flush(Number.POSITIVE_INFINITY, (settle) => settle());
  }

  /**
   * Commits as many waiting calls as fit into `maxMs`. The others wait for the next turn.
   *
   * @param later settles a call
   */
  #flush(maxMs: number, later: (settle: () => void) => void): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    if (waiting.length === 0) return;
    const outcomes = new Map<Waiting, { readonly value: unknown } | { readonly error: unknown }>();
    const run = (one: Waiting): void => {
      try {
        outcomes.set(one, { value: one.call() });
      } catch (error) {
        outcomes.set(one, { error });
      }
    };
    try {
      if (waiting.length === 1) run(waiting[0]!);
      else {
        const end = performance.now() + maxMs;
        this.#connection.group(() => {
          const inOrder = [...waiting.filter(({ isRead }) => isRead), ...waiting.filter(({ isRead }) => !isRead)];
          for (const [index, one] of inOrder.entries()) {
            if (index > 0 && performance.now() > end) break;
            run(one);
          }
        });
      }
    } catch (error) {
      // Nothing was committed. The error of a single call comes first, because it is more specific than the error of
      // the group.
      for (const one of waiting) {
        const outcome = outcomes.get(one);
        later(() => one.reject(outcome !== undefined && "error" in outcome ? outcome.error : error));
      }
      return;
    }
    const left = waiting.filter((one) => !outcomes.has(one));
    if (left.length > 0) this.#waiting = left;
    for (const [one, outcome] of outcomes) {
      later(() => ("error" in outcome ? one.reject(outcome.error) : one.resolve(outcome.value)));
    }
    if (left.length > 0) this.#flushLater();
  }

  /**
   * The time of a group is part of a turn of the runs: they continue in it if there is time left. If more of them wait than calls,
   * they continue first: a transaction for a few calls costs as much as one for many.
   */
  #flushLater(): void {
    const turn = turnOf(systemClock);
    atNextTurn(turn, systemClock, () => {
      this.#waitsForRuns = !this.#waitsForRuns && turn.waiting.length - turn.first > this.#waiting.length;
      if (this.#waitsForRuns) return this.#flushLater();
      const used = systemClock.now() - turn.since!;
      this.#flush(MAX_GROUP_MS - used, (settle) => continueLast(turn, settle));
    });
  }

  #run<T>(isRead: boolean, call: () => T): MaybePromise<T> {
    if (this.#claims.size <= 1 && this.#waiting.length === 0) return call();
    return new Promise<T>((resolve, reject) => {
      this.#waiting.push({ isRead, call, resolve: resolve as (value: unknown) => void, reject });
      if (this.#waiting.length === 1) this.#flushLater();
    });
  }
}
