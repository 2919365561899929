import type { ClientRequest, IncomingMessage, RequestOptions } from "node:http";
import type { LookupFunction } from "node:net";
import { NodeFailure } from "../node-failure.ts";
import { isPublicAddress } from "./public-address.ts";

export interface PublicRequest {
  readonly method: string;
  readonly headers: Headers;
  readonly body?: string;
  readonly signal: AbortSignal;
}

/**
 * Like `fetch` with `redirect: "manual"`, but connects to public addresses only. The check is part of the lookup that the
 * connection uses, so a name that resolves to another address later (DNS rebinding) does not pass it.
 */
export async function fetchPublic(url: URL, { method, headers, body, signal }: PublicRequest): Promise<Response> {
  if (typeof process === "undefined" || typeof process.getBuiltinModule !== "function") {
    throw new NodeFailure("`private: false` needs Node, which can see the address of a connection", {
      retryable: false,
    });
  }
  const refusal = new NodeFailure(
    `${url.host} has a private address, and \`private: false\` allows public addresses only`,
    { retryable: false },
  );
  const host = url.hostname.replace(/^\[(.*)\]$/, "$1");
  if (process.getBuiltinModule("node:net").isIP(host) !== 0 && !isPublicAddress(host)) throw refusal;
  const { request } = process.getBuiltinModule(url.protocol === "https:" ? "node:https" : "node:http");
  const sent = new Headers({ accept: "*/*", "user-agent": "node" });
  for (const [name, value] of headers) sent.set(name, value);
  // Decoding is possible below, but an answer that is not encoded needs none.
  sent.set("accept-encoding", "identity");
  const bytes = body === undefined ? undefined : new TextEncoder().encode(body);
  if (bytes !== undefined) {
    if (!sent.has("content-type")) sent.set("content-type", "text/plain;charset=UTF-8");
    sent.set("content-length", String(bytes.byteLength));
  }
  const options: RequestOptions = {
    method,
    headers: Object.fromEntries(sent),
    agent: false,
    signal,
    lookup: lookupPublic(refusal),
  };
  const message = await new Promise<IncomingMessage>((resolve, reject) => {
    const outgoing: ClientRequest = request(url, options, resolve);
    outgoing.once("socket", (socket) => {
      socket.once("connect", () => {
        const { remoteAddress } = socket;
        if (remoteAddress === undefined || !isPublicAddress(remoteAddress)) socket.destroy(refusal);
      });
    });
    outgoing.once("error", (error) => reject(signal.aborted ? signal.reason : error));
    outgoing.end(bytes);
  });
  return toResponse(message, method);
}

/** A lookup that finds public addresses only. */
export function lookupPublic(refusal: Error): LookupFunction {
  return (hostname, options, callback) => {
    const { lookup } = process.getBuiltinModule("node:dns");
    lookup(hostname, { ...options, all: true }, (error, found) => {
      if (error !== null) return callback(error, "", 0);
      const addresses = found.filter(({ address }) => isPublicAddress(address));
      const [first] = addresses;
      if (first === undefined) callback(refusal as NodeJS.ErrnoException, "", 0);
      else if (options.all === true) callback(null, addresses);
      else callback(null, first.address, first.family);
    });
  };
}

function toResponse(message: IncomingMessage, method: string): Response {
  const headers = new Headers();
  for (let at = 0; at + 1 < message.rawHeaders.length; at += 2) {
    headers.append(message.rawHeaders[at] ?? "", message.rawHeaders[at + 1] ?? "");
  }
  const { statusCode: status = 0, statusMessage: statusText = "" } = message;
  if (status < 200 || status > 599) {
    message.destroy();
    throw new NodeFailure(`the server answered with the status ${status}`, { retryable: false });
  }
  const isEmpty = method === "HEAD" || status === 204 || status === 205 || status === 304;
  if (isEmpty) message.resume();
  const body = isEmpty ? null : decoded(message, headers.get("content-encoding"));
  return new Response(body, { status, statusText: /^[\t\x20-\x7e]*$/.test(statusText) ? statusText : "", headers });
}

function decoded(message: IncomingMessage, encoding: string | null): ReadableStream {
  const { Readable, pipeline } = process.getBuiltinModule("node:stream");
  const { createBrotliDecompress, createGunzip, createInflate } = process.getBuiltinModule("node:zlib");
  const decoders = { br: createBrotliDecompress, gzip: createGunzip, "x-gzip": createGunzip, deflate: createInflate };
  const name = (encoding ?? "identity").trim().toLowerCase();
  const create = Object.hasOwn(decoders, name) ? decoders[name as keyof typeof decoders] : undefined;
  if (create === undefined && name !== "identity" && name !== "") {
    message.destroy();
    throw new NodeFailure("the response has an encoding that was not asked for", { retryable: false });
  }
  // `pipeline` reports errors to the reader of its last stream.
  const stream = create === undefined ? message : pipeline(message, create(), () => undefined);
  return Readable.toWeb(stream) as ReadableStream;
}
