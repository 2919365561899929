import type { Clock } from "../../../runtime/interface/clock.ts";

/** Virtual time: if no other work is left, the earliest timer fires in the next turn of the event loop. */
export class PumpedClock implements Clock {
  #now = 0;
  #next = 1;
  #isPumping = false;
  readonly #timers = new Map<number, { readonly at: number; readonly callback: () => void }>();

  now(): number {
    return this.#now;
  }

  setTimeout(callback: () => void, ms: number): unknown {
    const id = this.#next++;
    this.#timers.set(id, { at: this.#now + ms, callback });
    this.#pump();
    return id;
  }

  clearTimeout(handle: unknown): void {
    this.#timers.delete(handle as number);
  }

  sleep(ms: number): Promise<void> {
    return new Promise((resolve) => this.setTimeout(resolve, ms));
  }

  /** Lets time pass at once, while no run is under way. */
  advance(to: number): void {
    this.#now = Math.max(this.#now, to);
  }

  #pump(): void {
    if (this.#isPumping) return;
    this.#isPumping = true;
    setImmediate(() => {
      this.#isPumping = false;
      let first: [number, { readonly at: number; readonly callback: () => void }] | undefined;
      for (const entry of this.#timers) if (first === undefined || entry[1].at < first[1].at) first = entry;
      if (first === undefined) return;
      this.#timers.delete(first[0]);
      this.#now = Math.max(this.#now, first[1].at);
      first[1].callback();
      if (this.#timers.size > 0) this.#pump();
    });
  }
}
