/** The inbox of a thread, and the row with which `threads` finds threads that may continue. */
import type { Signal, ThreadId } from "../../interface/checkpoint.ts";
import { encodeKey } from "../contract/key.ts";
import {
  addChecksum,
  SIGNALS,
  type SignalRow,
  type ThreadRow,
  verifyRow,
  WAITS,
  type WaitRow,
} from "../contract/rows.ts";
import { decodeSignal, encodeSignal } from "../contract/signal-text.ts";
import { checkWaitCounts, corruptRecord, unknownThread } from "../contract/store-error.ts";
import { rowName } from "../contract/rows.ts";
import type { Connection } from "./connection.ts";
import { findThread } from "./thread.ts";

export function putSignal(connection: Connection, threadId: ThreadId, signal: Signal): boolean {
  const [id, data] = [encodeKey(signal.id), encodeSignal(signal)];
  return connection.writeCached(() => {
    const found = connection.recent.thread(encodeKey(threadId)) ?? findThread(connection, threadId);
    if (found === undefined || found.last === 0) throw unknownThread(threadId);
    const row = addChecksum(SIGNALS, { thread: found.thread, id, data });
    const added = connection.run(
      "INSERT INTO signals (thread, id, data, v, sum) VALUES (?, ?, ?, ?, ?) ON CONFLICT (thread, id) DO NOTHING",
      ...([row.thread, row.id, row.data, row.v, row.sum] as const),
    );
    if (added > 0) changeWait(connection, found, (wait) => ({ ...wait, signals: wait.signals + 1 }));
    return added > 0;
  });
}

export function getSignals(connection: Connection, threadId: ThreadId): Signal[] {
  return connection.read(() => {
    const thread = findThread(connection, threadId);
    if (thread === undefined) return [];
    const rows = connection.all<SignalRow>(
      "SELECT * FROM signals INDEXED BY signals_waiting WHERE thread = ? AND data IS NOT NULL ORDER BY signal",
      thread.thread,
    );
    const expected = waitOf(connection, thread.thread)?.signals ?? 0;
    // Reveals a row that a damaged index hides.
    if (rows.length !== expected) throw wrongCount(thread.thread, expected, rows.length);
    return rows.map((row) => decodeSignal(verifyRow(SIGNALS, row, { thread: thread.thread })));
  });
}

/** Removes signals from the inbox. Their ids stay known. */
export function takeSignals(connection: Connection, thread: ThreadRow, ids: readonly string[] = []): void {
  let taken = 0;
  for (const signal of ids) {
    const { id, v, sum } = addChecksum(SIGNALS, { thread: thread.thread, id: encodeKey(signal), data: null });
    taken += connection.run(
      "UPDATE signals SET data = NULL, v = ?, sum = ? WHERE thread = ? AND id = ? AND data IS NOT NULL",
      ...([v, sum, thread.thread, id] as const),
    );
  }
  if (taken > 0) changeWait(connection, thread, (wait) => ({ ...wait, signals: wait.signals - taken }));
}

/**
 * Puts signals into the inbox. Signals that were taken before return to their former positions.
 *
 * @param signals JSON text by id
 */
export function returnSignals(connection: Connection, thread: ThreadRow, signals: ReadonlyMap<string, string>): void {
  let added = 0;
  for (const [id, data] of signals) {
    const row = addChecksum(SIGNALS, { thread: thread.thread, id, data });
    added += connection.run(
      "INSERT INTO signals (thread, id, data, v, sum) VALUES (?, ?, ?, ?, ?) ON CONFLICT (thread, id) DO UPDATE " +
        "SET data = excluded.data, v = excluded.v, sum = excluded.sum WHERE data IS NULL",
      ...([row.thread, row.id, row.data, row.v, row.sum] as const),
    );
  }
  if (added > 0) changeWait(connection, thread, (wait) => ({ ...wait, signals: wait.signals + added }));
}

/** Writes the row of a thread that has a due time, or signals; removes it if it has neither. */
export function changeWait(connection: Connection, { thread }: ThreadRow, change: (wait: WaitRow) => WaitRow): void {
  const before = waitOf(connection, thread);
  const row = addChecksum(WAITS, change(before ?? { thread, due: null, signals: 0, v: 0, sum: 0 }));
  if (row.signals < 0) throw wrongCount(thread, before?.signals ?? 0, 0);
  if (row.due === null && row.signals === 0) {
    if (before !== undefined) connection.run("DELETE FROM waits WHERE thread = ?", thread);
    return;
  }
  connection.run(
    "INSERT INTO waits (thread, due, signals, v, sum) VALUES (?, ?, ?, ?, ?) " +
      "ON CONFLICT (thread) DO UPDATE SET due = excluded.due, signals = excluded.signals, v = excluded.v, sum = excluded.sum",
    ...([row.thread, row.due, row.signals, row.v, row.sum] as const),
  );
}

export function waitOf(connection: Connection, thread: number): WaitRow | undefined {
  const row = connection.get<WaitRow>("SELECT * FROM waits WHERE thread = ?", thread);
  return row && verifyRow(WAITS, row, { thread });
}

/** Compares the rows that a listing relies on with what they describe. @throws StoreError NG_CORRUPT_RECORD */
export function checkWaits(connection: Connection): void {
  const { counted, waiting, orphans } = connection.get<{ counted: number; waiting: number; orphans: number }>(
    "SELECT (SELECT coalesce(sum(signals), 0) FROM waits) AS counted, " +
      "(SELECT count(*) FROM signals WHERE data IS NOT NULL) AS waiting, " +
      "(SELECT count(*) FROM waits WHERE thread NOT IN (SELECT thread FROM threads)) AS orphans",
  )!;
  checkWaitCounts(counted, waiting, orphans);
}

function wrongCount(thread: number, expected: number, found: number): Error {
  const row = rowName(WAITS, { thread, due: null, signals: 0, v: 0, sum: 0 });
  return corruptRecord(row, `the inbox should have ${expected} signals, but has ${found}`);
}
