import { NgraphError, StoreError } from "../interface/errors.ts";
import type { MaybePromise } from "../value/json.ts";
import { isThenable } from "../value/promise.ts";

/** Writes that wait behind a run before it waits for them: memory stays bounded however slow the store is. */
const MAX_BEHIND = 64;

/**
 * The writes of a run and of the graphs it calls, one after the other. A store that answers at once costs no tick. After a
 * failure nothing more is written, and whoever writes or flushes next hears of it.
 */
export class Journal {
  readonly #behind: boolean;
  #tail: Promise<void> | undefined;
  #pending = 0;
  #error: NgraphError | undefined;

  /** @param behind the caller goes on without waiting (durability `async`) */
  constructor(behind: boolean) {
    this.#behind = behind;
  }

  /** A promise where there is something to wait for; it rejects with the first failure. */
  write(work: () => MaybePromise<void>, urgent = false): Promise<void> | undefined {
    if (this.#error !== undefined) throw this.#error;
    if (this.#tail === undefined) {
      let result: MaybePromise<void>;
      try {
        result = work();
      } catch (error) {
        throw (this.#error = storeFailure(error));
      }
      if (!isThenable(result)) return undefined;
      this.#append(result);
    } else {
      this.#append(this.#tail.then(() => (this.#error === undefined ? work() : undefined)));
    }
    // Mutation point: urgent-write
    if (this.#behind && !urgent && this.#pending < MAX_BEHIND) return undefined;
    return this.flush();
  }

  /** Settles when everything that was written so far is durable. */
  flush(): Promise<void> | undefined {
    if (this.#error !== undefined) throw this.#error;
    return this.#tail?.then(() => {
      if (this.#error !== undefined) throw this.#error;
    });
  }

  #append(work: PromiseLike<void>): void {
    this.#pending++;
    const done = Promise.resolve(work).then(
      () => undefined,
      (error: unknown) => {
        // Mutation point: failed-write
        this.#error ??= storeFailure(error);
      },
    );
    const tail = done.then(() => {
      this.#pending--;
      if (this.#tail === tail) this.#tail = undefined;
    });
    this.#tail = tail;
  }
}

/** Whatever a store throws becomes an error of this package. */
export function storeFailure(error: unknown): NgraphError {
  if (error instanceof NgraphError) return error;
  const reason = error instanceof Error ? error.message : String(error);
  return new StoreError("NG_STORE_FAILED", `the store failed: ${reason}`, { cause: error });
}

/** The same for a single call. */
export async function asStoreError<T>(call: () => MaybePromise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    throw storeFailure(error);
  }
}
