/**
 * One listener on a signal for all runs that end when it aborts. To add and to remove a listener costs as much as a short run, and the lists of a
 * signal that lives long keep the removed listeners until a full collection of garbage. So the listener stays until the
 * event loop turns, and a signal of many runs at once has one.
 */
import type { Clock } from "../interface/clock.ts";

/** A run that ends when the signal aborts. */
export interface Watcher {
  /** Its place in the list of the watch. The watch sets it. */
  position: number;
  abort(reason: unknown): void;
}

const WATCHES = new WeakMap<AbortSignal, SignalWatch>();

/** The watch of a signal that has not aborted. */
export function watchSignal(signal: AbortSignal, clock: Clock): SignalWatch {
  let watch = WATCHES.get(signal);
  if (watch === undefined) WATCHES.set(signal, (watch = new SignalWatch(signal, clock)));
  return watch;
}

export class SignalWatch {
  readonly #signal: AbortSignal;
  readonly #clock: Clock;
  /** Not a set: a set that lives long keeps what was removed, until it is collected itself. */
  readonly #watchers: Watcher[] = [];
  #willEnd = false;

  constructor(signal: AbortSignal, clock: Clock) {
    this.#signal = signal;
    this.#clock = clock;
    signal.addEventListener("abort", this.#onAbort, { once: true });
  }

  add(watcher: Watcher): void {
    watcher.position = this.#watchers.length;
    this.#watchers.push(watcher);
  }

  remove(watcher: Watcher): void {
    const { position } = watcher;
    const last = this.#watchers.pop();
    if (last === undefined) return;
    if (last !== watcher) {
      this.#watchers[position] = last;
      last.position = position;
    }
    watcher.position = -1;
    if (this.#watchers.length > 0 || this.#willEnd) return;
    this.#willEnd = true;
    if (this.#clock.nextTurn === undefined) this.#endUnused();
    else this.#clock.nextTurn(() => this.#endUnused());
  }

  #endUnused(): void {
    this.#willEnd = false;
    if (this.#watchers.length > 0) return;
    this.#signal.removeEventListener("abort", this.#onAbort);
    WATCHES.delete(this.#signal);
  }

  readonly #onAbort = (): void => {
    for (const watcher of this.#watchers.slice()) watcher.abort(this.#signal.reason);
  };
}
