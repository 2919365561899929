import type { ThreadInfo } from "../../store.ts";
import { THREADS, type ThreadRow, unseal } from "../rows.ts";
import { corruptRecord } from "../store-error.ts";
import { threadInfo } from "../thread-info.ts";
import { checkpointAt } from "./checkpoints.ts";
import type { Connection } from "./connection.ts";

/** Most recently written first. Threads are few beside checkpoints, and this is asked rarely: no index is kept for it. */
export function listThreads(connection: Connection, limit: number): readonly ThreadInfo[] {
  return connection.read(() => {
    checkIndex(connection);
    const rows = connection.all<ThreadRow>("SELECT * FROM threads ORDER BY last DESC LIMIT ?", limit);
    return rows
      .map((row) => unseal(THREADS, row))
      .filter((thread) => thread.head !== null)
      .map((thread) => threadInfo(thread, checkpointAt(connection, thread, thread.head!)));
  });
}

/** Rows that a damaged page hides are still counted in the index. */
function checkIndex(connection: Connection): void {
  const { rows, entries } = connection.get<{ rows: number; entries: number }>(
    "SELECT (SELECT count(*) FROM threads NOT INDEXED) AS rows, " +
      "(SELECT count(*) FROM threads INDEXED BY threads_by_name) AS entries",
  )!;
  if (rows !== entries) throw corruptRecord("table `threads`", `${rows} rows are there, but ${entries} in its index`);
}
