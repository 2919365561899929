// The global variable may be replaced by user code.
import process from "node:process";
import type { ExitCode } from "./exit-codes.ts";

let ended = false;

/**
 * Ends the process. This program ends in no other way, so that a `process.exit` of user code can be detected. Listeners of user code
 * run, but do not change the exit code.
 */
export function endProcess(code: ExitCode): never {
  ended = true;
  try {
    process.on("exit", () => (process.exitCode = code));
    process.exit(code);
  } catch {
    // A listener has thrown. The listeners do not run again.
    process.exitCode = code;
    process.exit(code);
  }
}

/** Whether `endProcess` was called. */
export function hasEnded(): boolean {
  return ended;
}
