import type { ConsumedAnswer } from "../checkpoint.ts";
import type { Clock } from "../clock.ts";
import type { ExpectedType } from "../context.ts";
import type { Durability, OnFailure } from "../engine-options.ts";
import type { EventListener } from "../events.ts";
import type { Json, JsonObject } from "../json.ts";
import type { NodeCache } from "../node-cache.ts";
import type { Claim, Store } from "../store.ts";

/** What a run and the runs of the graphs it calls have in common. */
export interface Shared {
  readonly runId: string;
  readonly threadId: string | undefined;
  readonly store: Store | undefined;
  claim: Claim | undefined;
  readonly answers: Map<string, ConsumedAnswer>;
  /** What answers to pauses of this call must look like, by pause id. */
  readonly expectations: Map<string, ExpectedType>;
  readonly listeners: readonly EventListener[];
  sequence: number;
  readonly clock: Clock;
  readonly random: () => number;
  readonly cache: NodeCache;
  readonly durability: Durability;
  readonly onFailure: OnFailure;
  readonly metadata: JsonObject;
  readonly slots: Slots | undefined;
}

/** Cancellation of a run: cheap to ask, and nothing is made until somebody wants to be told. */
export class Cancellation {
  /** Whether it can happen at all. */
  readonly possible: boolean;
  aborted = false;
  reason: unknown;
  readonly controllers = new Set<AbortController>();
  readonly listeners = new Set<() => void>();

  constructor(possible: boolean) {
    this.possible = possible;
  }

  cancel(reason: unknown): void {
    if (this.aborted) return;
    this.aborted = true;
    this.reason = reason;
    for (const controller of [...this.controllers]) controller.abort(reason);
    for (const listener of [...this.listeners]) listener();
  }
}

/** At most so many tasks in flight; those beyond wait in order. */
export class Slots {
  #free: number;
  readonly #waiting: (() => void)[] = [];
  #next = 0;

  constructor(count: number) {
    this.#free = count;
  }

  /** A promise only when there is no slot free. */
  take(): Promise<void> | undefined {
    if (this.#free > 0) {
      this.#free--;
      return undefined;
    }
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  give(): void {
    const next = this.#waiting[this.#next];
    if (next === undefined) {
      this.#free++;
      return;
    }
    this.#next++;
    if (this.#next > 1024) {
      this.#waiting.splice(0, this.#next);
      this.#next = 0;
    }
    next();
  }
}

/** A task's result as a pending write holds it. */
export interface StoredOutcome {
  readonly updates: readonly (readonly [channel: string, value: Json])[];
  readonly goto?: readonly string[];
  readonly exclusive?: true;
  readonly stopped?: true;
  readonly sends?: readonly { readonly node: string; readonly item: Json }[];
  readonly failure?: {
    readonly code: string;
    readonly message: string;
    readonly attempts: number;
    readonly items: readonly number[];
  };
}
