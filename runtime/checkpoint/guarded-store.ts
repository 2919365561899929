import type { Clock } from "../interface/clock.ts";
import { StoreError } from "../interface/errors.ts";
import type { MaybePromise } from "../value/json.ts";
import type { Claim, Store } from "../interface/store.ts";
import type { Cancellation } from "../run/cancellation.ts";
import { isThenable } from "../value/promise.ts";

/** How long a call that is under way when the run is cancelled may still take, in milliseconds: what it writes is not lost for nothing. */
export const GRACE_MS = 3000;

export interface StoreLimits {
  readonly clock: Clock;
  /** Milliseconds that a call may take; `undefined` for as long as it takes. */
  readonly timeoutMs: number | undefined;
  /** Absent where nobody can cancel. */
  readonly cancellation: Cancellation | undefined;
}

/**
 * A store whose calls end: with its answer, or with NG_STORE_FAILED when it gave none in time or after the run was cancelled. What
 * it does later counts for nothing: its writes carry a claim that is given back. Answers that come at once cost nothing.
 */
export function guardStore(store: Store, limits: StoreLimits): Store {
  const guard = new Guard(limits);
  const { putWrites, getWrites, clearWrites, label, loadByLabel } = store;
  return {
    claim: (...args) => {
      // One that comes too late would keep others out for as long as its lease holds.
      const giveBack = (late: Promise<Claim>): void => void late.then((claim) => store.release(claim)).catch(ignore);
      return guard.wait("claim", store.claim(...args), giveBack);
    },
    renew: (...args) => guard.wait("renew", store.renew(...args)),
    release: (...args) => guard.wait("release", store.release(...args)),
    save: (...args) => guard.wait("save", store.save(...args)),
    loadLatest: (...args) => guard.wait("loadLatest", store.loadLatest(...args)),
    loadById: (...args) => guard.wait("loadById", store.loadById(...args)),
    list: (...args) => guard.wait("list", store.list(...args)),
    deleteThread: (...args) => guard.wait("deleteThread", store.deleteThread(...args)),
    // What the store does not have, it does not have behind a guard either.
    ...(putWrites && { putWrites: (...args) => guard.wait("putWrites", putWrites.apply(store, args)) }),
    ...(getWrites && { getWrites: (...args) => guard.wait("getWrites", getWrites.apply(store, args)) }),
    ...(clearWrites && { clearWrites: (...args) => guard.wait("clearWrites", clearWrites.apply(store, args)) }),
    ...(label && { label: (...args) => guard.wait("label", label.apply(store, args)) }),
    ...(loadByLabel && { loadByLabel: (...args) => guard.wait("loadByLabel", loadByLabel.apply(store, args)) }),
  };
}

class Guard {
  readonly #limits: StoreLimits;
  /** A call was given up: there is no use in waiting for others. */
  #givenUp: StoreError | undefined;

  constructor(limits: StoreLimits) {
    this.#limits = limits;
  }

  wait<T>(what: string, answer: MaybePromise<T>, onLate?: (late: Promise<T>) => void): MaybePromise<T> {
    if (!isThenable(answer)) return answer;
    const { clock, timeoutMs, cancellation } = this.#limits;
    if (timeoutMs === undefined && cancellation?.possible !== true) return answer;
    const late = Promise.resolve(answer);
    if (this.#givenUp !== undefined) {
      late.catch(ignore);
      onLate?.(late);
      return Promise.reject(this.#givenUp);
    }
    return new Promise<T>((resolve, reject) => {
      let timer: unknown;
      let grace: unknown;
      const end = (): void => {
        if (timer !== undefined) clock.clearTimeout(timer);
        if (grace !== undefined) clock.clearTimeout(grace);
        cancellation?.unlisten(onCancel);
      };
      const giveUp = (message: string, cause: unknown): void => {
        end();
        onLate?.(late);
        const error = new StoreError("NG_STORE_FAILED", message, { cause });
        // The lease may still be renewed by a later call.
        if (cancellation?.aborted === true || what !== "renew") this.#givenUp ??= error;
        if (cancellation?.aborted === true) givenUp.add(error);
        reject(error);
      };
      const onCancel = (): void => {
        if (cancellation?.aborted !== true || grace !== undefined) return;
        const message = `the store did not answer \`${what}\` within ${GRACE_MS} ms after the run was cancelled`;
        grace = clock.setTimeout(() => giveUp(message, cancellation.reason), GRACE_MS);
      };
      if (timeoutMs !== undefined) {
        timer = clock.setTimeout(() => {
          const message = `the store did not answer \`${what}\` within ${timeoutMs} ms`;
          giveUp(message, new DOMException(message, "TimeoutError"));
        }, timeoutMs);
      }
      cancellation?.listen(onCancel);
      onCancel();
      late.then(
        (value) => {
          end();
          resolve(value);
        },
        (error: unknown) => {
          end();
          reject(error as Error);
        },
      );
    });
  }
}

const givenUp = new WeakSet<object>();

/** Whether a call to the store was given up because its run was cancelled. */
export function isGivenUp(error: unknown): error is StoreError {
  return error instanceof StoreError && givenUp.has(error);
}

const ignore = (): void => undefined;
