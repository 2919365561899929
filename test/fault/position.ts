/** Where a run of a model stands, and what its tasks end with: the words of the reference interpreter and of who compares. */
import type { Played, Values, Written } from "./model.ts";

/** Between two steps. */
export interface Position {
  readonly values: Values;
  /** The step to come. */
  readonly step: number;
  readonly ready: readonly number[];
  readonly sends: readonly Leaf[];
  /** By barrier: who has signalled since it last fired (3.1). */
  readonly came: readonly (readonly number[])[];
  /** By node: the failure that an error edge led there from (4.3). */
  readonly errors: Readonly<Record<number, Failure>>;
  /** What an edit of the state left as it was (5.9), by task: results, and answers. */
  readonly kept: Readonly<Record<string, Outcome>>;
  readonly given: Readonly<Record<string, readonly unknown[]>>;
}

/** What a body is called for once. */
export interface Leaf {
  readonly id: string;
  readonly node: number;
  readonly item?: unknown;
}

/** A node, an item that was sent; in parts where it is a `for`. */
export interface Task {
  readonly node: number;
  readonly leaves: readonly Leaf[];
}

/** What `error` reads as. */
export interface Failure {
  readonly node: string;
  readonly code: string;
  readonly attempts: number;
  readonly items: readonly number[];
}

/** How a task ended. */
export interface Outcome extends Pick<Played, "goto" | "exclusive" | "stopped" | "sends" | "questions"> {
  readonly updates: readonly Partial<Record<Written, unknown>>[];
  readonly failed?: Failure;
}

export interface Step {
  readonly tasks: readonly Task[];
  readonly outcomes: readonly Outcome[];
  /** By task, items of a `for` each. */
  readonly leaves: Readonly<Record<string, Outcome>>;
  readonly next?: Position;
  /** In place of `next`: the run fails, nothing of the step is applied, and these tasks have to run again (2.3, 4.3). */
  readonly fault?: { readonly code: string; readonly again: readonly string[] };
}
