import type { ExitCode } from "./exit-codes.ts";

let ended = false;

/** Ends the process. This program ends in no other way, so that a `process.exit` of user code can be detected. */
export function endProcess(code: ExitCode): never {
  ended = true;
  process.exit(code);
}

/** Whether `endProcess` was called. */
export function hasEnded(): boolean {
  return ended;
}
