import type { PendingWrite, Signal } from "../interface/checkpoint.ts";
import type { Store } from "../interface/store.ts";
import type { MaybePromise } from "../value/json.ts";
import type { StoredOutcome } from "../run/shared.ts";
import { keyOfEncoded } from "../stores/contract/encoded-text.ts";
import { isThenable } from "../value/promise.ts";
import { refuseEncoded } from "./refuse-encoded.ts";

/** How the runs of a thread take signals. The signals themselves are in the store. */
export class Inbox {
  /** Ids of signals that a task of this process has taken, stored or not. */
  #reserved: Set<string> | undefined;
  /** Signals that tasks have taken since the outermost graph's last completed step. */
  #taken: Map<string, Signal> | undefined;
  /** Ids of signals that the next save removes from the store. */
  #leaving: Set<string> | undefined;
  #returned: Signal[] | undefined;

  /** Takes the first signal with a name. */
  take(name: string, signals: readonly Signal[]): Signal | undefined {
    // Mutation point: signal-order
    const found = signals.find((signal) => signal.name === name && !this.#isReserved(signal));
    if (found !== undefined) this.#reserve(found);
    return found;
  }

  /** Whether `take` would find a signal. */
  has(name: unknown, signals: readonly Signal[]): boolean {
    return signals.some((signal) => signal.name === name && !this.#isReserved(signal));
  }

  #isReserved({ id }: Signal): boolean {
    return this.#reserved?.has(id) === true;
  }

  #reserve({ id }: Signal): void {
    (this.#reserved ??= new Set()).add(id);
  }

  /** Records signals whose task has ended: the next save removes them from the store. */
  keep(signals: readonly Signal[]): void {
    for (const signal of signals) {
      this.#reserve(signal);
      (this.#taken ??= new Map()).set(signal.id, signal);
      (this.#leaving ??= new Set()).add(signal.id);
    }
  }

  /** Records signals that stored results have taken: they are no longer in the store. */
  remember(signals: readonly Signal[]): void {
    for (const signal of signals) (this.#taken ??= new Map()).set(signal.id, signal);
  }

  /** Removes signals that no task has taken. */
  drop(signals: readonly Signal[]): readonly Signal[] {
    const dropped = signals.filter((signal) => !this.#isReserved(signal));
    for (const signal of dropped) {
      this.#reserve(signal);
      (this.#leaving ??= new Set()).add(signal.id);
    }
    return dropped;
  }

  /** Puts signals back: the results that took them are dropped. */
  giveBack(signals: readonly Signal[]): void {
    for (const signal of signals) {
      this.#taken?.delete(signal.id);
      this.#reserved?.delete(signal.id);
      (this.#returned ??= []).push(signal);
    }
  }

  get taken(): readonly Signal[] {
    return this.#taken === undefined ? NO_SIGNALS : [...this.#taken.values()];
  }

  /** The changes of the store's inbox that the next save makes. */
  changes(): { readonly takenSignals?: readonly string[]; readonly returnedSignals?: readonly Signal[] } {
    const [leaving, returned] = [this.#leaving, this.#returned];
    if (leaving === undefined && returned === undefined) return NONE;
    this.#leaving = undefined;
    this.#returned = undefined;
    return {
      ...(leaving === undefined ? {} : { takenSignals: [...leaving] }),
      ...(returned === undefined ? {} : { returnedSignals: returned }),
    };
  }

  /** The step of the outermost graph is stored: later signals belong to the next one. */
  nextStep(): void {
    this.#taken = undefined;
  }
}

/** The signals that a stored result has taken. */
export function takenBy({ result }: PendingWrite): readonly Signal[] {
  if (typeof result !== "object" || result === null || Array.isArray(result)) return [];
  return (result as unknown as StoredOutcome).taken ?? [];
}

/** The signals in the store's inbox, in the order of their arrival. */
export function readSignals(store: Store, threadId: string): MaybePromise<readonly Signal[]> {
  const signals = store.getSignals?.(threadId) ?? [];
  return isThenable(signals) ? signals.then((found) => inPlainText(threadId, found)) : inPlainText(threadId, signals);
}

/** @throws StoreError NG_STORE_FAILED: a process with a codec may have sent them to a thread in plain text */
function inPlainText(threadId: string, signals: readonly Signal[]): readonly Signal[] {
  for (const { value } of signals) refuseEncoded(threadId, keyOfEncoded(value));
  return signals;
}

const NONE = Object.freeze({});
const NO_SIGNALS: readonly Signal[] = Object.freeze([]);
