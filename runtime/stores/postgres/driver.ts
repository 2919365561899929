import { createRequire } from "node:module";
import type { Client, ClientConfig, CustomTypesConfig, Pool, PoolConfig, types } from "pg";
import { StoreError } from "../../interface/errors.ts";

interface PgModule {
  readonly Client: new (config: ClientConfig) => Client;
  readonly Pool: new (config: PoolConfig) => Pool;
  readonly types: typeof types;
}

let loaded: PgModule | undefined;

/** @throws StoreError NG_STORE_FAILED when the package `pg` is not installed */
export function loadPg(): PgModule {
  try {
    loaded ??= createRequire(import.meta.url)("pg") as PgModule;
    return loaded;
  } catch (cause) {
    throw new StoreError("NG_STORE_FAILED", "the package `pg` is not installed: run `npm install pg`", { cause });
  }
}

/**
 * A pool with a time limit for making a connection. The pool's own limit also counts the wait for a free connection, which
 * may be long with many concurrent runs.
 *
 * @param connectTimeoutMs 0 for no limit
 */
export function makePool(config: PoolConfig, connectTimeoutMs: number): Pool {
  const { Pool, Client } = loadPg();
  class TimedClient extends Client {
    constructor(given: ClientConfig = {}) {
      super({ ...given, connectionTimeoutMillis: connectTimeoutMs });
      // The pool hands a client over without a listener until the next microtask. A connection that the server ends in that
      // moment must not end the process: the next query reports the failure.
      this.on("error", () => {});
    }
  }
  const { connectionString } = config;
  const url = connectionString === undefined ? {} : { connectionString: withExactSslMode(connectionString) };
  return new Pool({ ...config, ...url, Client: TimedClient });
}

/**
 * Writes `sslmode=verify-full` for the modes that `pg` treats as such: it prints a warning of several lines for them. A URL with
 * `uselibpqcompat` keeps its mode.
 */
export function withExactSslMode(url: string): string {
  if (/[?&]uselibpqcompat=/.test(url)) return url;
  return url.replace(/([?&]sslmode=)(?:prefer|require|verify-ca)(?=&|#|$)/g, "$1verify-full");
}

/** Reads `bigint` columns as numbers: no count here reaches 2^53. Set for each query, so it does not affect a caller's pool. */
export const asNumbers: CustomTypesConfig = {
  getTypeParser: ((oid: number, format?: "text" | "binary") =>
    oid === BIGINT ? Number : loadPg().types.getTypeParser(oid, format as "text")) as typeof types.getTypeParser,
};

const BIGINT = 20;
