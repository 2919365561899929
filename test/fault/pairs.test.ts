/** 5.4 to 5.13, 6.2, 7.2, R4 and W4 under random pairs of operations on one thread, over each store, with and without encryption. */
import { test } from "vitest";
import { scale } from "../support/depth.ts";
import { PostgresServer } from "../stores/postgres-server.ts";
import { expectSeeds } from "./expect-seeds.ts";
import { inFile, inMemory, inPostgres } from "./pairs-backends.ts";
import { FEATURES, simulatePairs } from "./pairs-simulation.ts";

test.each([
  ["memory", inMemory],
  ["SQLite", inFile],
] as const)("pairs of operations over a store in %s keep the promises", { timeout: 600_000 }, (_, open) =>
  expectSeeds((...seed) => simulatePairs(open, ...seed), scale(300, 30), FEATURES),
);

test("pairs of operations over a store in Postgres keep the promises", { timeout: 1_200_000 }, async () => {
  const server = await PostgresServer.start({ settings: { fsync: "off" } });
  try {
    await expectSeeds((...seed) => simulatePairs(inPostgres(server), ...seed), scale(30, 3), []);
  } finally {
    await server.dispose();
  }
});
