import { NodeFailure } from "../node-failure.ts";

/** Loads Node's modules when a command is run, so that this module can be imported outside of Node. */
export function nodeProcesses(): {
  spawn: typeof import("node:child_process").spawn;
  exists: typeof import("node:fs").existsSync;
  signals: typeof import("node:os").constants.signals;
  resolve: typeof import("node:path").resolve;
  posix: boolean;
} {
  const load = typeof process === "undefined" ? undefined : process.getBuiltinModule;
  if (typeof load !== "function") {
    throw new NodeFailure("`shell` runs on Node only", { retryable: false });
  }
  return {
    spawn: load("node:child_process").spawn,
    exists: load("node:fs").existsSync,
    resolve: load("node:path").resolve,
    signals: load("node:os").constants.signals,
    posix: process.platform !== "win32",
  };
}
