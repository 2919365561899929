import type { Clock } from "../interface/clock.ts";
import type { NgraphError } from "../interface/errors.ts";
import { watchSignal, type SignalWatch } from "./signal-watch.ts";

/**
 * Cancellation of a run. A check is cheap, and nothing is allocated until the first listener. `interrupt` aborts the
 * tasks in flight without ending the run: a step whose failure stops its siblings uses it.
 */
export class Cancellation {
  /** Whether the run can be cancelled at all. If not, no listener is needed. */
  readonly possible: boolean;
  /** Set if the cause is an error, not a request: the claim is lost, or the store does not answer. */
  fault: NgraphError | undefined;
  #isCancelled = false;
  #reason: unknown;
  /** The signal of the caller, and the watch of it. */
  #signal: AbortSignal | undefined;
  #clock: Clock | undefined;
  #watch: SignalWatch | undefined;
  /** Its place in the watch. */
  position = -1;
  /** Most runs have no listener, and most others one at a time. Further ones, in their order, are in the set. */
  #listener: ((reason: unknown) => void) | undefined;
  #listeners: Set<(reason: unknown) => void> | undefined;

  constructor(possible: boolean) {
    this.possible = possible;
  }

  /** The watch sets `#isCancelled`, which costs less to read than the signal: each step reads it several times. */
  get aborted(): boolean {
    return this.#isCancelled || (this.#watch === undefined && this.#signal?.aborted === true);
  }

  get reason(): unknown {
    return this.#isCancelled ? this.#reason : this.#signal?.reason;
  }

  /** Cancels when the signal of the caller aborts. */
  link(signal: AbortSignal | undefined, clock: Clock): void {
    if (signal === undefined) return;
    this.#signal = signal;
    this.#clock = clock;
    if (this.#listener !== undefined || this.#listeners !== undefined) this.#observe();
  }

  /** Removes what listens to the signal. */
  unlink(): void {
    this.#watch?.remove(this);
    this.#watch = undefined;
  }

  /** The signal of the caller has aborted. */
  abort(reason: unknown): void {
    if (this.#isCancelled) return;
    this.#isCancelled = true;
    this.#reason = reason;
    this.interrupt(reason);
  }

  cancel(reason: unknown): void {
    if (this.aborted) return;
    this.#isCancelled = true;
    this.#reason = reason;
    this.interrupt(reason);
  }

  fail(fault: NgraphError): void {
    this.fault ??= fault;
    this.stop(fault);
  }

  /** Cancels the run, and also its `finally` part, which a cancellation alone does not stop. */
  stop(reason: unknown): void {
    if (this.aborted) this.interrupt(reason);
    else this.cancel(reason);
  }

  interrupt(reason: unknown): void {
    const listeners = [...(this.#listeners ?? [])];
    this.#listener?.(reason);
    for (const listener of listeners) listener(reason);
  }

  listen(listener: (reason: unknown) => void): void {
    if (this.#listener === undefined && this.#listeners === undefined) {
      this.#listener = listener;
      this.#observe();
    } else (this.#listeners ??= new Set()).add(listener);
  }

  unlisten(listener: (reason: unknown) => void): void {
    if (this.#listener === listener) this.#listener = undefined;
    else this.#listeners?.delete(listener);
  }

  /** Listens to the signal. A run that awaits nothing reads whether the signal is aborted, which costs less. */
  #observe(): void {
    const signal = this.#signal;
    if (signal === undefined || signal.aborted || this.#watch !== undefined) return;
    this.#watch = watchSignal(signal, this.#clock!);
    this.#watch.add(this);
  }
}
