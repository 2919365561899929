import type { MaybePromise } from "../value/json.ts";
import type { ThreadOperations } from "./thread-operations.ts";

let threads: ThreadOperations | undefined;

/** Loads the operations on threads, once. An import that fails is repeated by the next call. */
export function loadThreads(): MaybePromise<ThreadOperations> {
  return threads ?? import("./thread-operations.ts").then((module) => (threads = module.THREAD_OPERATIONS));
}
