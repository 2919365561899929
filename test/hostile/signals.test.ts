import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { createProgram } from "../../cli/program.ts";
import { loadSqlite } from "../../runtime/stores/sqlite/driver.ts";
import { SqliteStore } from "../../runtime/stores/sqlite.ts";
import { isDeep, sample } from "../support/depth.ts";
import { freePort } from "../support/free-port.ts";

const GRAPH = "graph g {\n  input x: int = 1\n  output o: int\n  node n = 1 into o\n  start -> n\n}\n";
const TESTED = `${GRAPH}test "it runs" for g {\n  expect o == 1\n}\n`;
const SLOW_NODE = 'console.error("READY");\nexport const f = () => new Promise(() => setInterval(() => {}, 1000));\n';
const USES_F = 'import { f } from "./nodes.ts"\ngraph g {\n  output o: json\n  node n = f() into o\n  start -> n\n}\n';
const PLAN = `plan p {\n  max parallel 3\n${Array.from({ length: 60 }, (_, i) => `  task t${i} = shell("true")${i < 8 ? "" : ` after t${(i * 5) % 8}`} { estimate ${((i * 7) % 13) + 1}m }\n`).join("")}}\n`;

/** Stands for a duration that only one test uses, so that its processes that remain are found. */
const SLEEP = "SLEEP_OF_TEST";
let sleeps = 0;
/** A port for the server that never answers. */
const PORT = await freePort();
/** Fills the pipe on descriptor 9, so that every further write waits. */
const FILL = "head -c 65536 /dev/zero >&9;";

interface Phase {
  readonly name: string;
  readonly files: Readonly<Record<string, string>>;
  /**
   * A line for `sh`. `NGC` is replaced by the command of the program. The program replaces the shell process, so that
   * it receives the signal.
   */
  readonly line: string;
  /** The signal is sent after this text on stderr, or when this file exists; without both, a time after the start. */
  readonly ready?: string | { readonly file: string };
}

/** The phases in which a command can wait or compute. */
const PHASES: readonly Phase[] = [
  { name: "fmt waits for standard input", files: {}, line: "exec NGC fmt --stdin-filepath a.ngraph < pipe" },
  { name: "check waits for standard input", files: {}, line: "exec NGC check --stdin-filepath a.ngraph < pipe" },
  {
    name: "run waits for standard input",
    files: { "a.ngraph": GRAPH },
    line: "exec NGC run a.ngraph --store memory --input - < pipe",
  },
  { name: "plan searches for an order", files: { "p.ngraph": PLAN }, line: "exec NGC plan p.ngraph --optimize=100s" },
  {
    name: "tools waits for an MCP server",
    files: {
      "ngraph.json": `{ "servers": { "s": { "command": ["sh", "-c", "touch started && exec sleep ${SLEEP}"] } } }`,
    },
    line: "exec NGC tools sync",
    ready: { file: "started" },
  },
  {
    name: "compile watches",
    files: { "a.ngraph": GRAPH },
    line: "exec NGC compile a.ngraph --watch",
    ready: "waiting for changes",
  },
  {
    name: "check watches",
    files: { "a.ngraph": GRAPH },
    line: "exec NGC check a.ngraph --watch",
    ready: "waiting for changes",
  },
  {
    name: "test watches",
    files: { "t.ngraph": TESTED },
    line: "exec NGC test t.ngraph --watch",
    ready: "waiting for changes",
  },
  {
    name: "run watches",
    files: { "p.ngraph": 'plan p {\n  task t = shell("true")  { touches read "a" }\n}\n' },
    line: "exec NGC run p.ngraph --watch",
    ready: "waiting for changes",
  },
  {
    name: "a module loads without end",
    files: { "nodes.ts": `${SLOW_NODE}while (true) {}\n`, "a.ngraph": USES_F },
    line: "exec NGC run a.ngraph --store memory",
    ready: "READY",
  },
  {
    name: "a module waits while it loads",
    files: { "nodes.ts": `${SLOW_NODE}await new Promise((r) => setTimeout(r, 1e6));\n`, "a.ngraph": USES_F },
    line: "exec NGC run a.ngraph --store memory",
    ready: "READY",
  },
  {
    name: "a node runs",
    files: { "nodes.ts": SLOW_NODE, "a.ngraph": USES_F },
    // On SIGTERM the run waits for its nodes, here for no time.
    line: "exec NGC run a.ngraph --drain 0",
    ready: "running as thread",
  },
  {
    name: "a node runs and nothing reads its output",
    files: { "nodes.ts": SLOW_NODE, "a.ngraph": USES_F },
    line: `${FILL} exec NGC run a.ngraph --drain 1 >&9 2>&9`,
  },
  {
    name: "a task runs",
    files: { "p.ngraph": `plan p {\n  task t = shell("sleep ${SLEEP}")\n}\n` },
    line: "exec NGC run p.ngraph",
    ready: "▸ t",
  },
];

