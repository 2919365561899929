import { NgraphError, StoreError } from "../../interface/errors.ts";

/** Primary result codes of SQLite. */
const BUSY = 5;
const LOCKED = 6;
const READONLY = 8;
const IOERR = 10;
const CORRUPT = 11;
const FULL = 13;
const CANTOPEN = 14;
const CONSTRAINT = 19;
const NOTADB = 26;

/** An extended result code: the rollback journal of a file that is no longer in its place cannot be used. */
const READONLY_DBMOVED = 1032;

const MOVED = "the file was deleted, moved or replaced while it was open: put it back, then open the store again";

const WAY_OUT: ReadonlyMap<number, readonly [code: "NG_STORE_FAILED" | "NG_CORRUPT_RECORD", text: string]> = new Map([
  [BUSY, ["NG_STORE_FAILED", "another process keeps it locked: wait for it to finish, or end it"]],
  [LOCKED, ["NG_STORE_FAILED", "another connection keeps it locked: wait for it to finish"]],
  [READONLY, ["NG_STORE_FAILED", "it cannot be written: check the permissions of the file and of its directory"]],
  [READONLY_DBMOVED, ["NG_STORE_FAILED", MOVED]],
  [IOERR, ["NG_STORE_FAILED", "reading or writing failed: check the disk and the space on it"]],
  [CORRUPT, ["NG_CORRUPT_RECORD", "the file is damaged: restore it from a backup, or use another path"]],
  [FULL, ["NG_STORE_FAILED", "the disk is full: make room and resume; the failed call has changed nothing"]],
  [CANTOPEN, ["NG_STORE_FAILED", "it cannot be opened: check that the path is a file that may be read and written"]],
  // Rows that this store writes meet every constraint, so a violation means that the rows it has read are damaged.
  [CONSTRAINT, ["NG_CORRUPT_RECORD", "its rows contradict each other: restore it from a backup, or use another path"]],
  [NOTADB, ["NG_CORRUPT_RECORD", "it is not an SQLite database, or its beginning is damaged: use another path"]],
] as const);

/** Converts an error of a database call into the error that the store's interface promises. */
export function storeFailure(error: unknown, path: string): Error {
  if (error instanceof NgraphError) return error;
  const result = resultCode(error);
  const [code, text] = WAY_OUT.get(result) ?? WAY_OUT.get(result & 0xff) ?? ["NG_STORE_FAILED", undefined];
  const reason = error instanceof Error ? error.message : String(error);
  // The store never writes an integer that a number cannot hold.
  if (error instanceof RangeError) {
    return new StoreError("NG_CORRUPT_RECORD", `database ${path} holds a number out of range: ${reason}`, {
      cause: error,
    });
  }
  const message = text === undefined ? `database ${path} failed: ${reason}` : `database ${path}: ${text} (${reason})`;
  return new StoreError(code, message, { cause: error });
}

/** The file of an open database is no longer at its path. */
export function fileHasMoved(path: string): StoreError {
  return new StoreError("NG_STORE_FAILED", `database ${path}: ${MOVED}`);
}

export function isBusy(error: unknown): boolean {
  const primary = resultCode(error) & 0xff;
  return primary === BUSY || primary === LOCKED;
}

/** The extended result code; 0 for an error that did not come from SQLite. */
export function resultCode(error: unknown): number {
  const code: unknown = error instanceof Error && "errcode" in error ? error.errcode : undefined;
  if (typeof code === "number") return code;
  // The package for older versions of Node reports some damage without a code.
  return error instanceof Error && error.message.includes("database disk image is malformed") ? CORRUPT : 0;
}
