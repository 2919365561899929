import type { ConsumedAnswer, ThreadId } from "../interface/checkpoint.ts";
import type { Clock } from "../interface/clock.ts";
import type { Durability, OnFailure } from "../interface/engine-options.ts";
import type { EventListener } from "../interface/events.ts";
import type { Json, JsonObject } from "../value/json.ts";
import type { NodeCache } from "./node-cache.ts";
import type { Claim, Store } from "../interface/store.ts";
import type { Journal } from "../checkpoint/journal.ts";
import type { Slots } from "./slots.ts";
import type { StepLimits } from "./step-limits.ts";

/** What a run and the runs of the graphs it calls have in common. */
export interface Shared {
  /** Of the outermost run; made up when first asked for. */
  readonly runId: string;
  /** As the caller gave it; `undefined` for a run without a thread. */
  readonly threadId: ThreadId | undefined;
  readonly durable: Durable | undefined;
  /** Answers that bodies may consume, by pause id. */
  readonly answers: Map<string, ConsumedAnswer>;
  /** Gates that this call lets pass, by pause id: those it was held by, when it resumes without naming answers. */
  readonly openedGates: ReadonlySet<string>;
  readonly listeners: readonly EventListener[];
  /** Told of the outermost graph's state after the input and after each step. */
  readonly onState: ((step: number, state: () => JsonObject) => void) | undefined;
  sequence: number;
  /** Steps of this call, those of called graphs included. */
  stepsTaken: number;
  /** When it last gave others their turn, in milliseconds; `undefined` before that is first asked. */
  busySince: number | undefined;
  readonly clock: Clock;
  readonly random: () => number;
  readonly cache: NodeCache;
  readonly onFailure: OnFailure;
  readonly metadata: JsonObject;
  readonly slots: Slots | undefined;
  readonly stepLimits: StepLimits;
  /** Takes the values of secrets out of a text that leaves the run. */
  readonly redact: (text: string) => string;
}

/** A run with a store, and the right to write to its thread. */
export interface Durable {
  readonly store: Store;
  readonly threadId: ThreadId;
  readonly claim: Claim;
  /** Before bodies run: nothing to wait for while the lease surely holds; rejects when another runner has the thread (5.6). */
  readonly ensureClaimed: () => Promise<void> | undefined;
  readonly journal: Journal;
  readonly durability: Durability;
}

/** A task's result as a pending write holds it: names, so that it outlives a change of the graph. */
export interface StoredOutcome {
  readonly updates: readonly (readonly [channel: string, value: Json])[];
  readonly goto?: readonly string[];
  readonly exclusive?: true;
  readonly stopped?: true;
  readonly sends?: readonly { readonly node: string; readonly item: Json }[];
  readonly failure?: StoredFailure;
}

export interface StoredFailure {
  readonly code: string;
  readonly message: string;
  readonly reason: string;
  readonly attempts: number;
  readonly items: readonly number[];
}
