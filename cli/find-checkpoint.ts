import type { Checkpoint } from "../runtime/checkpoint.ts";
import { StoreError, ThreadError } from "../runtime/errors.ts";
import type { Store } from "../runtime/store.ts";
import { CommandError } from "./command-error.ts";

/** How many threads are looked through for a checkpoint that is named without its thread. */
const MAX_THREADS = 10_000;

/** A checkpoint by id or label, in one thread or in any. */
export async function findCheckpoint(store: Store, name: string, thread: string | undefined): Promise<Checkpoint> {
  const threads =
    thread !== undefined
      ? [thread]
      : ((await store.threads?.({ limit: MAX_THREADS })) ?? []).map((info) => info.threadId);
  for (const id of threads) {
    const found =
      (await attempt(() => store.loadById(id, name))) ?? (await attempt(() => store.loadByLabel?.(id, name)));
    if (found !== undefined) return found;
  }
  throw new CommandError(
    thread === undefined
      ? `there is no checkpoint \`${name}\` in this store`
      : `thread \`${thread}\` has no checkpoint \`${name}\``,
    { code: "NG_UNKNOWN_CHECKPOINT", help: "`ngc history THREAD` lists a thread's checkpoints" },
  );
}

/** A name that cannot be an id (a label, say) is not found, whatever the store thinks of it. */
async function attempt<T>(load: () => T | PromiseLike<T>): Promise<T | undefined> {
  try {
    return await load();
  } catch (error) {
    if (error instanceof ThreadError && !(error instanceof StoreError)) return undefined;
    throw error;
  }
}
