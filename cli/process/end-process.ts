import type { ExitCode } from "./exit-codes.ts";

let ended = false;

/** The one way in which this program ends: whoever else ends the process (a node of the user's) is found out. */
export function endProcess(code: ExitCode): never {
  ended = true;
  process.exit(code);
}

/** Whether `endProcess` was called. */
export function hasEnded(): boolean {
  return ended;
}
