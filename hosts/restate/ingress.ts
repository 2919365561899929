import { StoreError } from "../../runtime/interface/errors.ts";
import type { PostText } from "./node-request.ts";
import { readAddress } from "./server-address.ts";
import { readAnswer, type Answer } from "./wire-error.ts";
import { detailOf, unknownService } from "./admin.ts";
import { inTime, TooLate } from "./in-time.ts";

export interface IngressOptions {
  /** The address of Restate's ingress: `http://localhost:8080`. A user and a password in it are sent as `authorization: Basic`. */
  readonly url: string;
  /**
   * The address of Restate's administration, which listings of threads ask. Default: port 9070 of the ingress. Only clients need it.
   */
  readonly admin?: string;
  /** Headers of every request: an `authorization` of Restate Cloud, for example. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Default: the `fetch` of the host. */
  readonly fetch?: typeof fetch;
}

export interface CallOptions {
  /** Restate executes calls with the same key once, and returns the result of that call. */
  readonly idempotencyKey?: string;
  /** Calls a second time if the connection fails. Only for calls that may be executed twice, or that have a key. */
  readonly repeat?: boolean;
  /** With `repeat`: does not give up while Restate cannot be reached, until `signal` aborts. */
  readonly isPatient?: boolean;
  /** For `send`: milliseconds until the call begins. */
  readonly delay?: number;
  readonly signal?: AbortSignal;
  /** Milliseconds, all attempts together, until the call is given up. Restate may still execute it. */
  readonly within?: number;
}

/** Milliseconds until a client gives up a call that is not a run. Longer than the attempts while a server is restarted. */
export const CALL_MS = 45_000;

/** Calls the handlers of Restate's services over its ingress. */
export class Ingress {
  readonly #url: string;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #fetch: PostText;
  #hasAnswered = false;

  /** @param post how requests are made. Default: with `fetch` */
  constructor(options: IngressOptions, post?: PostText) {
    const { address, authorization } = readAddress(options.url);
    this.#url = address;
    this.#headers = { ...(authorization && { authorization }), ...options.headers };
    this.#fetch = options.fetch ?? post ?? ((input, init) => fetch(input, init));
  }

