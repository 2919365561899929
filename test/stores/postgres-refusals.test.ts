/**
 * Every kind of refusal by Postgres is an error with a code, the reason and the remedy; never a password, a hang or
 * half a step.
 */
import { inspect } from "node:util";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { FunctionRegistry } from "../../runtime/index.ts";
import { PostgresStore, type PostgresStoreOptions } from "../../runtime/stores/postgres.ts";
import { engineOf } from "../support/graph.ts";
import { PostgresServer } from "./postgres-server.ts";

const GRAPH = `graph g { output log: string[] reduce append
  node a = work("a") into log  node b = work("b") into log  node c = work("c") into log
  start -> a -> b -> c }`;
const WHOLE = { status: "completed", output: { log: ["a", "b", "c"] } };
const SECRET = "hunter2";

let server: PostgresServer;
beforeAll(async () => {
  const access = ["host all locked 127.0.0.1/32 scram-sha-256", "host all rejected 127.0.0.1/32 reject"];
  server = await PostgresServer.start({ access });
  await server.query(`CREATE ROLE locked LOGIN PASSWORD '${SECRET}';
    CREATE ROLE rejected LOGIN;
    CREATE ROLE guest LOGIN;
    CREATE ROLE full LOGIN CONNECTION LIMIT 0;
    REVOKE CREATE ON DATABASE postgres FROM PUBLIC`);
}, 300_000);
afterAll(() => server.dispose());

/** The server's URL for a user, with other changes. */
function urlOf(user: string, change: (url: URL) => void = () => {}): string {
  const url = new URL(server.url);
  url.username = user;
  change(url);
  return url.href;
}

/** Runs a graph on a store; returns the error, which must contain its code and not the secret. */
async function refusalOf(
  options: string | PostgresStoreOptions,
  functions: FunctionRegistry = { work: (name: string) => name },
): Promise<string> {
  const store = new PostgresStore(options);
  const error: unknown = await engineOf(GRAPH, functions, { store })
    .run({}, { thread: "t" })
    .then(
      (result) => result,
      (reason: unknown) => reason,
    );
  await store.close();
  expect(error).toMatchObject({ code: "NG_STORE_FAILED" });
  expect(inspect(error, { depth: 9, showHidden: false })).not.toContain(SECRET);
  return (error as Error).message;
}

