import type { BuiltinNode } from "../../runtime/interface/context.ts";
import type { Json } from "../../runtime/value/json.ts";
import { fetchPublic } from "../http/fetch-public.ts";
import { boundedBody } from "../http/bounded-fetch.ts";
import { readHosts } from "../http/hosts.ts";
import { NodeFailure } from "../node-failure.ts";

/** Maximum size of a response without the option `maxBytes`. A larger one fails the node, because results are stored in checkpoints. */
export const MAX_BODY_BYTES = 10 * 1024 * 1024;

/** Statuses for which another attempt can succeed. */
export const RETRYABLE_STATUSES: ReadonlySet<number> = new Set([408, 425, 429, 500, 502, 503, 504]);

/** Redirects that a request follows without the option `redirects`. */
export const MAX_REDIRECTS = 5;

/**
 * `http("https://example.com/items", method: "POST", body: { name })`: one request. The result is `{ status, headers,
 * body, json }`: header names in lower case, the body as text, and its value where the response says that it is JSON
 * (`null` otherwise). A body that is not a string is sent as JSON. A status outside 200-299 fails the node unless
 * `check: false`. A response of more than `maxBytes` fails the node. Time is limited by the node's `timeout`.
 *
 * At most `redirects` redirects are followed; with 0, the redirect is the response. A redirect to another origin gets none
 * of the `headers`, and a body only if `hosts` names its host. `hosts` lists the only hosts that are requested,
 * redirects included. With `private: false`, only public addresses are. The hosts that the engine's `allow` names restrict all
 * requests in the same way.
 */
export const http: BuiltinNode = async (
  {
    url,
    method = "GET",
    headers = {},
    body = null,
    check = true,
    redirects = MAX_REDIRECTS,
    hosts = null,
    maxBytes = MAX_BODY_BYTES,
    ...options
  },
  context,
) => {
  const target = parseUrl(String(url), "`http` needs an absolute http(s) URL, not", context.redact);
  const verb = String(method);
  const what = nameOf(verb, target);
  if (body !== null && (verb === "GET" || verb === "HEAD")) {
    throw new NodeFailure(`${what}: a ${verb} request has no body; use another method or leave \`body\` out`, {
      retryable: false,
    });
  }
  const limit = Number(maxBytes);
  if (!Number.isSafeInteger(limit) || limit < 0) {
    throw new NodeFailure(`${what}: \`maxBytes\` is a number of bytes from 0, not ${limit}`, { retryable: false });
  }

  const { signal } = context;
  let response: Response;
  let text: string;
  try {
    response = await follow({ url: target, method: verb, ...requestBody(headers, body) }, signal, {
      redirects: Number(redirects),
      isNamed: hosts === null ? undefined : readHosts(hosts),
      isAllowed: context.allowedHosts === undefined ? undefined : readHosts(context.allowedHosts),
      allowsPrivate: options["private"] !== false,
      redact: context.redact,
    });
    text = await readBounded(response, what, limit);
  } catch (error) {
    if (signal.aborted || error instanceof NodeFailure) throw error;
    throw new NodeFailure(
      `${what} failed: ${reasonOf(error).replaceAll(target.href, target.origin + target.pathname)}`,
      {
        cause: error,
      },
    );
  }

  if (check !== false && !response.ok) {
    const excerpt = cut(context.redact(text.trim()), 300);
    throw new NodeFailure(
      `${what} answered ${response.status}${response.statusText === "" ? "" : ` ${response.statusText}`}${excerpt === "" ? "" : `: ${excerpt}`}`,
      { retryable: RETRYABLE_STATUSES.has(response.status), details: { status: response.status } },
    );
  }
  return {
    status: response.status,
    headers: Object.fromEntries(response.headers),
    body: text,
    json: parseJson(response, text),
  };
};

/** A request in messages. Query and credentials stay out: messages end up in logs. */
function nameOf(method: string, url: URL): string {
  return `${method} ${url.origin}${url.pathname}`;
}

interface Request {
  readonly url: URL;
  readonly method: string;
  readonly headers: Headers;
  readonly body?: string;
}

interface Limits {
  readonly redirects: number;
  /** Whether `hosts` names the host of a URL; absent without the option. */
  readonly isNamed: ((url: URL) => boolean) | undefined;
  /** Whether the engine allows the host of a URL; absent if it allows any. */
  readonly isAllowed: ((url: URL) => boolean) | undefined;
  readonly allowsPrivate: boolean;
  readonly redact: (text: string) => string;
}

