/** A Restate server for tests, on free ports of the loopback interface, with a directory that is deleted with it. */
import { spawn, type ChildProcess } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "../support/free-port.ts";

/** The program of the package `@restatedev/restate-server`, or why it is not there. */
export function findRestate(): { readonly program: string } | { readonly missing: string } {
  const name = `@restatedev/restate-server-${process.platform}-${process.arch}/bin/restate-server`;
  try {
    const program = createRequire(import.meta.url).resolve(name);
    if (existsSync(program)) return { program };
  } catch {
    // Reported below: npm installs the package of the system only.
  }
  return { missing: `${name} is not installed` };
}

export class RestateServer {
  readonly url: string;
  readonly admin: string;
  readonly #node: string;
  readonly #directory: string;
  readonly #config: string;
  #process: ChildProcess | undefined;

  static async start(): Promise<RestateServer> {
    const server = new RestateServer(await freePorts(), "");
    await server.start();
    return server;
  }

  /** Nodes of one cluster, which keeps its data twice. The first node provisions it. It has one partition, so one node leads it. */
  static async startCluster(count: number): Promise<readonly RestateServer[]> {
    const ports = await Promise.all(Array.from({ length: count }, freePorts));
    const peers = JSON.stringify(ports.map(({ node }) => `http://127.0.0.1:${node}`));
    const servers = ports.map((own, index) => {
      const settings = `node-name = "node-${index}"\ndefault-replication = 2\nauto-provision = ${index === 0}\ndefault-num-partitions = 1`;
      return new RestateServer(own, settings, `[metadata-client]\naddresses = ${peers}\n`);
    });
    await Promise.all(servers.map((server) => server.start()));
    return servers;
  }

  private constructor({ ingress, admin, node }: Ports, settings: string, tables = "") {
    this.url = `http://127.0.0.1:${ingress}`;
    this.admin = `http://127.0.0.1:${admin}`;
    this.#node = `http://127.0.0.1:${node}`;
    this.#directory = mkdtempSync(join(tmpdir(), "ngraph-restate-"));
    this.#config = join(this.#directory, "restate.toml");
    mkdirSync(join(this.#directory, "data"));
    writeFileSync(
      this.#config,
      [
        settings === "" ? `node-name = "test"\nauto-provision = true\ndefault-num-partitions = 4` : settings,
        `cluster-name = "test"\nlisten-mode = "tcp"\nbind-ip = "127.0.0.1"\nadvertised-host = "127.0.0.1"`,
        `bind-port = ${node}\nbase-dir = ${JSON.stringify(join(this.#directory, "data"))}`,
        `rocksdb-total-memory-size = "256MiB"\ndisable-telemetry = true\nlog-filter = "off"\n`,
        `[worker.invoker]\nhttp2-streams-per-connection-limit = 8\n`,
        `[ingress]\nbind-port = ${ingress}\n`,
        `[admin]\nbind-port = ${admin}\n`,
        tables,
      ].join("\n"),
    );
  }

  async start(): Promise<void> {
    const found = findRestate();
    if ("missing" in found) throw new Error(found.missing);
    this.#process = spawn(found.program, ["--no-logo", "--config-file", this.#config], {
      stdio: "ignore",
      env: { ...process.env, DO_NOT_TRACK: "1", SCARF_ANALYTICS: "false" },
    });
    for (let waited = 0; waited < 240_000; waited += 50) {
      if (await isHealthy(`${this.admin}/health`)) if (await isHealthy(`${this.url}/restate/health`)) return;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    throw new Error("the Restate server did not start within four minutes");
  }

  /** Makes the services of a worker known. A server that has just started may refuse it at first. */
  async register(worker: string): Promise<void> {
    let refusal = "";
    for (let tries = 0; tries < 20; tries++) {
      const response = await this.#register(worker);
      if (response.ok) return;
      refusal = `${response.status} ${await response.text()}`;
      await new Promise((resolve) => setTimeout(resolve, 500));
    }
    throw new Error(`registration failed: ${refusal}`);
  }

  #register(worker: string): Promise<Response> {
    return fetch(`${this.admin}/deployments`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ uri: worker, force: true }),
    });
  }

  /** Whether this node of a cluster leads its partition. A node that takes no part yet says nothing of it. */
  async leads(): Promise<boolean> {
    const metrics = await fetch(`${this.#node}/metrics`).then((response) => response.text());
    const count = /^restate_num_active_partition_leaders\{.*\} (\d+)$/m.exec(metrics)?.[1];
    return count !== undefined && Number(count) > 0;
  }

  /** The processor time that the process has used, in milliseconds. Linux only. */
  cpuMs(): number {
    return cpuOf(this.#process!.pid!);
  }

  /** Ends the server without a warning, as a power cut does. */
  async kill(): Promise<void> {
    const child = this.#process;
    this.#process = undefined;
    if (child === undefined || child.exitCode !== null) return;
    const ended = new Promise((resolve) => child.once("exit", resolve));
    child.kill("SIGKILL");
    await ended;
  }

  async stop(): Promise<void> {
    await this.kill();
    rmSync(this.#directory, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** The processor time of a process in milliseconds, from Linux: fields 14 and 15 of its `stat`, in hundredths of a second. */
export function cpuOf(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]!.split(" ");
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

async function isHealthy(url: string): Promise<boolean> {
  try {
    return (await fetch(url)).ok;
  } catch {
    return false;
  }
}

interface Ports {
  readonly ingress: number;
  readonly admin: number;
  readonly node: number;
}

async function freePorts(): Promise<Ports> {
  const [ingress, admin, node] = await Promise.all([freePort(), freePort(), freePort()]);
  return { ingress, admin, node };
}
