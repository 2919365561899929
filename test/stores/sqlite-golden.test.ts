/**
 * Stores that earlier versions have written, with their content. `golden/schema-N.db` was written when schema version N was
 * new, and is never generated again: a version that cannot read it loses its users' runs.
 */
import { copyFileSync } from "node:fs";
import { expect, it } from "vitest";
import { SqliteStore } from "../../runtime/stores/sqlite.ts";
import { SCHEMA_VERSION } from "../../runtime/stores/sqlite/schema.ts";
import { expectGolden, expectGoldenRuns, golden } from "./golden.ts";
import { FAST_DIRECTORY, temporaryDirectory } from "./temporary-directory.ts";

const inDirectory = temporaryDirectory(FAST_DIRECTORY);
const versions = Array.from({ length: SCHEMA_VERSION }, (_, index) => index + 1);

it.each(versions)("5.11 a store of schema version %i can be read and written", async (version) => {
  const path = inDirectory("runs.db");
  copyFileSync(golden(`schema-${version}.db`), path);
  const store = new SqliteStore(path);
  await expectGolden(store, version);
  store.close();
});

it.each(versions)("5.11 the runs in a store of schema version %i resume", async (version) => {
  const path = inDirectory("runs.db");
  copyFileSync(golden(`runs-${version}.db`), path);
  const store = new SqliteStore(path);
  expect(store.threads()).toHaveLength(2);
  await expectGoldenRuns(store);
  store.close();
});
