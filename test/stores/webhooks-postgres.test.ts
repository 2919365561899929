import { createServer } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { createEngine } from "../../runtime/index.ts";
import { PostgresStore } from "../../runtime/stores/postgres.ts";
import { builtinNodes } from "../../stdlib/builtin-nodes.ts";
import { Webhooks } from "../../service/webhooks.ts";
import { PostgresServer } from "./postgres-server.ts";
import { compiledTable } from "../support/compiled-engine.ts";

let server: PostgresServer;
beforeAll(async () => {
  server = await PostgresServer.start();
}, 300_000);
afterAll(() => server.dispose());

const FLOW = compiledTable(`graph flow {
  output verdict: string
  node sure = ask("?", choices: ["yes", "no"]) into verdict
  start -> sure -> end
}`);

test("two processes on one database send each event of a webhook", async () => {
  const ids: string[] = [];
  const receiver = createServer((request, response) => {
    ids.push(String(request.headers["webhook-id"]));
    response.end();
  }).listen(0, "127.0.0.1");
  await once(receiver, "listening");
  onTestFinished(() => void receiver.close());
  const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`;
  const secret = `whsec_${Buffer.alloc(32, 7).toString("base64")}`;
  const failures: string[] = [];
  const processes = [1, 2].map(() => {
    const store = new PostgresStore(server.url);
    const engine = createEngine(FLOW, { store, builtins: builtinNodes });
    const webhooks = new Webhooks({
      hooks: [{ url, secret, private: true }],
      store,
      engines: () => new Map([["flow", engine]]),
      onFailure: (message, error) => failures.push(`${message}: ${String(error)}`),
      onSent: () => undefined,
      lookEveryMs: 20,
      scanEveryMs: 20,
      tidyEveryMs: 20,
      mostPending: 1000,
    });
    webhooks.start();
    return { store, engine, webhooks };
  });
  for (let index = 0; index < 40; index++) {
    const { engine, webhooks } = processes[index % 2]!;
    await webhooks.add("flow", await engine.run({}, { thread: `t${index}` }));
  }
  await expect.poll(() => new Set(ids).size, { timeout: 90_000 }).toBe(40);
  expect(failures).toEqual([]);
  for (const { webhooks, store } of processes) {
    await webhooks.stop();
    await store.close();
  }
});
