import type { PauseItem, Signal } from "../interface/checkpoint.ts";
import type { NodeError, StoreError } from "../interface/errors.ts";
import type { Json, JsonObject } from "../value/json.ts";
import type { UndoEntry } from "../interface/undo.ts";
import type { NodeCode } from "../program/program.ts";
import type { ThrownError } from "./thrown-error.ts";

/** A unit of work of a super-step: a node, an item of a `for` node, or an item sent to a node. */
export interface Task {
  readonly node: NodeCode;
  /** Stable within the run and step, equal on every re-execution. */
  readonly id: string;
  /** The item of a `for` or `send` task. */
  readonly item: Json | undefined;
  /** Position in the list of a `for` node; -1 for every other task. */
  readonly itemIndex: number;
  /** The value of `error` in this task, if an error edge leads to it. `null`: the task reads the `error` of the run. */
  readonly error: Json;
  /** The items of a `for` node, each a task. */
  readonly items: readonly Task[] | undefined;
  /** Why the list of the `for` has no value. */
  readonly broken: unknown;
  /** Set for a task of a plan from its second attempt on: why the previous attempt has failed. */
  readonly failure?: JsonObject;
  /** A completed run of the called graph or plan belongs to an earlier result: the call starts a new run. */
  readonly renew?: true;
  /** Takes the place of the step in the ids of pauses: a task of a plan that was done runs again, and asks again. */
  readonly execution?: number;
  /** Set for the task of an undo. */
  readonly undo?: UndoEntry;
}

/** The variables of a `for` node: the item and its index. An item that was sent is a list of one item. */
export function itemLocals({ node, item, itemIndex }: Task): ReadonlyMap<string, Json> | undefined {
  const { each } = node.spec;
  if (each === undefined || item === undefined) return undefined;
  const locals = new Map([[each.item, item]]);
  if (each.index !== undefined) locals.set(each.index, Math.max(0, itemIndex));
  return locals;
}

/** Whether the node continues without this item, or without those of its items that fail. */
export function allowsFailure({ node, itemIndex, items }: Task): boolean {
  return node.spec.each?.allowFailure === true && (itemIndex !== -1 || items !== undefined);
}

/** Whether the run continues after a failure of the task: with its `on error` edges, or without its failed items. */
export function handlesFailure(task: Task, { error }: Pick<Failure, "error">): boolean {
  // A broken assertion fails the run.
  if (error.code === "NG_ASSERTION") return false;
  return task.node.hasErrorRoutes || allowsFailure(task);
}

export interface Update {
  readonly channel: number;
  /** A value that the channel has admitted. */
  readonly value: Json;
  /** The value replaces the value of the channel; the reducer does not apply. */
  readonly set?: true;
  /** The results of the items of a `for` node have no common value: what the reducer threw. */
  readonly refused?: { readonly cause: unknown };
}

export interface SendRequest {
  readonly node: number;
  readonly item: Json;
}

/** A failure as error edges and checkpoints see it. */
export interface Failure {
  readonly error: NodeError | StoreError;
  /** The cause without the name of the node: `error.message` in the target of an error edge. */
  readonly reason: string;
  readonly thrown: ThrownError;
  readonly attempts: number;
  readonly items: readonly number[];
  /** Of a `for` node: its failed items, as `error.items` lists them. */
  readonly failedItems?: readonly Json[];
  /** Another attempt could succeed (4.1). `false` for a stored failure, which is final. */
  readonly retryable: boolean;
}

/**
 * The end of a task. At most one of `failure`, `pauses` and `cancelled` is set. A task with `failure` has updates only if it
 * allows the failure.
 */
export interface Outcome {
  readonly updates: readonly Update[];
  /** Node indexes or `END`. */
  readonly goto: readonly number[] | undefined;
  readonly exclusive: boolean;
  readonly stopped: boolean;
  readonly sends: readonly SendRequest[];
  /** Set if the task failed for good. */
  readonly failure: Failure | undefined;
  /** Set if the task waits for answers. */
  readonly pauses: readonly PauseItem[] | undefined;
  readonly cancelled: boolean;
  /** Set if the task was cancelled after its body had begun: its next execution needs the same key. */
  readonly cutOff?: true;
  /** Signals that the task has taken. */
  readonly taken: readonly Signal[] | undefined;
  /** Unfinished called graphs: namespace -> checkpoint id. */
  readonly children: Readonly<Record<string, string>> | undefined;
  /** How its result, and the results of the graph that it has called, are undone. */
  readonly undo: readonly UndoEntry[] | undefined;
  /** Of a `for` node with one item: the outcome of the item. Alone in its step, it is stored only if the step cannot end. */
  readonly onlyItem?: Outcome | undefined;
}

const NOTHING: readonly never[] = Object.freeze([]);

/** The unfinished called graphs of several outcomes. */
export function childrenOfAll(outcomes: readonly Outcome[]): Readonly<Record<string, string>> {
  const all: Record<string, string> = {};
  // One task at a time: a step may have more tasks than a call may have arguments.
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
    taken: undefined,
    children: undefined,
    undo: undefined,
  };
}
export function failedOutcome(failure: Failure, children?: Outcome["children"]): Outcome {
  return { ...doneOutcome(NOTHING), failure, children };
}
export function pausedOutcome(pauses: readonly PauseItem[], children?: Outcome["children"]): Outcome {
  return { ...doneOutcome(NOTHING), pauses, children };
}
/** The signals that several outcomes have taken. */
export function takenOfAll(outcomes: readonly Outcome[]): Outcome["taken"] {
  let all: Signal[] | undefined;
  for (const { taken } of outcomes) for (const signal of taken ?? NOTHING) (all ??= []).push(signal);
  return all;
}
/** The undo entries of several outcomes, in their order. */
export function undosOfAll(outcomes: readonly Outcome[]): Outcome["undo"] {
  let all: UndoEntry[] | undefined;
  for (const { undo } of outcomes) for (const entry of undo ?? NOTHING) (all ??= []).push(entry);
  return all;
}
export const CANCELLED_OUTCOME: Outcome = Object.freeze({ ...doneOutcome(NOTHING), cancelled: true });
/** Of a task whose body had begun. */
export const CUT_OFF_OUTCOME: Outcome = Object.freeze({ ...CANCELLED_OUTCOME, cutOff: true });
