import { createRequire } from "node:module";
import { StoreError } from "../../interface/errors.ts";

/** The part of `node:sqlite` and `@photostructure/sqlite` that this folder uses. */
export interface SqliteDatabase {
  exec(sql: string): void;
  prepare(sql: string): SqliteStatement;
  close(): void;
}

export interface SqliteStatement {
  run(...parameters: readonly SqliteValue[]): { readonly changes: number | bigint };
  get(...parameters: readonly SqliteValue[]): unknown;
  all(...parameters: readonly SqliteValue[]): unknown[];
}

export type SqliteValue = string | number | null;

interface SqliteModule {
  readonly DatabaseSync: new (path: string, options?: { readonly readOnly?: boolean }) => SqliteDatabase;
}

let loaded: SqliteModule | undefined;

/**
 * The SQLite that is built into Node (22.13 and later), otherwise the package with the same API.
 *
 * @throws StoreError NG_STORE_FAILED when neither is available
 */
export function loadSqlite(): SqliteModule {
  loaded ??= builtin() ?? packaged();
  return loaded;
}

/** Whether `loadSqlite` returns the SQLite that is built into Node. */
export function isBuiltin(): boolean {
  return builtin() !== undefined;
}

/** Whether closing a database finalizes its statements. The package leaves that, and so the open file, to the garbage collector. */
export function closesStatements(): boolean {
  return isBuiltin();
}

/** Loads `node:sqlite` without Node's warning that it is experimental. Other warnings are emitted. */
function builtin(): SqliteModule | undefined {
  const emitWarning = process.emitWarning;
  process.emitWarning = ((warning: string | Error, ...rest: unknown[]) => {
    if (rest[0] === "ExperimentalWarning" && String(warning).includes("SQLite")) return;
    Reflect.apply(emitWarning, process, [warning, ...rest]);
  }) as typeof process.emitWarning;
  try {
    return process.getBuiltinModule("node:sqlite") as unknown as SqliteModule | undefined;
  } finally {
    process.emitWarning = emitWarning;
  }
}

function packaged(): SqliteModule {
  try {
    return createRequire(import.meta.url)("@photostructure/sqlite") as SqliteModule;
  } catch (cause) {
    throw new StoreError(
      "NG_STORE_FAILED",
      `no SQLite for Node ${process.versions.node}: use Node 22.13 or later, or run \`npm install @photostructure/sqlite\``,
      { cause },
    );
  }
}
