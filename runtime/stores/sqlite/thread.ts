/** The row of a thread: who may write, where its heads are, how much it has. */
import type { ThreadId } from "../../interface/checkpoint.ts";
import type { Claim, Runner } from "../../interface/store.ts";
import { thisProcess } from "../contract/holder-process.ts";
import { encodeKey } from "../contract/key.ts";
import {
  HEADS,
  type HeadRow,
  keyHash,
  rowName,
  seal,
  THREADS,
  type ThreadRow,
  type Unsealed,
  unseal,
} from "../contract/rows.ts";
import { claimIsLost, corruptRecord, threadIsHeld } from "../contract/store-error.ts";
import { checkCount, describeHolder, holds, isHeld, leaseEnd, newThread, NOBODY } from "../contract/thread-row.ts";
import type { Connection } from "./connection.ts";

export function findThread(connection: Connection, threadId: ThreadId): ThreadRow | undefined {
  const name = encodeKey(threadId);
  const row = connection.get<ThreadRow>("SELECT * FROM threads WHERE name = ?", name);
  if (row !== undefined) return unseal(THREADS, row, { name });
  // A second index asks again: a thread that is missed would look like a new one.
  for (const other of connection.all<ThreadRow>("SELECT * FROM threads WHERE hash = ?", keyHash(name))) {
    if (unseal(THREADS, other).name === name)
      throw corruptRecord(rowName(THREADS, other), "index `threads_by_name` is damaged");
  }
  return undefined;
}

/** One that must be there: rows point to it. */
export function threadAt(connection: Connection, thread: number): ThreadRow {
  const row = connection.get<ThreadRow>("SELECT * FROM threads WHERE thread = ?", thread);
  if (row === undefined) throw corruptRecord(`thread no. ${thread} in table \`threads\``, "it is missing");
  return unseal(THREADS, row, { thread });
}

/** The thread after a step of a namespace that is in its count already. Not sealed. Field by field: every step does this. */
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

/** The thread, if the claim is the one that holds it. */
export function claimedThread(connection: Connection, claim: Claim): ThreadRow {
  const thread = connection.recent.thread(encodeKey(claim.threadId)) ?? findThread(connection, claim.threadId);
  if (thread === undefined || !holds(thread, claim)) throw claimIsLost(claim);
  return thread;
}

export function takeClaim(connection: Connection, threadId: ThreadId, runner: Runner, now: number): Claim {
  const owner = encodeKey(runner.owner);
  return connection.write(() => {
    const thread = findThread(connection, threadId);
    if (
      thread !== undefined &&
      thread.owner !== null &&
      thread.owner !== owner &&
      isHeld(thread, now, connection.lost)
    ) {
      throw threadIsHeld(threadId, describeHolder(thread));
    }
    // Counts over the whole database: a thread that was deleted and made again meets no old epoch.
    connection.run("UPDATE meta SET value = value + 1 WHERE name = 'epoch'");
    const epoch = connection.get<{ value: number }>("SELECT value FROM meta WHERE name = 'epoch'")?.value;
    if (epoch === undefined || epoch <= (thread?.epoch ?? 0)) {
      throw corruptRecord("the count of claims in table `meta`", "it is missing, or older than a claim");
    }
    const holder = { epoch, owner, expires: leaseEnd(now, runner.leaseMs), ...thisProcess() };
    if (thread === undefined) insertThread(connection, { ...newThread(encodeKey(threadId)), ...holder });
    else updateThread(connection, { ...thread, ...holder });
    return Object.freeze({ threadId, owner: runner.owner, epoch });
  });
}

export function renewClaim(connection: Connection, claim: Claim, leaseMs: number, now: number): void {
  connection.writeOn(() => {
    updateThread(connection, { ...claimedThread(connection, claim), expires: leaseEnd(now, leaseMs) });
  });
}

export function releaseClaim(connection: Connection, claim: Claim): void {
  connection.write(() => {
    const thread = findThread(connection, claim.threadId);
    if (thread === undefined || !holds(thread, claim)) return;
    // A run that never wrote anything leaves nothing behind.
    if (thread.last === 0 && thread.writes === 0) connection.run("DELETE FROM threads WHERE thread = ?", thread.thread);
    else updateThread(connection, { ...thread, ...NOBODY });
  });
}

export function updateThread(connection: Connection, row: Unsealed<ThreadRow>): void {
  const sealed = seal(THREADS, row);
  connection.run(
    "UPDATE threads SET epoch = ?, owner = ?, expires = ?, host = ?, pid = ?, started = ?, head = ?, last = ?, " +
      "checkpoints = ?, namespaces = ?, writes = ?, v = ?, sum = ? WHERE thread = ?",
    ...mutableColumns(sealed),
    sealed.thread,
  );
  connection.recent.rememberThread(sealed);
}

/** `ord` of a namespace's head. */
export function headOf(connection: Connection, thread: ThreadRow, namespace: string): number | undefined {
  if (namespace === "") return thread.head ?? undefined;
  if (thread.namespaces === 0) return undefined;
  const row = connection.get<HeadRow>(
    "SELECT * FROM heads WHERE thread = ? AND namespace = ?",
    thread.thread,
    namespace,
  );
  if (row !== undefined) return unseal(HEADS, row, { thread: thread.thread, namespace }).ord;
  const { heads } = connection;
  if (heads.excludes(thread, namespace)) return undefined;
  const others = connection.all<HeadRow>("SELECT * FROM heads WHERE thread = ?", thread.thread);
  for (const other of others) unseal(HEADS, other);
  checkCount(thread, "namespaces", others.length);
  heads.note(thread, others);
  return undefined;
}

export function setHead(connection: Connection, thread: number, namespace: string, ord: number): void {
  connection.heads.add(thread, namespace);
  const row = seal(HEADS, { thread, namespace, ord });
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

function insertThread(connection: Connection, row: Omit<Unsealed<ThreadRow>, "thread">): void {
  const { next } = connection.get<{ next: number }>("SELECT coalesce(max(thread), 0) + 1 AS next FROM threads")!;
  const sealed = seal(THREADS, { ...row, thread: next });
  connection.run(
    "INSERT INTO threads (epoch, owner, expires, host, pid, started, head, last, checkpoints, namespaces, writes, v, sum, " +
      "thread, name, hash) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
    ...mutableColumns(sealed),
    sealed.thread,
    sealed.name,
    keyHash(sealed.name),
  );
}

function mutableColumns(row: ThreadRow) {
  return [
    ...([row.epoch, row.owner, row.expires, row.host, row.pid, row.started, row.head, row.last] as const),
    ...([row.checkpoints, row.namespaces, row.writes, row.v, row.sum] as const),
  ] as const;
}
