import { NgraphError } from "../runtime/interface/errors.ts";
import { describeError } from "../runtime/event/run-events.ts";

/** A problem document (RFC 9457). `code` is the code of the engine's error, or a name of the service's own. */
export interface ProblemDocument {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly detail: string;
  readonly code: string;
  /** NG_DRIFT: one line for each difference. A body that does not fit: one line for each field. */
  readonly details?: readonly string[];
}

/** The HTTP statuses of the service's own problems. */
const OWN = {
  "bad-request": [400, "The request cannot be read"],
  unauthorized: [401, "The request has no valid credentials"],
  forbidden: [403, "The operation is not permitted"],
  "not-found": [404, "There is no such resource"],
  "method-not-allowed": [405, "The resource does not have this method"],
  "not-acceptable": [406, "The resource has no such representation"],
  "not-running": [409, "Nothing runs that could be cancelled"],
  "no-test": [409, "The run makes no test"],
  "too-large": [413, "The body of the request is too large"],
  "unsupported-media-type": [415, "The body of the request is not JSON"],
  "misdirected-request": [421, "The service does not answer for this host"],
  "bad-field": [422, "A field of the request does not fit"],
  "key-reused": [422, "The idempotency key belongs to another request"],
  "too-many-requests": [429, "There are too many requests"],
  internal: [500, "The service has failed"],
  "too-busy": [503, "The service is at its limit"],
} as const satisfies Readonly<Record<string, readonly [number, string]>>;

export type ProblemCode = keyof typeof OWN;

/** The HTTP statuses of the engine's errors. All others are 500. */
const STATUSES: ReadonlyMap<string, readonly [number, string]> = new Map([
  ["NG_BAD_INPUT", [422, "A value of the request does not fit"]],
  ["NG_BAD_ANSWER", [422, "The answer does not fit"]],
  ["NG_UNKNOWN_THREAD", [404, "There is no such thread"]],
  ["NG_UNKNOWN_CHECKPOINT", [404, "There is no such checkpoint"]],
  ["NG_NOT_PAUSED", [409, "The thread does not wait"]],
  ["NG_THREAD_BUSY", [409, "The thread exists, or its last run has not ended"]],
  ["NG_THREAD_CONFLICT", [409, "Another runner holds the thread"]],
  ["NG_DRIFT", [409, "The thread does not fit the present graph"]],
  ["NG_MISSING_SECRET", [500, "The service lacks a secret of the graph"]],
  ["NG_DRAINED", [503, "The service is shutting down"]],
  ["NG_STORE_FAILED", [503, "The store has failed"]],
]);

/** A request that is refused: thrown by handlers, and sent as a problem document. */
export class Problem extends Error {
  readonly code: ProblemCode;
  readonly status: number;
  readonly details: readonly string[];
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    code: ProblemCode,
    detail: string,
    more: { readonly details?: readonly string[]; readonly headers?: Readonly<Record<string, string>> } = {},
  ) {
    super(detail);
    this.code = code;
    this.status = OWN[code][0];
    this.details = more.details ?? [];
    this.headers = more.headers ?? {};
  }
}

/** The problem document of anything thrown. An error that is not the engine's is not shown: it may hold data of the host. */
export function problemOf(error: unknown): ProblemDocument {
  if (error instanceof Problem) return documentOf(OWN[error.code], error.message, error.code, error.details);
  if (error instanceof NgraphError) {
    const known = STATUSES.get(error.code) ?? OWN.internal;
    const details = "details" in error && Array.isArray(error.details) ? (error.details as readonly string[]) : [];
    return documentOf(known, describeError(error), error.code, details);
  }
  return documentOf(OWN.internal, "the service has failed; its log has the reason", "internal", []);
}

function documentOf(
  [status, title]: readonly [number, string],
  detail: string,
  code: string,
  details: readonly string[],
): ProblemDocument {
  const type = `urn:ngraph:problem:${code}`;
  return { type, title, status, detail, code, ...(details.length === 0 ? {} : { details }) };
}

export function problemResponse(error: unknown): Response {
  const problem = problemOf(error);
  const more = error instanceof Problem ? error.headers : problem.status === 503 ? { "retry-after": "5" } : {};
  return new Response(JSON.stringify(problem), {
    status: problem.status,
    headers: { "content-type": "application/problem+json", "cache-control": "no-store", ...more },
  });
}

/** The codes of problems, for the OpenAPI document. */
export const PROBLEM_STATUSES: readonly number[] = [
  ...new Set([...Object.values(OWN), ...STATUSES.values()].map(([status]) => status)),
].sort((a, b) => a - b);
