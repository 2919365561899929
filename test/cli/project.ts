import { spawn, spawnSync, type ChildProcessWithoutNullStreams } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";

export const PROGRAM = fileURLToPath(new URL("../../dist/cli/ngc.js", import.meta.url));

export interface Ran {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A directory with some files, in which `ngc` is run; gone when the test ends. */
export interface Project {
  readonly directory: string;
  /** Runs the built program to its end. */
  ngc(args: readonly string[], options?: { input?: string; env?: Record<string, string> }): Ran;
  /** The document of a `--json` command; fails when stdout holds anything else. */
  json(args: readonly string[], options?: { input?: string }): { status: number | null; document: Document };
  /** Starts the program and leaves it running. */
  start(args: readonly string[], env?: Record<string, string>): ChildProcessWithoutNullStreams;
  write(name: string, text: string): void;
  read(name: string): string;
  /** Waits until a file has a whole line, and returns its text. A command may have made the file and not have written to it. */
  line(name: string): Promise<string>;
  has(name: string): boolean;
  remove(name: string): void;
  /** The same from a directory in it, which is made. */
  below(name: string): Project;
}

/** Tests compare single fields of `--json` documents. */
// oxlint-disable-next-line typescript/no-explicit-any -- the tests' expectations are the types
export type Document = any;

export function createProject(files: Readonly<Record<string, string>> = {}): Project {
  const directory = realpathSync(mkdtempSync(join(tmpdir(), "ngraph-cli-")));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  const project = projectIn(directory);
  for (const [name, text] of Object.entries(files)) project.write(name, text);
  return project;
}

function projectIn(directory: string): Project {
  const environment = { ...process.env, NO_COLOR: "1", FORCE_COLOR: undefined, NODE_OPTIONS: "" };
  const project: Project = {
    directory,
    ngc: (args, options = {}) => {
      const { status, stdout, stderr, error } = spawnSync(process.execPath, [PROGRAM, ...args], {
        cwd: directory,
        encoding: "utf8",
        timeout: 240_000,
        maxBuffer: 64 * 1024 * 1024,
        env: { ...environment, ...options.env },
        input: options.input ?? "",
      });
      if (error !== undefined) throw error;
      return { status, stdout, stderr };
    },
    json: (args, options) => {
      const { status, stdout, stderr } = project.ngc([...args, "--json"], options);
      try {
        return { status, document: JSON.parse(stdout) };
      } catch (cause) {
        throw new Error(`no single JSON document on stdout (exit ${status}):\n${stdout}\n${stderr}`, { cause });
      }
    },
    start: (args, env = {}) =>
      spawn(process.execPath, [PROGRAM, ...args], { cwd: directory, env: { ...environment, ...env } }),
    write: (name, text) => {
      const path = join(directory, name);
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, text);
    },
    read: (name) => readFileSync(join(directory, name), "utf8"),
    line: async (name) => {
      while (!project.has(name) || !project.read(name).includes("\n"))
        await new Promise((resolve) => setTimeout(resolve, 20));
      return project.read(name);
    },
    has: (name) => existsSync(join(directory, name)),
    remove: (name) => rmSync(join(directory, name)),
    below: (name) => {
      mkdirSync(join(directory, name), { recursive: true });
      return projectIn(join(directory, name));
    },
  };
  return project;
}

/** Two nodes that compute, and a question between. */
export const FLOW = `import { double } from "./nodes.ts"

/// Doubles a number and asks whether that is right.
graph flow {
  input  n: int
  output twice: int
  state verdict: "yes" | "no"

  node calc = double(n) into twice
  node sure = ask(\`Is \${twice} right?\`) into verdict

  start -> calc -> sure -> match verdict { "yes" -> end  "no" -> calc }
}
`;

export const FLOW_NODES = `export function double(n: number): number {
  return n * 2;
}
`;

/** A graph without imports that runs to its end. */
export const HELLO = `graph hello {
  input  name: string = "world"
  output text: string

  node greet = \`hello \${name}\` into text

  start -> greet
}
`;

/** One error: the edge names no node. */
export const BROKEN = `graph broken {
  output text: string

  node greet = "hello" into text

  start -> great
}
`;
