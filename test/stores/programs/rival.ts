/**
 * Waits for a line, then claims the thread of a store at argv[2] (a file, or a URL) under the name argv[3]. Prints the code of the error, or
 * `won` after the first save; then holds the thread, and ends with its input.
 */
import { once } from "node:events";
import { writeSync } from "node:fs";
import type { NgraphError } from "../../../runtime/interface/errors.ts";
import type { Store } from "../../../runtime/interface/store.ts";
import { SampleRun } from "../../../runtime/stores/conformance/sample-run.ts";
import { PostgresStore } from "../../../runtime/stores/postgres.ts";
import { SqliteStore } from "../../../runtime/stores/sqlite.ts";

const [path, owner] = process.argv.slice(2);
let store: Store;
try {
  store = path!.startsWith("postgres:") ? new PostgresStore(path) : new SqliteStore(path!);
} catch (error) {
  const { code, message } = error as NgraphError;
  writeSync(1, `${code}\n${message}\n`);
  process.exit();
}
writeSync(1, "ready\n");
await once(process.stdin, "data");
try {
  const run = await SampleRun.start(store, "thread", owner);
  await run.save([{ channel: "owner", set: owner! }]);
  writeSync(1, "won\n");
} catch (error) {
  writeSync(1, `${(error as NgraphError).code}\n`);
}
process.stdin.resume();
