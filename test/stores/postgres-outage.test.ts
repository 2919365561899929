/** A run whose Postgres server stops, restarts, or has a full disk: nothing is lost, and nothing is applied twice. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { FunctionRegistry } from "../../runtime/index.ts";
import { PostgresStore } from "../../runtime/stores/postgres.ts";
import { engineOf } from "../support/graph.ts";
import { PostgresServer } from "./postgres-server.ts";
import { scale } from "../support/depth.ts";

const GRAPH = `graph g { output log: string[] reduce append
  node a = work("a") into log  node b = work("b") into log  node c = work("c") into log  node d = work("d") into log
  start -> a -> b, c  all(b, c) -> d }`;
const WHOLE = { status: "completed", output: { log: ["a", "b", "c", "d"] } };

let server: PostgresServer;
let schemas = 0;
beforeAll(async () => {
  server = await PostgresServer.start();
}, 300_000);
afterAll(() => server.dispose());

/** A separate store, and functions that record which bodies ran. `at` is called in the body of a node before it returns. */
function world(at: (name: string, store: PostgresStore) => unknown) {
  const schema = `outage_${++schemas}`;
  const store = new PostgresStore({ url: server.url, schema, connections: 2 });
  const ran: string[] = [];
  const functions: FunctionRegistry = {
    work: async (name: string) => {
      ran.push(name);
      await at(name, store);
      return name;
    },
  };
  return { schema, store, ran, engine: engineOf(GRAPH, functions, { store }) };
}

describe("a server that restarts in the middle of a run", () => {
  it.each(["SIGINT", "SIGQUIT"] as const)("while a node runs: the run continues by itself (%s)", async (signal) => {
    const { engine, ran, store } = world(async (name) => {
      if (name !== "a") return;
      await server.stop(signal);
      await server.start();
    });
    expect(await engine.run({}, { thread: "t" })).toMatchObject(WHOLE);
    expect(ran).toEqual(["a", "b", "c", "d"]);
    await store.close();
  });

  it("that waits for its connections to close: the current run ends normally, and the next is refused", async () => {
    let stopped: Promise<void> | undefined;
    const { engine, ran, store } = world((name) => {
      if (name === "a") stopped = server.stop("SIGTERM");
    });
    expect(await engine.run({}, { thread: "t" })).toMatchObject(WHOLE);
    expect(ran).toEqual(["a", "b", "c", "d"]);
    const late = new PostgresStore({ url: server.url, schema: "late", connections: 1 });
    await expect(late.threads()).rejects.toMatchObject({
      code: "NG_STORE_FAILED",
      message: expect.stringMatching(/resume when it is available again|cannot be reached/),
    });
    await Promise.all([store.close(), late.close()]);
    await stopped;
    await server.start();
  });

  it("and is down when a result is stored: a typed error, and a resume that runs only tasks without a stored result", async () => {
    let away = false;
    const { engine, ran, store } = world(async (name) => {
      if (name !== "d" || away) return;
      away = true;
      await server.stop("SIGQUIT");
    });
    const failed = engine.run({}, { thread: "t" });
    await expect(failed).rejects.toMatchObject({ code: "NG_STORE_FAILED" });
    await expect(failed).rejects.toThrow(/cannot be reached|ended the connection/);
    await expect(engine.resume("t")).rejects.toMatchObject({ code: "NG_STORE_FAILED" });
    await server.start();
    expect(await engine.resume("t")).toMatchObject(WHOLE);
    expect(ran).toEqual(["a", "b", "c", "d", "d"]);
    await store.close();
  });
});

describe("connections that the server ends", () => {
  it("at any point of a run: it continues, or fails with a code and is resumed", async () => {
    for (let nth = 0; nth < 24; nth += scale(1, 5)) {
      const { engine, ran, store, schema } = world(() => undefined);
      const name = `victim_${schema}`;
      const victim = new PostgresStore({ url: `${server.url}?application_name=${name}`, schema, connections: 2 });
      const doomed = engineOf(GRAPH, { work: (task: string) => (ran.push(task), task) }, { store: victim });
      const end = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = '${name}'`;
      let over = false;
      const run = doomed.run({}, { thread: "t" }).finally(() => (over = true));
      run.catch(() => {});
      for (let n = 0; n < nth && !over; n++) await server.query("SELECT 1");
      await server.query(end);
      const outcome = await run.then(
        () => undefined,
        (error: unknown) => error,
      );
      if (outcome !== undefined) {
        expect(outcome).toMatchObject({ code: "NG_STORE_FAILED" });
        const known = (await engine.state("t")) !== undefined;
        await (known ? engine.resume("t") : engine.run({}, { thread: "t" }));
      }
      expect((await engine.state("t"))?.state).toEqual(WHOLE.output);
      await Promise.all([store.close(), victim.close()]);
    }
  });
});

it("a full disk of the server: an error, nothing half-written, and a resume when there is space again", async () => {
  const { engine, ran, store, schema } = world(() => undefined);
  await store.threads();
  // The client's view of a full disk: the server refuses a row in the middle of a transaction.
  await server.query(
    `CREATE FUNCTION ${schema}.refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
       IF (SELECT count(*) FROM ${schema}.cells) >= 1 THEN RAISE 'no space left on device' USING ERRCODE = 'disk_full'; END IF;
       RETURN NEW;
     END $$;
     CREATE TRIGGER full_disk BEFORE INSERT ON ${schema}.cells FOR EACH ROW EXECUTE FUNCTION ${schema}.refuse()`,
  );
  await expect(engine.run({}, { thread: "t" })).rejects.toMatchObject({
    code: "NG_STORE_FAILED",
    message: expect.stringMatching(/run out of disk space.*no space left on device/),
  });
  const before = await store.list("t");
  expect(before[0]?.values["log"]).toEqual(["a"]);
  await server.query(`DROP TRIGGER full_disk ON ${schema}.cells`);
  expect(await engine.resume("t")).toMatchObject(WHOLE);
  // The results of `b` and `c` were stored as pending writes, which have a separate table.
  expect(ran).toEqual(["a", "b", "c", "d"]);
  await store.close();
});
