/**
 * The errors of the runtime: classes with a stable `code`, a message that says what to do next, and a `cause` if there
 * is one (interface.md, "Package"). Code that handles errors switches on `code`, never on the message.
 */

export type NodeErrorCode =
  | "NG_NODE_FAILED"
  | "NG_NODE_TIMEOUT"
  | "NG_NULL_VALUE"
  | "NG_CONDITION"
  | "NG_ASSERTION"
  | "NG_BAD_RESULT"
  | "NG_NO_ROUTE"
  | "NG_UNDECLARED_GOTO"
  | "NG_ROLLED_BACK";
export type RunErrorCode =
  | "NG_UNDO_FAILED"
  | "NG_CONCURRENT_WRITE"
  | "NG_REDUCER_FAILED"
  | "NG_BAD_INPUT"
  | "NG_MISSING_FUNCTION"
  | "NG_MISSING_SECRET"
  | "NG_STEP_LIMIT"
  | "NG_TOKEN_LIMIT"
  | "NG_COST_LIMIT"
  | "NG_CANCELLED"
  | "NG_DRAINED"
  | "NG_EFFECT_DENIED"
  | "NG_DEADLOCK"
  | "NG_OTHER_VERSION";
export type ThreadErrorCode =
  | "NG_THREAD_CONFLICT"
  | "NG_THREAD_BUSY"
  | "NG_UNKNOWN_THREAD"
  | "NG_UNKNOWN_CHECKPOINT"
  | "NG_NOT_PAUSED"
  | "NG_BAD_ANSWER"
  | "NG_DRIFT";
export type StoreErrorCode = "NG_NO_STORE" | "NG_STORE_FAILED" | "NG_CORRUPT_RECORD" | "NG_UNKNOWN_VERSION";
export type TableErrorCode = "NG_BAD_TABLE" | "NG_BAD_DIGEST";

/** An error as plain data, for logs and HTTP responses. Fields that the error does not have are absent. */
export interface ErrorJson {
  readonly name: string;
  readonly code: string;
  readonly message: string;
  /** The message of the cause, without the values of secrets. */
  readonly cause?: string;
  readonly nodeId?: string;
  readonly nodeIds?: readonly string[];
  readonly attempts?: number;
  readonly items?: readonly number[];
  readonly threadId?: string;
  readonly details?: readonly string[];
}

/** The cause of an error, and its message if `toJSON` cannot take it from the cause itself (it may contain a secret). */
interface Cause {
  cause?: unknown;
  causeMessage?: string | undefined;
}

/** Base class of all errors of this package. */
export abstract class NgraphError<Code extends string = string> extends Error {
  readonly code: Code;
  readonly #causeMessage: string | undefined;

  constructor(code: Code, message: string, options: Cause = {}) {
    super(message, "cause" in options ? { cause: inspectable(options.cause) } : undefined);
    this.code = code;
    this.name = new.target.name;
    this.#causeMessage = options.causeMessage;
  }

  /** The cause, for an error that replaces this one. */
  static causeOf(error: NgraphError): Cause {
    return "cause" in error ? { cause: error.cause, causeMessage: error.#causeMessage } : {};
  }

  /** Called by `JSON.stringify`, which otherwise omits the message and the cause. */
  toJSON(): ErrorJson {
    const { name, code, message } = this;
    const cause = this.#causeMessage ?? messageOf(this.cause);
    return { name, code, message, ...(cause === undefined ? {} : { cause }) };
  }
}

/** The message of a thrown value. Reading it may run user code, which may throw. */
function messageOf(cause: unknown): string | undefined {
  try {
    if (typeof cause === "string") return cause;
    if (typeof cause !== "object" || cause === null || !("message" in cause)) return undefined;
    return typeof cause.message === "string" ? cause.message : undefined;
  } catch {
    return undefined;
  }
}

/** A node failed for good: its attempts are used up, or its result does not fit. */
export class NodeError extends NgraphError<NodeErrorCode> {
  readonly nodeId: string;
  /** How often the body started. */
  readonly attempts: number;
  /** For a `for` node: indexes of the items that failed. */
  readonly items: readonly number[];
  readonly threadId: string | undefined;

  constructor(
    code: NodeErrorCode,
    nodeId: string,
    message: string,
    details: Cause & { attempts?: number; items?: readonly number[]; threadId?: string | undefined } = {},
  ) {
    super(code, message, details);
    this.nodeId = nodeId;
    this.attempts = details.attempts ?? 1;
    this.items = details.items ?? [];
    this.threadId = details.threadId;
  }

  override toJSON(): ErrorJson {
    const { nodeId, attempts, items, threadId } = this;
    return { ...super.toJSON(), nodeId, attempts, items, ...(threadId === undefined ? {} : { threadId }) };
  }
}

/** A run cannot start or continue, and no single node is the cause. */
export class RunError extends NgraphError<RunErrorCode> {
  /** The nodes at fault, if any: two writers of one channel, for example. */
  readonly nodeIds: readonly string[];

  constructor(code: RunErrorCode, message: string, details: Cause & { nodeIds?: readonly string[] } = {}) {
    super(code, message, details);
    this.nodeIds = details.nodeIds ?? [];
  }

  override toJSON(): ErrorJson {
    const { nodeIds } = this;
    return { ...super.toJSON(), ...(nodeIds.length === 0 ? {} : { nodeIds }) };
  }
}

/** A store is missing, has failed, or contains corrupt records. */
export class StoreError extends NgraphError<StoreErrorCode> {}

/** A table has an invalid shape, or does not match its digest. */
export class TableError extends NgraphError<TableErrorCode> {}

/**
 * Replaces a thrown value on which `instanceof` throws (a revoked proxy, or one with a `getPrototypeOf` trap): the code that
 * handles the error tests it with `instanceof`.
 */
export function inspectable(thrown: unknown): unknown {
  try {
    void (thrown instanceof Error);
    return thrown;
  } catch {
    return new Error("it threw something that cannot be shown");
  }
}
