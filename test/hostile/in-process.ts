/** Command lines that run in the process of the test. Starting a process costs more than most commands. */
// esbuild starts its process in the directory in which it was loaded. The directories of the runs are deleted.
import "esbuild";
import { Writable } from "node:stream";
import { report } from "../../cli/main.ts";
import { enterStage } from "../../cli/process/stage.ts";
import { createProgram } from "../../cli/program.ts";
import type { Ran } from "../cli/project.ts";

/**
 * Runs `ngc` as the program does, except for what ends a process: signals, `process.exit`, errors outside of a call. The working
 * directory, the environment and the output streams of this process are those of the command until it ends.
 */
export async function runInProcess(
  args: readonly string[],
  directory: string,
  environment: Readonly<Record<string, string>>,
): Promise<Ran> {
  const stdout = new Collector();
  const stderr = new Collector();
  const before = { directory: process.cwd(), environment: { ...process.env } };
  const streams = Object.getOwnPropertyDescriptors(process);
  try {
    process.chdir(directory);
    Object.assign(process.env, { NO_COLOR: "1" }, environment);
    Object.defineProperty(process, "stdout", { ...streams.stdout, get: () => stdout });
    Object.defineProperty(process, "stderr", { ...streams.stderr, get: () => stderr });
    enterStage({ name: "idle" });
    let status = 0;
    try {
      const program = await createProgram(args[0] ?? "", (code) => (status = code));
      await program.parseAsync(args, { from: "user" });
    } catch (error) {
      status = report(error, args.includes("--json"));
    }
    return { status, stdout: stdout.text, stderr: stderr.text };
  } finally {
    Object.defineProperty(process, "stdout", streams.stdout);
    Object.defineProperty(process, "stderr", streams.stderr);
    process.chdir(before.directory);
    for (const name of Object.keys(process.env)) if (!(name in before.environment)) delete process.env[name];
    Object.assign(process.env, before.environment);
  }
}

class Collector extends Writable {
  text = "";

  override _write(chunk: Buffer, _: string, done: () => void): void {
    this.text += chunk.toString();
    done();
  }
}
