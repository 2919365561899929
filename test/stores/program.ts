import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { createInterface, type Interface } from "node:readline";
import { fileURLToPath } from "node:url";
import { buildSync } from "esbuild";

const built = new Map<string, string>();

/** A separate process that runs a program of `programs/`. */
export interface RunningProgram {
  readonly process: ChildProcess;
  /** The next line of its output; undefined after its end. */
  line(): Promise<string | undefined>;
  /** Its standard error so far. */
  errors(): string;
  /** Its end: exit code, or the signal that ended it. */
  readonly ended: Promise<number | NodeJS.Signals | null>;
}

export interface ProgramOptions {
  /** Whether it can import the packages of the project; default true. */
  readonly packages?: boolean;
  /** Largest file that it may write, in blocks of 512 bytes: simulates a full disk. */
  readonly fileBlocks?: number;
  /** Options of Node. */
  readonly nodeFlags?: readonly string[];
}

/** @param program the name of a program in `programs/`, or the path of another one */
export function runProgram(program: string | URL, ...parameters: readonly (string | ProgramOptions)[]): RunningProgram {
  const options = parameters.find((parameter) => typeof parameter === "object") ?? {};
  const command = [
    process.execPath,
    ...(options.nodeFlags ?? []),
    bundle(program),
    ...parameters.filter((parameter) => typeof parameter === "string"),
  ];
  // The bundle is outside of the project.
  const packages = fileURLToPath(new URL("../../node_modules", import.meta.url));
  const limit = options.fileBlocks === undefined ? "" : `ulimit -f ${options.fileBlocks}; `;
  const child = spawn("sh", ["-c", `${limit}exec "$@"`, "sh", ...command], {
    env: { ...process.env, NODE_PATH: options.packages === false ? "" : packages },
  });
  let errors = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => (errors += text));
  return {
    process: child,
    line: lineReader(createInterface({ input: child.stdout })),
    errors: () => errors,
    ended: new Promise((resolve) => child.once("close", (code, signal) => resolve(signal ?? code))),
  };
}

function bundle(program: string | URL): string {
  const entry = fileURLToPath(new URL(program instanceof URL ? program : `programs/${program}.ts`, import.meta.url));
  let file = built.get(entry);
  if (file === undefined) {
    const directory = mkdtempSync(join(tmpdir(), "ngraph-program-"));
    process.once("exit", () => rmSync(directory, { recursive: true, force: true }));
    file = join(directory, `${basename(entry, ".ts")}.mjs`);
    buildSync({ entryPoints: [entry], outfile: file, bundle: true, platform: "node", format: "esm" });
    built.set(entry, file);
  }
  return file;
}

function lineReader(lines: Interface): () => Promise<string | undefined> {
  const iterator = lines[Symbol.asyncIterator]();
  return async () => {
    const { value, done } = await iterator.next();
    return done === true ? undefined : (value as string);
  };
}
