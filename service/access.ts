import type { MaybePromise } from "../runtime/value/json.ts";
import { bearerOfSocket, isUpgrade } from "./event-socket.ts";
import { Problem } from "./problem.ts";

/** Who makes a request. */
export interface Principal {
  /** A stable name, for permissions, logs, rate limits and idempotency keys. */
  readonly name: string;
}

/** What a request wants to do. `read` covers state, history, events and listings. */
export type Action =
  "read" | "run" | "resume" | "signal" | "cancel" | "rollback" | "fork" | "update" | "migrate" | "label";

/** One use of a permission. */
export interface Access {
  readonly principal: Principal;
  readonly action: Action;
  readonly graph: string;
  /** `null` for operations on the graph itself. */
  readonly thread: string | null;
}

export interface AccessOptions {
  /** Bearer tokens by the name of their principal. Without tokens and `authenticate`, every request is permitted. */
  readonly tokens?: Readonly<Record<string, string>>;
  /** The principal of a request by other means; it is asked when no token fits. `undefined`: none. */
  readonly authenticate?: (request: Request) => MaybePromise<Principal | undefined>;
  /** Whether a principal may do something. Default: everything. */
  readonly authorize?: (access: Access) => MaybePromise<boolean>;
  /**
   * The host names that requests may name, without ports. A service that listens on a loopback address names `localhost` and
   * `127.0.0.1`: a web page that binds its own name to this address is refused. Default: all hosts.
   */
  readonly hosts?: readonly string[];
  /** Origins of other sites whose pages may call the service (CORS). Default: none. */
  readonly origins?: readonly string[];
}

const SAFE: ReadonlySet<string> = new Set(["GET", "HEAD", "OPTIONS"]);
const ANONYMOUS: Principal = { name: "anonymous" };

/** Checks who makes a request. */
export class Gatekeeper {
  readonly #options: AccessOptions;
  /** Hashes have one length, so their comparison takes one time. */
  readonly #tokens: Promise<readonly { readonly name: string; readonly hash: Uint8Array }[]>;

  constructor(options: AccessOptions) {
    this.#options = options;
    this.#tokens = Promise.all(
      Object.entries(options.tokens ?? {}).map(async ([name, token]) => ({ name, hash: await sha256(token) })),
    );
  }

  /** @throws Problem `misdirected-request` */
  checkHost(request: Request): void {
    const { hosts } = this.#options;
    if (hosts === undefined) return;
    const { hostname } = new URL(request.url);
    const name = hostname.replace(/^\[|\]$/g, "").toLowerCase();
    if (hosts.some((host) => host.toLowerCase() === name)) return;
    throw new Problem("misdirected-request", `the service does not answer for the host \`${name.slice(0, 100)}\``);
  }

  /**
   * Refuses requests of pages of other sites, which browsers send without a question if they have no body or open a WebSocket. A
   * page that has no token cannot add the header of one to such a request. The subprotocols of a WebSocket are the page's own
   * choice, so that the token in them has to be a known one.
   *
   * @throws Problem `forbidden`
   */
  async checkOrigin(request: Request): Promise<void> {
    const { headers, method, url } = request;
    const origin = headers.get("origin");
    if (origin === null || headers.get("authorization") !== null) return;
    if (SAFE.has(method) && !isUpgrade(request)) return;
    if (origin === new URL(url).origin || this.#options.origins?.includes(origin) === true) return;
    if ((await this.#ownerOf(request)) !== undefined) return;
    throw new Problem("forbidden", "pages of this origin may not call the service: `origins` names those that may");
  }

  /** @throws Problem `unauthorized` */
  async principalOf(request: Request): Promise<Principal> {
    const { tokens, authenticate } = this.#options;
    if (tokens === undefined && authenticate === undefined) return ANONYMOUS;
    const principal = (await this.#ownerOf(request)) ?? (await authenticate?.(request));
    if (principal !== undefined) return principal;
    const detail = tokenOf(request) === undefined ? "the request has no bearer token" : "the bearer token is not known";
    throw new Problem("unauthorized", detail, { headers: { "www-authenticate": 'Bearer realm="ngraph"' } });
  }

  /** The principal whose token a request has. */
  async #ownerOf(request: Request): Promise<Principal | undefined> {
    const token = tokenOf(request);
    if (token === undefined) return undefined;
    const hash = await sha256(token);
    // All tokens are compared, whichever fits.
    let name: string | undefined;
    for (const known of await this.#tokens) if (isEqual(known.hash, hash)) name ??= known.name;
    return name === undefined ? undefined : { name };
  }

  async permits(access: Access): Promise<boolean> {
    return (await this.#options.authorize?.(access)) ?? true;
  }
}

function tokenOf(request: Request): string | undefined {
  const text = request.headers.get("authorization") ?? (isUpgrade(request) ? bearerOfSocket(request) : null);
  return /^Bearer +([^\s]+) *$/i.exec(text ?? "")?.[1];
}

async function sha256(text: string): Promise<Uint8Array> {
  return new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text)));
}

/** The SHA-256 of a text, in hexadecimal digits. */
export async function digestOf(text: string): Promise<string> {
  return [...(await sha256(text))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

function isEqual(a: Uint8Array, b: Uint8Array): boolean {
  let difference = a.length ^ b.length;
  for (let index = 0; index < a.length; index++) difference |= a[index]! ^ b[index]!;
  return difference === 0;
}

/** Requests of each principal in a minute: a token bucket that holds the requests of one minute. */
export class RateLimit {
  readonly #perMinute: number;
  readonly #buckets = new Map<string, { tokens: number; time: number }>();

  constructor(perMinute: number) {
    this.#perMinute = perMinute;
  }

  /** @throws Problem `too-many-requests` with the seconds until the next request */
  take(name: string, now: number): void {
    const perMinute = this.#perMinute;
    const bucket = this.#buckets.get(name) ?? { tokens: perMinute, time: now };
    bucket.tokens = Math.min(perMinute, bucket.tokens + ((now - bucket.time) / 60_000) * perMinute);
    bucket.time = now;
    // The least recently used bucket is the first one. It is full again when its principal returns.
    this.#buckets.delete(name);
    this.#buckets.set(name, bucket);
    if (this.#buckets.size > 10_000) this.#buckets.delete(this.#buckets.keys().next().value!);
    if (bucket.tokens >= 1) {
      bucket.tokens--;
      return;
    }
    const seconds = Math.max(1, Math.ceil(((1 - bucket.tokens) * 60) / perMinute));
    throw new Problem("too-many-requests", `${perMinute} requests a minute are permitted: wait ${seconds} s`, {
      headers: { "retry-after": String(seconds) },
    });
  }
}
