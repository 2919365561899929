/** The nodes of the compose file of docs/hosts.md, started with its environment: they are one cluster, and runs use any of them. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished, test } from "vitest";
import { parse } from "yaml";
import { createEngine } from "../../api/create-engine.ts";
import { restate, serveRestate } from "../../api/hosts/restate.ts";
import { fencedBlocks } from "../docs/fenced-blocks.ts";
import { isDeep } from "../support/depth.ts";
import { tableOf } from "../support/graph.ts";
import { findRestate } from "./restate-server.ts";

const found = findRestate();

if ("missing" in found) it(`is not tested: ${found.missing}`, () => undefined);
else if (process.platform !== "linux") it("is tested where each address 127.x.y.z is there", () => undefined);
else if (isDeep) test("the nodes of the compose file are one cluster", () => compose(found.program), 900_000);
else it("is tested at broad depth", () => undefined);

interface Compose {
  readonly services: Readonly<Record<string, { readonly environment?: Readonly<Record<string, string>> }>>;
}

async function compose(program: string): Promise<void> {
  const { text } = fencedBlocks(readFileSync("docs/hosts.md", "utf8")).find((each) =>
    each.text.startsWith("# compose.yaml"),
  )!;
  const { services } = parse(text, { merge: true }) as Compose;
  // Each node has the usual ports, at an address of its own: as with compose. No other test has the same network.
  const network = `127.${100 + (process.pid % 100)}.${Math.floor(process.pid / 100) % 250}`;
  const local = (value: string): string => value.replaceAll(/restate-(\d)(?=:)/g, `${network}.$1`);
  const nodes = Object.entries(services).filter(([, { environment }]) => environment !== undefined);
  expect(nodes.map(([name]) => name)).toEqual(["restate-1", "restate-2", "restate-3"]);
  const directory = mkdtempSync(join(tmpdir(), "ngraph-compose-"));
  const servers = nodes.map(([name, { environment = {} }]) => {
    const given = Object.fromEntries(Object.entries(environment).map(([key, value]) => [key, local(value)]));
    const here = {
      RESTATE_BASE_DIR: join(directory, name),
      RESTATE_BIND_IP: local(`${name}:`).slice(0, -1),
      RESTATE_LISTEN_MODE: "tcp",
      RESTATE_ROCKSDB_TOTAL_MEMORY_SIZE: "256MiB",
      RESTATE_LOG_FILTER: "off",
    };
    const env = { ...process.env, ...given, ...here, DO_NOT_TRACK: "1", SCARF_ANALYTICS: "false" };
    return spawn(program, ["--no-logo"], { cwd: directory, env, stdio: "ignore" });
  });
  onTestFinished(async () => {
    for (const server of servers) server.kill("SIGKILL");
    await Promise.all(servers.map((server) => server.exitCode === null && once(server, "exit")));
    rmSync(directory, { recursive: true, force: true, maxRetries: 5 });
  });
  const ingress = (node: number): string => `http://${network}.${node}:8080`;
  for (const node of [1, 2, 3]) {
    await expect
      .poll(() => isHealthy(`${ingress(node)}/restate/health`), { timeout: 300_000, interval: 200 })
      .toBe(true);
  }
  const table = tableOf(
    `graph composed { input list: int[]  output done: int[]  node each1 = double(i) for i in list into done  start -> each1 -> end }`,
    ["double"],
  );
  const worker = await serveRestate({
    ...{ tables: [table], restate: ingress(1) },
    functions: { double: (n: number) => n * 2 },
  });
  onTestFinished(() => worker.close({ deadline: 0 }));
  const uri = `http://127.0.0.1:${await worker.listen(0)}`;
  const register = async (): Promise<number> => {
    const { status } = await fetch(`http://${network}.1:9070/deployments`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ uri }),
    });
    return status;
  };
  // The administration may be ready later than the ingress.
  await expect.poll(register, { timeout: 300_000, interval: 500 }).toBe(201);
  for (const node of [3, 2, 1]) {
    const engine = createEngine(table, { host: restate(ingress(node)) });
    const known = (): Promise<unknown> =>
      engine.state(`t${node}`).then(
        () => "known",
        () => "unknown",
      );
    // The other nodes learn of a deployment a moment later.
    await expect.poll(known, { timeout: 300_000, interval: 200 }).toBe("known");
    expect(await engine.run({ list: [1, 2, 3] }, { thread: `t${node}` })).toMatchObject({
      output: { done: [2, 4, 6] },
    });
  }
  // Threads are of the cluster, not of a node.
  expect(await createEngine(table, { host: restate(ingress(1)) }).state("t3")).toMatchObject({ status: "completed" });
}

async function isHealthy(url: string): Promise<boolean> {
  try {
    return (await fetch(url)).ok;
  } catch {
    return false;
  }
}
