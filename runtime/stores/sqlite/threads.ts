import type { ThreadInfo, ThreadsOptions } from "../../interface/store.ts";
import { THREADS, type ThreadRow, verifyRow } from "../contract/rows.ts";
import { corruptRecord } from "../contract/store-error.ts";
import { readListed, threadInfo } from "../contract/thread-info.ts";
import { checkpointAt } from "./checkpoints.ts";
import type { Connection } from "./connection.ts";

/** Most recently written first. There are far fewer threads than checkpoints and calls are rare, so there is no index. */
export function listThreads(
  connection: Connection,
  limit: number,
  onCorrupt: ThreadsOptions["onCorrupt"],
): readonly ThreadInfo[] {
  return connection.read(() => {
    readListed(undefined, onCorrupt, () => checkIndex(connection));
    // A thread that was only claimed has no head and is not listed. Verifying it detects a head that damage has removed.
    for (const row of connection.all<ThreadRow>("SELECT * FROM threads WHERE head IS NULL"))
      readListed(row, onCorrupt, () => verifyRow(THREADS, row));
    const rows = connection.all<ThreadRow>(
      "SELECT * FROM threads WHERE head IS NOT NULL ORDER BY last DESC LIMIT ?",
      limit,
    );
    return rows.flatMap((row) => {
      const info = readListed(row, onCorrupt, () => {
        const thread = verifyRow(THREADS, row);
        return threadInfo(thread, checkpointAt(connection, thread, thread.head!));
      });
      return info === undefined ? [] : [info];
    });
  });
}

/** Detects rows that a damaged page hides: the index still counts them. */
function checkIndex(connection: Connection): void {
  const { rows, entries } = connection.get<{ rows: number; entries: number }>(
    "SELECT (SELECT count(*) FROM threads NOT INDEXED) AS rows, " +
      "(SELECT count(*) FROM threads INDEXED BY threads_by_name) AS entries",
  )!;
  if (rows !== entries) throw corruptRecord("table `threads`", `${rows} rows are there, but ${entries} in its index`);
}
