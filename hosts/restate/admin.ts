/** Questions to the administration of Restate, which reads the state of all objects of a service. */
import { StoreError } from "../../runtime/interface/errors.ts";
import type { IngressOptions } from "./ingress.ts";
import { readAddress } from "./server-address.ts";
import type { ServiceNames } from "./service-names.ts";
import type { ScanThreads, ThreadText } from "./store/list-threads.ts";
import { keyOf, PLACE_DIGITS } from "./store/rows.ts";

/** The usual address of the administration beside an ingress. */
export function adminBeside(ingress: string): string {
  const url = new URL(ingress);
  url.port = "9070";
  return url.href.replace(/\/+$/, "");
}

/** Reads the rows of the threads of a graph. */
export function scanThreads({ url, admin, headers, fetch: given }: IngressOptions, names: ServiceNames): ScanThreads {
  const example = "give its administration as `http://host:9070`";
  const { address, authorization } = readAddress(admin ?? adminBeside(url), example);
  return async ({ after, before, limit }) => {
    // The texts of rows begin with their place, which has a fixed length.
    const place = `left(value_utf8, ${PLACE_DIGITS})`;
    const isBefore = `(${place} < '${before.place}' OR ${place} = '${before.place}' AND service_key < ${literal(before.thread)})`;
    const rows = await query(
      `SELECT service_key, value_utf8 FROM state WHERE service_name = '${names.store}' AND key = '${keyOf.thread}'` +
        ` AND ${place} > '${after}' AND ${isBefore} ORDER BY ${place} DESC, service_key DESC LIMIT ${limit}`,
    );
    return rows.map((row): ThreadText => {
      const { service_key: thread, value_utf8: text } = row as { readonly service_key: string; value_utf8: string };
      return { thread, text };
    });
  };

  async function query(text: string): Promise<readonly unknown[]> {
    for (let attempt = 1; ; attempt++) {
      const { status, body } = await ask(text);
      const rows = status === 200 ? rowsOf(body) : undefined;
      if (rows !== undefined) return rows;
      // A node that has just started does not know yet where the state is.
      if (status >= 500 && attempt < ATTEMPTS) {
        await new Promise((resolve) => setTimeout(resolve, 100 * attempt));
        continue;
      }
      const detail = body.slice(0, 300);
      const message = `the administration of Restate at ${address} cannot list threads (status ${status}): ${detail}`;
      throw new StoreError("NG_STORE_FAILED", message);
    }
  }

  async function ask(text: string): Promise<{ readonly status: number; readonly body: string }> {
    try {
      const response = await (given ?? fetch)(`${address}/query`, {
        method: "POST",
        headers: {
          ...(authorization && { authorization }),
          ...headers,
          "content-type": "application/json",
          accept: "application/json",
        },
        body: JSON.stringify({ query: text }),
      });
      return { status: response.status, body: await response.text() };
    } catch (cause) {
      const message = `the administration of Restate at ${address} does not answer: threads are listed there; name its address`;
      throw new StoreError("NG_STORE_FAILED", message, { cause });
    }
  }
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
