import type { ThreadInfo } from "../../interface/store.ts";
import { THREADS, type ThreadRow, unseal } from "../contract/rows.ts";
import { corruptRecord } from "../contract/store-error.ts";
import { threadInfo } from "../contract/thread-info.ts";
import { checkpointAt } from "./checkpoints.ts";
import type { Connection } from "./connection.ts";

/** Most recently written first. Threads are few beside checkpoints, and this is asked rarely: no index is kept for it. */
export function listThreads(connection: Connection, limit: number): readonly ThreadInfo[] {
  return connection.read(() => {
    checkIndex(connection);
    // Those without a head, claimed and no more, are not listed, but may only seem to have none.
    for (const row of connection.all<ThreadRow>("SELECT * FROM threads WHERE head IS NULL")) unseal(THREADS, row);
    const rows = connection.all<ThreadRow>(
      "SELECT * FROM threads WHERE head IS NOT NULL ORDER BY last DESC LIMIT ?",
      limit,
    );
    return rows.map((row) => {
      const thread = unseal(THREADS, row);
      return threadInfo(thread, checkpointAt(connection, thread, thread.head!));
    });
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
