/** Many streams of events and many runs of a service on Postgres: no event is lost, and nothing stays when the streams are closed. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { createService } from "../../service/index.ts";
import { parseEvents } from "../../service/parse-events.ts";
import { PostgresStore } from "../../runtime/stores/postgres.ts";
import { compiledTable } from "../support/compiled-engine.ts";
import { scale } from "../support/depth.ts";
import { PostgresServer } from "./postgres-server.ts";

let server: PostgresServer;
beforeAll(async () => {
  server = await PostgresServer.start();
}, 300_000);
afterAll(() => server.dispose());

const TABLE = compiledTable(`graph chain {
  input n: int
  output z: int
  node a = { z: n + 1 } into { z }
  node b = { z: z + 1 } into { z }
  start -> a -> b -> end
}`);

const STREAMS = scale(500, 60);
const ROUNDS = scale(6, 3);

test("each of many streams receives all events of its thread", async () => {
  const store = new PostgresStore({ url: server.url });
  const service = createService({ graphs: [{ table: TABLE }], store });
  service.start();
  const send = (path: string, init?: RequestInit) => service.fetch(new Request(`http://localhost${path}`, init));
  const run = async (at: number): Promise<void> => {
    const body = JSON.stringify({ input: { n: at }, thread: `t${at}` });
    const headers = { "content-type": "application/json" };
    expect((await send("/graphs/chain/runs", { method: "POST", body, headers })).status).toBe(200);
  };
  const all = Array.from({ length: STREAMS }, (_, at) => at);
  await Promise.all(all.map(run));
  const closing = new AbortController();
  const streams = await Promise.all(
    all.map(async (at) => (await send(`/threads/t${at}/events`, { signal: closing.signal })).body!),
  );
  const read = async (body: ReadableStream<Uint8Array>): Promise<void> => {
    let last: number | undefined;
    let ends = 0;
    for await (const { id, type, data } of parseEvents(body)) {
      // Neither a gap nor a state in its place.
      expect([type, id?.split(".").length]).toEqual([type, 2]);
      const number = Number(id!.split(".")[1]);
      if (last !== undefined) expect(number).toBe(last + 1);
      last = number;
      if (type === "run" && data["phase"] === "end" && ++ends === ROUNDS) return;
    }
    throw new Error(`the stream has ended after ${ends} runs`);
  };
  const reading = Promise.all(streams.map(read));
  for (let round = 0; round < ROUNDS; round++) await Promise.all(all.map(run));
  await reading;
  const metrics = async (): Promise<string> => (await send("/metrics")).text();
  await expect.poll(metrics).toMatch(/^ngraph_streams_open 0$/m);
  expect(await metrics()).toMatch(/^ngraph_runs_active\{graph="chain"\} 0$/m);
  await service.drain({ deadline: 1 });
  await store.close();
}, 600_000);
