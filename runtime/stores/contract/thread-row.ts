/** What a thread's row says of its claim. */
import type { Claim } from "../../interface/store.ts";
import { isGone } from "./holder-process.ts";
import { decodeKey, encodeKey } from "./key.ts";
import type { LostOwners } from "./lost-owners.ts";
import { rowName, THREADS, type ThreadRow, type Unsealed } from "./rows.ts";
import { corruptRecord } from "./store-error.ts";

/** The claim's columns of a thread that nobody runs. The epoch stays. */
export const NOBODY = { owner: null, expires: null, host: null, pid: null, started: null } as const;

export function newThread(name: string): Omit<Unsealed<ThreadRow>, "thread"> {
  return { name, epoch: 0, ...NOBODY, head: null, last: 0, checkpoints: 0, namespaces: 0, writes: 0 };
}

export function holds(thread: ThreadRow, claim: Claim): boolean {
  return thread.epoch === claim.epoch && thread.owner === encodeKey(claim.owner);
}

/** Whether the lease runs, and nothing says that the holder is dead or done. */
export function isHeld(thread: ThreadRow, now: number, lost: LostOwners): boolean {
  if (thread.expires === null || thread.expires <= now) return false;
  if (thread.owner !== null && lost.has(thread.owner)) return false;
  const { host, pid, started } = thread;
  return host === null || pid === null || !isGone({ host, pid, started: started ?? "" });
}

/** For the error that names the holder. */
export function describeHolder(thread: ThreadRow): string {
  const host = thread.host?.split(" ")[0] ?? "";
  const process = thread.pid === null ? "" : ` (process ${thread.pid}${host === "" ? "" : ` on ${host}`})`;
  return `${decodeKey(thread.owner!)}${process}`;
}

export function leaseEnd(now: number, leaseMs: number): number {
  return Math.min(Number.MAX_SAFE_INTEGER, Math.ceil(now + leaseMs));
}

/** After a lookup found nothing: are all rows of the thread still to be found? */
export function checkCount(thread: ThreadRow, counter: "checkpoints" | "namespaces" | "writes", found: number): void {
  if (found === thread[counter]) return;
  throw corruptRecord(rowName(THREADS, thread), `it should have ${thread[counter]} ${counter}, but ${found} are there`);
}
