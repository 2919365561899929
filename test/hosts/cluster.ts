/** A Restate server with worker processes that a test can end at any time. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Table } from "../../runtime/table/table.ts";
import { runProgram, type RunningProgram } from "../stores/program.ts";
import { Balancer } from "./balancer.ts";
import type { RestateServer } from "./restate-server.ts";

const WORKER = new URL("../hosts/programs/worker.ts", import.meta.url);

/** A body that started or ended, in a process. */
export interface LedgerLine {
  readonly what: "start" | "end";
  readonly pid: number;
  readonly name: string;
  readonly key: string;
}

export class Cluster {
  readonly #ingress: string;
  readonly #directory = mkdtempSync(join(tmpdir(), "ngraph-cluster-"));
  readonly #balancer: Balancer;
  #workers: { readonly program: RunningProgram; readonly port: number }[] = [];

  static async start(server: RestateServer, table: Table, workers: number, ingress = server.url): Promise<Cluster> {
    const cluster = new Cluster(ingress, await Balancer.start());
    writeFileSync(cluster.#path("table.json"), JSON.stringify(table));
    writeFileSync(cluster.#path("ledger"), "");
    for (let count = 0; count < workers; count++) await cluster.addWorker();
    await server.register(cluster.#balancer.url);
    return cluster;
  }

  private constructor(ingress: string, balancer: Balancer) {
    this.#ingress = ingress;
    this.#balancer = balancer;
  }

  async addWorker(): Promise<void> {
    const program = runProgram(WORKER, this.#ingress, this.#path("table.json"), this.#path("ledger"));
    const port = Number(await program.line());
    if (!Number.isInteger(port) || port === 0) throw new Error(`the worker did not start: ${program.errors()}`);
    this.#workers.push({ program, port });
    this.#use();
  }

  /** Ends a worker as a power cut does. */
  async killWorker(index: number): Promise<void> {
    const [gone] = this.#workers.splice(index % this.#workers.length, 1);
    this.#use();
    gone?.program.process.kill("SIGKILL");
    await gone?.program.ended;
  }

  ledger(): readonly LedgerLine[] {
    const lines = readFileSync(this.#path("ledger"), "utf8").split("\n").filter(Boolean);
    return lines.map((line) => {
      const [what, pid, name, key] = line.split(" ") as [LedgerLine["what"], string, string, string];
      return { what, pid: Number(pid), name, key };
    });
  }

  async stop(): Promise<void> {
    while (this.#workers.length > 0) await this.killWorker(0);
    this.#balancer.stop();
    rmSync(this.#directory, { recursive: true, force: true });
  }

  #path(name: string): string {
    return join(this.#directory, name);
  }

  #use(): void {
    this.#balancer.use(this.#workers.map(({ port }) => port));
  }
}