/** The arguments with which a command reads a file, if it reads one. The file is a pipe that never ends. */
const READING: Readonly<Record<string, readonly string[]>> = {
  check: ["pipe", "a.ngraph --baseline pipe"],
  compile: ["pipe"],
  types: ["pipe"],
  run: [
    "pipe --store memory",
    "a.ngraph --store memory --input @pipe",
    "a.ngraph --store memory --builtins pipe",
    "a.ngraph --replay-trace pipe",
  ],
  fmt: ["pipe"],
  eval: ["a.ngraph --cases pipe", "a.ngraph --cases cases.jsonl --baseline pipe"],
  convert: ["pipe"],
  import: ["pipe"],
  export: ["pipe --to neograph"],
  graph: ["pipe"],
  plan: ["pipe"],
  mcp: ["pipe --store memory"],
  serve: ["pipe --store memory --port 0"],
  studio: ["pipe --store memory"],
  worker: ["pipe --host restate:http://127.0.0.1:1 --port 0"],
  deploy: ["pipe --host restate:http://127.0.0.1:1 --worker http://127.0.0.1:1"],
};

/** The arguments with which a command opens a store. */
const STORED: Readonly<Record<string, string>> = {
  run: "a.ngraph",
  resume: "t",
  history: "t",
  show: "c",
  fork: "t --as u",
  label: "t x",
  update: "t '{\"x\": 1}'",
  migrate: "t",
  signal: "t go 1",
  rollback: "t",
  threads: "",
  prune: "t --keep-last 1",
  delete: "t",
  mcp: "a.ngraph",
  serve: "a.ngraph --port 0",
  studio: "a.ngraph",
  doctor: "",
};

/** The arguments with which a command prints. Nothing reads what it prints. */
const PRINTING: Readonly<Record<string, string>> = {
  ...Object.fromEntries(Object.entries(STORED).map(([name, args]) => [name, `${args} --store sqlite:none.db`])),
  run: "a.ngraph --store memory",
  mcp: "a.ngraph --store memory < pipe",
  serve: "a.ngraph --store memory --port 0",
  studio: "a.ngraph --store memory",
  playground: "",
  worker: "a.ngraph --host restate:http://127.0.0.1:1 --port 0",
  deploy: "a.ngraph --host restate:http://127.0.0.1:1 --worker http://127.0.0.1:1",
  lsp: "--stdio < pipe",
  check: "a.ngraph",
  compile: "a.ngraph",
  types: "a.ngraph",
  test: "t.ngraph",
  fmt: "b.ngraph",
  convert: "a.ngraph",
  import: "package.json",
  tools: "sync",
  export: "a.ngraph --to mermaid",
  graph: "a.ngraph",
  plan: "p.ngraph",
  explain: "NG301",
  completion: "bash",
  eval: "a.ngraph --cases cases.jsonl",
  logs: "t",
  new: "directory",
  help: "",
  doctor: "",
};

const FILES = {
  "a.ngraph": GRAPH,
  "b.ngraph": GRAPH.replaceAll("\n  ", " "),
  "p.ngraph": PLAN,
  "t.ngraph": TESTED,
  "cases.jsonl": '{"input": {}}',
  "package.json": '{ "scripts": { "a": "true" } }',
};

/** Each command while it reads a pipe, waits for a store, and writes to a pipe that is full. */
function phasesOf(postgres: number): readonly Phase[] {
  const phases: Phase[] = [];
  for (const [name, lines] of Object.entries(READING)) {
    for (const args of lines)
      phases.push({ name: `${name} reads: ${args}`, files: FILES, line: `exec NGC ${name} ${args}` });
  }
  for (const [name, args] of Object.entries(STORED)) {
    const command = `exec NGC ${name} ${args} --store`;
    phases.push(
      { name: `${name} waits for a locked file`, files: FILES, line: `${command} sqlite:locked.db` },
      {
        name: `${name} waits for a server`,
        files: FILES,
        line: `${command} postgres://u@127.0.0.1:${postgres}/x`,
      },
    );
  }
  for (const [name, args] of Object.entries(PRINTING)) {
    phases.push({ name: `${name} writes`, files: FILES, line: `${FILL} exec NGC ${name} ${args} >&9 2>&9` });
  }
  return phases;
}

