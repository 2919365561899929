import { signalGroup } from "./group-members.ts";

/** What must not outlive this process: a group by its number, or a single child process. */
const live = new Set<number | ChildProcess>();
let cleansUpOnExit = false;

/** The parts of a process of Node that are used. */
export interface ChildProcess {
  kill(signal: "SIGKILL"): boolean;
  once(event: "exit", listener: () => void): unknown;
}

/** Ends the commands of a group when this process exits. */
export function watchGroup(pid: number): void {
  watch(pid);
}

/** The group has ended, and its number may be that of another one. */
export function unwatchGroup(pid: number): void {
  live.delete(pid);
}

/** Ends a child that leads no group when this process exits. */
export function watchChild(child: ChildProcess): void {
  watch(child);
  child.once("exit", () => live.delete(child));
}

function watch(target: number | ChildProcess): void {
  live.add(target);
  if (cleansUpOnExit) return;
  cleansUpOnExit = true;
  process.once("exit", () => {
    for (const each of live) {
      if (typeof each === "number") signalGroup(each, "SIGKILL");
      else each.kill("SIGKILL");
    }
  });
}
