import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { describeStore } from "../../runtime/stores/conformance/conformance.ts";
import { SampleRun } from "../../runtime/stores/conformance/sample-run.ts";
import { MemoryStore } from "../../runtime/stores/memory.ts";
import { PostgresStore } from "../../runtime/stores/postgres.ts";
import { fillStore, readStore } from "./content.ts";
import { PostgresServer } from "./postgres-server.ts";
import { runProgram } from "./program.ts";
import { expectToAnswerAsModel } from "./random-operations.ts";
import { scale } from "../support/depth.ts";

let server: PostgresServer;
let schemas = 0;
beforeAll(async () => {
  server = await PostgresServer.start();
}, 300_000);
afterAll(() => server.dispose());

const nextSchema = () => `test_${++schemas}`;
const open = (schema: string) => new PostgresStore({ url: server.url, schema, connections: 4 });

describeStore({ describe, it }, "PostgresStore", () => {
  const schema = nextSchema();
  const store = open(schema);
  const sizeOf =
    "SELECT sum(pg_total_relation_size(c.oid))::float8 AS size FROM pg_class c " +
    `JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = '${schema}' AND c.relkind = 'r'`;
  return {
    store,
    reopen: async () => {
      await store.close();
      return open(schema);
    },
    secondProcess: () => open(schema),
    size: async () => {
      await server.query(`VACUUM FULL "${schema}".threads`);
      return (await server.query<{ size: number }>(sizeOf))[0]!.size;
    },
    dispose: async () => {
      await server.query(`DROP SCHEMA IF EXISTS "${schema}" CASCADE`);
    },
  };
});

describe("the schema", () => {
  it("is created once, even if several clients connect at the same time", async () => {
    const schema = nextSchema();
    const stores = Array.from({ length: 6 }, () => open(schema));
    const claims = await Promise.all(
      stores.map((store, index) => store.claim(`thread ${index}`, { owner: "a", leaseMs: 1 })),
    );
    expect(new Set(claims.map(({ epoch }) => epoch)).size).toBe(6);
    await Promise.all(stores.map((store) => store.close()));
  });

  it("of another application or a newer version is not changed", async () => {
    const schema = nextSchema();
    await server.query(`CREATE SCHEMA ${schema}; CREATE TABLE ${schema}.theirs (a int)`);
    const store = open(schema);
    await expect(store.threads()).rejects.toMatchObject({
      code: "NG_STORE_FAILED",
      message: expect.stringContaining(schema),
    });
    expect(await server.query(`SELECT count(*)::int AS tables FROM pg_tables WHERE schemaname = '${schema}'`)).toEqual([
      { tables: 1 },
    ]);
    await store.close();

    const newer = nextSchema();
    const first = open(newer);
    await first.threads();
    await first.close();
    await server.query(`UPDATE ${newer}.meta SET value = 4 WHERE name = 'version'`);
    const second = open(newer);
    await expect(second.threads()).rejects.toMatchObject({ code: "NG_UNKNOWN_VERSION" });
    await second.close();
  });

  it("has a plain name", () => {
    for (const schema of ["", 'a"b', "a'b", "a\0b", "x".repeat(64), "1a", "a.b"]) {
      expect(() => new PostgresStore({ schema })).toThrow(expect.objectContaining({ code: "NG_STORE_FAILED" }));
    }
  });
});

describe("5.11 rows that were changed", () => {
  it.each([
    [
      "UPDATE @.checkpoints SET header = '{}' WHERE id = 'first/8'",
      "NG_CORRUPT_RECORD",
      /checkpoint "first\/8".*checksum/,
    ],
    ["UPDATE @.checkpoints SET v = 2 WHERE id = 'first/8'", "NG_UNKNOWN_VERSION", /checkpoint "first\/8".*version 2/],
    ["DELETE FROM @.checkpoints WHERE id = 'first/8'", "NG_CORRUPT_RECORD", /thread "first".*missing/],
    ["DELETE FROM @.cells WHERE channel = 'score'", "NG_CORRUPT_RECORD", /"first\/8".*missing.*`cells`/],
    ["UPDATE @.threads SET epoch = epoch + 1", "NG_CORRUPT_RECORD", /thread "first".*checksum/],
  ])("are refused by name: %s", async (sql, code, named) => {
    const schema = nextSchema();
    const store = open(schema);
    await fillStore(store);
    await server.query(sql.replaceAll("@.", `${schema}.`));
    await expect(store.loadLatest("first")).rejects.toMatchObject({ code, message: expect.stringMatching(named) });
    await store.close();
  });
});

