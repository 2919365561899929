/**
 * The errors of the runtime: classes with a stable `code`, a message that says what to do next, and a `cause` if there
 * is one (interface.md, "Package"). Code that handles errors switches on `code`, never on the message.
 */

export type NodeErrorCode =
  "NG_NODE_FAILED" | "NG_NODE_TIMEOUT" | "NG_BAD_RESULT" | "NG_NO_ROUTE" | "NG_UNDECLARED_GOTO";
export type RunErrorCode =
  | "NG_CONCURRENT_WRITE"
  | "NG_REDUCER_FAILED"
  | "NG_BAD_INPUT"
  | "NG_MISSING_FUNCTION"
  | "NG_STEP_LIMIT"
  | "NG_CANCELLED"
  | "NG_EFFECT_DENIED"
  | "NG_DEADLOCK";
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

/** Base class of all errors of this package. */
export abstract class NgraphError<Code extends string = string> extends Error {
  readonly code: Code;

  constructor(code: Code, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.code = code;
    this.name = new.target.name;
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
    details: { attempts?: number; items?: readonly number[]; threadId?: string | undefined; cause?: unknown } = {},
  ) {
    super(code, message, "cause" in details ? { cause: details.cause } : undefined);
    this.nodeId = nodeId;
    this.attempts = details.attempts ?? 1;
    this.items = details.items ?? [];
    this.threadId = details.threadId;
  }
}

/** A run cannot start or continue, and no single node is the cause. */
export class RunError extends NgraphError<RunErrorCode> {
  /** The nodes at fault, if any: two writers of one channel, for example. */
  readonly nodeIds: readonly string[];

  constructor(code: RunErrorCode, message: string, details: { nodeIds?: readonly string[]; cause?: unknown } = {}) {
    super(code, message, "cause" in details ? { cause: details.cause } : undefined);
    this.nodeIds = details.nodeIds ?? [];
  }
}

/** A thread is not in the state that the operation needs. */
export class ThreadError extends NgraphError<ThreadErrorCode> {
  readonly threadId: string;
  /** NG_DRIFT: one line for each part of the checkpoint that the new table does not have. */
  readonly details: readonly string[];

  constructor(
    code: ThreadErrorCode,
    threadId: string,
    message: string,
    details: { details?: readonly string[]; cause?: unknown } = {},
  ) {
    super(code, message, "cause" in details ? { cause: details.cause } : undefined);
    this.threadId = threadId;
    this.details = details.details ?? [];
  }
}

/** A store is missing, has failed, or contains corrupt records. */
export class StoreError extends NgraphError<StoreErrorCode> {}

/** A table has an invalid shape, or does not match its digest. */
export class TableError extends NgraphError<TableErrorCode> {}
