/** The row of a thread: its claim, its heads and its counters. */
import type { CheckpointId, ThreadId } from "../../interface/checkpoint.ts";
import type { Claim, Runner } from "../../interface/store.ts";
import { thisProcess } from "../contract/holder-process.ts";
import { decodeKey, encodeKey } from "../contract/key.ts";
import {
  HEADS,
  type HeadRow,
  keyHash,
  rowName,
  addChecksum,
  THREADS,
  type ThreadRow,
  type RowContent,
  verifyRow,
} from "../contract/rows.ts";
import { claimIsLost, corruptRecord, threadIsHeld } from "../contract/store-error.ts";
import { checkCount, describeHolder, holds, isHeld, leaseEnd, newThread, UNCLAIMED } from "../contract/thread-row.ts";
import type { Connection } from "./connection.ts";

export function findThread(connection: Connection, threadId: ThreadId): ThreadRow | undefined {
  const name = encodeKey(threadId);
  const row = connection.get<ThreadRow>("SELECT * FROM threads WHERE name = ?", name);
  if (row !== undefined) return verifyRow(THREADS, row, { name });
  // The second index confirms that the thread is new: a damaged first index would hide its history.
  for (const other of connection.all<ThreadRow>("SELECT * FROM threads WHERE hash = ?", keyHash(name))) {
    if (verifyRow(THREADS, other).name === name)
      throw corruptRecord(rowName(THREADS, other), "index `threads_by_name` is damaged");
  }
  return undefined;
}

/** A thread that other rows refer to; its absence is damage. */
export function threadAt(connection: Connection, thread: number): ThreadRow {
  const row = connection.get<ThreadRow>("SELECT * FROM threads WHERE thread = ?", thread);
  if (row === undefined) throw corruptRecord(`thread no. ${thread} in table \`threads\``, "it is missing");
  return verifyRow(THREADS, row, { thread });
}

/**
 * The thread after a step of a namespace that it already counts. Version and checksum are not filled in. Written field by
 * field because every step calls it, and a spread is slower.
 */
export function withStep(thread: ThreadRow, ord: number, namespace: string): ThreadRow {
  return {
    thread: thread.thread,
    name: thread.name,
    epoch: thread.epoch,
    owner: thread.owner,
    expires: thread.expires,
    host: thread.host,
    pid: thread.pid,
    started: thread.started,
    head: namespace === "" ? ord : thread.head,
    last: ord,
    checkpoints: thread.checkpoints + 1,
    namespaces: thread.namespaces,
    writes: thread.writes,
    v: 0,
    sum: 0,
  };
}

/** @throws ThreadError NG_THREAD_CONFLICT unless the claim is the newest one of its thread */
export function claimedThread(connection: Connection, claim: Claim): ThreadRow {
  const thread = connection.recent.thread(encodeKey(claim.threadId)) ?? findThread(connection, claim.threadId);
  if (thread === undefined || !holds(thread, claim)) throw claimIsLost(claim);
  return thread;
}

export interface TakenClaim {
  readonly claim: Claim;
  /** The head of the thread; `null` if the claim has created the thread, `undefined` if reading it takes a statement. */
  readonly head: CheckpointId | null | undefined;
}

export function takeClaim(connection: Connection, threadId: ThreadId, runner: Runner, now: number): TakenClaim {
  const owner = encodeKey(runner.owner);
  return connection.writeCached(() => {
    const thread = connection.recent.thread(encodeKey(threadId)) ?? findThread(connection, threadId);
    if (
      thread !== undefined &&
      thread.owner !== null &&
      thread.owner !== owner &&
      isHeld(thread, now, connection.lost)
    ) {
      throw threadIsHeld(threadId, describeHolder(thread));
    }
    // One counter for the whole database: a thread that is deleted and created again never reuses an epoch.
    connection.run("UPDATE meta SET value = value + 1 WHERE name = 'epoch'");
    const epoch = connection.get<{ value: number }>("SELECT value FROM meta WHERE name = 'epoch'")?.value;
    if (epoch === undefined || epoch <= (thread?.epoch ?? 0)) {
      throw corruptRecord("the count of claims in table `meta`", "it is missing, or older than a claim");
    }
    const holder = { epoch, owner, expires: leaseEnd(now, runner.leaseMs), ...thisProcess() };
    if (thread === undefined) insertThread(connection, { ...newThread(encodeKey(threadId)), ...holder });
    else updateThread(connection, { ...thread, ...holder });
    const recent = thread && connection.recent.head(thread.thread, "");
    const head = recent !== undefined && recent.ord === thread?.head ? decodeKey(recent.id) : undefined;
    const claim = Object.freeze({ threadId, owner: runner.owner, epoch });
    return { claim, head: thread === undefined ? null : head };
  });
}

