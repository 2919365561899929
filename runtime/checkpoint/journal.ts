import type { PendingWrite } from "../interface/checkpoint.ts";
import { NgraphError, StoreError } from "../interface/errors.ts";
import { reasonOf } from "../interface/thrown-reason.ts";
import type { MaybePromise } from "../value/json.ts";
import { isThenable } from "../value/promise.ts";

/** Maximum number of pending writes before a run waits for them. It bounds memory with a slow store. */
const MAX_BEHIND = 64;

/** Maximum number of results in one call of the store. */
const MAX_GROUP = 256;

/** Results of parallel tasks that one call of the store will write. */
interface ResultGroup {
  readonly results: PendingWrite[];
  readonly send: (results: readonly PendingWrite[]) => MaybePromise<void>;
  /** Settles when the results are durable; absent with durability `async`. */
  readonly stored: Promise<void> | undefined;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/**
 * The writes of a run and of the graphs it calls, in order. A synchronous store costs no tick. After a failure nothing
 * more is written, and the next `write` or `flush` throws the error.
 *
 * Results of parallel tasks are written in groups (group commit): those of one turn of the event loop, and those that
 * arrive while the store is busy.
 */
export class Journal {
  readonly #behind: boolean;
  /** Does work in the next turn of the event loop. It must not throw. */
  readonly later: (work: () => void) => void;
  /** By the checkpoint that the results belong to. Absent if there are none. */
  #groups: Map<string, ResultGroup> | undefined;
  #tail: Promise<void> | undefined;
  #pending = 0;
  #error: NgraphError | undefined;

  /**
   * @param behind the caller does not wait for writes (durability `async`)
   * @param later does work in the next turn of the event loop
   */
  constructor(behind: boolean, later: (work: () => void) => void) {
    this.#behind = behind;
    this.later = later;
  }

  /**
   * Writes a result together with others of the same checkpoint. Returns a promise if the caller has to wait until it is
   * durable.
   *
   * @param send writes the results of a group
   */
  writeResult(
    checkpointId: string,
    result: PendingWrite,
    send: (results: readonly PendingWrite[]) => MaybePromise<void>,
  ): Promise<void> | undefined {
    if (this.#error !== undefined) throw this.#error;
    let group = this.#groups?.get(checkpointId);
    if (group === undefined) {
      group = newGroup(send, this.#behind);
      if (this.#groups === undefined) this.#sendLater();
      (this.#groups ??= new Map()).set(checkpointId, group);
    }
    group.results.push(result);
    if (group.results.length >= MAX_GROUP) this.#sendGroups();
    if (!this.#behind) return group.stored;
    return this.#pending < MAX_BEHIND ? undefined : this.flush();
  }

  /** Returns a promise if the caller has to wait. It rejects with the first failure. */
  write(work: () => MaybePromise<void>, urgent = false): Promise<void> | undefined {
    this.#sendGroups();
    return this.#write(work, urgent);
  }

  #write(work: () => MaybePromise<void>, urgent: boolean): Promise<void> | undefined {
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
    return this.#flush();
  }

  /** Resolves when all writes so far are durable. */
  flush(): Promise<void> | undefined {
    this.#sendGroups();
    return this.#flush();
  }

  #flush(): Promise<void> | undefined {
    if (this.#error !== undefined) throw this.#error;
    return this.#tail?.then(() => {
      if (this.#error !== undefined) throw this.#error;
    });
  }

  /** Sends the groups at the next turn of the event loop, or when the store has finished the call in progress. */
  #sendLater(): void {
    const send = (): void => {
      if (this.#tail === undefined) this.#sendGroups();
      else void this.#tail.then(send);
    };
    this.later(send);
  }

  #sendGroups(): void {
    const groups = this.#groups;
    if (groups === undefined) return;
    this.#groups = undefined;
    for (const group of groups.values()) {
      try {
        const written = this.#write(() => group.send(group.results), false);
        if (written === undefined) group.resolve();
        else written.then(group.resolve, group.reject);
      } catch (error) {
        // With durability `async` the next `write` or `flush` throws it.
        group.reject(error);
      }
    }
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

function newGroup(send: ResultGroup["send"], behind: boolean): ResultGroup {
  if (behind) return { results: [], send, stored: undefined, resolve: ignore, reject: ignore };
  let resolve = ignore;
  let reject: ResultGroup["reject"] = ignore;
  const stored = new Promise<void>((onDone, onError) => {
    resolve = onDone;
    reject = onError;
  });
  return { results: [], send, stored, resolve, reject };
}

const ignore = (): void => undefined;

/** Converts an exception of a store into an error of this package. */
export function storeFailure(error: unknown): NgraphError {
  if (error instanceof NgraphError) return error;
  const reason = reasonOf(error);
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

/** Like `asStoreError`, without a promise if the store answers at once: for the calls that each run makes. */
export function storeAnswer<T>(call: () => MaybePromise<T>): MaybePromise<T> {
  try {
    const answer = call();
    return isThenable(answer) ? asStoreError(() => answer) : answer;
  } catch (error) {
    throw storeFailure(error);
  }
}