describe("at the start", () => {
  it("no server listens", async () => {
    const url = urlOf(`tester:${SECRET}`, (u) => (u.port = "1"));
    expect(await refusalOf(url)).toMatch(/postgres on 127\.0\.0\.1:1 cannot be reached: check that the server runs/);
  });

  it("the host does not exist", async () => {
    const url = urlOf(`tester:${SECRET}`, (u) => (u.hostname = "no-such-host.invalid"));
    expect(await refusalOf(url)).toMatch(/cannot be reached: check that the server runs/);
  });

  it("a wrong password, no password, and a user who may not log in", async () => {
    expect(await refusalOf(urlOf("locked", (u) => (u.password = `${SECRET}?`)))).toMatch(
      /refuses the user or the password: check the connection string \(password authentication failed/,
    );
    expect(await refusalOf(urlOf("locked"))).toMatch(/requires a password/);
    expect(await refusalOf(urlOf("rejected"))).toMatch(/refuses the user or the password/);
    // The right password.
    const store = new PostgresStore(urlOf("locked", (u) => (u.password = SECRET)));
    await expect(store.threads()).rejects.toThrow(/lacks privileges/);
    await store.close();
  });

  it("a database that does not exist", async () => {
    expect(await refusalOf(urlOf("tester", (u) => (u.pathname = "/nowhere")))).toMatch(
      /nowhere .*does not exist: create it/,
    );
  });

  it("no connection left", async () => {
    expect(await refusalOf(urlOf("full"))).toMatch(/or connections.*too many connections/);
  });

  it("a user without the right to create the schema", async () => {
    expect(await refusalOf({ url: urlOf("guest"), schema: "denied" })).toMatch(
      /the user lacks privileges: grant them on the schema.*permission denied for database/,
    );
    expect(await server.query("SELECT 1 FROM pg_namespace WHERE nspname = 'denied'")).toEqual([]);
  });
});

describe("a read-only role", () => {
  it("a run is refused before a node has run, and existing threads can be read", async () => {
    const owner = new PostgresStore({ url: server.url, schema: "shared" });
    await engineOf(GRAPH, { work: (name: string) => name }, { store: owner }).run({}, { thread: "known" });
    await server.query("GRANT USAGE ON SCHEMA shared TO guest; GRANT SELECT ON ALL TABLES IN SCHEMA shared TO guest");
    const ran: string[] = [];
    const functions = { work: (name: string) => (ran.push(name), name) };
    expect(await refusalOf({ url: urlOf("guest"), schema: "shared" }, functions)).toMatch(
      /the user lacks privileges: grant/,
    );
    expect(ran).toEqual([]);
    const reader = new PostgresStore({ url: urlOf("guest"), schema: "shared" });
    expect(await reader.loadLatest("known")).toEqual(await owner.loadLatest("known"));
    expect(await reader.list("known")).toHaveLength(4);
    await Promise.all([owner.close(), reader.close()]);
  });

  it("a user whose transactions are read-only by default can write", async () => {
    await server.query(
      "ALTER ROLE locked SET default_transaction_read_only = on; GRANT CREATE ON DATABASE postgres TO locked",
    );
    const store = new PostgresStore({ url: urlOf("locked", (u) => (u.password = SECRET)), schema: "readonly_default" });
    const engine = engineOf(GRAPH, { work: (name: string) => name }, { store });
    expect(await engine.run({}, { thread: "t" })).toMatchObject(WHOLE);
    await store.close();
  });
});

describe("time limits", () => {
  it("a statement takes too long: the error names the limit, and a resume continues", async () => {
    const url = urlOf("tester", (u) => u.searchParams.set("options", "-c statement_timeout=200"));
    const store = new PostgresStore({ url, schema: "slow" });
    const other = new pg.Client(server.url);
    await other.connect();
    let isBlocked = false;
    const ran: string[] = [];
    const functions = {
      work: async (name: string) => {
        ran.push(name);
        if (name === "b" && !isBlocked) {
          isBlocked = true;
          await other.query("BEGIN; LOCK TABLE slow.checkpoints IN ACCESS EXCLUSIVE MODE");
        }
        return name;
      },
    };
    const engine = engineOf(GRAPH, functions, { store });
    await expect(engine.run({}, { thread: "t" })).rejects.toMatchObject({
      code: "NG_STORE_FAILED",
      message: expect.stringMatching(/cancelled a statement.*statement_timeout/),
    });
    await other.query("ROLLBACK");
    expect(await engine.resume("t")).toMatchObject(WHOLE);
    expect(ran).toEqual(["a", "b", "b", "c"]);
    await Promise.all([other.end(), store.close()]);
  });

  it("a transaction is idle for too long: it leaves nothing, and a resume continues", async () => {
    const url = urlOf("tester", (u) => u.searchParams.set("options", "-c idle_in_transaction_session_timeout=100"));
    const store = new PostgresStore({ url, schema: "idle" });
    let isBusy = false;
    const functions = { work: (name: string) => name };
    const engine = engineOf(GRAPH, functions, { store });
    await store.threads();
    // The process is busy between two statements of a transaction.
    const { query } = pg.Client.prototype as unknown as { query: (...parameters: unknown[]) => unknown };
    pg.Client.prototype.query = function (this: unknown, ...parameters: unknown[]) {
      const [given] = parameters as [{ text?: string }];
      if (!isBusy && given.text?.includes('INSERT INTO "idle".checkpoints') === true) {
        isBusy = true;
        return server.query("SELECT pg_sleep(0.5)").then(() => query.apply(this, parameters));
      }
      return query.apply(this, parameters);
    } as typeof pg.Client.prototype.query;
    try {
      await expect(engine.run({}, { thread: "t" })).rejects.toMatchObject({
        code: "NG_STORE_FAILED",
        message: expect.stringMatching(/raise `idle_in_transaction_session_timeout`.*terminating connection/),
      });
    } finally {
      pg.Client.prototype.query = query as typeof pg.Client.prototype.query;
    }
    expect(await engine.run({}, { thread: "t" })).toMatchObject(WHOLE);
    await store.close();
  });

  it("a server that accepts connections and does not answer: an error after `connectTimeoutMs`", async () => {
    server.freeze(true);
    try {
      const message = await refusalOf({ url: server.url, schema: "frozen", connectTimeoutMs: 300 });
      expect(message).toMatch(/cannot be reached: check that the server runs, then resume \(.*timeout/);
    } finally {
      server.freeze(false);
    }
  });
});

it("a replica: reading works, a run is refused with a code, and after its promotion the run continues", async () => {
  const store = new PostgresStore({ url: server.url, schema: "copied" });
  let isCopy = false;
  const ran: string[] = [];
  const functions = {
    work: async (name: string) => {
      ran.push(name);
      if (name === "b" && !isCopy) {
        isCopy = true;
        await server.startAsCopy();
      }
      return name;
    },
  };
  const engine = engineOf(GRAPH, functions, { store });
  const refused = {
    code: "NG_STORE_FAILED",
    message: expect.stringMatching(/read-only.*connect to the primary/),
  };
  await expect(engine.run({}, { thread: "t" })).rejects.toMatchObject(refused);
  const reader = new PostgresStore({ url: server.url, schema: "copied" });
  expect((await reader.loadLatest("t"))?.values["log"]).toEqual(["a"]);
  await expect(engine.resume("t")).rejects.toMatchObject(refused);
  await expect(
    engineOf(GRAPH, functions, { store: new PostgresStore({ url: server.url, schema: "other" }) }).run(
      {},
      { thread: "t" },
    ),
  ).rejects.toMatchObject(refused);
  await server.query("SELECT pg_promote()");
  expect(await engine.resume("t")).toMatchObject(WHOLE);
  expect(ran).toEqual(["a", "b", "b", "c"]);
  await Promise.all([reader.close(), store.close()]);
}, 300_000);
