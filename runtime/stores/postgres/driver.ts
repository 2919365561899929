import { createRequire } from "node:module";
import type { CustomTypesConfig, Pool, PoolConfig, types } from "pg";
import { StoreError } from "../../errors.ts";

interface PgModule {
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

/** `bigint` columns as numbers: no count here reaches 2^53. Set by query, so that a pool of somebody else's will do. */
export const asNumbers: CustomTypesConfig = {
  getTypeParser: ((oid: number, format?: "text" | "binary") =>
    oid === BIGINT ? Number : loadPg().types.getTypeParser(oid, format as "text")) as typeof types.getTypeParser,
};

const BIGINT = 20;
