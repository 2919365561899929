/** A cluster of three nodes that loses its leader in the middle of a run. */
import { expect, it, onTestFinished, test } from "vitest";
import { createEngine } from "../../api/create-engine.ts";
import { restate } from "../../api/hosts/restate.ts";
import { isDeep } from "../support/depth.ts";
import { tableOf } from "../support/graph.ts";
import { Balancer } from "./balancer.ts";
import { Cluster } from "./cluster.ts";
import { findRestate, RestateServer } from "./restate-server.ts";

const found = findRestate();
const SHARE = `graph share { input list: int[]  output squares: int[]  output log: string[] reduce append
  node first = branch("first") into log  node square = work(i) for i in list into squares  node last = branch("last") into log
  start -> first -> square -> last -> end }`;

if ("missing" in found) it(`is not tested: ${found.missing}`, () => undefined);
else if (isDeep) test("a cluster loses its leader", loseLeader, 600_000);
else it("is tested at broad depth", () => undefined);

async function loseLeader(): Promise<void> {
  const servers = await RestateServer.startCluster(3);
  const ingress = await Balancer.start();
  const port = ({ url }: RestateServer): number => Number(new URL(url).port);
  ingress.use(servers.map(port));
  onTestFinished(async () => {
    ingress.stop();
    await Promise.all(servers.map((server) => server.stop()));
  });
  const table = tableOf(SHARE, ["work", "branch"]);
  const cluster = await Cluster.start(servers[1]!, table, 2, ingress.url);
  onTestFinished(() => cluster.stop());
  const engine = createEngine(table, { host: restate(ingress.url) });
  const list = Array.from({ length: 200 }, (_, index) => index);
  // A node learns of a deployment seconds after the node that has registered it.
  for (const { url } of servers) {
    const read = (): Promise<unknown> => Promise.resolve(restate(url).store(table.name).getSignals("warm"));
    while (!(await read().then(Boolean, () => false))) await new Promise((resolve) => setTimeout(resolve, 100));
  }
  const warm = await engine.run({ list: [1] }, { thread: "warm" });
  expect(warm.output).toEqual({ squares: [1], log: ["first", "last"] });
  const running = Promise.all(["a", "b", "c", "d"].map((thread) => engine.run({ list }, { thread })));
  while (cluster.ledger().length < 200) await new Promise((resolve) => setTimeout(resolve, 5));
  const leader = await leaderOf(servers);
  const followers = servers.filter((each) => each !== leader);
  ingress.use(followers.map(port));
  await leader.kill();
  for (const { status, error, output } of await running) {
    expect([status, error?.message, output]).toEqual([
      "completed",
      undefined,
      { squares: list.map((n) => n * n), log: ["first", "last"] },
    ]);
  }
  expect(followers).toContain(await leaderOf(followers));
}

/** The one server that leads. Waits where a server is about to take over, as on a machine that is too busy for heartbeats. */
async function leaderOf(servers: readonly RestateServer[]): Promise<RestateServer> {
  for (;;) {
    const leading = await Promise.all(servers.map((server) => server.leads()));
    const [leader, ...others] = servers.filter((_, index) => leading[index]);
    if (leader !== undefined && others.length === 0) return leader;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}
