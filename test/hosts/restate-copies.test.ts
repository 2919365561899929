/** Copies of threads in another store, which the usual tools read. */
import { expect, it, onTestFinished, test } from "vitest";
import { createEngine } from "../../api/create-engine.ts";
import { restate, serveRestate } from "../../api/hosts/restate.ts";
import { copyThread, NOTHING_COPIED, type CopyProgress } from "../../hosts/restate/copy-thread.ts";
import type { Engine, Store } from "../../runtime/index.ts";
import { StoreError } from "../../runtime/interface/errors.ts";
import { MemoryStore } from "../../runtime/stores/memory.ts";
import { PostgresStore } from "../../runtime/stores/postgres.ts";
import { chance, randomOf } from "../fault/random.ts";
import { isDeep } from "../support/depth.ts";
import { tableOf } from "../support/graph.ts";
import { PostgresServer } from "../stores/postgres-server.ts";
import { findRestate, RestateServer } from "./restate-server.ts";

const found = findRestate();

if ("missing" in found) it(`is not tested: ${found.missing}`, () => undefined);
else if (isDeep) {
  test("checkpoints and labels are copied to Postgres, also after errors of it", copy, 120_000);
} else it("is tested at broad depth", () => undefined);

const GRAPH = `graph leg { input n: int  output m: int  node one = n + 1 into m  start -> one }
graph copied { input n: int  output answer: string  output log: int[] reduce append  state count: int = 0
  node next = count + 1 into count  node travel = leg(n: i) for i in [1, 2] into { m: log }  node question = ask("Go on?") into answer
  start -> next -> travel -> next when count < 12  travel -> question otherwise  question -> end }`;

async function copy(): Promise<void> {
  const [server, postgres] = await Promise.all([RestateServer.start(), PostgresServer.start()]);
  const database = new PostgresStore(postgres.url);
  onTestFinished(async () => {
    await database.close();
    await Promise.all([server.stop(), postgres.stop()]);
  });
  const table = tableOf(GRAPH, []);
  const random = randomOf(1);
  let failures = 0;
  // Calls fail before or after they take effect.
  const unreliable = new Proxy(database, {
    get(target, name) {
      const method = Reflect.get(target, name) as unknown;
      if (typeof method !== "function") return method;
      return async (...args: unknown[]) => {
        const fails = chance(random, 0.01);
        const isEarly = chance(random, 0.5);
        if (fails) failures++;
        if (fails && isEarly) throw new StoreError("NG_STORE_FAILED", "the database is away");
        const result: unknown = await (method as (...given: unknown[]) => unknown).apply(target, args);
        if (fails) throw new StoreError("NG_STORE_FAILED", "the database is away");
        return result;
      };
    },
  });
  const worker = await serveRestate({ tables: [table], restate: server.url, copyTo: unreliable });
  onTestFinished(() => worker.close({ deadline: 0 }));
  await server.register(`http://127.0.0.1:${await worker.listen(0)}`);
  const host = restate({ url: server.url, admin: server.admin });
  const original = createEngine(table, { host });
  const copied = createEngine(table, { store: database });

  await original.run({ n: 1 }, { thread: "a", metadata: { tenant: "acme" }, maxSteps: 200 });
  const history = await original.history("a", { limit: 500 });
  await original.label("a", "early", { checkpoint: history[6]!.id });
  await original.run({ n: 1 }, { thread: "gone", maxSteps: 200 });
  await original.fork("a", { as: "b", from: "early" });
  await original.resume("a", { answer: "yes" });
  await host.store("copied").deleteThread("gone");
  await expectSame(original, copied, ["a", "b"]);
  expect(failures).toBeGreaterThan(0);
  const [namespace] = (await original.history("a", { limit: 1, namespace: "travel[1]" })).map((one) => one.namespace);
  expect(namespace).toBe("travel[1]");
  await expectSame(original, copied, ["a"], "travel[1]");
  await original.run({ n: 2 }, { thread: "a", maxSteps: 200 });
  await original.resume("b", { maxSteps: 200 });
  await expectSame(original, copied, ["a", "b"]);
  await expect
    .poll(async () => (await copied.threads({ metadata: { tenant: "acme" } })).map(({ thread }) => thread))
    .toEqual(["b"]);
  await expect.poll(() => copied.state("gone")).toBeUndefined();

  // A store without splices, and an edit of the copy: what the host has, is the newest.
  const plain: Store = Object.defineProperty(new MemoryStore(), "acceptsSplices", { value: false });
  const third = createEngine(table, { store: plain });
  let progress: CopyProgress = NOTHING_COPIED;
  const copyRest = async (): Promise<void> => {
    for (let isLast = false; !isLast;) ({ isLast, ...progress } = await copyThread(source, plain, "a", progress));
  };
  const source = host.store("copied");
  await copyRest();
  await expectSame(original, third, ["a"]);
  await third.update("a", { answer: "mine" });
  await original.update("a", { answer: "yours" });
  await copyRest();
  await expectSame(original, third, ["a"]);
}

/** Copies follow within seconds. */
async function expectSame(a: Engine, b: Engine, threads: readonly string[], namespace = ""): Promise<void> {
  for (const thread of threads) {
    const expected = await a.history(thread, { limit: 1000, namespace });
    await expect
      .poll(() => b.history(thread, { limit: 1000, namespace }), { timeout: 90_000, interval: 200 })
      .toEqual(expected);
  }
}
