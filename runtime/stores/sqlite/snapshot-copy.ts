import { chmodSync, constants, copyFileSync, mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { StoreError } from "../../interface/errors.ts";
import { checkFile } from "./open-database.ts";

/** A copy of a database that this process may change, and `remove`, which deletes the copy. */
export interface SnapshotCopy {
  readonly path: string;
  remove(): void;
}

/** The files of a database: SQLite needs its journal or log to read a file that a process has left in a transaction. */
const SUFFIXES = ["", "-journal", "-wal"];
/** How often a copy is repeated if another process writes to the database meanwhile. */
const TRIES = 5;

/**
 * Copies a database with its journal to a private temporary directory. A database that cannot be written is read from such a
 * copy: completing an interrupted transaction and flushing the staging table are writes.
 *
 * @throws StoreError NG_STORE_FAILED when another process keeps writing to it
 */
export function copySnapshot(path: string): SnapshotCopy {
  checkFile(path);
  const directory = makeTemporaryDirectory();
  const remove = (): void => rmSync(directory, { recursive: true, force: true });
  try {
    for (let attempt = 0; attempt < TRIES; attempt++) {
      const before = stateOf(path);
      for (const suffix of SUFFIXES) {
        const target = join(directory, basename(path) + suffix);
        rmSync(target, { force: true });
        if (statSync(path + suffix, { throwIfNoEntry: false }) === undefined) continue;
        copyFileSync(path + suffix, target, constants.COPYFILE_FICLONE);
        chmodSync(target, 0o600);
      }
      if (stateOf(path) === before) return { path: join(directory, basename(path)), remove };
    }
    throw new StoreError(
      "NG_STORE_FAILED",
      `database ${path} cannot be written by this user, and another process writes to it: repeat the command`,
    );
  } catch (error) {
    remove();
    throw error;
  }
}

/** Changes whenever one of the files is written. */
function stateOf(path: string): string {
  return SUFFIXES.map((suffix) => {
    const found = statSync(path + suffix, { bigint: true, throwIfNoEntry: false });
    return found === undefined ? "" : `${found.ino} ${found.size} ${found.mtimeNs}`;
  }).join("\n");
}

function makeTemporaryDirectory(): string {
  try {
    return mkdtempSync(join(tmpdir(), "ngraph-snapshot-"));
  } catch (cause) {
    const message = `cannot create a temporary directory in ${tmpdir()}: set TMPDIR to a directory that can be written`;
    throw new StoreError("NG_STORE_FAILED", message, { cause });
  }
}