export function renewClaim(connection: Connection, claim: Claim, leaseMs: number, now: number): void {
  connection.writeCached(() => {
    updateThread(connection, { ...claimedThread(connection, claim), expires: leaseEnd(now, leaseMs) });
  });
}

export function releaseClaim(connection: Connection, claim: Claim): void {
  connection.writeCached(() => {
    const thread = connection.recent.thread(encodeKey(claim.threadId)) ?? findThread(connection, claim.threadId);
    if (thread === undefined || !holds(thread, claim)) return;
    // A run that never wrote anything leaves no thread.
    if (thread.last === 0 && thread.writes === 0) {
      connection.run("DELETE FROM threads WHERE thread = ?", thread.thread);
      connection.recent.forgetThread(thread.name);
    } else updateThread(connection, { ...thread, ...UNCLAIMED });
  });
}

export function updateThread(connection: Connection, row: RowContent<ThreadRow>): void {
  const complete = addChecksum(THREADS, row);
  connection.run(
    "UPDATE threads SET epoch = ?, owner = ?, expires = ?, host = ?, pid = ?, started = ?, head = ?, last = ?, " +
      "checkpoints = ?, namespaces = ?, writes = ?, v = ?, sum = ? WHERE thread = ?",
    ...mutableColumns(complete),
    complete.thread,
  );
  connection.recent.rememberThread(complete);
}

/** The `ord` of a namespace's head. */
export function headOf(connection: Connection, thread: ThreadRow, namespace: string): number | undefined {
  if (namespace === "") return thread.head ?? undefined;
  if (thread.namespaces === 0) return undefined;
  const row = connection.get<HeadRow>(
    "SELECT * FROM heads WHERE thread = ? AND namespace = ?",
    thread.thread,
    namespace,
  );
  if (row !== undefined) return verifyRow(HEADS, row, { thread: thread.thread, namespace }).ord;
  const { heads } = connection;
  if (heads.excludes(thread, namespace)) return undefined;
  const others = connection.all<HeadRow>("SELECT * FROM heads WHERE thread = ?", thread.thread);
  for (const other of others) verifyRow(HEADS, other);
  checkCount(thread, "namespaces", others.length);
  heads.note(thread, others);
  return undefined;
}

export function setHead(connection: Connection, thread: number, namespace: string, ord: number): void {
  connection.heads.add(thread, namespace);
  const row = addChecksum(HEADS, { thread, namespace, ord });
  connection.run(
    "INSERT INTO heads (thread, namespace, ord, v, sum) VALUES (?, ?, ?, ?, ?) " +
      "ON CONFLICT (thread, namespace) DO UPDATE SET ord = excluded.ord, v = excluded.v, sum = excluded.sum",
    row.thread,
    row.namespace,
    row.ord,
    row.v,
    row.sum,
  );
}

function insertThread(connection: Connection, row: Omit<RowContent<ThreadRow>, "thread">): void {
  const { next } = connection.get<{ next: number }>("SELECT coalesce(max(thread), 0) + 1 AS next FROM threads")!;
  const complete = addChecksum(THREADS, { ...row, thread: next });
  connection.run(
    "INSERT INTO threads (epoch, owner, expires, host, pid, started, head, last, checkpoints, namespaces, writes, v, sum, " +
      "thread, name, hash) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
    ...mutableColumns(complete),
    complete.thread,
    complete.name,
    keyHash(complete.name),
  );
  connection.recent.rememberThread(complete);
}

function mutableColumns(row: ThreadRow) {
  return [
    ...([row.epoch, row.owner, row.expires, row.host, row.pid, row.started, row.head, row.last] as const),
    ...([row.checkpoints, row.namespaces, row.writes, row.v, row.sum] as const),
  ] as const;
}
