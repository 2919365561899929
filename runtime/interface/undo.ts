import type { Json } from "../value/json.ts";
import type { Expression } from "../expression/expression.ts";

/**
 * The undo of one stored result: an entry of the undo log of a thread. It is stored in the same write as the result. Plain
 * JSON.
 */
export interface UndoEntry {
  /** The idempotency key of the undo: `undo:` and the key of its task. An entry replaces an earlier one with its key. */
  readonly key: string;
  /** The node with the `undo`, after the nodes that call its graph, outermost first. */
  readonly nodes: readonly string[];
  /** The task that wrote the result: `book`, `book[2]`; in a called graph `trip/book`. */
  readonly task: string;
  readonly step: number;
  /** The name of the function or built-in node that undoes the result. */
  readonly call: string;
  /** The arguments of the call. Absent if they could not be evaluated. */
  readonly args?: readonly UndoArgument[];
  /** Why the arguments could not be evaluated: the result cannot be undone. */
  readonly broken?: string;
  /** The undo has run: every rollback skips the entry. */
  readonly done?: true;
}

/** An argument. One that contains secrets is stored as an expression that names them. */
export type UndoArgument =
  { readonly name?: string; readonly value: Json } | { readonly name?: string; readonly expression: Expression };