  /**
   * Calls a handler and returns its value.
   *
   * @throws NgraphError the error that the handler has returned; StoreError NG_STORE_FAILED if Restate does not answer
   */
  async call<T>(path: readonly string[], input: object, options: CallOptions = {}): Promise<T> {
    const answer = parse(await this.#post(path, input, options));
    if (answer === undefined || !("value" in answer || "error" in answer)) throw isOther(this.#url, 200);
    return readAnswer(answer as unknown as Answer<T>);
  }

  /** Starts a call, and does not wait for its result. Returns the id of the invocation: with a key, that of the first such call. */
  async send(path: readonly string[], input: object, options: CallOptions = {}): Promise<string> {
    const invocation = parse(await this.#post([...path, "send"], input, options))?.["invocationId"];
    if (typeof invocation !== "string") throw isOther(this.#url, 200);
    return invocation;
  }

  /** Makes sure that a server listens, before the first call: that may wait for hours, or for a worker. @throws StoreError NG_STORE_FAILED */
  async reach(path: readonly string[]): Promise<void> {
    path.forEach(encodePart);
    if (this.#hasAnswered) return;
    for (let attempt = 1; ; attempt++) {
      try {
        // The answer to the call shows whether it is another server.
        await inTime(REACH_MS, undefined, async (signal) =>
          (await this.#fetch(`${this.#url}/restate/health`, { method: "GET", headers: this.#headers, signal })).text(),
        );
        return;
      } catch (cause) {
        if (attempt >= FIRST_ATTEMPTS || cause instanceof TooLate) throw unreachable(this.#url, cause);
      }
      await new Promise((resolve) => setTimeout(resolve, 50 * 2 ** attempt));
    }
  }

  async #post(path: readonly string[], input: object, options: CallOptions): Promise<string> {
    const { within, signal } = options;
    if (within === undefined) return this.#attempt(path, input, options);
    await this.reach(path);
    try {
      return await inTime(within, signal, (both) => this.#attempt(path, input, { ...options, signal: both }));
    } catch (error) {
      throw error instanceof TooLate ? tooLate(this.#url, path, within, error) : error;
    }
  }

  async #attempt(path: readonly string[], input: object, options: CallOptions): Promise<string> {
    const { idempotencyKey, signal, repeat = false, isPatient = false, delay } = options;
    const url = `${this.#url}/${path.map(encodePart).join("/")}${delay === undefined ? "" : `?delay=${delay}ms`}`;
    const init = {
      method: "POST",
      headers: {
        ...this.#headers,
        "content-type": "application/json",
        ...(idempotencyKey === undefined ? {} : { "idempotency-key": idempotencyKey }),
      },
      body: JSON.stringify(input),
      ...(signal === undefined ? {} : { signal }),
    };
    for (let attempt = 1; ; attempt++) {
      const start = performance.now();
      try {
        const response = await this.#fetch(url, init);
        const text = await response.text();
        const hasAnswered = this.#hasAnswered;
        if (response.ok) this.#hasAnswered = true;
        if (response.ok) return text;
        // A server that has just started does not know its services yet.
        const isStarting = response.status === 404 && hasAnswered && (isPatient || attempt < FIRST_ATTEMPTS);
        const isBusy = isStarting || response.status === 429 || response.status >= 500;
        // An error in code has the status 500, too.
        const isWaiting = isPatient && response.status !== 500;
        if (!isBusy || !repeat || (attempt >= ATTEMPTS && !isWaiting))
          throw refused(this.#url, path, response.status, text);
      } catch (cause) {
        if (cause instanceof StoreError || signal?.aborted === true) throw cause;
        // A client of HTTP gives up after minutes, although Restate still works on the call.
        const took = performance.now() - start;
        if (took > LONG_CALL) attempt = 0;
        // The connection was made, and lost.
        if (took > SHORT_CALL) this.#hasAnswered = true;
        const attempts = this.#hasAnswered ? ATTEMPTS : FIRST_ATTEMPTS;
        if (!repeat || (attempt >= attempts && !isPatient)) throw unreachable(this.#url, cause);
      }
      await new Promise((resolve) => setTimeout(resolve, Math.min(50 * 2 ** Math.min(attempt, 10), 2000)));
      signal?.throwIfAborted();
    }
  }
}

/** @throws StoreError NG_STORE_FAILED for a name that no URL can contain */
function encodePart(part: string): string {
  if (part !== "" && part !== "." && part !== ".." && !/\p{Cs}/u.test(part)) return encodeURIComponent(part);
  const message = `${JSON.stringify(part)} cannot be the name of a thread in Restate: names are parts of URLs; choose another one`;
  throw new StoreError("NG_STORE_FAILED", message);
}

/** About half a minute: a server that is restarted is back by then. */
const ATTEMPTS = 20;
/** An address that has never answered is probably wrong. */
const FIRST_ATTEMPTS = 5;
/** A call that took longer, in milliseconds, has reached a server. */
const SHORT_CALL = 100;
/** A call that took longer was accepted. */
const LONG_CALL = 10_000;
/** Milliseconds until a server answers that it is there. */
const REACH_MS = 10_000;

/** Whether an error says that Restate could not be reached, or could not work: a later call may succeed. */
export function isUnavailable(error: unknown): boolean {
  for (let at = error; at instanceof Error; at = at.cause) if (unavailable.has(at)) return true;
  return false;
}

const unavailable = new WeakSet<Error>();

function refused(url: string, path: readonly string[], status: number, text: string): StoreError {
  const [service = ""] = path;
  if (status === 404) return parse(text)?.["message"] === undefined ? isOther(url, status) : unknownService(service);
  if (status === 401 || status === 403) {
    const message = `the server at ${url} refuses a call of \`${service}\` (status ${status}): give a user and a password in its address, \`http://USER:PASSWORD@host:8080\`, or an \`authorization\` header`;
    return new StoreError("NG_STORE_FAILED", message);
  }
  const message = `Restate refused a call of \`${service}\` (status ${status}): ${detailOf(text)}`;
  const error = new StoreError("NG_STORE_FAILED", message);
  if (status >= 500 || status === 429) unavailable.add(error);
  return error;
}

function isOther(url: string, status: number): StoreError {
  const message = `the server at ${url} is not the ingress of Restate (status ${status}): its usual port is 8080, and 9070 is the administration`;
  return new StoreError("NG_STORE_FAILED", message);
}

function unreachable(url: string, cause: unknown): StoreError {
  const message = `the Restate server at ${url} does not answer: check that it runs, and that the address is the one of its ingress`;
  const error = new StoreError("NG_STORE_FAILED", message, { cause });
  unavailable.add(error);
  return error;
}

function tooLate(url: string, [service = ""]: readonly string[], ms: number, cause: unknown): StoreError {
  const message = `the call of \`${service}\` at ${url} has no answer after ${ms / 1000} seconds: check that workers of the graph run at the address that is deployed. Restate keeps a call that it has received, and may still execute it`;
  const error = new StoreError("NG_STORE_FAILED", message, { cause });
  unavailable.add(error);
  return error;
}

/** The object that a text is in JSON. */
function parse(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? (value as Readonly<Record<string, unknown>>) : undefined;
  } catch {
    return undefined;
  }
}
