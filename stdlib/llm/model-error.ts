import { readRetryAfter } from "../http/retry-after.ts";
import { NodeFailure } from "../node-failure.ts";
import { cut, RETRYABLE_STATUSES } from "../nodes/http.ts";
import type { Sdk, SdkApiError } from "./sdk.ts";

/** How a call of a model failed: `error.name` in graphs. */
export type ModelErrorKind =
  | "MissingModelKey"
  | "ModelRefusal"
  | "ModelRateLimit"
  | "ModelStreamCut"
  | "ModelBadAnswer"
  | "ModelContextOverflow"
  | "ModelAnswerTooLong"
  | "ModelTooManySteps"
  | "ModelRequestRefused"
  | "ModelUnavailable";

/** Kinds of failures for which the same request can succeed later. */
const RETRYABLE: ReadonlySet<ModelErrorKind> = new Set([
  "ModelRateLimit",
  "ModelStreamCut",
  "ModelBadAnswer",
  "ModelUnavailable",
]);

/** A failed call of a model. */
export class ModelError extends NodeFailure {
  /** The earliest time for another attempt, in milliseconds from now: what the server has sent as `retry-after`. */
  readonly retryAfterMs: number | undefined;

  constructor(
    kind: ModelErrorKind,
    message: string,
    options: { readonly status?: number; readonly retryAfterMs?: number | undefined; readonly cause?: unknown } = {},
  ) {
    const { status, retryAfterMs } = options;
    super(message, {
      retryable: RETRYABLE.has(kind),
      ...(status === undefined ? {} : { details: { status } }),
      ...("cause" in options ? { cause: options.cause } : {}),
    });
    this.name = kind;
    this.retryAfterMs = retryAfterMs;
  }
}

/** What an error message may contain of the request. */
export interface Described {
  /** The model in messages. */
  readonly what: string;
  /** Removes secrets from a text. */
  readonly redact: (text: string) => string;
  readonly provider: string;
  /** Whether a part of the answer has arrived. */
  readonly hasBegun: boolean;
}

/** The typed error for what the SDK has thrown. */
export function modelError(error: unknown, sdk: Sdk, described: Described): ModelError {
  // The SDK wraps the errors of its requests.
  for (let cause = error, depth = 0; depth < 4 && cause instanceof Error; depth++) {
    if (cause instanceof ModelError) return cause;
    cause = cause.cause;
  }
  const { what, redact, hasBegun } = described;
  if (!hasBegun && isForeign(error)) return foreignAnswer(what, described.provider);
  if (sdk.APICallError.isInstance(error)) {
    if (error.statusCode !== undefined && (error.statusCode < 200 || error.statusCode > 299))
      return statusError(error, error.statusCode, described);
  } else if (sdk.LoadAPIKeyError.isInstance(error)) {
    return new ModelError("MissingModelKey", `${what} needs an API key: ${redact(messageOf(error))}`);
  }
  const overflow = overflowOf(messageOf(error), described);
  if (overflow !== undefined) return overflow;
  const reason = cut(redact(reasonOf(error)), 300);
  if (/ended without a finish/.test(reason))
    return new ModelError("ModelStreamCut", `the answer of ${what} broke off before its end`);
  // The error holds the request and its headers, so it is no `cause`.
  return hasBegun
    ? new ModelError("ModelStreamCut", `the answer of ${what} broke off: ${reason}`)
    : new ModelError("ModelUnavailable", `${what} cannot be reached: ${reason}`);
}

/** The error for an answer that is not one of the provider's protocol, such as a page of a web server. */
export function foreignAnswer(what: string, provider: string): ModelError {
  return new ModelError(
    "ModelUnavailable",
    `the server of ${what} answered, but not in the protocol of the provider \`${provider}\`: check \`provider\` and \`baseUrl\``,
  );
}

/** The SDK's errors for answers that it cannot read. */
const FOREIGN = /^AI_(?:JSONParse|TypeValidation|InvalidResponseData)Error$/;

/** The provider of Anthropic reports such an error as a response with the status 500 and this text. */
const FOREIGN_BODY = /^\{"name":"AI_(?:JSONParse|TypeValidation)Error"/;

function isForeign(error: unknown): boolean {
  for (let cause = error, depth = 0; depth < 4 && cause instanceof Error; depth++) {
    if (FOREIGN.test(cause.name)) return true;
    if ("responseBody" in cause && FOREIGN_BODY.test(String(cause.responseBody))) return true;
    cause = cause.cause;
  }
  return false;
}

function statusError(error: SdkApiError, status: number, described: Described): ModelError {
  const { what, redact } = described;
  const body = (error.responseBody ?? "").trim();
  const reason = cut(redact(messageIn(body) ?? (body === "" ? error.message : body)), 300);
  const message = `${what} answered ${status}: ${reason}`;
  if (status === 401 || status === 403)
    return new ModelError("MissingModelKey", `${message}; check the API key`, { status });
  const retryAfterMs = readRetryAfter(error.responseHeaders ?? {}, Date.now());
  if (status === 429 || status === 529) return new ModelError("ModelRateLimit", message, { status, retryAfterMs });
  if (status === 413 || OVERFLOW.test(body))
    return new ModelError("ModelContextOverflow", `${message}; shorten the messages`, { status });
  return RETRYABLE_STATUSES.has(status) || status >= 500
    ? new ModelError("ModelUnavailable", message, { status, retryAfterMs })
    : new ModelError("ModelRequestRefused", message, { status });
}

/** Messages of servers about prompts that are too long. */
const OVERFLOW =
  /context[ _-]?(?:length|window)|maximum context|prompt is too long|too many (?:input )?tokens|input (?:token count|length).{0,40}exceed/i;

function overflowOf(text: string, { what, redact }: Described): ModelError | undefined {
  if (!OVERFLOW.test(text)) return undefined;
  return new ModelError("ModelContextOverflow", `${what}: ${cut(redact(text), 300)}; shorten the messages`);
}

function messageIn(body: string): string | undefined {
  try {
    const document = JSON.parse(body) as {
      readonly error?: { readonly message?: unknown };
      readonly message?: unknown;
    };
    const message = document.error?.message ?? document.message;
    return typeof message === "string" ? message : undefined;
  } catch {
    return undefined;
  }
}

/** The reason of a failed request is in the error's `cause`. */
function reasonOf(error: unknown): string {
  let reason = messageOf(error);
  let cause = error instanceof Error ? error.cause : undefined;
  for (let depth = 0; depth < 3 && cause instanceof Error; depth++) {
    if (cause.message !== "") reason = cause.message;
    cause = cause.cause;
  }
  return reason;
}

function messageOf(error: unknown): string {
  if (error instanceof Error) return error.message;
  if (typeof error === "object" && error !== null) return messageIn(JSON.stringify(error)) ?? JSON.stringify(error);
  return String(error);
}
