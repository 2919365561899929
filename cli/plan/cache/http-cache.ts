/**
 * A shared cache with the protocol of Turborepo's remote cache: `GET` and `PUT /v8/artifacts/KEY` with a bearer token. The query of the
 * address (`?teamId=…`, `?slug=…`) is part of each request.
 */
import { createReadStream, createWriteStream, statSync } from "node:fs";
import { request as httpRequest, type IncomingMessage, type RequestOptions } from "node:http";
import { request as httpsRequest } from "node:https";
import { Transform } from "node:stream";
import { pipeline } from "node:stream/promises";
import { CommandError } from "../../process/command-error.ts";
import type { SharedCache } from "./shared-cache.ts";

/** The largest archive that is taken from a shared cache or stored there. */
export const MOST_ARCHIVE_BYTES = 4 * 1024 ** 3;

/** Without a byte for so long, a request has failed. */
const IDLE_MS = 15_000;
const WHOLE_MS = 10 * 60_000;
const LOOPBACK = /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/;

/** @throws CommandError for an address that is not one, or that would show the token */
export function openHttpCache(
  text: string,
  token: string | undefined,
  { idle = IDLE_MS, whole = WHOLE_MS }: { readonly idle?: number; readonly whole?: number } = {},
): SharedCache {
  const base = URL.canParse(text) ? new URL(text) : undefined;
  if (base === undefined)
    throw new CommandError("--shared-cache: the text is not an address", { help: "write `https://host/path`" });
  if (base.username !== "" || base.password !== "") {
    throw new CommandError(`--shared-cache: the address of ${base.host} has a user or a password`, {
      help: "pass the token in the environment variable NGRAPH_CACHE_TOKEN",
    });
  }
  if (token !== undefined && base.protocol === "http:" && !LOOPBACK.test(base.hostname)) {
    throw new CommandError(`--shared-cache: NGRAPH_CACHE_TOKEN would be sent to ${base.host} without encryption`, {
      help: "use an `https` address",
    });
  }
  const headers = {
    "User-Agent": "ngraph",
    ...(token === undefined ? {} : { Authorization: `Bearer ${token}` }),
  };
  const send = async <T>(
    key: string,
    options: Pick<RequestOptions, "method" | "headers">,
    body: string | undefined,
    read: (response: IncomingMessage, signal: AbortSignal) => Promise<T>,
  ): Promise<T> => {
    const url = new URL(base);
    url.pathname = `${base.pathname.replace(/\/+$/, "")}/v8/artifacts/${key}`;
    const late = AbortSignal.timeout(whole);
    const send_ = url.protocol === "https:" ? httpsRequest : httpRequest;
    const request = send_(url, { ...options, headers: { ...headers, ...options.headers }, signal: late });
    let failure: Error | undefined;
    request.setTimeout(idle, () => request.destroy((failure = new Error(`no answer within ${idle / 1000} s`))));
    const answer = new Promise<IncomingMessage>((done, fail) => {
      request.once("response", done);
      request.on("error", fail);
    });
    // A server may refuse a body before it has all of it.
    const sent =
      body === undefined ? void request.end() : pipeline(createReadStream(body), request).catch(() => undefined);
    try {
      return await read(await answer, late);
    } catch (error) {
      if (failure !== undefined) throw failure;
      if (late.aborted) throw new Error(`no whole answer within ${whole / 1000} s`, { cause: error });
      if ((error as { code?: string }).code !== "ECONNRESET") throw error;
      throw new Error("it closed the connection before it had answered", { cause: error });
    } finally {
      request.destroy();
      await sent;
    }
  };
  return {
    name: base.host,
    get: (key, target) =>
      send(key, { method: "GET" }, undefined, async (response, signal) => {
        if (response.statusCode === 404) return undefined;
        if (response.statusCode !== 200) throw new Error(refusalOf(response));
        const length = response.headers["content-length"];
        let bytes = 0;
        const bounded = new Transform({
          transform(chunk: Uint8Array, _encoding, done) {
            bytes += chunk.byteLength;
            if (bytes > MOST_ARCHIVE_BYTES) done(new Error("it sends more than 4 GiB"));
            else done(null, chunk);
          },
        });
        await pipeline(response, bounded, createWriteStream(target), { signal });
        if (length !== undefined && bytes !== Number(length)) throw new Error("the answer is cut");
        const tag = response.headers["x-artifact-tag"];
        return { tag: typeof tag === "string" ? tag : undefined };
      }),
    put: (key, archive, tag) => {
      const { size } = statSync(archive);
      const sent = {
        "Content-Type": "application/octet-stream",
        "Content-Length": size,
        "x-artifact-duration": 0,
        ...(tag === undefined ? {} : { "x-artifact-tag": tag }),
      };
      return send(key, { method: "PUT", headers: sent }, archive, (response) => {
        const { statusCode = 0 } = response;
        if (statusCode < 200 || statusCode > 299) throw new Error(refusalOf(response));
        response.resume();
        return Promise.resolve();
      });
    },
  };
}

function refusalOf({ statusCode = 0 }: IncomingMessage): string {
  if (statusCode === 401 || statusCode === 403)
    return `it answers ${statusCode}: NGRAPH_CACHE_TOKEN is missing, wrong, or not allowed to do this`;
  if (statusCode >= 300 && statusCode <= 399) return `it answers ${statusCode}: redirections are not followed`;
  return `it answers ${statusCode}`;
}
