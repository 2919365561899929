/**
 * Requests of a worker to the ingress. A worker makes several for each step and for each item: Node's own client takes half the time of
 * its `fetch`, and has no limit of time for answers that come when a node has finished.
 */
import { Agent as HttpAgent, request as requestHttp } from "node:http";
import { Agent as HttpsAgent, request as requestHttps } from "node:https";

/** The part of `fetch` that an ingress uses. */
export type PostText = (url: string, init: PostInit) => Promise<PostAnswer>;

export interface PostInit {
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly signal?: AbortSignal;
}

interface PostAnswer {
  readonly ok: boolean;
  readonly status: number;
  text(): Promise<string>;
}

const IDLE_MS = 4000;
/** Connections that are kept: the items of a wide step have one each. Node keeps 256. */
const MAX_IDLE = 2048;

/** Connections stay open between requests. */
export function createNodeRequest(): PostText {
  // A connection that was idle for longer may be closed by the server at the moment of the next request.
  const kept = { keepAlive: true, timeout: IDLE_MS, maxFreeSockets: MAX_IDLE };
  const agents = { http: new HttpAgent(kept), https: new HttpsAgent(kept) };
  return (url, { method, headers, body = "", signal }) =>
    new Promise((resolve, reject) => {
      if (signal?.aborted === true) {
        reject(signal.reason as Error);
        return;
      }
      const isSecure = url.startsWith("https:");
      const length = Buffer.byteLength(body);
      const options = { method, headers: { ...headers, "content-length": length } };
      const request = isSecure
        ? requestHttps(url, { ...options, agent: agents.https })
        : requestHttp(url, { ...options, agent: agents.http });
      const abort = (): void => void request.destroy(signal!.reason as Error);
      const end = (): void => signal?.removeEventListener("abort", abort);
      signal?.addEventListener("abort", abort, { once: true });
      const fail = (error: Error): void => {
        end();
        reject(error);
      };
      request.once("error", fail);
      request.once("response", (response) => {
        const chunks: Buffer[] = [];
        response.on("data", (chunk: Buffer) => chunks.push(chunk));
        response.once("error", fail);
        response.once("aborted", () => fail(new Error("the connection was closed before the answer was complete")));
        response.once("end", () => {
          end();
          const { statusCode: status = 0 } = response;
          const text = Buffer.concat(chunks).toString("utf8");
          resolve({ ok: status >= 200 && status < 300, status, text: async () => text });
        });
      });
      request.end(body);
    });
}
