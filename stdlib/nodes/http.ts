import type { BuiltinNode } from "../../runtime/interface/context.ts";
import type { Json } from "../../runtime/value/json.ts";
import { NodeFailure } from "../node-failure.ts";

/** Maximum size of a response. A larger one fails the node, because results are stored in checkpoints. */
export const MAX_BODY_BYTES = 10 * 1024 * 1024;

/** Statuses for which another attempt can succeed. */
export const RETRYABLE_STATUSES: ReadonlySet<number> = new Set([408, 425, 429, 500, 502, 503, 504]);

/**
 * `http("https://example.com/items", method: "POST", body: { name })`: one request. The result is `{ status, headers,
 * body, json }`: header names in lower case, the body as text, and its value where the response says that it is JSON
 * (`null` otherwise). A body that is not a string is sent as JSON. A status outside 200-299 fails the node unless
 * `check: false`. Time is limited by the node's `timeout`.
 */
export const http: BuiltinNode = async ({ url, method = "GET", headers = {}, body = null, check = true }, context) => {
  const target = parseUrl(String(url));
  const verb = String(method);
  // Query and credentials stay out of messages: they end up in logs.
  const what = `${verb} ${target.origin}${target.pathname}`;
  if (body !== null && (verb === "GET" || verb === "HEAD")) {
    throw new NodeFailure(`${what}: a ${verb} request has no body; use another method or leave \`body\` out`, {
      retryable: false,
    });
  }

  const { signal } = context;
  let response: Response;
  let text: string;
  try {
    response = await fetch(target, { method: verb, signal, ...requestBody(headers, body) });
    text = await readBounded(response, what);
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
    const excerpt = cut(text.trim(), 300);
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

function parseUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol !== "http:" && url?.protocol !== "https:") {
    throw new NodeFailure(
      `\`http\` needs an absolute http(s) URL, not ${JSON.stringify(cut(withoutCredentials(text), 200))}`,
      {
        retryable: false,
      },
    );
  }
  if (url.username !== "" || url.password !== "") {
    throw new NodeFailure(
      `\`http\` takes no user and password in a URL (of ${url.host}): send them in an \`Authorization\` header`,
      { retryable: false },
    );
  }
  return url;
}

/** Removes possible credentials and the query from a text that is no valid URL. */
function withoutCredentials(text: string): string {
  return text.replace(/[?#].*$/s, "").replace(/\/\/[^/]*@/g, "//***@");
}

/**
 * The beginning of a text. The `…` marks the cut: the redactor also replaces a part of a secret next to this mark.
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

/** Reads the text of a response. Fails if the response is larger than `MAX_BODY_BYTES`. */
export async function readBounded(response: Response, what: string): Promise<string> {
  if (response.body === null) return "";
  const decoder = new TextDecoder();
  const reader = response.body.getReader();
  let text = "";
  let bytes = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return text + decoder.decode();
    bytes += value.byteLength;
    if (bytes > MAX_BODY_BYTES) {
      await reader.cancel();
      throw new NodeFailure(`${what}: the response is larger than ${MAX_BODY_BYTES / 1024 / 1024} MiB`, {
        retryable: false,
      });
    }
    text += decoder.decode(value, { stream: true });
  }
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
