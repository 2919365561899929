import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "vitest";
import { cutLastWrite, describeStore } from "../../runtime/stores/conformance/conformance.ts";
import { runViewOf } from "../../runtime/interface/run-view.ts";
import type { Store } from "../../runtime/interface/store.ts";
import { SqliteStore } from "../../runtime/stores/sqlite.ts";
import type { SqliteRunView } from "../../runtime/stores/sqlite/run-view.ts";
import { loadSqlite } from "../../runtime/stores/sqlite/driver.ts";
import { FAST_DIRECTORY } from "./temporary-directory.ts";

for (const journal of ["wal", "rollback"] as const) {
  describeStore({ describe, it }, `SqliteStore (${journal})`, () => {
    const directory = mkdtempSync(join(FAST_DIRECTORY, "ngraph-store-"));
    const path = join(directory, "runs.db");
    const store = open(path, journal);
    return {
      store,
      reopen: () => {
        store.close();
        return open(path, journal);
      },
      // A rollback journal is not only appended to: sqlite-crash.test.ts and the kill sweep cover it.
      ...(journal === "wal" && { crash: cutLastWrite(directory, (copy) => open(join(copy, "runs.db"), journal)) }),
      secondProcess: () => open(path, journal),
      size: () => databaseSize(path),
      dispose: () => rmSync(directory, { recursive: true, force: true }),
    };
  });
}

describeStore({ describe, it }, "SqliteStore (calls of one turn in one transaction)", () => {
  const directory = mkdtempSync(join(FAST_DIRECTORY, "ngraph-store-"));
  const path = join(directory, "runs.db");
  const store = openGrouped(path);
  return {
    store,
    reopen: async () => {
      await store.close!();
      return openGrouped(path);
    },
    crash: cutLastWrite(directory, (copy) => openGrouped(join(copy, "runs.db"))),
    secondProcess: () => openGrouped(path),
    dispose: () => rmSync(directory, { recursive: true, force: true }),
  };
});

describeStore({ describe, it }, "SqliteStore (in memory)", () => {
  const store = new SqliteStore(":memory:");
  return { store, reopen: () => store };
});

function open(path: string, journal: "wal" | "rollback"): SqliteStore {
  return new SqliteStore({ path, journal });
}

/** The view for runs, as with two more runs: a single run does not group calls. */
function openGrouped(path: string): Store {
  const view = runViewOf(open(path, "wal")) as SqliteRunView;
  for (const other of ["one", "two"]) view.group.begin(other);
  return view;
}

/** Size of the database after its log is written back. */
function databaseSize(path: string): number {
  const database = new (loadSqlite().DatabaseSync)(path);
  const { bytes } = database
    .prepare("SELECT page_count * page_size AS bytes FROM pragma_page_count, pragma_page_size")
    .get() as { bytes: number };
  database.close();
  return bytes;
}
