/** The row of a thread: its claim, its heads and its counters. Every transaction that changes a thread locks this row first. */
import type { ThreadId } from "../../interface/checkpoint.ts";
import type { Claim } from "../../interface/store.ts";
import { encodeKey } from "../contract/key.ts";
import {
  HEADS,
  type HeadRow,
  addChecksum,
  THREADS,
  type ThreadRow,
  type RowContent,
  verifyRow,
} from "../contract/rows.ts";
import { claimIsLost } from "../contract/store-error.ts";
import { checkCount, holds, leaseEnd, UNCLAIMED } from "../contract/thread-row.ts";
import type { Connection, Transaction } from "./connection.ts";

/** Leases use the server's clock, which all processes share. */
export const NOW = "floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint AS now";

export async function findThread(transaction: Transaction, threadId: ThreadId): Promise<ThreadRow | undefined> {
  const name = encodeKey(threadId);
  const row = await transaction.get<ThreadRow>("SELECT * FROM @.threads WHERE name = $1", name);
  return row && verifyRow(THREADS, row, { name });
}

/** The thread, locked until the end of the transaction. */
export async function lockThread(transaction: Transaction, threadId: ThreadId): Promise<ThreadRow | undefined> {
  const name = encodeKey(threadId);
  const row = await transaction.get<ThreadRow>("SELECT * FROM @.threads WHERE name = $1 FOR UPDATE", name);
  return row && verifyRow(THREADS, row, { name });
}

/**
 * The thread, locked.
 *
 * @throws ThreadError NG_THREAD_CONFLICT unless the claim is the newest one of its thread
 */
export async function claimedThread(transaction: Transaction, claim: Claim): Promise<ThreadRow> {
  const thread = await lockThread(transaction, claim.threadId);
  if (thread === undefined || !holds(thread, claim)) throw claimIsLost(claim);
  return thread;
}

export function renewClaim(connection: Connection, claim: Claim, leaseMs: number): Promise<void> {
  return connection.write(async (transaction) => {
    const thread = await claimedThread(transaction, claim);
    const { now } = (await transaction.get<{ now: number }>(`SELECT ${NOW}`))!;
    await updateThread(transaction, { ...thread, expires: leaseEnd(now, leaseMs) });
  });
}

export function releaseClaim(connection: Connection, claim: Claim): Promise<void> {
  connection.known.forget(encodeKey(claim.threadId));
  return connection.write(async (transaction) => {
    const thread = await lockThread(transaction, claim.threadId);
    if (thread === undefined || !holds(thread, claim)) return;
    // A run that never wrote anything leaves no thread.
    if (thread.last === 0 && thread.writes === 0) {
      await transaction.run("DELETE FROM @.threads WHERE thread = $1", thread.thread);
    } else {
      await updateThread(transaction, { ...thread, ...UNCLAIMED });
    }
  });
}

export async function updateThread(transaction: Transaction, row: RowContent<ThreadRow>): Promise<void> {
  const complete = addChecksum(THREADS, row);
  await transaction.run(
    "UPDATE @.threads SET epoch = $2, owner = $3, expires = $4, host = $5, pid = $6, started = $7, head = $8, last = $9, " +
      "checkpoints = $10, namespaces = $11, writes = $12, v = $13, sum = $14 WHERE thread = $1",
    ...([
      complete.thread,
      complete.epoch,
      complete.owner,
      complete.expires,
      complete.host,
      complete.pid,
      complete.started,
    ] as const),
    ...([
      complete.head,
      complete.last,
      complete.checkpoints,
      complete.namespaces,
      complete.writes,
      complete.v,
      complete.sum,
    ] as const),
  );
}

/** The `ord` of a namespace's head. */
export async function headOf(
  transaction: Transaction,
  thread: ThreadRow,
  namespace: string,
): Promise<number | undefined> {
  if (namespace === "") return thread.head ?? undefined;
  if (thread.namespaces === 0) return undefined;
  const row = await transaction.get<HeadRow>(
    "SELECT * FROM @.heads WHERE thread = $1 AND namespace = $2",
    thread.thread,
    namespace,
  );
  if (row !== undefined) return verifyRow(HEADS, row, { thread: thread.thread, namespace }).ord;
  if (transaction.heads.excludes(thread, namespace)) return undefined;
  const others = await transaction.all<HeadRow>("SELECT * FROM @.heads WHERE thread = $1", thread.thread);
  checkCount(thread, "namespaces", others.length);
  for (const other of others) verifyRow(HEADS, other);
  transaction.heads.note(thread, others);
  return undefined;
}

export async function setHead(transaction: Transaction, thread: number, namespace: string, ord: number): Promise<void> {
  transaction.heads.add(thread, namespace);
  const row = addChecksum(HEADS, { thread, namespace, ord });
  await transaction.run(
    "INSERT INTO @.heads (thread, namespace, ord, v, sum) VALUES ($1, $2, $3, $4, $5) " +
      "ON CONFLICT (thread, namespace) DO UPDATE SET ord = excluded.ord, v = excluded.v, sum = excluded.sum",
    ...([row.thread, row.namespace, row.ord, row.v, row.sum] as const),
  );
}
