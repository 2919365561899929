import { spawn } from "node:child_process";
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { isFull } from "../support/depth.ts";

const GRAPH = "graph g {\n  input x: int = 1\n  output o: int\n  node n = 1 into o\n  start -> n\n}\n";
const SLOW_NODE = 'console.error("READY");\nexport const f = () => new Promise(() => setInterval(() => {}, 1000));\n';
const USES_F = 'import { f } from "./nodes.ts"\ngraph g {\n  output o: json\n  node n = f() into o\n  start -> n\n}\n';
const PLAN = `plan p {\n  max parallel 3\n${Array.from({ length: 60 }, (_, i) => `  task t${i} = shell("true")${i < 8 ? "" : ` after t${(i * 5) % 8}`} { estimate ${((i * 7) % 13) + 1}m }\n`).join("")}}\n`;

interface Phase {
  readonly name: string;
  readonly files: Readonly<Record<string, string>>;
  /** A line for `sh`; `NGC` stands for the program. It replaces the shell, so that the signal reaches the program. */
  readonly line: string;
  /** The text on stderr after which the signal is sent; without it, a time after the start. */
  readonly ready?: string;
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
  { name: "check waits for a pipe", files: {}, line: "exec NGC check pipe" },
  { name: "run waits for a pipe", files: {}, line: "exec NGC run pipe --store memory" },
  { name: "plan searches for an order", files: { "p.ngraph": PLAN }, line: "exec NGC plan p.ngraph --optimize=100s" },
  {
    name: "compile watches",
    files: { "a.ngraph": GRAPH },
    line: "exec NGC compile a.ngraph --watch",
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
    name: "a task runs",
    files: { "p.ngraph": 'plan p {\n  task t = shell("sleep 100")\n}\n' },
    line: "exec NGC run p.ngraph",
    ready: "▸ t",
  },
];

const SIGNALS = isFull ? (["SIGINT", "SIGTERM", "SIGHUP"] as const) : (["SIGTERM"] as const);

describe.runIf(process.platform !== "win32").each(PHASES)("a signal while $name", ({ files, line, ready }) => {
  test.each(SIGNALS)("%s ends the command", async (signal) => {
    const directory = realpathSync(mkdtempSync(join(tmpdir(), "ngraph-signals-")));
    try {
      for (const [name, text] of Object.entries(files)) writeFileSync(join(directory, name), text);
      const { code, killed } = await interrupt(directory, line, ready, signal);
      expect(killed === null || killed === signal, `killed by ${killed}`).toBe(true);
      // An orderly end has 130; the default action of a signal has no exit code.
      if (killed === null) expect(code).toBe(130);
    } finally {
      rmSync(directory, { recursive: true, force: true });
    }
  });
});

/** How long a command may take to end after a signal: far more than it takes. It is then killed, which the test reports. */
const PATIENCE_MS = 20_000;
/** A command without a message to wait for is interrupted this long after its start. */
const START_MS = 1500;

function interrupt(
  directory: string,
  line: string,
  ready: string | undefined,
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
      if (ready !== undefined && stderr.includes(ready)) send();
    });
    if (ready === undefined) setTimeout(send, START_MS);
    child.once("error", reject);
    child.once("close", (code, killed) => {
      clearTimeout(patience);
      resolve({ code, killed });
    });
  });
}
