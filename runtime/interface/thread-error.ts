import { NgraphError, type ErrorJson, type ThreadErrorCode } from "./errors.ts";

type Cause = NonNullable<ConstructorParameters<typeof NgraphError>[2]>;

/** A thread is not in the state that the operation needs. */
export class ThreadError extends NgraphError<ThreadErrorCode> {
  readonly threadId: string;
  /** NG_DRIFT: one line for each part of the checkpoint that the new table does not have. */
  readonly details: readonly string[];

  constructor(
    code: ThreadErrorCode,
    threadId: string,
    message: string,
    details: Cause & { details?: readonly string[] } = {},
  ) {
    super(code, message, details);
    this.threadId = threadId;
    this.details = details.details ?? [];
  }

  override toJSON(): ErrorJson {
    const { threadId, details } = this;
    return { ...super.toJSON(), threadId, ...(details.length === 0 ? {} : { details }) };
  }
}
