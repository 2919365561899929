import type { Clock } from "../runtime/interface/clock.ts";

interface Timer {
  readonly at: number;
  readonly callback: () => void;
}

/** How long the clock waits in real time for user code before it advances by the same time. */
const REAL_MS = 5;

/**
 * A clock that advances when nothing else can happen. While a call of user code is in progress (`isBusy`) it advances with
 * real time, so timeouts of user code still end it.
 */
export class SimulatedClock implements Clock {
  #now = Date.UTC(2030, 0, 1);
  #pumping = false;
  readonly #timers = new Set<Timer>();
  readonly #isBusy: () => boolean;

  constructor(isBusy: () => boolean) {
    this.#isBusy = isBusy;
  }

  now(): number {
    return this.#now;
  }

  setTimeout(callback: () => void, ms: number): Timer {
    const timer = { at: this.#now + Math.max(0, ms), callback };
    this.#timers.add(timer);
    this.#pump();
    return timer;
  }

  clearTimeout(timer: unknown): void {
    this.#timers.delete(timer as Timer);
  }

  nextTurn(callback: () => void): void {
    setImmediate(callback);
  }

  /** Advances to a time if it is later than the current one. */
  advanceTo(time: number): void {
    this.#now = Math.max(this.#now, time);
  }

  #pump(): void {
    if (this.#pumping) return;
    this.#pumping = true;
    // Promises and turns of the engine come before timers.
    setImmediate(() => setImmediate(() => setImmediate(() => this.#advance())));
  }

  #advance(): void {
    if (this.#timers.size === 0) {
      this.#pumping = false;
      return;
    }
    if (this.#isBusy()) {
      setTimeout(() => {
        this.#now += REAL_MS;
        this.#fire((timer) => timer.at <= this.#now);
      }, REAL_MS);
      return;
    }
    const next = Math.min(...[...this.#timers].map(({ at }) => at));
    this.advanceTo(next);
    this.#fire((timer) => timer.at <= next);
  }

  /** `#pumping` stays set while callbacks run: each timer that they start would otherwise start another chain of turns. */
  #fire(isDue: (timer: Timer) => boolean): void {
    const due = [...this.#timers].filter(isDue).sort((a, b) => a.at - b.at);
    for (const timer of due) {
      if (this.#timers.delete(timer)) timer.callback();
    }
    this.#pumping = false;
    if (this.#timers.size > 0) this.#pump();
  }
}
