import type { Json, JsonObject } from "../value/json.ts";
import type { LongTermMemory } from "./memory.ts";
import type { ThreadId } from "./checkpoint.ts";
import type { Usage } from "./usage.ts";
import type { ValueType } from "../table/value-type.ts";

/** Objects that a program gives to a run for its node bodies, by name. */
export type RunContext = Readonly<Record<string, unknown>>;

/**
 * The engine as a node body sees it. An imported function receives it after its declared arguments. `goto`, `send` and
 * `stop` take effect when the body has returned; requests of a failed attempt are discarded.
 */
export interface NodeContext {
  /**
   * Aborted on timeout, on cancellation, and when a sibling's failure ends the run under `onFailure: "abort"`. Created
   * on first access.
   */
  readonly signal: AbortSignal;
  /** Super-step of the run, from 0. */
  readonly step: number;
  /** 1-based number of the attempt. */
  readonly attempt: number;
  readonly thread: ThreadId;
  /**
   * In a task of a plan, from its second attempt on: why the previous attempt has failed, as `{ attempt, message, checks }`, where
   * `checks` are the failed checks as `{ command, code, output }`. Absent in all others.
   */
  readonly failure?: JsonObject | undefined;
  /** Equal on every re-execution of this task, different for every other task: `sha256:` and 64 hexadecimal digits. */
  readonly idempotencyKey: string;
  /** The objects that the caller of the run or resume has given with `context`; empty if it has given none. */
  readonly context: RunContext;
  /** The item of a `for` or `send` task; `undefined` in others. */
  readonly item: Json | undefined;
  /** The type of the result: the type of the channel or record that stores it. Absent if the result is not stored. */
  readonly expects: ExpectedType | undefined;
  /**
   * Waits for an answer. On the first call the run pauses, and the call does not return. On the resume the body runs
   * again, and the call returns the answer. Several calls in one body are answered in their order. An answer that does
   * not fit `expects` is refused (NG_BAD_ANSWER), and the pause remains. With `within`, the node fails with NG_NODE_TIMEOUT
   * when so many milliseconds have passed since the first call without an answer.
   */
  interrupt<T = Json>(
    payload?: Json,
    options?: { readonly expects?: ExpectedType | undefined; readonly within?: number | undefined },
  ): T;
  /**
   * Replaces this node's own edges by these targets; the last call wins. Without targets (or with the empty name) the
   * edges are followed. The result may be returned from the body, or `goto` may be called before the body returns its
   * own result.
   */
  goto(...targets: readonly string[]): Command;
  goto(target: string, options: { readonly exclusive: boolean }): Command;
  /** Runs `node` in the next step, with `item` (or `null`) as its `for` item. */
  send(node: string): Command;
  send(node: string, item: Json): Command;
  /** Ends this branch: the node's edges are not followed. Needs `goes end`; elsewhere the node fails. */
  stop(): Command;
  /** The long-term memory of the engine. A write is durable at once, and made again when the body runs again. */
  readonly memory: LongTermMemory;
  /**
   * Reports what a call of a model has used. It counts towards `limit tokens` and `limit cost` of the graph and of the
   * graphs that call it, whether or not the attempt succeeds. Several reports add up.
   */
  usage(used: Partial<Usage>): void;
  /**
   * Emits a `custom` event. The kind `token` marks a part of a text that is being generated: such events are the items of the stream
   * view `tokens`, not of `custom`.
   */
  emit(data: Json, options?: { readonly kind?: string | undefined }): void;
  /**
   * The hosts that the option `allow` of the engine names (`api.example.com`, `*.example.com`); absent if it allows any host.
   * A node that sends requests refuses all others.
   */
  readonly allowedHosts?: readonly string[] | undefined;
  /**
   * Replaces the values of the run's secrets in a text, as the engine does in errors and events. For a text that the body
   * shortens, because a part of a secret is harder to find.
   */
  redact(text: string): string;
}

/** A type with the named types that its `ref`s point to. */
export interface ExpectedType {
  readonly type: ValueType;
  readonly types: readonly { readonly name: string; readonly type: ValueType }[];
}

/**
 * The result of `goto`, `send` and `stop`. A node that returns it has no result: it writes nothing. A node with `into` that only
 * sends must return its result.
 */
export interface Command {
  readonly [COMMAND]: true;
}
export const COMMAND: unique symbol = Symbol("ngraph.command");

/** The waits of built-in nodes, which the compiler knows of. */
export interface Waits {
  /**
   * A durable timer: its due time is stored when it starts, and after a crash only the rest is waited for. If more than a
   * minute is left, the run pauses (kind `timer`).
   */
  sleep(milliseconds: number): Promise<void> | void;
  /** Takes the next signal with this name from the inbox of the thread. Without one, the run pauses (kind `signal`). */
  receive<T = Json>(name: string, options?: { readonly expects?: ExpectedType | undefined }): Promise<T> | T;
}

/** A tool that a node offers to a model: an imported function. */
export interface Tool {
  readonly name: string;
  /** The parameters by name, in their order. */
  readonly parameters: readonly ToolParameter[];
  /** Named types that the parameters use. */
  readonly types: ExpectedType["types"];
  readonly description?: string;
  /** A person approves each call before it is made. */
  readonly needsApproval: boolean;
  /**
   * Calls the function.
   *
   * @param args by position; `undefined` for an optional one that is missing
   * @param key of the call within the task: its idempotency key contains it
   */
  call(args: readonly (Json | undefined)[], key: string): unknown;
}

export interface ToolParameter {
  readonly name: string;
  readonly type: ValueType;
  readonly optional?: true;
}

/** What the engine gives to built-in nodes beyond the context of imported functions. */
export interface BuiltinContext extends NodeContext, Partial<Waits> {
  /**
   * Does a part of the body's work once: its result is stored before the promise resolves. A body that runs again after a
   * crash, a pause or a failure receives the stored result. A part that fails, or whose attempt was aborted, is not stored.
   *
   * @param key names the part within the task
   */
  once?<T extends Json>(key: string, work: () => Promise<T> | T): Promise<T>;
  /** The tools that the call of the node names. */
  readonly tools?: readonly Tool[];
  /** The names of the calling nodes and tasks and of the node itself, separated by `/`: `release/pack/zip`. */
  readonly node?: string;
}

/** The code of a built-in node. Arguments are passed by name. */
export type BuiltinNode = (args: Readonly<Record<string, Json>>, context: BuiltinContext) => unknown;
