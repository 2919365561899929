/**
 * The HTTP service under load: open streams of events, and runs of three nodes a second on Postgres. It counts events that are lost,
 * and measures the memory of the server between the end of the warm-up, when the log of events is full, and the end.
 *
 * `LOAD="500 200 60 90" npm run bench -- service` has 500 streams, and 200 runs a second for 60 seconds after a warm-up of 90.
 * With `PROFILE=DIRECTORY`, the server writes a CPU profile there.
 */
import { fork, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { fileURLToPath } from "node:url";
import { serve } from "@hono/node-server";
import pg from "pg";
import { PostgresStore } from "../runtime/stores/postgres.ts";
import { createClient } from "../service/client.ts";
import { createService } from "../service/index.ts";
import { parseEvents } from "../service/parse-events.ts";
import { PostgresServer } from "../test/stores/postgres-server.ts";
import { chainTable, functions } from "./support/chain.ts";

const [streams = 100, perSecond = 50, seconds = 10, warmUp = 5] = (process.env["LOAD"] ?? "")
  .split(" ")
  .filter(Boolean)
  .map(Number);
const PROFILE = process.env["PROFILE"];

/** The server, in a process of its own. */
async function answer(url: string): Promise<void> {
  const prototype = pg.Client.prototype as { query: (...args: unknown[]) => unknown };
  const { query } = prototype;
  let messages = 0;
  prototype.query = function (...args) {
    messages++;
    return query.apply(this, args);
  };
  const store = new PostgresStore({ url });
  const service = createService({
    graphs: [{ table: chainTable(), functions }],
    store,
    limits: { streams: 10_000 },
  });
  service.start();
  const server = serve({ fetch: service.fetch, port: 0, hostname: "127.0.0.1" }, () =>
    process.send!({ port: (server.address() as AddressInfo).port }),
  );
  process.once("disconnect", () => process.exit());
  process.on("message", () => {
    for (let round = 0; round < 3; round++) globalThis.gc?.();
    const { heapUsed, rss, arrayBuffers } = process.memoryUsage();
    process.send!({ heapUsed, rss, arrayBuffers, cpu: process.cpuUsage(), messages });
  });
}

interface Figures {
  readonly heapUsed: number;
  readonly rss: number;
  readonly arrayBuffers: number;
  readonly cpu: { readonly user: number; readonly system: number };
  /** To Postgres. */
  readonly messages: number;
}

/**
 * CPU seconds of a process and its children, living and ended; `undefined` on systems without `/proc`. The kernel counts in steps of
 * 10 ms.
 */
function cpuOfTree(pid: number): number | undefined {
  if (!existsSync(`/proc/${pid}/stat`)) return undefined;
  let ticks = 0;
  for (const name of readdirSync("/proc")) {
    if (!/^\d+$/.test(name)) continue;
    try {
      const fields = readFileSync(`/proc/${name}/stat`, "utf8")
        .replace(/^.*\) /s, "")
        .split(" ")
        .map(Number);
      if (fields[1] === pid) ticks += fields[11]! + fields[12]!;
      if (Number(name) === pid) ticks += fields[11]! + fields[12]! + fields[13]! + fields[14]!;
    } catch {
      // It has ended in the meantime.
    }
  }
  return ticks / 100;
}

async function ask(child: ChildProcess): Promise<Figures> {
  const answered = once(child, "message");
  child.send("figures");
  return ((await answered) as [Figures])[0];
}

