/** Questions to the administration of Restate, which reads the state of all objects of a service. */
import { StoreError } from "../../runtime/interface/errors.ts";
import type { IngressOptions } from "./ingress.ts";
import { readAddress } from "./server-address.ts";
import type { ServiceNames } from "./service-names.ts";
import type { ScanThreads, ThreadText } from "./store/list-threads.ts";
import { keyOf, PLACE_DIGITS } from "./store/rows.ts";
import { inTime } from "./in-time.ts";

/** The usual address of the administration beside an ingress. */
export function adminBeside(ingress: string): string {
  const url = new URL(ingress);
  url.port = "9070";
  return url.href.replace(/\/+$/, "");
}

interface AdminAnswer {
  readonly status: number;
  readonly body: string;
}

/** Asks the administration of Restate. */
export class Admin {
  readonly address: string;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #fetch: typeof fetch;

  constructor({ url, admin, headers, fetch: given }: IngressOptions) {
    const { address, authorization } = readAddress(
      admin ?? adminBeside(url),
      "give its administration as `http://host:9070`",
    );
    this.address = address;
    this.#headers = { ...(authorization && { authorization }), ...headers, accept: "application/json" };
    this.#fetch = given ?? fetch;
  }

  /** @throws StoreError NG_STORE_FAILED if it does not answer */
  get(path: string): Promise<AdminAnswer> {
    return this.#ask(path, { headers: this.#headers });
  }

  /** @throws StoreError NG_STORE_FAILED if it does not answer */
  post(path: string, body: object): Promise<AdminAnswer> {
    const headers = { ...this.#headers, "content-type": "application/json" };
    return this.#ask(path, { method: "POST", headers, body: JSON.stringify(body) });
  }

  async #ask(path: string, init: RequestInit): Promise<AdminAnswer> {
    try {
      return await inTime(ANSWER_MS, undefined, async (signal) => {
        const response = await this.#fetch(`${this.address}${path}`, { ...init, signal });
        return { status: response.status, body: await response.text() };
      });
    } catch (cause) {
      const message = `the administration of Restate at ${this.address} does not answer: name its address with \`--admin\`, or \`admin\` of \`restate\``;
      throw new StoreError("NG_STORE_FAILED", message, { cause });
    }
  }

  /** The error for an answer that the administration of Restate does not give. */
  refused(what: string, { status, body }: AdminAnswer): StoreError {
    const isOther = status < 300 || status === 404 || status === 405 || body.includes('"source":"ingress"');
    const isDenied = status === 401 || status === 403;
    const whose = isOther ? "the server" : "the administration of Restate";
    const why = isOther
      ? "it is not the administration of Restate, whose usual port is 9070"
      : isDenied
        ? "give a user and a password in its address, or an `authorization` header"
        : detailOf(body);
    const message = `${whose} at ${this.address} ${what} (status ${status}): ${why}`;
    return new StoreError("NG_STORE_FAILED", message);
  }
}

/** Milliseconds. A listing of many threads, or a deployment whose workers do not answer, takes a while. */
const ANSWER_MS = 60_000;

/** The message of an error of Restate, or the text itself where it is none. */
export function detailOf(text: string): string {
  try {
    const { message } = JSON.parse(text) as { readonly message?: unknown };
    return (typeof message === "string" ? message : text).slice(0, 500);
  } catch {
    return text.slice(0, 500);
  }
}

/** Reads the rows of the threads of a graph. */
export function scanThreads(options: IngressOptions, names: ServiceNames): ScanThreads {
  const admin = new Admin(options);
  return async ({ after, before, limit }) => {
    // The texts of rows begin with their place, which has a fixed length.
    const place = `left(value_utf8, ${PLACE_DIGITS})`;
    const isBefore = `(${place} < '${before.place}' OR ${place} = '${before.place}' AND service_key < ${literal(before.thread)})`;
    const rows = await query(
      `SELECT service_key, value_utf8 FROM state WHERE service_name = '${names.store}' AND key = '${keyOf.thread}'` +
        ` AND ${place} > '${after}' AND ${isBefore} ORDER BY ${place} DESC, service_key DESC LIMIT ${limit}`,
    );
    if (rows.length === 0) await checkService();
    return rows.map((row): ThreadText => {
      const { service_key: thread, value_utf8: text } = row as { readonly service_key: string; value_utf8: string };
      return { thread, text };
    });
  };

  async function query(text: string): Promise<readonly unknown[]> {
    for (let attempt = 1; ; attempt++) {
      const answer = await admin.post("/query", { query: text });
      const rows = answer.status === 200 ? rowsOf(answer.body) : undefined;
      if (rows !== undefined) return rows;
      // A node that has just started does not know yet where the state is.
      if (answer.status < 500 || attempt >= ATTEMPTS) throw admin.refused("cannot list threads", answer);
      await new Promise((resolve) => setTimeout(resolve, 100 * attempt));
    }
  }

  /** Distinguishes a deployed graph without threads from a graph that is not deployed. */
  async function checkService(): Promise<void> {
    const { status } = await admin.get(`/services/${names.store}`);
    if (status !== 404) return;
    throw unknownService(names.store);
  }
}

/** The error for a service that no worker has. */
export function unknownService(service: string): StoreError {
  const message = `Restate knows no service \`${service}\`: start a worker with the graph, and register it with \`ngc deploy\``;
  return new StoreError("NG_STORE_FAILED", message);
}

function literal(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}

/** Questions until the administration is given up, over about five seconds. */
const ATTEMPTS = 10;

function rowsOf(body: string): readonly unknown[] | undefined {
  try {
    const { rows } = JSON.parse(body) as { readonly rows?: unknown };
    return Array.isArray(rows) ? rows : undefined;
  } catch {
    return undefined;
  }
}
