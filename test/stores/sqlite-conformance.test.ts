import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "vitest";
import { describeStore } from "../../runtime/stores/conformance/conformance.ts";
import { SqliteStore } from "../../runtime/stores/sqlite.ts";
import { loadSqlite } from "../../runtime/stores/sqlite/driver.ts";
import { FAST_DIRECTORY } from "./temporary-directory.ts";

for (const journal of ["wal", "rollback"] as const) {
  describeStore({ describe, it }, `SqliteStore (${journal})`, () => {
    const directory = mkdtempSync(join(FAST_DIRECTORY, "ngraph-store-"));
    const path = join(directory, "runs.db");
    const store = new SqliteStore({ path, journal });
    return {
      store,
      reopen: () => {
        store.close();
        return new SqliteStore({ path, journal });
      },
      size: () => databaseSize(path),
      dispose: () => rmSync(directory, { recursive: true, force: true }),
    };
  });
}

describeStore({ describe, it }, "SqliteStore (in memory)", () => {
  const store = new SqliteStore(":memory:");
  return { store, reopen: () => store };
});

/** What the file holds once its log is written back. */
function databaseSize(path: string): number {
  const database = new (loadSqlite().DatabaseSync)(path);
  const { bytes } = database
    .prepare("SELECT page_count * page_size AS bytes FROM pragma_page_count, pragma_page_size")
    .get() as { bytes: number };
  database.close();
  return bytes;
}
