import type { PendingWrite, Signal } from "../interface/checkpoint.ts";
import type { Store } from "../interface/store.ts";
import type { MaybePromise } from "../value/json.ts";
import type { StoredOutcome } from "../run/shared.ts";

/** How the runs of a thread take signals. The signals themselves are in the store. */
export class Inbox {
  /** Ids of signals that a task of this process has taken, stored or not. */
  readonly #reserved = new Set<string>();
  /** Signals that tasks have taken since the outermost graph's last completed step. */
  readonly #taken = new Map<string, Signal>();
  /** Ids of signals that the next save removes from the store. */
  #leaving = new Set<string>();
  #returned: Signal[] = [];

  /** Takes the first signal with a name. */
  take(name: string, signals: readonly Signal[]): Signal | undefined {
    // Mutation point: signal-order
    const found = signals.find((signal) => signal.name === name && !this.#reserved.has(signal.id));
    if (found !== undefined) this.#reserved.add(found.id);
    return found;
  }

  /** Whether `take` would find a signal. */
  has(name: unknown, signals: readonly Signal[]): boolean {
    return signals.some((signal) => signal.name === name && !this.#reserved.has(signal.id));
  }

  /** Records signals whose task has ended: the next save removes them from the store. */
  keep(signals: readonly Signal[]): void {
    for (const signal of signals) {
      this.#reserved.add(signal.id);
      this.#taken.set(signal.id, signal);
      this.#leaving.add(signal.id);
    }
  }

  /** Records signals that stored results have taken: they are no longer in the store. */
  remember(signals: readonly Signal[]): void {
    for (const signal of signals) this.#taken.set(signal.id, signal);
  }

  /** Removes signals that no task has taken. */
  drop(signals: readonly Signal[]): readonly Signal[] {
    const dropped = signals.filter(({ id }) => !this.#reserved.has(id));
    for (const { id } of dropped) {
      this.#reserved.add(id);
      this.#leaving.add(id);
    }
    return dropped;
  }

  /** Puts signals back: the results that took them are dropped. */
  giveBack(signals: readonly Signal[]): void {
    for (const signal of signals) {
      this.#taken.delete(signal.id);
      this.#reserved.delete(signal.id);
      this.#returned.push(signal);
    }
  }

  get taken(): readonly Signal[] {
    return [...this.#taken.values()];
  }

  /** The changes of the store's inbox that the next save makes. */
  changes(): { readonly takenSignals?: readonly string[]; readonly returnedSignals?: readonly Signal[] } {
    if (this.#leaving.size === 0 && this.#returned.length === 0) return NONE;
    const [leaving, returned] = [this.#leaving, this.#returned];
    this.#leaving = new Set();
    this.#returned = [];
    return {
      ...(leaving.size === 0 ? {} : { takenSignals: [...leaving] }),
      ...(returned.length === 0 ? {} : { returnedSignals: returned }),
    };
  }

  /** The step of the outermost graph is stored: later signals belong to the next one. */
  nextStep(): void {
    if (this.#taken.size > 0) this.#taken.clear();
  }
}

/** The signals that a stored result has taken. */
export function takenBy({ result }: PendingWrite): readonly Signal[] {
  if (typeof result !== "object" || result === null || Array.isArray(result)) return [];
  return (result as unknown as StoredOutcome).taken ?? [];
}

/** The signals in the store's inbox, in the order of their arrival. */
export function readSignals(store: Store, threadId: string): MaybePromise<readonly Signal[]> {
  return store.getSignals?.(threadId) ?? [];
}

const NONE = Object.freeze({});
