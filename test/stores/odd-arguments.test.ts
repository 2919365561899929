import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { inFile, inMemory, inPostgres, type OpenStore } from "./each-store.ts";
import { askOddly } from "./odd-arguments.ts";
import { PostgresServer } from "./postgres-server.ts";

let server: PostgresServer;
beforeAll(async () => {
  server = await PostgresServer.start();
}, 300_000);
afterAll(() => server.dispose());

async function answers({ store, dispose }: OpenStore): Promise<Map<string, string>> {
  try {
    return await askOddly(store);
  } finally {
    await dispose();
  }
}

describe("odd arguments", () => {
  it("return the same values and errors from all three stores", async () => {
    const expected = await answers(inMemory());
    for (const open of [inFile(), inPostgres(server)]) {
      const actual = await answers(open);
      const differ = [...expected].filter(([question, answer]) => actual.get(question) !== answer);
      expect(differ.map(([question, answer]) => [question, answer, actual.get(question)])).toEqual([]);
    }
  });
});
