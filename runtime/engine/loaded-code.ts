import { LazyMemory } from "../memory/lazy-memory.ts";
import type { MaybePromise } from "../value/json.ts";
import type { StoreCode } from "./open-engine.ts";
import type { ThreadOperations } from "./thread-operations.ts";

let threads: ThreadOperations | undefined;

/** Loads the operations on threads, once. An import that fails is repeated by the next call. */
export function loadThreads(): MaybePromise<ThreadOperations> {
  return threads ?? import("./thread-operations.ts").then((module) => (threads = module.THREAD_OPERATIONS));
}

/** The code for engines with a store, loaded on first use: bundlers put it into a file of its own. */
export const LOADED_CODE: StoreCode = {
  threads: loadThreads,
  openMemory: (settings) => new LazyMemory(async () => (await loadThreads()).openMemory(settings)),
};