/** Sends a request and follows its redirects, after the rules of `fetch` and those of the options. */
async function follow(first: Request, signal: AbortSignal, limits: Limits): Promise<Response> {
  let request = first;
  for (let count = 0; ; count++) {
    const { url, method, headers, body } = request;
    const from = count === 0 ? "" : `${nameOf(first.method, first.url)} was redirected: `;
    if (limits.isNamed?.(url) === false) {
      throw new NodeFailure(`${from}\`hosts\` does not name ${url.host}`, { retryable: false });
    }
    if (limits.isAllowed?.(url) === false) {
      throw new NodeFailure(
        `${from}requests to ${url.host} are not allowed: \`allow\` does not name \`net:${url.host}\``,
        {
          retryable: false,
        },
      );
    }
    const init = { method, headers, signal, ...(body === undefined ? {} : { body }) };
    const response = await (limits.allowsPrivate
      ? fetch(url, { ...init, redirect: "manual" })
      : fetchPublic(url, init));
    const location = REDIRECTS.has(response.status) ? response.headers.get("location") : null;
    if (response.type === "opaqueredirect") {
      throw new NodeFailure(`${nameOf(method, url)} was redirected, which \`http\` follows on Node only`, {
        retryable: false,
      });
    }
    if (location === null || limits.redirects === 0) return response;
    await response.body?.cancel();
    if (count >= limits.redirects) {
      throw new NodeFailure(`${nameOf(first.method, first.url)} was redirected more than ${limits.redirects} times`, {
        retryable: false,
      });
    }
    request = redirected(request, response.status, location, limits);
  }
}

const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

function redirected(request: Request, status: number, location: string, { isNamed, redact }: Limits): Request {
  const { url, method, body } = request;
  const what = nameOf(method, url);
  const target = URL.canParse(location, url.href) ? new URL(location, url).href : location;
  const next = parseUrl(target, `${what} was redirected to an address that is not an http(s) URL:`, redact);
  const becomesGet = (status === 303 && method !== "HEAD") || ((status === 301 || status === 302) && method === "POST");
  const isSameOrigin = next.origin === url.origin;
  // Any header can be a credential, such as `X-Api-Key`.
  const headers = new Headers(isSameOrigin ? request.headers : {});
  if (becomesGet || body === undefined) {
    if (becomesGet) headers.delete("content-type");
    return { url: next, method: becomesGet ? "GET" : method, headers };
  }
  if (!isSameOrigin && isNamed === undefined) {
    throw new NodeFailure(
      `${what} was redirected to ${next.origin}, which would receive the body: name its host in \`hosts\` to allow it`,
      { retryable: false },
    );
  }
  const type = request.headers.get("content-type");
  if (type !== null) headers.set("content-type", type);
  return { url: next, method, headers, body };
}

function parseUrl(text: string, problem: string, redact: (text: string) => string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol !== "http:" && url?.protocol !== "https:") {
    throw new NodeFailure(`${problem} ${JSON.stringify(cut(redact(withoutCredentials(text)), 200))}`, {
      retryable: false,
    });
  }
  if (url.username !== "" || url.password !== "") {
    throw new NodeFailure(
      `\`http\` takes no user and password in a URL (of ${url.host}): send them in an \`Authorization\` header`,
      { retryable: false },
    );
  }
  return url;
}

/**
 * Removes possible credentials and the query from a text that is no valid URL. Where an `@`, a `?` or a `#` can belong to
 * either of them, nothing of the text remains.
 */
function withoutCredentials(text: string): string {
  const at = text.lastIndexOf("@");
  if (at === -1) return text.replace(/[?#].*$/s, "");
  return /[?#]/.test(text) ? "***" : `***${text.slice(at)}`;
}

/**
 * The beginning of a text, which has been redacted before. The redactor also replaces a part of a secret next to the `…`.
 */
export function cut(text: string, length: number): string {
  return text.length > length ? `${text.slice(0, length)}…` : text;
}

function requestBody(given: Json, body: Json): { headers: Headers; body?: string } {
  const headers = new Headers();
  if (typeof given === "object" && given !== null) {
    for (const [name, value] of Object.entries(given)) {
      try {
        headers.set(name, String(value));
      } catch (error) {
        // The value may be a secret, so the message contains only the name.
        throw new NodeFailure(`the header ${JSON.stringify(name)} is not one that can be sent`, {
          retryable: false,
          cause: error instanceof Error ? error.name : error,
        });
      }
    }
  }
  if (body === null) return { headers };
  if (typeof body === "string") return { headers, body };
  if (!headers.has("content-type")) headers.set("content-type", "application/json");
  return { headers, body: JSON.stringify(body) };
}

/** Reads the text of a response. Fails if the response is larger than `limit` bytes. */
async function readBounded(response: Response, what: string, limit: number): Promise<string> {
  if (response.body === null) return "";
  const size = limit === MAX_BODY_BYTES ? `${limit / 1024 / 1024} MiB` : `${limit} bytes`;
  const tooLarge = (): NodeFailure =>
    new NodeFailure(`${what}: the response is larger than ${size}`, { retryable: false });
  return new Response(boundedBody(response.body, limit, tooLarge)).text();
}

function parseJson(response: Response, text: string): Json {
  const type = response.headers.get("content-type") ?? "";
  if (!/^[^;]*[/+]json\s*(?:;|$)/i.test(type)) return null;
  try {
    return JSON.parse(text) as Json;
  } catch {
    return null;
  }
}

/** The reason of a failed `fetch`. It is in the error's `cause`; the message is only "fetch failed". */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { cause } = error;
  if (cause instanceof Error) {
    const code = "code" in cause && typeof cause.code === "string" ? cause.code : "";
    return cause.message === "" ? code || error.message : cause.message;
  }
  return error.message;
}
