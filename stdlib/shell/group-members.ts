/** A process, as the system lists it. */
export interface ListedProcess {
  readonly pid: number;
  readonly group: number;
  readonly parent: number;
  /** The letter of the system: Z for one that has ended and is not collected, X for a dead one. */
  readonly state: string;
  /** An opaque text for its start time, used for comparison only. */
  readonly started: string;
}

/** The running processes of a group, without zombies. */
export function groupMembers(group: number): readonly number[] {
  try {
    // A fast check of the whole group first: in most cases it is gone.
    process.kill(-group, 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ESRCH") return [];
  }
  return listProcesses(group).flatMap((found) => (isRunning(found) && found.group === group ? [found.pid] : []));
}

function isRunning({ state }: ListedProcess): boolean {
  return !state.startsWith("Z") && !state.startsWith("X");
}

/** A process; `undefined` if it is gone. */
export function findProcess(pid: number): ListedProcess | undefined {
  return process.platform === "linux" ? readStat(pid) : listWithPs().find((found) => found.pid === pid);
}

function listProcesses(group: number): readonly ListedProcess[] {
  if (process.platform !== "linux") return listWithPs();
  const { readdirSync } = process.getBuiltinModule("node:fs");
  // The leader of a group has the number of the group: in most cases it is the only member.
  const pids = readdirSync("/proc").flatMap((name) => (/^\d+$/.test(name) ? [Number(name)] : []));
  return [group, ...pids.filter((pid) => pid !== group)].flatMap((pid) => readStat(pid) ?? []);
}

function readStat(pid: number): ListedProcess | undefined {
  try {
    const text = process.getBuiltinModule("node:fs").readFileSync(`/proc/${pid}/stat`, "utf8");
    // The process name in parentheses may contain any character; the third field follows the last parenthesis.
    const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
    return {
      pid,
      state: fields[0] ?? "",
      parent: Number(fields[1]),
      group: Number(fields[2]),
      started: fields[19] ?? "",
    };
  } catch {
    return undefined;
  }
}

function listWithPs(): readonly ListedProcess[] {
  if (process.platform === "win32") return [];
  const { execFileSync } = process.getBuiltinModule("node:child_process");
  const text = execFileSync("ps", ["-A", "-o", "pid=,ppid=,pgid=,stat=,lstart="], { encoding: "utf8" });
  return text.split("\n").flatMap((line) => {
    const match = /^\s*(\d+)\s+(\d+)\s+(\d+)\s+(\S+)\s+(.+?)\s*$/.exec(line);
    if (match === null) return [];
    const [, pid, parent, group, state = "", started = ""] = match;
    return [{ pid: Number(pid), parent: Number(parent), group: Number(group), state, started }];
  });
}

/**
 * Ends what still runs in a process group: SIGTERM, and SIGKILL after a time of grace. Resolves when no member runs, to whether there was
 * one. One that cannot be ended (another user's process) is left after another second.
 */
export async function endGroupMembers(group: number, graceMs: number): Promise<boolean> {
  if (groupMembers(group).length === 0) return false;
  signalGroup(group, "SIGTERM");
  if (!(await isGone(group, graceMs))) {
    signalGroup(group, "SIGKILL");
    await isGone(group, 1000);
  }
  return true;
}

async function isGone(group: number, milliseconds: number): Promise<boolean> {
  for (let waited = 0; groupMembers(group).length > 0; waited += 20) {
    if (waited >= milliseconds) return false;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return true;
}

/** Sends a signal to all members of a group. */
export function signalGroup(group: number, signal: "SIGTERM" | "SIGKILL"): void {
  try {
    process.kill(-group, signal);
  } catch {
    // It has ended by itself.
  }
}
