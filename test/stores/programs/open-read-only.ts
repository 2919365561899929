/**
 * Opens the store at argv[2] as a user without write permission, and reads and writes. Prints the result of each call:
 * `ok`, or the error's code and message.
 */
import { writeSync } from "node:fs";
import type { NgraphError } from "../../../runtime/interface/errors.ts";
import { SqliteStore } from "../../../runtime/stores/sqlite.ts";

const NOBODY = 65_534;

// The first use loads the driver, which may be in a directory that only root can read.
new SqliteStore(":memory:").close();
if (process.getuid?.() === 0) process.setuid?.(NOBODY);
let store: SqliteStore | undefined;
attempt(() => (store = new SqliteStore(process.argv[2]!)));
attempt(() => store?.claim("thread", { owner: "nobody", leaseMs: 1000 }));

function attempt(call: () => unknown): void {
  try {
    call();
    writeSync(1, "ok\n");
  } catch (error) {
    writeSync(1, `${(error as NgraphError).code}: ${(error as Error).message}\n`);
  }
}
