/**
 * The error of the built-in nodes. With `retryable: false` the engine does not retry (4.1); otherwise `tries` applies.
 */
export class NodeFailure extends Error {
  readonly retryable: boolean;
  /** Data for error handlers: an exit code, an HTTP status. */
  readonly details: Readonly<Record<string, string | number>>;
  /** The HTTP status or the exit code: `error.status` in graphs. */
  readonly status: string | number | undefined;

  constructor(
    message: string,
    options: { retryable?: boolean; details?: Readonly<Record<string, string | number>>; cause?: unknown } = {},
  ) {
    super(message, "cause" in options ? { cause: options.cause } : undefined);
    this.name = "NodeFailure";
    this.retryable = options.retryable ?? true;
    this.details = options.details ?? {};
    this.status = this.details["status"] ?? this.details["code"];
  }
}
