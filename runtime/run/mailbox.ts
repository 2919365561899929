import type { Signal } from "../interface/checkpoint.ts";
import type { Clock } from "../interface/clock.ts";

/** The signals of a run without a store: kept in memory, in order. */
export class Mailbox {
  readonly #signals: Signal[] = [];
  readonly #ids = new Set<string>();
  #waiters: { readonly name: string; readonly resolve: (signal: Signal | undefined) => void }[] = [];

  /** @returns false if the run has had a signal with this id */
  put(signal: Signal): boolean {
    if (this.#ids.has(signal.id)) return false;
    this.#ids.add(signal.id);
    const waiter = this.#waiters.find(({ name }) => name === signal.name);
    if (waiter === undefined) this.#signals.push(signal);
    else waiter.resolve(signal);
    return true;
  }

  /** The next signal with a name; `undefined` if none comes before `due`. Rejects when `abort` aborts. */
  receive(name: string, due: number, clock: Clock, abort: AbortSignal): Promise<Signal | undefined> {
    const index = this.#signals.findIndex((signal) => signal.name === name);
    if (index !== -1) return Promise.resolve(this.#signals.splice(index, 1)[0]);
    return new Promise((resolve, reject) => {
      const end = (): void => {
        clock.clearTimeout(timer);
        abort.removeEventListener("abort", stop);
        this.#waiters = this.#waiters.filter((one) => one !== waiter);
      };
      const stop = (): void => {
        end();
        reject(abort.reason as Error);
      };
      const waiter = {
        name,
        resolve: (signal: Signal | undefined) => {
          end();
          resolve(signal);
        },
      };
      const timer = clock.setTimeout(() => waiter.resolve(undefined), due - clock.now());
      this.#waiters.push(waiter);
      if (abort.aborted) stop();
      else abort.addEventListener("abort", stop, { once: true });
    });
  }
}
