import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "vitest";
import { runViewOf } from "../../runtime/interface/run-view.ts";
import type { Store } from "../../runtime/interface/store.ts";
import { MemoryStore } from "../../runtime/stores/memory.ts";
import { SqliteStore } from "../../runtime/stores/sqlite.ts";
import type { SqliteRunView } from "../../runtime/stores/sqlite/run-view.ts";
import { expectToAnswerAsModel, type StoresUnderTest } from "./random-operations.ts";
import { FAST_DIRECTORY } from "./temporary-directory.ts";
import { numRuns, scale } from "../support/depth.ts";

describe("after any sequence of operations", () => {
  it("a MemoryStore returns what the model returns", () => expectToAnswerAsModel(inMemory, numRuns(200)));
  it("so does a MemoryStore that keeps the records of runs without copying them", () =>
    expectToAnswerAsModel(ofRuns, numRuns(200)));
  it("so does a SQLite store", () => expectToAnswerAsModel(() => inFile(1), scale(30, 5)));
  it("so does a SQLite store with three connections", () => expectToAnswerAsModel(() => inFile(3), scale(30, 5)));
  it("so does a SQLite store that groups the calls of one turn", () =>
    expectToAnswerAsModel(() => inFile(2, grouped), scale(30, 5)));
});

function inMemory(): StoresUnderTest {
  const stores = [new MemoryStore()];
  return { reopen: () => stores, dispose: () => {} };
}

function ofRuns(): StoresUnderTest {
  const stores = [runViewOf(new MemoryStore())];
  return { reopen: () => stores, dispose: () => {} };
}

/** The view for runs, as with two more runs: a single run does not group calls. */
function grouped(store: SqliteStore): Store {
  const view = runViewOf(store) as SqliteRunView;
  for (const other of ["one", "two"]) view.group.begin(other);
  return view;
}

function inFile(connections: number, view: (store: SqliteStore) => Store = (store) => store): StoresUnderTest {
  const directory = mkdtempSync(join(FAST_DIRECTORY, "ngraph-random-"));
  const path = join(directory, "runs.db");
  let stores: readonly SqliteStore[] = [];
  const close = () => stores.forEach((store) => store.close());
  return {
    reopen: () => {
      close();
      stores = Array.from({ length: connections }, () => new SqliteStore(path));
      return stores.map(view);
    },
    dispose: () => {
      close();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}
