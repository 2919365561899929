import type { ThreadInfo, ThreadsOptions } from "../../interface/store.ts";
import { rowLimit } from "../contract/limits.ts";
import { THREADS, type ThreadRow, verifyRow } from "../contract/rows.ts";
import { corruptRecord } from "../contract/store-error.ts";
import { isListed } from "../contract/listed-thread.ts";
import { readListed, threadInfo } from "../contract/thread-info.ts";
import { isHeld } from "../contract/thread-row.ts";
import { checkpointAt } from "./checkpoints.ts";
import type { Connection } from "./connection.ts";
import { checkWaits, waitOf } from "./signals.ts";

/** Most recently written first. There are far fewer threads than checkpoints and calls are rare, so there is no index. */
export function listThreads(connection: Connection, options: ThreadsOptions, now: number): readonly ThreadInfo[] {
  const { onCorrupt, due } = options;
  const limit = rowLimit(options.limit);
  const size = Math.min(PAGE, limit);
  return connection.read(() => {
    readListed(undefined, onCorrupt, () => checkIndex(connection));
    readListed(undefined, onCorrupt, () => checkWaits(connection));
    // A thread that was only claimed has no head and is not listed. Verifying it detects a head that damage has removed.
    for (const row of connection.all<ThreadRow>("SELECT * FROM threads WHERE head IS NULL"))
      readListed(row, onCorrupt, () => verifyRow(THREADS, row));
    const found: ThreadInfo[] = [];
    let { after } = options;
    while (found.length < limit) {
      // Without a position the condition would hide rows whose `last` is damaged.
      const rows: readonly ThreadRow[] = connection.all<ThreadRow>(
        `SELECT * FROM threads WHERE head IS NOT NULL${due === undefined ? "" : MAY_CONTINUE}` +
          `${after === undefined ? "" : " AND last < ?"} ORDER BY last DESC LIMIT ?`,
        ...[...(due === undefined ? [] : [due]), ...(after === undefined ? [] : [after]), size],
      );
      for (const row of rows) {
        const info = readListed(row, onCorrupt, () => {
          const thread = verifyRow(THREADS, row);
          const head = checkpointAt(connection, thread, thread.head!);
          return threadInfo(thread, head, isHeld(thread, now, connection.lost), waitOf(connection, thread.thread));
        });
        if (info !== undefined && found.length < limit && isListed(info, options)) found.push(info);
      }
      after = rows.at(-1)?.last;
      if (after === undefined || rows.length < size) break;
    }
    return found;
  });
}

const MAY_CONTINUE =
  " AND thread IN (SELECT thread FROM waits INDEXED BY waits_by_due WHERE due <= ? UNION SELECT thread FROM waits INDEXED BY waits_with_signals WHERE signals > 0)";

/** Threads that are read at a time. */
const PAGE = 1000;

/** Detects rows that a damaged page hides: the index still counts them. */
function checkIndex(connection: Connection): void {
  const { rows, entries } = connection.get<{ rows: number; entries: number }>(
    "SELECT (SELECT count(*) FROM threads NOT INDEXED) AS rows, " +
      "(SELECT count(*) FROM threads INDEXED BY threads_by_name) AS entries",
  )!;
  if (rows !== entries) throw corruptRecord("table `threads`", `${rows} rows are there, but ${entries} in its index`);
}
