import type { ThreadInfo } from "../../interface/store.ts";
import { THREADS, type ThreadRow, type CheckpointRow, CHECKPOINTS, unseal } from "../contract/rows.ts";
import { threadInfo } from "../contract/thread-info.ts";
import { missingCheckpoint } from "./checkpoints.ts";
import type { Connection } from "./connection.ts";

/** Most recently written first. Threads are few beside checkpoints, and this is asked rarely: no index is kept for it. */
export function listThreads(connection: Connection, limit: number): Promise<readonly ThreadInfo[]> {
  return connection.read(async (transaction) => {
    // Those without a head, claimed and no more, are not listed, but may only seem to have none.
    const headless = await transaction.all<ThreadRow>("SELECT * FROM @.threads WHERE head IS NULL");
    for (const row of headless) unseal(THREADS, row);
    const threads = await transaction.all<ThreadRow>(
      "SELECT * FROM @.threads WHERE head IS NOT NULL ORDER BY last DESC LIMIT $1",
      limit,
    );
    const heads = await transaction.all<CheckpointRow>(
      "SELECT * FROM @.checkpoints WHERE ord = ANY($1::bigint[])",
      threads.map(({ head }) => head),
    );
    const byOrd = new Map(heads.map((head) => [head.ord, head]));
    return threads.map((row) => {
      const thread = unseal(THREADS, row);
      const head = byOrd.get(thread.head!);
      if (head === undefined) throw missingCheckpoint(thread, thread.head!);
      return threadInfo(thread, unseal(CHECKPOINTS, head, { thread: thread.thread }));
    });
  });
}
