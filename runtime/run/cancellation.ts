import type { NgraphError } from "../interface/errors.ts";

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
  /** The signal of the caller, and the listener on it. */
  #signal: AbortSignal | undefined;
  #onAbort: (() => void) | undefined;
  /** Created with the first listener: most runs have none. */
  #listeners: Set<(reason: unknown) => void> | undefined;

  constructor(possible: boolean) {
    this.possible = possible;
  }

  get aborted(): boolean {
    return this.#isCancelled || this.#signal?.aborted === true;
  }

  get reason(): unknown {
    return this.#isCancelled ? this.#reason : this.#signal?.reason;
  }

  /** Cancels when the signal of the caller aborts. */
  link(signal: AbortSignal): void {
    this.#signal = signal;
    if (this.#listeners !== undefined) this.#observe();
  }

  unlink(): void {
    if (this.#onAbort !== undefined) this.#signal?.removeEventListener("abort", this.#onAbort);
    this.#onAbort = undefined;
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
    for (const listener of [...(this.#listeners ?? [])]) listener(reason);
  }

  listen(listener: (reason: unknown) => void): void {
    if (this.#listeners === undefined) {
      this.#listeners = new Set();
      this.#observe();
    }
    this.#listeners.add(listener);
  }

  unlisten(listener: (reason: unknown) => void): void {
    this.#listeners?.delete(listener);
  }

  /** Listens to the signal. A run that awaits nothing reads whether the signal is aborted, which costs less. */
  #observe(): void {
    const signal = this.#signal;
    if (signal === undefined || signal.aborted || this.#onAbort !== undefined) return;
    this.#onAbort = () => {
      if (this.#isCancelled) return;
      this.#isCancelled = true;
      this.#reason = signal.reason;
      this.interrupt(signal.reason);
    };
    signal.addEventListener("abort", this.#onAbort, { once: true });
  }
}

/** Cancels when the signal of the caller aborts. Returns a function that removes the listener. */
export function linkSignal(signal: AbortSignal | undefined, cancellation: Cancellation): () => void {
  if (signal === undefined) return () => undefined;
  cancellation.link(signal);
  return () => cancellation.unlink();
}
