/** Which process holds a claim, and whether it still runs: the thread of a crashed run need not wait for its lease. */
import { readFileSync, readlinkSync } from "node:fs";
import { hostname } from "node:os";

export interface HolderProcess {
  /** Names the machine such that equal names mean that process ids can be compared. */
  readonly host: string;
  readonly pid: number;
  /** When the process started, in the system's own unit; empty where the system does not tell. */
  readonly started: string;
}

let own: HolderProcess | undefined;

export function thisProcess(): HolderProcess {
  own ??= { host: hostIdentity(), pid: process.pid, started: startOf(process.pid)?.started ?? "" };
  return own;
}

/** Only `true` where that is certain: another machine's processes, and another container's, cannot be seen from here. */
export function isGone(holder: HolderProcess): boolean {
  const here = thisProcess();
  if (holder.host !== here.host) return false;
  const found = startOf(holder.pid);
  if (found !== undefined) {
    // A zombie has ended and only waits to be collected. Another start time: the id was given to a newer process.
    return "ZX".includes(found.state) || (holder.started !== "" && found.started !== holder.started);
  }
  try {
    process.kill(holder.pid, 0);
    return false;
  } catch (error) {
    // EPERM: it lives, and belongs to somebody else.
    return (error as NodeJS.ErrnoException).code === "ESRCH";
  }
}

/** Two machines may share a name, and containers share a machine: the boot and the process namespace tell them apart. */
function hostIdentity(): string {
  return [
    hostname(),
    quietly(() => readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim()),
    quietly(() => readlinkSync("/proc/self/ns/pid")),
  ].join(" ");
}

/** From /proc, where there is one. */
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
