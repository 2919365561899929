/** The inbox of a thread, and the row that lets `threads` find the threads that may continue. */
import type { Signal, ThreadId } from "../../interface/checkpoint.ts";
import { encodeKey } from "../contract/key.ts";
import {
  addChecksum,
  rowName,
  SIGNALS,
  type SignalRow,
  type ThreadRow,
  verifyRow,
  WAITS,
  type WaitRow,
} from "../contract/rows.ts";
import { decodeSignal, encodeSignal } from "../contract/signal-text.ts";
import { checkWaitCounts, corruptRecord, unknownThread } from "../contract/store-error.ts";
import type { Connection, Transaction } from "./connection.ts";
import { findThread, lockThread } from "./thread.ts";

/** Locks the thread's row, so that signals have one order and the count is exact. */
export function putSignal(connection: Connection, threadId: ThreadId, signal: Signal): Promise<boolean> {
  const [id, data] = [encodeKey(signal.id), encodeSignal(signal)];
  return connection.write(async (transaction) => {
    const thread = await lockThread(transaction, threadId);
    if (thread === undefined || thread.last === 0) throw unknownThread(threadId);
    const row = addChecksum(SIGNALS, { thread: thread.thread, id, data });
    const added = await transaction.run(
      "INSERT INTO @.signals (thread, id, data, v, sum) VALUES ($1, $2, $3, $4, $5) ON CONFLICT (thread, id) DO NOTHING",
      ...([row.thread, row.id, row.data, row.v, row.sum] as const),
    );
    if (added > 0) await changeWait(transaction, thread, (wait) => ({ ...wait, signals: wait.signals + 1 }));
    return added > 0;
  });
}

export function getSignals(connection: Connection, threadId: ThreadId): Promise<Signal[]> {
  return connection.read(async (transaction) => {
    const found = await findThread(transaction, threadId);
    if (found === undefined) return [];
    const { thread } = found;
    const rows = await transaction.all<SignalRow>(
      "SELECT * FROM @.signals WHERE thread = $1 AND data IS NOT NULL ORDER BY signal",
      thread,
    );
    const expected = (await waitOf(transaction, thread))?.signals ?? 0;
    // Reveals a row that is missing.
    if (rows.length !== expected) throw wrongCount(thread, expected, rows.length);
    return rows.map((row) => decodeSignal(verifyRow(SIGNALS, row, { thread })));
  });
}

/** Removes signals from the inbox. Their ids stay known. */
export async function takeSignals(
  transaction: Transaction,
  thread: ThreadRow,
  signals: readonly string[] = [],
): Promise<void> {
  if (signals.length === 0) return;
  const rows = signals.map((id) => addChecksum(SIGNALS, { thread: thread.thread, id: encodeKey(id), data: null }));
  const taken = await transaction.run(
    "UPDATE @.signals s SET data = NULL, v = taken.v, sum = taken.sum " +
      "FROM unnest($2::text[], $3::bigint[], $4::bigint[]) AS taken (id, v, sum) " +
      "WHERE s.thread = $1 AND s.id = taken.id AND s.data IS NOT NULL",
    thread.thread,
    rows.map(({ id }) => id),
    rows.map(({ v }) => v),
    rows.map(({ sum }) => sum),
  );
  if (taken > 0) await changeWait(transaction, thread, (wait) => ({ ...wait, signals: wait.signals - taken }));
}

/** Puts signals into the inbox, those that were taken at their former places. @param signals JSON text by id */
export async function returnSignals(
  transaction: Transaction,
  thread: ThreadRow,
  signals: ReadonlyMap<string, string>,
): Promise<void> {
  let added = 0;
  for (const [id, data] of signals) {
    const row = addChecksum(SIGNALS, { thread: thread.thread, id, data });
    added += await transaction.run(
      "INSERT INTO @.signals AS s (thread, id, data, v, sum) VALUES ($1, $2, $3, $4, $5) ON CONFLICT (thread, id) DO UPDATE " +
        "SET data = excluded.data, v = excluded.v, sum = excluded.sum WHERE s.data IS NULL",
      ...([row.thread, row.id, row.data, row.v, row.sum] as const),
    );
  }
  if (added > 0) await changeWait(transaction, thread, (wait) => ({ ...wait, signals: wait.signals + added }));
}

/** Writes the row of a thread that has a due time, or signals; removes it if it has neither. */
export async function changeWait(
  transaction: Transaction,
  { thread }: ThreadRow,
  change: (wait: WaitRow) => WaitRow,
): Promise<void> {
  const before = await waitOf(transaction, thread);
  const row = addChecksum(WAITS, change(before ?? { thread, due: null, signals: 0, v: 0, sum: 0 }));
  if (row.signals < 0) throw wrongCount(thread, before?.signals ?? 0, 0);
  if (row.due === null && row.signals === 0) {
    if (before !== undefined) await transaction.run("DELETE FROM @.waits WHERE thread = $1", thread);
    return;
  }
  await transaction.run(
    "INSERT INTO @.waits (thread, due, signals, v, sum) VALUES ($1, $2, $3, $4, $5) " +
      "ON CONFLICT (thread) DO UPDATE SET due = excluded.due, signals = excluded.signals, v = excluded.v, sum = excluded.sum",
    ...([row.thread, row.due, row.signals, row.v, row.sum] as const),
  );
}

/** Compares the rows that a listing relies on with what they describe. @throws StoreError NG_CORRUPT_RECORD */
export async function checkWaits(transaction: Transaction): Promise<void> {
  const found = await transaction.get<{ counted: number; waiting: number; orphans: number }>(
    "SELECT (SELECT coalesce(sum(signals), 0)::bigint FROM @.waits) AS counted, " +
      "(SELECT count(*) FROM @.signals WHERE data IS NOT NULL) AS waiting, " +
      "(SELECT count(*) FROM @.waits w WHERE NOT EXISTS (SELECT 1 FROM @.threads t WHERE t.thread = w.thread)) AS orphans",
  );
  checkWaitCounts(found!.counted, found!.waiting, found!.orphans);
}

async function waitOf(transaction: Transaction, thread: number): Promise<WaitRow | undefined> {
  const row = await transaction.get<WaitRow>("SELECT * FROM @.waits WHERE thread = $1", thread);
  return row && verifyRow(WAITS, row, { thread });
}

function wrongCount(thread: number, expected: number, found: number): Error {
  const row = rowName(WAITS, { thread, due: null, signals: 0, v: 0, sum: 0 });
  return corruptRecord(row, `the inbox should have ${expected} signals, but has ${found}`);
}
