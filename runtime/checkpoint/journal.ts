import { NgraphError, StoreError } from "../interface/errors.ts";
import type { MaybePromise } from "../value/json.ts";
import { isThenable } from "../value/promise.ts";

/** Maximum number of pending writes before a run waits for them. It bounds memory with a slow store. */
const MAX_BEHIND = 64;

/**
 * The writes of a run and of the graphs it calls, in order. A synchronous store costs no tick. After a failure nothing
 * more is written, and the next `write` or `flush` throws the error.
 */
export class Journal {
  readonly #behind: boolean;
  #tail: Promise<void> | undefined;
  #pending = 0;
  #error: NgraphError | undefined;

  /** @param behind the caller does not wait for writes (durability `async`) */
  constructor(behind: boolean) {
    this.#behind = behind;
  }

  /** Returns a promise if the caller has to wait. It rejects with the first failure. */
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

  /** Resolves when all writes so far are durable. */
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

/** Converts an exception of a store into an error of this package. */
export function storeFailure(error: unknown): NgraphError {
  if (error instanceof NgraphError) return error;
  const reason = error instanceof Error ? error.message : String(error);
  return new StoreError("NG_STORE_FAILED", `the store failed: ${reason}`, { cause: error });
}

/** Calls the store, and converts its exceptions with `storeFailure`. */
export async function asStoreError<T>(call: () => MaybePromise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    throw storeFailure(error);
  }
}
