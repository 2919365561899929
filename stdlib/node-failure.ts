/**
 * What the built-in nodes throw. `retryable: false` tells the engine that another try cannot help (4.1); without it `tries`
 * applies.
 */
export class NodeFailure extends Error {
  readonly retryable: boolean;
  /** Facts for handlers that look at the cause: an exit code, a status. */
  readonly details: Readonly<Record<string, string | number>>;

  constructor(
    message: string,
    options: { retryable?: boolean; details?: Readonly<Record<string, string | number>>; cause?: unknown } = {},
  ) {
    super(message, "cause" in options ? { cause: options.cause } : undefined);
    this.name = "NodeFailure";
    this.retryable = options.retryable ?? true;
    this.details = options.details ?? {};
  }
}
