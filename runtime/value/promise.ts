import type { MaybePromise } from "./json.ts";

/** Whether a result (of a node body or of a store) is a promise. Promises of other realms and libraries count too. */
export function isThenable<T>(result: MaybePromise<T>): result is PromiseLike<T> {
  return typeof result === "object" && result !== null && "then" in result && typeof result.then === "function";
}

/** Ignores the rejection of a promise whose result is not used, so that the rejection does not end the process. */
export function dropPromise(value: unknown): void {
  try {
    if (value instanceof Promise) value.catch(() => undefined);
  } catch {
    // A proxy whose trap throws: no promise that could reject.
  }
}
