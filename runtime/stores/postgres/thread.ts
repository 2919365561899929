/** The row of a thread: its claim, its heads and its counters. Every transaction that changes a thread locks this row first. */
import type { ThreadId } from "../../interface/checkpoint.ts";
import type { Claim, Runner } from "../../interface/store.ts";
import { thisProcess } from "../contract/holder-process.ts";
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
import { claimIsLost, threadIsHeld } from "../contract/store-error.ts";
import { checkCount, describeHolder, holds, isHeld, leaseEnd, newThread, UNCLAIMED } from "../contract/thread-row.ts";
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

export async function takeClaim(connection: Connection, threadId: ThreadId, runner: Runner): Promise<Claim> {
  const owner = encodeKey(runner.owner);
  const name = encodeKey(threadId);
  connection.known.forget(name);
  const thread = await connection.write(async (transaction) => {
    for (;;) {
      const known = await lockThread(transaction, threadId);
      // One sequence for the whole database: a thread that is deleted and created again never reuses an epoch.
      const numbers = known === undefined ? ", nextval('@.thread_numbers') AS thread" : "";
      const found = await transaction.get<{ now: number; epoch: number; thread: number }>(
        `SELECT ${NOW}, nextval('@.epochs') AS epoch${numbers}`,
      );
      const { now, epoch } = found!;
      const holder = { epoch, owner, expires: leaseEnd(now, runner.leaseMs), ...thisProcess() };
      if (known === undefined) {
        const made = addChecksum(THREADS, { ...newThread(name), thread: found!.thread, ...holder });
        if (await insertThread(transaction, made)) return made;
        // Another transaction has created the thread: its row is used.
        continue;
      }
      if (known.owner !== null && known.owner !== owner && isHeld(known, now, connection.lost)) {
        throw threadIsHeld(threadId, describeHolder(known));
      }
      const claimed = addChecksum(THREADS, { ...known, ...holder });
      await updateThread(transaction, claimed);
      return claimed;
    }
  });
  if (thread.last === 0) {
    connection.known.set(name, { thread, head: undefined, cells: new Map(), isComplete: true });
  }
  return Object.freeze({ threadId, owner: runner.owner, epoch: thread.epoch });
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

/** Creates a thread. Of two transactions that create it, the second waits for the first and returns false. */
async function insertThread(transaction: Transaction, row: ThreadRow): Promise<boolean> {
  const added = await transaction.run(
    "INSERT INTO @.threads (thread, name, epoch, owner, expires, host, pid, started, last, checkpoints, namespaces, writes, v, sum) " +
      "VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14) ON CONFLICT (name) DO NOTHING",
    ...([row.thread, row.name, row.epoch, row.owner, row.expires, row.host, row.pid, row.started] as const),
    ...([row.last, row.checkpoints, row.namespaces, row.writes, row.v, row.sum] as const),
  );
  return added > 0;
}
