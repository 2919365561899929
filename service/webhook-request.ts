import { fetchPublic } from "../stdlib/http/fetch-public.ts";
import { isPublicAddress } from "../stdlib/http/public-address.ts";
import { readRetryAfter } from "../stdlib/http/retry-after.ts";
import type { RunStatus } from "../runtime/interface/engine-options.ts";
import { eitherSignal } from "../runtime/run/either-signal.ts";

/** An address that receives a signed request for each pause and each end of a run. */
export interface Webhook {
  /** An `https:` address; `http:` with `private` only. */
  readonly url: string;
  /**
   * The key of the signatures, as the Standard Webhooks specification writes it: `whsec_` and base64 of 24 to 64 bytes. Several
   * keys, of which each signs the request, allow a change of keys.
   */
  readonly secret: string | readonly string[];
  /** The statuses that are sent. Default: all. */
  readonly statuses?: readonly RunStatus[];
  /** Permits private addresses (`localhost`, `10.0.0.1`), which are refused otherwise, and `http:`. */
  readonly private?: boolean;
}

/** A webhook whose options have been checked. */
export interface CheckedWebhook {
  readonly url: URL;
  readonly keys: readonly Uint8Array<ArrayBuffer>[];
  readonly statuses: ReadonlySet<string> | undefined;
  readonly isPrivate: boolean;
}

/** @throws RangeError for an address or a key that cannot be used; its message does not contain the key */
export function checkWebhook({ url: text, secret, statuses, private: isPrivate = false }: Webhook): CheckedWebhook {
  if (!URL.canParse(text)) throw new RangeError("the address of a webhook is not a URL");
  const url = new URL(text);
  if (url.protocol !== "https:" && !(url.protocol === "http:" && isPrivate)) {
    throw new RangeError(`the address of a webhook begins with https:, not ${url.protocol}`);
  }
  if (url.username !== "" || url.password !== "") {
    throw new RangeError("the address of a webhook has no password: the signature authenticates the request");
  }
  const host = url.hostname.replace(/^\[(.*)\]$/, "$1");
  if (!isPrivate && (isLocalName(host) || (isAddress(host) && !isPublicAddress(host)))) {
    throw new RangeError(`the webhook at ${url.host} has a private address`);
  }
  const keys = (typeof secret === "string" ? [secret] : secret).map(readKey);
  if (keys.length === 0) throw new RangeError("a webhook has a key");
  return { url, keys, statuses: statuses && new Set(statuses), isPrivate };
}

function isLocalName(host: string): boolean {
  return /(?:^|\.)localhost\.?$/i.test(host);
}

/** The parser of URLs has brought all spellings of an IPv4 address to this one. */
function isAddress(host: string): boolean {
  return host.includes(":") || /^\d+\.\d+\.\d+\.\d+$/.test(host);
}

function readKey(secret: string): Uint8Array<ArrayBuffer> {
  const [, text] = /^whsec_([A-Za-z0-9+/]+={0,2})$/.exec(secret) ?? [];
  try {
    const bytes = Uint8Array.from(atob(text ?? ""), (character) => character.charCodeAt(0));
    if (bytes.length >= 24 && bytes.length <= 64) return bytes;
  } catch {
    // Not base64.
  }
  throw new RangeError("the key of a webhook is `whsec_` and base64 of 24 to 64 bytes");
}

/** The signatures of a request (Standard Webhooks, version 1: HMAC-SHA256). */
export async function signatureOf(
  keys: readonly Uint8Array<ArrayBuffer>[],
  id: string,
  seconds: number,
  body: string,
): Promise<string> {
  const content = new TextEncoder().encode(`${id}.${seconds}.${body}`);
  const algorithm = { name: "HMAC", hash: "SHA-256" };
  const signatures = keys.map(async (bytes) => {
    const key = await crypto.subtle.importKey("raw", bytes, algorithm, false, ["sign"]);
    const signature = new Uint8Array(await crypto.subtle.sign("HMAC", key, content));
    return `v1,${btoa(String.fromCharCode(...signature))}`;
  });
  return (await Promise.all(signatures)).join(" ");
}

/** A receiver that does not answer in this time has failed. */
const TIMEOUT_MS = 10_000;

/** What a receiver has answered. */
export interface Delivery {
  readonly status: number;
  readonly retryAfterMs: number | undefined;
}

/** Sends one request. The body of the answer is not read, and redirects are not followed. */
export async function sendWebhook(
  { url, keys, isPrivate }: CheckedWebhook,
  id: string,
  body: string,
  stop: AbortSignal,
): Promise<Delivery> {
  const seconds = Math.floor(Date.now() / 1000);
  const headers = new Headers({
    "content-type": "application/json",
    "user-agent": "ngraph",
    "webhook-id": id,
    "webhook-timestamp": String(seconds),
    "webhook-signature": await signatureOf(keys, id, seconds, body),
  });
  const signal = eitherSignal(stop, AbortSignal.timeout(TIMEOUT_MS));
  const response = isPrivate
    ? await fetch(url, { method: "POST", headers, body, signal, redirect: "manual" })
    : await fetchPublic(url, { method: "POST", headers, body, signal });
  void response.body?.cancel().catch(() => undefined);
  return {
    status: response.status,
    retryAfterMs: readRetryAfter(Object.fromEntries(response.headers), Date.now()),
  };
}
