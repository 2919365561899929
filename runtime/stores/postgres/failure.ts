import { NgraphError, StoreError, type StoreErrorCode } from "../../interface/errors.ts";

/** By SQLSTATE (with what its message is about, where it means several things), or by its first two digits. */
const WAY_OUT: ReadonlyMap<string, readonly [code: StoreErrorCode, text: string]> = new Map([
  ["0A000 recovery", ["NG_STORE_FAILED", "it may only be read, as a server that copies another: name the other one"]],
  ["25006", ["NG_STORE_FAILED", "it may only be read, as a server that copies another: name the other one"]],
  [
    "25P03",
    [
      "NG_STORE_FAILED",
      "the server ended a transaction that was held up: allow it more time (`idle_in_transaction_session_timeout`), then resume",
    ],
  ],
  ["28", ["NG_STORE_FAILED", "it refuses the user or the password: check the connection string"]],
  ["3D", ["NG_STORE_FAILED", "it does not exist: create it, or name another one"]],
  ["42501", ["NG_STORE_FAILED", "the user may not do this: grant the rights on the schema, or name another one"]],
  ["42", ["NG_STORE_FAILED", "the tables are not as this store made them: use another schema"]],
  [
    "53",
    ["NG_STORE_FAILED", "it is out of room or of connections: nothing half-written was kept; make room and resume"],
  ],
  ["55P03", ["NG_STORE_FAILED", "another process keeps the thread locked: wait for it to finish, or end it"]],
  [
    "57014",
    [
      "NG_STORE_FAILED",
      "the server cancelled a statement: wait for what holds it up, or allow it more time (`statement_timeout`), then resume",
    ],
  ],
  ["57", ["NG_STORE_FAILED", "the server ended the connection: resume when it is back"]],
  ["58", ["NG_STORE_FAILED", "the server cannot use its files: its log says why; resume when it can"]],
  ["XX001", ["NG_CORRUPT_RECORD", "the server reports damage: restore the database from a backup"]],
  ["XX002", ["NG_CORRUPT_RECORD", "the server reports damage: restore the database from a backup"]],
  ["XX", ["NG_STORE_FAILED", "the server failed inside: its log says why; resume when it is well"]],
] as const);

/** What `pg` itself says, without a state, of a server that was reached. */
const REFUSED: readonly (readonly [pattern: RegExp, text: string])[] = [
  [/password must be a (?:non-empty )?string/, "it asks for a password: put one into the URL, or set PGPASSWORD"],
  [/does not support SSL/, "it has no encryption: leave `sslmode` out of the URL, or turn encryption on"],
  [
    /certificate|self.signed|altname/i,
    "its certificate is not trusted: name the authority with `sslrootcert`, or `sslmode=no-verify`",
  ],
];

/** Whatever a database call threw, as what the store promises to throw. */
export function storeFailure(error: unknown, place: string): Error {
  if (error instanceof NgraphError) return error;
  const state = sqlState(error);
  const reason = reasonOf(error);
  // A server that copies another refuses transactions that may write; a pooler, say, is told of other things by the same state.
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

/** Empty for what did not come from the server. */
export function sqlState(error: unknown): string {
  const code: unknown = error instanceof Error && "code" in error ? error.code : undefined;
  return typeof code === "string" && /^[0-9A-Z]{5}$/.test(code) ? code : "";
}

/** The connection is gone, or never was: what was asked on it has not been answered. */
export function isConnectionLost(error: unknown): boolean {
  const state = sqlState(error);
  // 57P01 to 57P03: the server shuts down, has crashed, or starts. 08: the connection itself.
  return state === "" || state.startsWith("57P0") || state.startsWith("08");
}

/** Several addresses of one host fail together: the first says why. */
function reasonOf(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) return reasonOf(error.errors[0]);
  return error instanceof Error ? error.message : String(error);
}
