/** Positions of a run and outcomes of tasks, as the reference interpreter and the ledger use them. */
import type { Played, Values, Written } from "./model.ts";

/** A run between two steps. */
export interface Position {
  readonly values: Values;
  /** The next step. */
  readonly step: number;
  readonly ready: readonly number[];
  readonly sends: readonly Leaf[];
  /** By barrier: nodes that have signalled since it last fired (3.1). */
  readonly came: readonly (readonly number[])[];
  /** By node: the failure of the error edge that led there (4.3). */
  readonly errors: Readonly<Record<number, Failure>>;
  /** The last failure that an error edge took: the value of `error` in all other nodes. */
  readonly error: Failure | null;
  /** Results and answers that an edit of the state has kept (5.9), by task. */
  readonly kept: Readonly<Record<string, Outcome>>;
  readonly given: Readonly<Record<string, readonly unknown[]>>;
}

/** A unit of work: one call of a body. */
export interface Leaf {
  readonly id: string;
  readonly node: number;
  readonly item?: unknown;
}

/** A node or a sent item; with parts for a `for`. */
export interface Task {
  readonly node: number;
  readonly leaves: readonly Leaf[];
}

/** A value of `error`; of its items, the indexes. */
export interface Failure {
  readonly node: string;
  readonly code: string;
  readonly attempts: number;
  readonly items: readonly number[];
}

/** The end of a task. */
export interface Outcome extends Pick<Played, "goto" | "exclusive" | "stopped" | "sends" | "questions"> {
  readonly updates: readonly Partial<Record<Written, unknown>>[];
  readonly failed?: Failure;
}

export interface Step {
  readonly tasks: readonly Task[];
  readonly outcomes: readonly Outcome[];
  /** By task, with one entry for each item of a `for`. */
  readonly leaves: Readonly<Record<string, Outcome>>;
  readonly next?: Position;
  /**
   * Instead of `next`: the run fails, no update of the step is applied, and these tasks have to run again (2.3, 4.3).
   */
  readonly fault?: { readonly code: string; readonly again: readonly string[] };
}
