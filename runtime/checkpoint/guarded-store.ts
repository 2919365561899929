import type { Clock } from "../interface/clock.ts";
import { StoreError } from "../interface/errors.ts";
import type { MaybePromise } from "../value/json.ts";
import type { Claim, Store } from "../interface/store.ts";
import type { Cancellation } from "../run/cancellation.ts";
import { isThenable } from "../value/promise.ts";
import { markAbandoned } from "./abandoned-call.ts";

/**
 * How long a call in progress may still take after the run was cancelled, in milliseconds. A short wait often saves its
 * write.
 */
export const GRACE_MS = 3000;

export interface StoreLimits {
  readonly clock: Clock;
  /** Milliseconds that a call may take; `undefined` for no limit. */
  readonly timeoutMs: number | undefined;
  /** Absent if the run cannot be cancelled. */
  readonly cancellation: Cancellation | undefined;
}

/**
 * Wraps a store so that every call ends: with its result, or with NG_STORE_FAILED if it takes too long, or too long
 * after the run was cancelled. Late writes have no effect, because their claim is released. Synchronous results cost
 * nothing.
 */
export function guardStore(store: Store, limits: StoreLimits): Store {
  let GuardedStore = CLASSES.get(store);
  if (GuardedStore === undefined) CLASSES.set(store, (GuardedStore = guardedClass(store)));
  return new GuardedStore(limits);
}

/** A guarded store inherits its methods: each run has one, so it should cost little. */
interface Guarded extends Store {
  readonly guard: Guard;
}

type GuardedClass = new (limits: StoreLimits) => Guarded;

const CLASSES = new WeakMap<Store, GuardedClass>();

/** A constructor costs a part of what `Object.create` does. */
function guardedClass(store: Store): GuardedClass {
  class GuardedStore {
    readonly guard: Guard;

    constructor(limits: StoreLimits) {
      this.guard = new Guard(limits);
    }
  }
  Object.setPrototypeOf(GuardedStore.prototype, guardedMethods(store));
  return GuardedStore as unknown as GuardedClass;
}

/** Methods of a guarded store. Optional methods that the store lacks are absent here too. */
function guardedMethods(store: Store): Store & ThisType<Guarded> {
  const methods: Store & ThisType<Guarded> = {
    claim(threadId, runner) {
      // A claim that arrives late is released: it would block other runners until its lease ends.
      const releaseLate = (late: Promise<Claim>): void => void late.then((claim) => store.release(claim)).catch(ignore);
      return this.guard.wait("claim", store.claim(threadId, runner), releaseLate);
    },
    renew(claim, leaseMs) {
      return this.guard.wait("renew", store.renew(claim, leaseMs));
    },
    release(claim) {
      return this.guard.wait("release", store.release(claim));
    },
    save(claim, request) {
      return this.guard.wait("save", store.save(claim, request));
    },
    loadLatest(threadId, namespace) {
      return this.guard.wait("loadLatest", store.loadLatest(threadId, namespace));
    },
    loadById(threadId, id) {
      return this.guard.wait("loadById", store.loadById(threadId, id));
    },
    list(threadId, options) {
      return this.guard.wait("list", store.list(threadId, options));
    },
    deleteThread(threadId) {
      return this.guard.wait("deleteThread", store.deleteThread(threadId));
    },
  };
  const optional: { -readonly [Name in keyof Store]: Store[Name] } & ThisType<Guarded> = methods;
  if (store.acceptsSplices === true) optional.acceptsSplices = true;
  for (const name of OPTIONAL) {
    const method = store[name] as ((...args: unknown[]) => MaybePromise<unknown>) | undefined;
    if (method === undefined) continue;
    const guarded = function (this: Guarded, ...args: unknown[]): MaybePromise<unknown> {
      return this.guard.wait(name, method.apply(store, args));
    };
    Object.defineProperty(methods, name, { value: guarded });
  }
  return methods;
}

const OPTIONAL = [
  "putWrites",
  "getWrites",
  "clearWrites",
  "putSignal",
  "getSignals",
  "label",
  "loadByLabel",
  "threads",
  "prune",
] as const;

class Guard {
  readonly #limits: StoreLimits;
  /** Set when a call was abandoned: later calls fail at once. */
  #givenUp: StoreError | undefined;

  constructor(limits: StoreLimits) {
    this.#limits = limits;
  }

  /** The answer of a store, which keeps to the interface. */
  wait<T>(what: keyof Store, given: MaybePromise<T>, onLate?: (late: Promise<T>) => void): MaybePromise<T> {
    const expected = ANSWERS[what];
    if (expected === undefined) return this.#await(what, given, onLate);
    const answer = this.#await(what, given, onLate);
    return isThenable(answer)
      ? answer.then((value) => checkedAnswer(what, expected, value))
      : checkedAnswer(what, expected, answer);
  }

  #await<T>(what: string, answer: MaybePromise<T>, onLate?: (late: Promise<T>) => void): MaybePromise<T> {
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
        // A later call may still renew the lease in time. A call that belongs to no run fails alone: a prune continues with other threads.
        if (cancellation !== undefined && (cancellation.aborted || what !== "renew")) this.#givenUp ??= error;
        if (cancellation?.aborted === true) markAbandoned(error);
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

/** What the calls with an answer return. */
const ANSWERS: { readonly [Name in keyof Store]?: "a claim" | "a checkpoint" | "a list" } = {
  claim: "a claim",
  loadLatest: "a checkpoint",
  loadById: "a checkpoint",
  loadByLabel: "a checkpoint",
  list: "a list",
  getWrites: "a list",
  getSignals: "a list",
  threads: "a list",
};

/** @throws StoreError NG_STORE_FAILED for an answer that the interface does not have */
function checkedAnswer<T>(what: string, expected: string, answer: T): T {
  const isRight = expected === "a list" ? Array.isArray(answer) : typeof answer === "object" && answer !== null;
  if (isRight || (answer === undefined && expected === "a checkpoint")) return answer;
  const found = answer === null ? "null" : typeof answer;
  const wanted = expected === "a checkpoint" ? "a checkpoint or `undefined`" : expected;
  throw new StoreError("NG_STORE_FAILED", `the store answered \`${what}\` with ${found}, not with ${wanted}`);
}

const ignore = (): void => undefined;
