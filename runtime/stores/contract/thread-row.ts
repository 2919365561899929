/** The claim in a thread's row. */
import type { Claim } from "../../interface/store.ts";
import { hasExited } from "./holder-process.ts";
import { decodeKey, encodeKey } from "./key.ts";
import type { LostOwners } from "./lost-owners.ts";
import { rowName, THREADS, type ThreadRow, type RowContent } from "./rows.ts";
import { corruptRecord } from "./store-error.ts";

/** The claim's columns of a thread without a runner. The epoch is kept: it must not be reused. */
export const UNCLAIMED = { owner: null, expires: null, host: null, pid: null, started: null } as const;

export function newThread(name: string): Omit<RowContent<ThreadRow>, "thread"> {
  return { name, epoch: 0, ...UNCLAIMED, head: null, last: 0, checkpoints: 0, namespaces: 0, writes: 0 };
}

export function holds(thread: ThreadRow, claim: Claim): boolean {
  return thread.epoch === claim.epoch && thread.owner === encodeKey(claim.owner);
}

/** Whether the lease has not ended, and the holder is not known to be dead or done. */
export function isHeld(thread: ThreadRow, now: number, lost: LostOwners): boolean {
  if (thread.expires === null || thread.expires <= now) return false;
  if (thread.owner !== null && lost.has(thread.owner)) return false;
  const { host, pid, started } = thread;
  // Mutation point: dead-owner
  return host === null || pid === null || !hasExited({ host, pid, started: started ?? "" });
}

/** The holder's name for an error message. */
export function describeHolder(thread: ThreadRow): string {
  const host = thread.host?.split(" ")[0] ?? "";
  const process = thread.pid === null ? "" : ` (process ${thread.pid}${host === "" ? "" : ` on ${host}`})`;
  return `${decodeKey(thread.owner!)}${process}`;
}

export function leaseEnd(now: number, leaseMs: number): number {
  return Math.min(Number.MAX_SAFE_INTEGER, Math.ceil(now + leaseMs));
}

/**
 * Called after a lookup that found nothing: compares the number of rows with the thread's counter, which reveals hidden rows.
 *
 * @throws StoreError NG_CORRUPT_RECORD when they differ
 */
export function checkCount(thread: ThreadRow, counter: "checkpoints" | "namespaces" | "writes", found: number): void {
  if (found === thread[counter]) return;
  throw corruptRecord(rowName(THREADS, thread), `it should have ${thread[counter]} ${counter}, but has ${found}`);
}
