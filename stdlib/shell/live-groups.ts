import { signalGroup } from "./group-members.ts";

/** Process groups that must not outlive this process. */
const liveGroups = new Set<number>();
let cleansUpOnExit = false;

/** Ends the commands of a group when this process exits. */
export function watchGroup(pid: number): void {
  liveGroups.add(pid);
  if (cleansUpOnExit) return;
  cleansUpOnExit = true;
  process.once("exit", () => {
    for (const group of liveGroups) signalGroup(group, "SIGKILL");
  });
}

/** The group has ended, and its number may be that of another one. */
export function unwatchGroup(pid: number): void {
  liveGroups.delete(pid);
}
