import type { PauseItem } from "../interface/checkpoint.ts";
import type { NodeError, StoreError } from "../interface/errors.ts";
import type { Json } from "../value/json.ts";
import type { NodeCode } from "../program/program.ts";

/** One piece of work of a super-step: a node, an item of a `for` node, or an item sent to a node. */
export interface Task {
  readonly node: NodeCode;
  /** Stable within the run and step, equal on every re-execution. */
  readonly id: string;
  /** Of a `for` item or a sent one. */
  readonly item: Json | undefined;
  /** Position in the list of a `for` node; -1 for every other task. */
  readonly itemIndex: number;
  /** The failure that an error edge led here from. */
  readonly error: Json;
  /** Items of a `for` node, each a task of its own. */
  readonly items: readonly Task[] | undefined;
  /** The list of the `for` has no value, and why. */
  readonly broken: unknown;
}

export interface Update {
  readonly channel: number;
  /** Admitted by the channel. */
  readonly value: Json;
}

export interface SendRequest {
  readonly node: number;
  readonly item: Json;
}

/** What of a failure error edges and checkpoints know. */
export interface Failure {
  readonly error: NodeError | StoreError;
  /** What went wrong, without the node's name around it: `error.message` in the target of an error edge. */
  readonly reason: string;
  readonly attempts: number;
  readonly items: readonly number[];
  /** Another attempt could succeed (4.1). `false` for a stored failure, which is final. */
  readonly retryable: boolean;
}

/** How a task ended. At most one of `failure`, `pauses` and `cancelled` is set. */
export interface Outcome {
  readonly updates: readonly Update[];
  /** Node indexes or `END`. */
  readonly goto: readonly number[] | undefined;
  readonly exclusive: boolean;
  readonly stopped: boolean;
  readonly sends: readonly SendRequest[];
  /** It failed for good. */
  readonly failure: Failure | undefined;
  /** It waits for answers. */
  readonly pauses: readonly PauseItem[] | undefined;
  readonly cancelled: boolean;
  /** Of called graphs that have not finished: namespace -> checkpoint. */
  readonly children: Readonly<Record<string, string>> | undefined;
}

const NOTHING: readonly never[] = Object.freeze([]);

/** Called graphs that have not finished, of all these. */
export function childrenOfAll(outcomes: readonly Outcome[]): Readonly<Record<string, string>> {
  const all: Record<string, string> = {};
  // Task by task: a step may have more of them than a call may have arguments.
  for (const { children } of outcomes) if (children !== undefined) Object.assign(all, children);
  return all;
}

export function doneOutcome(updates: readonly Update[]): Outcome {
  return {
    updates,
    goto: undefined,
    exclusive: false,
    stopped: false,
    sends: NOTHING,
    failure: undefined,
    pauses: undefined,
    cancelled: false,
    children: undefined,
  };
}
export function failedOutcome(failure: Failure, children?: Outcome["children"]): Outcome {
  return { ...doneOutcome(NOTHING), failure, children };
}
export function pausedOutcome(pauses: readonly PauseItem[], children?: Outcome["children"]): Outcome {
  return { ...doneOutcome(NOTHING), pauses, children };
}
export const CANCELLED_OUTCOME: Outcome = Object.freeze({ ...doneOutcome(NOTHING), cancelled: true });
