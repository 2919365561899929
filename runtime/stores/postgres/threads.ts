import type { ThreadInfo, ThreadsOptions } from "../../interface/store.ts";
import { rowLimit } from "../contract/limits.ts";
import { THREADS, type ThreadRow, type CheckpointRow, CHECKPOINTS, verifyRow } from "../contract/rows.ts";
import { isListed } from "../contract/listed-thread.ts";
import { readListed, threadInfo } from "../contract/thread-info.ts";
import { isHeld } from "../contract/thread-row.ts";
import { missingCheckpoint } from "./checkpoints.ts";
import type { Connection } from "./connection.ts";
import { NOW } from "./thread.ts";

/** Most recently written first. There are far fewer threads than checkpoints and calls are rare, so there is no index. */
export function listThreads(connection: Connection, options: ThreadsOptions): Promise<readonly ThreadInfo[]> {
  const { onCorrupt } = options;
  const limit = rowLimit(options.limit);
  const size = Math.min(PAGE, limit);
  return connection.read(async (transaction) => {
    // A thread that was only claimed has no head and is not listed. Verifying it detects a head that damage has removed.
    const headless = await transaction.all<ThreadRow>("SELECT * FROM @.threads WHERE head IS NULL");
    for (const row of headless) readListed(row, onCorrupt, () => verifyRow(THREADS, row));
    const { now } = (await transaction.get<{ now: number }>(`SELECT ${NOW}`))!;
    const found: ThreadInfo[] = [];
    let after = options.after ?? Number.MAX_SAFE_INTEGER;
    while (found.length < limit) {
      const threads: readonly ThreadRow[] = await transaction.all<ThreadRow>(
        "SELECT * FROM @.threads WHERE head IS NOT NULL AND last < $1 ORDER BY last DESC LIMIT $2",
        after,
        size,
      );
      const heads = await transaction.all<CheckpointRow>(
        "SELECT * FROM @.checkpoints WHERE ord = ANY($1::bigint[])",
        threads.map(({ head }) => head),
      );
      const byOrd = new Map(heads.map((head) => [head.ord, head]));
      for (const row of threads) {
        const info = readListed(row, onCorrupt, () => {
          const thread = verifyRow(THREADS, row);
          const head = byOrd.get(thread.head!);
          if (head === undefined) throw missingCheckpoint(thread, thread.head!);
          const verified = verifyRow(CHECKPOINTS, head, { thread: thread.thread });
          return threadInfo(thread, verified, isHeld(thread, now, connection.lost));
        });
        if (info !== undefined && found.length < limit && isListed(info, options)) found.push(info);
      }
      const last = threads.at(-1);
      if (last === undefined || threads.length < size) break;
      after = last.last;
    }
    return found;
  });
}

/** Threads that are read at a time. */
const PAGE = 1000;
