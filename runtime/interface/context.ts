import type { Json } from "../value/json.ts";
import type { ThreadId } from "./checkpoint.ts";
import type { ValueType } from "../table/value-type.ts";

/**
 * What a node's code may ask of the engine: an imported function gets it after its declared arguments. Jumps and
 * sends count once the body has returned; those of an attempt that failed are forgotten.
 */
export interface NodeContext {
  /** Aborted on timeout, cancellation, and when a sibling's failure ends the run under `onFailure: "abort"`. Made when first asked for. */
  readonly signal: AbortSignal;
  /** Super-step of the run, from 0. */
  readonly step: number;
  /** From 1. */
  readonly attempt: number;
  readonly thread: ThreadId;
  /** Equal on every re-execution of this task, different for every other: `sha256:` and 64 hexadecimal digits. */
  readonly idempotencyKey: string;
  /** The item of a `for` or `send` task; `undefined` in others. */
  readonly item: Json | undefined;
  /** What the result must look like: the type of the channel, or of the record, it is stored into. Absent where it is dropped. */
  readonly expects: ExpectedType | undefined;
  /**
   * Waits for an answer: the first time the run pauses (this call does not return), on the resume the body runs
   * again and the call returns the answer. Several calls in one body are answered in their order. An answer that does not
   * fit `expects` is refused when it is given (NG_BAD_ANSWER), and the pause goes on waiting.
   */
  interrupt<T = Json>(payload?: Json, options?: { readonly expects?: ExpectedType | undefined }): T;
  /**
   * Replaces this node's own edges by these targets; the last call counts. Without targets (or with the empty name) the edges are
   * followed. May be returned, or called before returning a result.
   */
  goto(...targets: readonly string[]): Command;
  goto(target: string, options: { readonly exclusive: boolean }): Command;
  /** Runs `node` in the next step with `item` (or `null`) in place of its `for` item. */
  send(node: string): Command;
  send(node: string, item: Json): Command;
  /** Ends this branch: no edge of this node is taken. */
  stop(): Command;
  /** A `custom` event for whoever watches the run. */
  emit(data: Json): void;
}

/** A type with the named types that its `ref`s point to. */
export interface ExpectedType {
  readonly type: ValueType;
  readonly types: readonly { readonly name: string; readonly type: ValueType }[];
}

/** What `goto`, `send` and `stop` return: returning it from a node means "no result". */
export interface Command {
  readonly [COMMAND]: true;
}
export const COMMAND: unique symbol = Symbol("ngraph.command");

/** The code of a built-in node: arguments by name, as the graph gives them. */
export type BuiltinNode = (args: Readonly<Record<string, Json>>, context: NodeContext) => unknown;