describe("an outage", () => {
  it("is reported; the store continues when the server is back, with everything that it had acknowledged", async () => {
    const schema = nextSchema();
    const store = open(schema);
    const run = await SampleRun.start(store);
    const saved = await run.save([{ channel: "log", append: [1] }]);
    // Several connections, which all end.
    await Promise.all(Array.from({ length: 4 }, () => store.threads()));
    for (const signal of ["SIGINT", "SIGQUIT"] as const) {
      await server.stop(signal);
      await expect(store.loadLatest("thread")).rejects.toMatchObject({
        code: "NG_STORE_FAILED",
        message: expect.stringContaining("cannot be reached"),
      });
      await server.start();
      expect(await store.loadLatest("thread")).toEqual(saved);
    }
    const next = await run.save([{ channel: "log", append: [2] }]);
    await server.stop();
    await server.start();
    expect(await store.list("thread")).toEqual([next, saved]);
    await store.close();
  });

  it("no server, no database, no such user: typed errors without the password", async () => {
    for (const url of [
      "postgres://user:secret@127.0.0.1:1/db",
      server.url.replace("/postgres", "/nowhere").replace("tester@", "tester:secret@"),
      server.url.replace("tester@", "nobody_known:secret@"),
    ]) {
      const store = new PostgresStore(url);
      const error = await store.threads().catch((caught: unknown) => caught);
      expect(error).toMatchObject({ code: "NG_STORE_FAILED" });
      expect(String(error)).not.toContain("secret");
      await store.close();
    }
    expect(() => new PostgresStore("not a url with a secret")).toThrow(
      expect.objectContaining({ code: "NG_STORE_FAILED" }),
    );
  });
});

it("returns what the model returns after any sequence of operations", () =>
  expectToAnswerAsModel(
    () => {
      const schema = nextSchema();
      let stores: readonly PostgresStore[] = [];
      const close = () => Promise.all(stores.map((store) => store.close()));
      return {
        reopen: async () => {
          await close();
          return (stores = [open(schema), open(schema)]);
        },
        dispose: async () => void (await close()),
      };
    },
    scale(8, 2),
  ));

it("5.6 a claim of a process that died is taken over at once", async () => {
  const rival = runProgram("rival", `${server.url}`, "rival");
  expect(await rival.line()).toBe("ready");
  rival.process.stdin!.write("go\n");
  expect(await rival.line()).toBe("won");
  const store = new PostgresStore(server.url);
  const claim = () => store.claim("thread", { owner: "heir", leaseMs: 1000 });
  const named = expect.stringContaining(`rival (process ${rival.process.pid}`) as string;
  await expect(claim()).rejects.toMatchObject({ code: "NG_THREAD_CONFLICT", message: named });
  rival.process.kill("SIGKILL");
  await rival.ended;
  expect((await claim()).owner).toBe("heir");
  await store.close();
});

it("returns what a MemoryStore with the same content returns", async () => {
  const memory = new MemoryStore();
  await fillStore(memory);
  const store = open(nextSchema());
  await fillStore(store);
  const [expected, actual] = [await readStore(memory), await readStore(store)];
  for (const [question, answer] of expected) expect(parsed(actual.get(question)!), question).toEqual(parsed(answer));
  await store.close();
});

function parsed(answer: string): unknown {
  return /^[[{]/.test(answer) ? JSON.parse(answer) : answer;
}
