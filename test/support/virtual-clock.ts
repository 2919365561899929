import type { Clock } from "../../runtime/interface/clock.ts";

/** A clock that a test advances. */
export class VirtualClock implements Clock {
  #now: number;
  #next = 1;
  readonly #timers = new Map<number, { readonly at: number; readonly callback: () => void }>();

  constructor(now = 1_000_000) {
    this.#now = now;
  }

  now(): number {
    return this.#now;
  }

  setTimeout(callback: () => void, ms: number): unknown {
    const id = this.#next++;
    this.#timers.set(id, { at: this.#now + ms, callback });
    return id;
  }

  clearTimeout(handle: unknown): void {
    this.#timers.delete(handle as number);
  }

  /** Milliseconds until each pending timer, ascending. */
  get waiting(): number[] {
    return [...this.#timers.values()].map(({ at }) => at - this.#now).sort((a, b) => a - b);
  }

  /** Advances the time without firing timers, as after a sleep of the machine. */
  skip(ms: number): void {
    this.#now += ms;
  }

  /** Advances the time, and fires each timer that falls due, followed by its reactions. */
  async advance(ms: number): Promise<void> {
    const end = this.#now + ms;
    await settle();
    for (;;) {
      const due = this.#earliest();
      if (due === undefined || due.at > end) break;
      this.#now = due.at;
      this.#timers.delete(due.id);
      due.callback();
      await settle();
    }
    this.#now = end;
  }

  /** Advances the time from timer to timer until the promise settles. */
  async until<T>(promise: Promise<T>): Promise<T> {
    let done = false;
    const mark = (): void => {
      done = true;
    };
    promise.then(mark, mark);
    for (let left = 10_000; left > 0; left--) {
      await settle();
      if (done) return promise;
      const due = this.#earliest();
      if (due === undefined) throw new Error("nothing is scheduled, and the promise has not settled");
      await this.advance(due.at - this.#now);
    }
    throw new Error("the promise did not settle within 10,000 timers");
  }

  #earliest(): { readonly id: number; readonly at: number; readonly callback: () => void } | undefined {
    let earliest: { id: number; at: number; callback: () => void } | undefined;
    for (const [id, timer] of this.#timers) {
      if (earliest === undefined || timer.at < earliest.at) earliest = { id, ...timer };
    }
    return earliest;
  }
}

/** Waits for all pending reactions: macrotasks run after all microtasks. */
export async function settle(): Promise<void> {
  for (let i = 0; i < 3; i++) await new Promise<void>((resolve) => setImmediate(resolve));
}
