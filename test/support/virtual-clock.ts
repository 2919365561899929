import type { Clock } from "../../runtime/interface/clock.ts";

/** Time that stands still until a test moves it. */
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

  /** Milliseconds until each timer that is set, ascending. */
  get waiting(): number[] {
    return [...this.#timers.values()].map(({ at }) => at - this.#now).sort((a, b) => a - b);
  }

  /** Time passes and no timer fires: the machine slept. */
  skip(ms: number): void {
    this.#now += ms;
  }

  /** Moves time on, firing what falls due on the way, each with the reactions to it. */
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

  /** Moves time on from timer to timer until the promise settles. */
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

/** Lets every reaction that is due happen: macrotasks run after all microtasks. */
export async function settle(): Promise<void> {
  for (let i = 0; i < 3; i++) await new Promise<void>((resolve) => setImmediate(resolve));
}