async function measure(): Promise<void> {
  const postgres = await PostgresServer.start({ settings: { fsync: "on" } });
  const child = fork(fileURLToPath(import.meta.url), [postgres.url], {
    execArgv: ["--expose-gc", ...(PROFILE === undefined ? [] : ["--cpu-prof", `--cpu-prof-dir=${PROFILE}`])],
  });
  try {
    const [{ port }] = (await once(child, "message")) as [{ port: number }];
    const url = `http://127.0.0.1:${port}`;
    const client = createClient({ url });
    const graph = chainTable().name;
    const threads = Array.from({ length: streams }, (_, at) => `thread ${at}`);
    for (const thread of threads) await client.graph(graph).run({ n: 0 }, { thread });
    const closing = new AbortController();
    const readers = threads.map((thread) => new Reader(`${url}/threads/${encodeURIComponent(thread)}/events`, closing));
    await Promise.all(readers.map(({ connected }) => connected));

    const started = new Map(threads.map((thread) => [thread, 0]));
    const latencies: number[] = [];
    let late = 0;
    let refused = 0;
    const free = [...threads];
    const load = async (length: number): Promise<number> => {
      const under = new Set<Promise<void>>();
      const begin = performance.now();
      let count = 0;
      while (performance.now() - begin < length * 1000) {
        const due = Math.floor(((performance.now() - begin) / 1000) * perSecond);
        for (; count < due; count++) {
          const thread = free.shift();
          if (thread === undefined) {
            late++;
            continue;
          }
          const since = performance.now();
          const run: Promise<void> = client
            .graph(graph)
            .run({ n: count }, { thread })
            .then(
              () => {
                started.set(thread, started.get(thread)! + 1);
                latencies.push(performance.now() - since);
              },
              () => {
                refused++;
              },
            )
            .finally(() => {
              free.push(thread);
              under.delete(run);
            });
          under.add(run);
        }
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
      await Promise.all(under);
      return count - late;
    };
    await load(warmUp);
    const before = await ask(child);
    latencies.length = 0;
    late = 0;
    const begin = performance.now();
    const [own, database] = [process.cpuUsage(), cpuOfTree(postgres.pid)];
    const count = await load(seconds);
    const length = (performance.now() - begin) / 1000;
    const after = await ask(child);
    const { user, system } = process.cpuUsage(own);
    const databaseAfter = cpuOfTree(postgres.pid);
    // The last events are on their way.
    await new Promise((resolve) => setTimeout(resolve, 2_000));
    closing.abort();
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    const closed = await ask(child);
    const lost = readers.reduce((sum, { gaps }) => sum + gaps, 0);
    const missing = readers.reduce((sum, { ends }, at) => sum + started.get(threads[at]!)! - ends, 0);
    latencies.sort((a, b) => a - b);
    const at = (part: number): string => `${(latencies[Math.floor(latencies.length * part)] ?? 0).toFixed(0)} ms`;
    const mib = (bytes: number): string => `${(bytes / 2 ** 20).toFixed(1)} MiB`;
    const cpu = (after.cpu.user + after.cpu.system - before.cpu.user - before.cpu.system) / 1e6;
    console.log(`${streams} streams, ${(count / length).toFixed(0)} runs a second for ${length.toFixed(0)} s`);
    const each = (total: number): string => `${((total / count) * 1000).toFixed(2)} ms`;
    const ofDatabase = database === undefined ? "not known" : each(databaseAfter! - database);
    console.log(`a run: median ${at(0.5)}, 99 % ${at(0.99)}`);
    console.log(
      `CPU a run: service ${each(cpu)}, Postgres ${ofDatabase}, client of the load ${each((user + system) / 1e6)}; ` +
        `messages to Postgres a run: ${((after.messages - before.messages) / count).toFixed(1)}`,
    );
    console.log(`runs that found no free thread: ${late}; runs refused: ${refused}`);
    console.log(
      `events: ${readers.reduce((sum, { events }) => sum + events, 0)}, lost: ${lost}, ends of runs missing: ${missing}`,
    );
    console.log(
      `heap after the warm-up ${mib(before.heapUsed)}, at the end ${mib(after.heapUsed)}, streams closed ${mib(closed.heapUsed)}`,
    );
    console.log(`resident ${mib(before.rss)}, ${mib(after.rss)}, ${mib(closed.rss)}`);
    if (lost > 0 || missing > 0 || refused > 0) process.exitCode = 1;
  } finally {
    const ended = once(child, "exit");
    child.disconnect();
    await ended;
    await postgres.dispose();
  }
}

/** Reads a stream, and checks that the numbers of its events have no gap. */
class Reader {
  gaps = 0;
  events = 0;
  ends = 0;
  readonly connected: Promise<void>;

  constructor(url: string, closing: AbortController) {
    const response = fetch(url, { signal: closing.signal });
    this.connected = response.then(() => undefined);
    void response
      .then(async ({ body }) => this.#read(body!))
      .catch((error: unknown) => {
        if (!closing.signal.aborted) throw error;
      });
  }

  async #read(body: ReadableStream<Uint8Array>): Promise<void> {
    let last: number | undefined;
    for await (const { id, type, data } of parseEvents(body)) {
      const number = Number(id?.split(".")[1]);
      if (id === undefined) this.gaps += type === "dropped" ? Number(data["count"] ?? 1) : 0;
      else {
        if (last !== undefined) this.gaps += number - last - 1;
        last = number;
        this.events++;
      }
      if (type === "run" && data["phase"] === "end") this.ends++;
    }
  }
}

if (process.send === undefined) await measure();
else await answer(process.argv[2]!);
