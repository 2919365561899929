import { NgraphError, StoreError, type StoreErrorCode } from "../../interface/errors.ts";

/** By SQLSTATE (with a word for the cause when the state has several), or by its first two characters. */
const WAY_OUT: ReadonlyMap<string, readonly [code: StoreErrorCode, text: string]> = new Map([
  ["0A000 recovery", ["NG_STORE_FAILED", "it is read-only, probably a standby: connect to the primary server"]],
  ["25006", ["NG_STORE_FAILED", "it is read-only, probably a standby: connect to the primary server"]],
  [
    "25P03",
    [
      "NG_STORE_FAILED",
      "the server ended an idle transaction: raise `idle_in_transaction_session_timeout`, then resume",
    ],
  ],
  ["28", ["NG_STORE_FAILED", "it refuses the user or the password: check the connection string"]],
  ["3D", ["NG_STORE_FAILED", "it does not exist: create it, or use another one"]],
  ["42501", ["NG_STORE_FAILED", "the user lacks privileges: grant them on the schema, or use another schema"]],
  ["42", ["NG_STORE_FAILED", "the tables differ from those that this store creates: use another schema"]],
  [
    "53",
    [
      "NG_STORE_FAILED",
      "it has run out of disk space, memory or connections: free some and resume; the failed call has changed nothing",
    ],
  ],
  ["55P03", ["NG_STORE_FAILED", "another process keeps the thread locked: wait for it to finish, or end it"]],
  [
    "57014",
    [
      "NG_STORE_FAILED",
      "the server cancelled a statement: check what blocks it or raise `statement_timeout`, then resume",
    ],
  ],
  ["57", ["NG_STORE_FAILED", "the server ended the connection: resume when it is available again"]],
  ["58", ["NG_STORE_FAILED", "the server cannot use its files: see its log, repair it, then resume"]],
  ["XX001", ["NG_CORRUPT_RECORD", "the server reports damage: restore the database from a backup"]],
  ["XX002", ["NG_CORRUPT_RECORD", "the server reports damage: restore the database from a backup"]],
  ["XX", ["NG_STORE_FAILED", "the server has an internal error: see its log, repair it, then resume"]],
] as const);

/** Errors of the package `pg` itself, without SQLSTATE, when the server was reached. */
const REFUSED: readonly (readonly [pattern: RegExp, text: string])[] = [
  [/password must be a (?:non-empty )?string/, "it requires a password: add it to the URL, or set PGPASSWORD"],
  [/does not support SSL/, "it does not support encryption: remove `sslmode` from the URL, or enable encryption"],
  [
    /certificate|self.signed|altname/i,
    "its certificate is not trusted: set `sslrootcert` to its authority, or use `sslmode=no-verify`",
  ],
];

/** Converts an error of a database call into the error that the store's interface promises. */
export function storeFailure(error: unknown, place: string): Error {
  if (error instanceof NgraphError) return error;
  const state = sqlState(error);
  const reason = reasonOf(error);
  // A hot standby answers 0A000 (feature not supported) to write transactions. The state has other causes too, such as
  // poolers, so the text decides.
  const special = state === "0A000" && /during recovery/.test(reason) ? "0A000 recovery" : state;
  const known = WAY_OUT.get(special) ?? WAY_OUT.get(state.slice(0, 2));
  if (known !== undefined) {
    return new StoreError(known[0], `database ${place}: ${known[1]} (${reason})`, { cause: error });
  }
  const refused = REFUSED.find(([pattern]) => pattern.test(reason));
  if (state === "" && refused !== undefined) {
    return new StoreError("NG_STORE_FAILED", `database ${place}: ${refused[1]} (${reason})`, { cause: error });
  }
  if (isConnectionLost(error)) {
    const message = `database ${place} cannot be reached: check that the server runs, then resume (${reason})`;
    return new StoreError("NG_STORE_FAILED", message, { cause: error });
  }
  return new StoreError("NG_STORE_FAILED", `database ${place} failed: ${reason}`, { cause: error });
}

/** The SQLSTATE of an error; empty when the error did not come from the server. */
export function sqlState(error: unknown): string {
  const code: unknown = error instanceof Error && "code" in error ? error.code : undefined;
  return typeof code === "string" && /^[0-9A-Z]{5}$/.test(code) ? code : "";
}

/** Whether the connection ended or was never made: the statement has no answer. */
export function isConnectionLost(error: unknown): boolean {
  const state = sqlState(error);
  // 57P01 to 57P03: the server shuts down, has crashed, or starts. 08: the connection itself.
  return state === "" || state.startsWith("57P0") || state.startsWith("08");
}

/**
 * Whether an error of `storeFailure` is the refusal of a statement for a reason that may lie in one row: a value, an existing id, a
 * limit, a lock or a deadlock. The transaction has changed nothing, and can be repeated in parts.
 */
export function isRefusal(error: unknown): boolean {
  return error instanceof StoreError && /^(?:22|23|54|40001|40P01|55P03)/.test(sqlState(error.cause));
}

/** The message of an error. When all addresses of a host fail, `pg` throws an AggregateError; the first one is reported. */
function reasonOf(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) return reasonOf(error.errors[0]);
  return error instanceof Error ? error.message : String(error);
}
