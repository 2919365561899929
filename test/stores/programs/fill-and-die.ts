/**
 * Fills the store at argv[2] in journal mode argv[3], and exits before statement argv[4]. Prints each finished
 * operation.
 */
import { writeSync } from "node:fs";
import { SqliteStore } from "../../../runtime/stores/sqlite.ts";
import { fillStore } from "../content.ts";
import { watchStatements } from "../statements.ts";

const [path, journal, dieAt] = process.argv.slice(2);
const store = new SqliteStore({ path: path!, journal: journal as "wal" | "rollback" });
let statements = 0;
watchStatements(() => {
  if (++statements === Number(dieAt)) process.kill(process.pid, "SIGKILL");
});
await fillStore(store, (operation) => writeSync(1, `${operation}\n`));
