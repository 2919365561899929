import type { NgraphError } from "../interface/errors.ts";

/**
 * Cancellation of a run. A check is cheap, and nothing is allocated until the first listener. `interrupt` aborts the
 * tasks in flight without ending the run: a step whose failure stops its siblings uses it.
 */
export class Cancellation {
  /** Whether the run can be cancelled at all. If not, no listener is needed. */
  readonly possible: boolean;
  aborted = false;
  reason: unknown;
  /** Set if the cause is an error, not a request: the claim is lost, or the store does not answer. */
  fault: NgraphError | undefined;
  /** Created with the first listener: most runs have none. */
  #listeners: Set<(reason: unknown) => void> | undefined;

  constructor(possible: boolean) {
    this.possible = possible;
  }

  cancel(reason: unknown): void {
    if (this.aborted) return;
    this.aborted = true;
    this.reason = reason;
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
    (this.#listeners ??= new Set()).add(listener);
  }

  unlisten(listener: (reason: unknown) => void): void {
    this.#listeners?.delete(listener);
  }
}

/** Cancels when the signal of the caller aborts. Returns a function that removes the listener. */
export function linkSignal(signal: AbortSignal | undefined, cancellation: Cancellation): () => void {
  if (signal === undefined) return () => undefined;
  const onAbort = (): void => cancellation.cancel(signal.reason);
  if (signal.aborted) onAbort();
  else signal.addEventListener("abort", onAbort, { once: true });
  return () => signal.removeEventListener("abort", onAbort);
}
