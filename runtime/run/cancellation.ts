import type { NgraphError } from "../interface/errors.ts";

/**
 * Cancellation of a run: cheap to ask, and nothing is made until somebody wants to be told. `interrupt` ends what is in
 * flight without ending the run: a step whose failure is to stop its siblings uses it.
 */
export class Cancellation {
  /** Whether it can happen at all; where it cannot, nobody needs to listen. */
  readonly possible: boolean;
  aborted = false;
  reason: unknown;
  /** It was not asked for: the thread is lost, or its store does not answer. */
  fault: NgraphError | undefined;
  /** Made with the first listener: most runs have none. */
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
    this.cancel(fault);
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

/** Cancels when a caller's signal aborts. Returns what takes the link off again. */
export function linkSignal(signal: AbortSignal | undefined, cancellation: Cancellation): () => void {
  if (signal === undefined) return () => undefined;
  const onAbort = (): void => cancellation.cancel(signal.reason);
  if (signal.aborted) onAbort();
  else signal.addEventListener("abort", onAbort, { once: true });
  return () => signal.removeEventListener("abort", onAbort);
}
