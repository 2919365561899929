/** Limits the number of tasks in flight (a counting semaphore). Waiting tasks start in order. */
export class Slots {
  #free: number;
  #waiting: (() => void)[] = [];
  #next = 0;

  constructor(count: number) {
    this.#free = count;
  }

  /** Returns a promise only if no slot is free. */
  take(): Promise<void> | undefined {
    if (this.#free > 0) {
      this.#free--;
      return undefined;
    }
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  give(): void {
    const next = this.#waiting[this.#next];
    if (next === undefined) {
      this.#free++;
      return;
    }
    this.#next++;
    if (this.#next > 1024) {
      this.#waiting = this.#waiting.slice(this.#next);
      this.#next = 0;
    }
    next();
  }
}
