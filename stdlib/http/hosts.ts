import type { Json } from "../../runtime/value/json.ts";
import { effectOfHost, isAllowed } from "../../runtime/table/effects.ts";
import { NodeFailure } from "../node-failure.ts";

/**
 * Reads the option `hosts` of `http`: `api.example.com`, `*.example.com` (every name below it), `localhost:8080`. A host
 * without a port means the default port. Returns a predicate; every host is allowed without the option.
 */
export function readHosts(hosts: Json): (url: URL) => boolean {
  if (hosts === null) return () => true;
  const patterns = (hosts as readonly Json[]).map((text) => readPattern(String(text)));
  return ({ host }) => patterns.some((matches) => matches(host));
}

function readPattern(text: string): (host: string) => boolean {
  const effect = effectOfHost(text);
  if (effect === undefined) {
    throw new NodeFailure(
      `\`hosts\` lists names such as "api.example.com", "*.example.com" or "localhost:8080", not ${JSON.stringify(text)}`,
      { retryable: false },
    );
  }
  return (host) => isAllowed(`net:${host}`, [effect]);
}
