import type { MaybePromise } from "../value/json.ts";

/** Whether an answer, of a body or of a store, is yet to come. */
export function isThenable<T>(answer: MaybePromise<T>): answer is PromiseLike<T> {
  return typeof answer === "object" && answer !== null && "then" in answer && typeof answer.then === "function";
}
