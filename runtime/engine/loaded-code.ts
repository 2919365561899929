import { LazyMemory } from "../memory/lazy-memory.ts";
import { loadThreads } from "./loaded-threads.ts";
import type { StoreCode } from "./open-engine.ts";

export { loadThreads } from "./loaded-threads.ts";

/** The code for engines with a store, loaded on first use: bundlers put it into a file of its own. */
export const LOADED_CODE: StoreCode = {
  threads: loadThreads,
  openMemory: (settings) => new LazyMemory(async () => (await loadThreads()).openMemory(settings)),
};