test("each command has a phase", async () => {
  const { commands } = await createProgram("", () => {});
  const names = commands.map((command) => command.name());
  for (const name of names) expect(PRINTING, `add \`${name}\` to the tables of this file`).toHaveProperty(name);
});

const SIGNALS = isDeep ? (["SIGINT", "SIGTERM", "SIGHUP"] as const) : (["SIGTERM"] as const);

describe.runIf(process.platform === "linux")("a signal", () => {
  /** A server that accepts connections and never answers. */
  const server = createServer(() => {});
  const directories: string[] = [];
  beforeAll(() => new Promise<void>((resolve) => server.listen(PORT, "127.0.0.1", resolve)));
  afterAll(() => {
    server.close();
    for (const directory of directories) rmSync(directory, { recursive: true, force: true });
  });

  describe.concurrent.each([...PHASES, ...sample(phasesOf(PORT))])("while $name", ({ files, line, ready }) => {
    // The commands wait most of the time, so several run at the same time.
    test.concurrent.each(SIGNALS)("%s ends the command", async (signal) => {
      const directory = realpathSync(mkdtempSync(join(tmpdir(), "ngraph-signals-")));
      directories.push(directory);
      const sleep = `1000.${process.pid}${++sleeps}`;
      for (const [name, text] of Object.entries(files)) {
        writeFileSync(join(directory, name), text.replace(SLEEP, sleep));
      }
      const unlock = lock(join(directory, "locked.db"));
      try {
        const { code, killed } = await interrupt(directory, line, ready, signal);
        expect(killed === null || killed === signal, `killed by ${killed}`).toBe(true);
        // An orderly end has 130, and that of a server 0; the default action of a signal has no exit code.
        const isServer = /NGC (?:serve|studio|playground|worker) /.test(line) && signal === "SIGTERM";
        if (killed === null) expect(code).toBe(isServer ? 0 : 130);
        // A killed process is listed until the system has ended it.
        const left = (): string[] => commandLines().filter((each) => each.includes(directory) || each.includes(sleep));
        await vi.waitFor(() => expect(left()).toEqual([]), { timeout: PATIENCE_MS, interval: 100 });
      } finally {
        unlock();
      }
    });
  });
});

/** Keeps a new store locked, as a process in a transaction does. */
function lock(path: string): () => void {
  new SqliteStore(path).close();
  const { DatabaseSync } = loadSqlite();
  const database = new DatabaseSync(path);
  database.exec("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE; UPDATE meta SET value = value + 1");
  return () => database.close();
}

/** The command lines of all processes. */
function commandLines(): string[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map((name) => {
      try {
        return readFileSync(`/proc/${name}/cmdline`, "utf8");
      } catch {
        // The process has ended.
        return "";
      }
    });
}

/** How long a command may take to end after a signal: far more than it takes. It is then killed, which the test reports. */
const PATIENCE_MS = 60_000;
/** A command without a message to wait for is interrupted this long after its start. */
const START_MS = 1500;

function interrupt(
  directory: string,
  line: string,
  ready: Phase["ready"],
  signal: NodeJS.Signals,
): Promise<{ readonly code: number | null; readonly killed: NodeJS.Signals | null }> {
  const program = `"${process.execPath}" "${join(process.cwd(), "dist/cli/ngc.js")}"`;
  // Descriptor 9 keeps the pipe open for writing, so that it never ends.
  const script = `mkfifo pipe && exec 9<>pipe && ${line.replace("NGC", program)}`;
  const child = spawn("sh", ["-c", script], {
    cwd: directory,
    env: { ...process.env, NO_COLOR: "1", NODE_OPTIONS: "" },
  });
  return new Promise((resolve, reject) => {
    let stderr = "";
    let isSent = false;
    let patience: NodeJS.Timeout | undefined;
    let watching: NodeJS.Timeout | undefined;
    const send = (): void => {
      if (isSent) return;
      isSent = true;
      child.kill(signal);
      // A plan lets its tasks end on the first SIGINT.
      if (signal === "SIGINT") setTimeout(() => child.kill(signal), 300);
      patience = setTimeout(() => child.kill("SIGKILL"), PATIENCE_MS);
    };
    child.stderr.on("data", (chunk) => {
      stderr += String(chunk);
      if (typeof ready === "string" && stderr.includes(ready)) send();
    });
    if (ready === undefined) setTimeout(send, START_MS);
    if (typeof ready === "object") watching = setInterval(() => existsSync(join(directory, ready.file)) && send(), 20);
    child.once("error", reject);
    child.once("close", (code, killed) => {
      clearTimeout(patience);
      clearInterval(watching);
      resolve({ code, killed });
    });
  });
}
