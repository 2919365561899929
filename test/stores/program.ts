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
  /** Its end: exit code, or the signal that ended it. */
  readonly ended: Promise<number | NodeJS.Signals | null>;
}

export function runProgram(name: string, ...parameters: readonly string[]): RunningProgram {
  const child = spawn(process.execPath, [bundle(name), ...parameters], {
    stdio: ["pipe", "pipe", "inherit"],
    // The bundle lies outside of the project, and finds its packages there.
    env: { ...process.env, NODE_PATH: fileURLToPath(new URL("../../node_modules", import.meta.url)) },
  });
  const lines = createInterface({ input: child.stdout });
  return {
    process: child,
    line: lineReader(lines),
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
