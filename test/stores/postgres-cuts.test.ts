/**
 * 5.3 to 5.5 when the connection ends at any query of a run: before the server receives it, or after it has executed it
 * and before the client receives the answer. The run continues or fails with a code; what the server executed counts
 * once, and a resume reads it again.
 */
import { afterAll, beforeAll, expect, it } from "vitest";
import { PostgresStore } from "../../runtime/stores/postgres.ts";
import { engineOf } from "../support/graph.ts";
import { startProxy } from "./cutting-proxy.ts";
import { PostgresServer } from "./postgres-server.ts";
import { isDeep, scale } from "../support/depth.ts";

const GRAPH = `graph g { output log: string[] reduce append
  node a = work("a") into log  node b = work("b") into log  node c = work("c") into log  node d = work("d") into log
  start -> a -> b, c  all(b, c) -> d }`;
const WHOLE = ["a", "b", "c", "d"];

let server: PostgresServer;
let direct: PostgresStore;
let threads = 0;
beforeAll(async () => {
  server = await PostgresServer.start();
  direct = new PostgresStore({ url: server.url, schema: "cuts", connections: 2 });
  await direct.threads();
}, 300_000);
afterAll(async () => {
  await direct.close();
  await server.dispose();
});

it.each(["before", "after"] as const)(
  "a connection that ends %s the server has done what was asked",
  { timeout: 300_000 },
  async (when) => {
    const { questions } = await cutAt(-1, when);
    expect(questions).toBeGreaterThan(20);
    let commits = 0;
    for (let at = 0; at < questions; at += scale(1, 6)) if ((await cutAt(at, when)).wasCommit) commits++;
    if (isDeep) expect(commits).toBeGreaterThan(8);
  },
);

async function cutAt(at: number, when: "before" | "after") {
  const thread = `t${++threads}`;
  const proxy = await startProxy(Number(new URL(server.url).port), at, when);
  const store = new PostgresStore({
    url: server.url.replace(/:\d+\//, `:${proxy.port}/`),
    schema: "cuts",
    connections: 2,
  });
  const ran: string[] = [];
  const functions = { work: (name: string) => (ran.push(name), name) };
  const error: unknown = await engineOf(GRAPH, functions, { store })
    .run({}, { thread })
    .then(
      () => undefined,
      (reason: unknown) => reason,
    );
  const cut = proxy.cut();
  const where = `question ${at}, ${when}: ${cut?.slice(0, 80)}`;
  if (error !== undefined) {
    expect(error, where).toMatchObject({ code: "NG_STORE_FAILED" });
    // A resume never runs a task again whose result is stored now.
    const head = await direct.loadLatest(thread);
    const writes = head === undefined ? [] : await direct.getWrites(thread, head.id);
    const stored = new Set([...((head?.values["log"] ?? []) as string[]), ...writes.map(({ taskId }) => taskId)]);
    const before = ran.length;
    // The same store: its own claim, whose result is unknown, does not block it.
    const engine = engineOf(GRAPH, functions, { store });
    if (head === undefined) await engine.run({}, { thread });
    else if (head.status !== "completed") await engine.resume(thread);
    expect(
      ran.slice(before).filter((name) => stored.has(name)),
      where,
    ).toEqual([]);
  }
  const history = await direct.list(thread);
  expect(history[0], where).toMatchObject({ status: "completed", values: { log: WHOLE } });
  for (const [index, { parentId }] of history.entries()) expect(parentId, where).toBe(history[index + 1]?.id ?? null);
  expect(
    history.map(({ step }) => step),
    where,
  ).toEqual([2, 1, 0, -1]);
  await store.close();
  await proxy.close();
  return { questions: proxy.questions(), wasCommit: cut?.includes("COMMIT") ?? false };
}
