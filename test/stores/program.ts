import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface, type Interface } from "node:readline";
import { fileURLToPath } from "node:url";
import { buildSync } from "esbuild";

const built = new Map<string, string>();

/** A process of its own that runs one of `programs/`. */
export interface RunningProgram {
  readonly process: ChildProcess;
  /** The next line that it prints; undefined once it has ended. */
  line(): Promise<string | undefined>;
  /** What it has printed as errors so far. */
  errors(): string;
  /** Its end: exit code, or the signal that ended it. */
  readonly ended: Promise<number | NodeJS.Signals | null>;
}

export interface ProgramOptions {
  /** Whether it finds the packages of the project; default yes. */
  readonly packages?: boolean;
  /** Largest file that it may write, in blocks of 512 bytes: a disk that is full. */
  readonly fileBlocks?: number;
}

export function runProgram(name: string, ...parameters: readonly (string | ProgramOptions)[]): RunningProgram {
  const options = parameters.find((parameter) => typeof parameter === "object") ?? {};
  const command = [process.execPath, bundle(name), ...parameters.filter((parameter) => typeof parameter === "string")];
  // The bundle lies outside of the project.
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

function bundle(name: string): string {
  let file = built.get(name);
  if (file === undefined) {
    file = join(mkdtempSync(join(tmpdir(), "ngraph-program-")), `${name}.mjs`);
    const entry = fileURLToPath(new URL(`programs/${name}.ts`, import.meta.url));
    buildSync({ entryPoints: [entry], outfile: file, bundle: true, platform: "node", format: "esm" });
    built.set(name, file);
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
