import { afterAll, beforeAll, describe, it } from "vitest";
import { inFile, inMemory, inPostgres, type OpenStore } from "./each-store.ts";
import { PostgresServer } from "./postgres-server.ts";
import { expectMigrationOnResume } from "./version-zero.ts";

let server: PostgresServer;
beforeAll(async () => {
  server = await PostgresServer.start();
}, 300_000);
afterAll(() => server.dispose());

describe("5.1 a checkpoint without a version is kept unchanged, and migrated on resume", () => {
  it("in memory", () => migrate(inMemory()));
  it("in a file", () => migrate(inFile()));
  it("in Postgres", () => migrate(inPostgres(server)));
});

async function migrate({ store, dispose }: OpenStore): Promise<void> {
  try {
    await expectMigrationOnResume(store);
  } finally {
    await dispose();
  }
}
