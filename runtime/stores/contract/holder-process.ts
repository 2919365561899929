/** The process that holds a claim, and whether it still runs: a thread of a dead process is free before its lease ends. */
import { readFileSync, readlinkSync } from "node:fs";
import { hostname } from "node:os";

export interface HolderProcess {
  /** Identifies the machine, its boot and its process namespace. Process ids are comparable only when it is equal. */
  readonly host: string;
  readonly pid: number;
  /** Start time of the process in the system's own unit; empty where it is not available. */
  readonly started: string;
}

let own: HolderProcess | undefined;

export function thisProcess(): HolderProcess {
  own ??= { host: hostIdentity(), pid: process.pid, started: startOf(process.pid)?.started ?? "" };
  return own;
}

/** `true` only when it is certain. Processes of other machines and containers are not visible and count as running. */
export function hasExited(holder: HolderProcess): boolean {
  const here = thisProcess();
  if (holder.host !== here.host) return false;
  const found = startOf(holder.pid);
  if (found !== undefined) {
    // States Z (zombie) and X (dead) have ended. A different start time means that a newer process has reused the id.
    return "ZX".includes(found.state) || (holder.started !== "" && found.started !== holder.started);
  }
  try {
    process.kill(holder.pid, 0);
    return false;
  } catch (error) {
    // EPERM: the process runs and belongs to another user.
    return (error as NodeJS.ErrnoException).code === "ESRCH";
  }
}

/** Two machines may share a host name, and containers share a machine: boot id and process namespace distinguish them. */
function hostIdentity(): string {
  return [
    hostname(),
    quietly(() => readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim()),
    quietly(() => readlinkSync("/proc/self/ns/pid")),
  ].join(" ");
}

/** Reads /proc; undefined on systems without it. */
function startOf(pid: number): { readonly state: string; readonly started: string } | undefined {
  const stat = quietly(() => readFileSync(`/proc/${pid}/stat`, "utf8"));
  // The second field is the program's name in parentheses and may hold anything.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const [state, started] = [fields[0], fields[19]];
  return state === undefined || started === undefined ? undefined : { state, started };
}

function quietly(read: () => string): string {
  try {
    return read();
  } catch {
    return "";
  }
}
