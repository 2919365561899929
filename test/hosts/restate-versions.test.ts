/** A new deployment while runs are in progress and threads are paused. */
import { expect, it, onTestFinished, test } from "vitest";
import { createEngine } from "../../api/create-engine.ts";
import { restate, serveRestate, type RestateWorker } from "../../api/hosts/restate.ts";
import type { Table } from "../../runtime/index.ts";
import { isDeep } from "../support/depth.ts";
import { tableOf } from "../support/graph.ts";
import { findRestate, RestateServer } from "./restate-server.ts";

const found = findRestate();
const THREADS = 50;

if ("missing" in found) it(`is not tested: ${found.missing}`, () => undefined);
else if (isDeep) {
  test("runs in progress keep their version, and paused threads continue with the new one", deploy, 600_000);
  test("names that no URL can contain are refused", refuseNames);
} else it("is tested at broad depth", () => undefined);

const graph = (
  more: string,
): string => `graph g { input list: int[]  output done: string[]  output log: string[] reduce append
  node item = work(i) for i in list into done  node question = ask("Go on?") into log  node last = close() into log ${more}
  start -> item  item -> question when len(list) > 2  item -> last otherwise  question -> last -> end }`;

async function deploy(): Promise<void> {
  const server = await RestateServer.start();
  const workers: RestateWorker[] = [];
  onTestFinished(async () => {
    await Promise.all(workers.map((worker) => worker.close({ deadline: 0 })));
    await server.stop();
  });
  let open: () => void = () => undefined;
  const gate = new Promise<void>((resolve) => (open = resolve));
  let held = 0;
  const serve = async (table: Table, version: string): Promise<void> => {
    const work = async (n: number): Promise<string> => {
      if (n < 0) {
        held++;
        await gate;
      }
      return `${n} ${version}`;
    };
    const worker = await serveRestate({
      tables: [table],
      functions: { work, close: () => version },
      restate: server.url,
    });
    workers.push(worker);
    await server.register(`http://127.0.0.1:${await worker.listen(0)}`);
  };
  const [first, second] = [tableOf(graph(""), ["work", "close"]), tableOf(graph("{ tries 2 }"), ["work", "close"])];
  expect(first.digest).not.toBe(second.digest);
  await serve(first, "v1");
  const engine = createEngine(first, { host: restate(server.url) });
  const threads = Array.from({ length: THREADS }, (_, index) => index);
  const paused = await Promise.all(threads.map((n) => engine.run({ list: [1, 2, 3] }, { thread: `paused ${n}` })));
  expect(new Set(paused.map(({ status }) => status))).toEqual(new Set(["paused"]));
  // The second item of each list starts when the new deployment is there.
  const running = threads.map((n) => engine.run({ list: [-1, 2] }, { thread: `running ${n}`, maxParallel: 1 }));
  while (held < THREADS) await new Promise((resolve) => setTimeout(resolve, 10));

  await serve(second, "v2");
  open();
  for (const { status, output } of await Promise.all(running)) {
    expect([status, output]).toEqual(["completed", { done: ["-1 v1", "2 v1"], log: ["v1"] }]);
  }
  const strict = createEngine(first, { host: restate({ url: server.url, sameVersion: true }) });
  const refused = { code: "NG_OTHER_VERSION" };
  await expect(strict.run({ list: [] }, { thread: "refused" })).rejects.toMatchObject(refused);
  await expect(strict.run({ list: [] })).rejects.toMatchObject(refused);
  await expect(strict.resume("paused 0")).rejects.toMatchObject(refused);
  expect(await strict.state("refused")).toBeUndefined();
  expect(await strict.state("paused 0")).toMatchObject({ status: "paused" });
  const next = createEngine(second, { host: restate(server.url) });
  const resumed = await Promise.all(threads.map((n) => next.resume(`paused ${n}`, { answer: "yes" })));
  for (const { status, output } of resumed) {
    expect([status, output]).toEqual(["completed", { done: ["1 v1", "2 v1", "3 v1"], log: ["yes", "v2"] }]);
  }
}

async function refuseNames(): Promise<void> {
  const engine = createEngine(tableOf(graph(""), ["work", "close"]), { host: restate("http://127.0.0.1:1") });
  for (const thread of [".", "..", "\ud800"]) {
    await expect(engine.run({ list: [] }, { thread })).rejects.toMatchObject({
      code: "NG_STORE_FAILED",
      message: expect.stringContaining("cannot be the name of a thread"),
    });
  }
}
