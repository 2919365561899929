import type { ThreadInfo, ThreadsOptions } from "../../interface/store.ts";
import { THREADS, type ThreadRow, type CheckpointRow, CHECKPOINTS, verifyRow } from "../contract/rows.ts";
import { readListed, threadInfo } from "../contract/thread-info.ts";
import { missingCheckpoint } from "./checkpoints.ts";
import type { Connection } from "./connection.ts";

/** Most recently written first. There are far fewer threads than checkpoints and calls are rare, so there is no index. */
export function listThreads(
  connection: Connection,
  limit: number,
  onCorrupt: ThreadsOptions["onCorrupt"],
): Promise<readonly ThreadInfo[]> {
  return connection.read(async (transaction) => {
    // A thread that was only claimed has no head and is not listed. Verifying it detects a head that damage has removed.
    const headless = await transaction.all<ThreadRow>("SELECT * FROM @.threads WHERE head IS NULL");
    for (const row of headless) readListed(row, onCorrupt, () => verifyRow(THREADS, row));
    const threads = await transaction.all<ThreadRow>(
      "SELECT * FROM @.threads WHERE head IS NOT NULL ORDER BY last DESC LIMIT $1",
      limit,
    );
    const heads = await transaction.all<CheckpointRow>(
      "SELECT * FROM @.checkpoints WHERE ord = ANY($1::bigint[])",
      threads.map(({ head }) => head),
    );
    const byOrd = new Map(heads.map((head) => [head.ord, head]));
    return threads.flatMap((row) => {
      const info = readListed(row, onCorrupt, () => {
        const thread = verifyRow(THREADS, row);
        const head = byOrd.get(thread.head!);
        if (head === undefined) throw missingCheckpoint(thread, thread.head!);
        return threadInfo(thread, verifyRow(CHECKPOINTS, head, { thread: thread.thread }));
      });
      return info === undefined ? [] : [info];
    });
  });
}
