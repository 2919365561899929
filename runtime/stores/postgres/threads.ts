import type { ThreadInfo, ThreadsOptions } from "../../interface/store.ts";
import { rowLimit } from "../contract/limits.ts";
import {
  THREADS,
  type ThreadRow,
  type CheckpointRow,
  CHECKPOINTS,
  verifyRow,
  WAITS,
  type WaitRow,
} from "../contract/rows.ts";
import { isListed } from "../contract/listed-thread.ts";
import { readListed, threadInfo } from "../contract/thread-info.ts";
import { isHeld } from "../contract/thread-row.ts";
import { missingCheckpoint } from "./checkpoints.ts";
import type { Connection } from "./connection.ts";
import { checkWaits } from "./signals.ts";
import { NOW } from "./thread.ts";

/** Most recently written first. There are far fewer threads than checkpoints and calls are rare, so there is no index. */
export function listThreads(connection: Connection, options: ThreadsOptions): Promise<readonly ThreadInfo[]> {
  const { onCorrupt, due } = options;
  const limit = rowLimit(options.limit);
  const size = Math.min(PAGE, limit);
  return connection.read(async (transaction) => {
    // A thread that was only claimed has no head and is not listed. Verifying it detects a head that damage has removed.
    const headless = await transaction.all<ThreadRow>("SELECT * FROM @.threads WHERE head IS NULL");
    for (const row of headless) readListed(row, onCorrupt, () => verifyRow(THREADS, row));
    await checkWaits(transaction).catch((error: unknown) => {
      readListed(undefined, onCorrupt, () => {
        throw error;
      });
    });
    const { now } = (await transaction.get<{ now: number }>(`SELECT ${NOW}`))!;
    const found: ThreadInfo[] = [];
    let after = options.after ?? Number.MAX_SAFE_INTEGER;
    while (found.length < limit) {
      const threads: readonly ThreadRow[] = await transaction.all<ThreadRow>(
        `SELECT * FROM @.threads WHERE head IS NOT NULL AND last < $1${due === undefined ? "" : MAY_CONTINUE} ` +
          "ORDER BY last DESC LIMIT $2",
        ...[after, size, ...(due === undefined ? [] : [due])],
      );
      const waits = await transaction.all<WaitRow>(
        "SELECT * FROM @.waits WHERE thread = ANY($1::bigint[])",
        threads.map(({ thread }) => thread),
      );
      const waitOf = new Map(waits.map((wait) => [wait.thread, wait]));
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
          const wait = waitOf.get(thread.thread);
          if (wait !== undefined) verifyRow(WAITS, wait, { thread: thread.thread });
          return threadInfo(thread, verified, isHeld(thread, now, connection.lost), wait);
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

const MAY_CONTINUE =
  " AND thread IN (SELECT thread FROM @.waits WHERE due <= $3 UNION SELECT thread FROM @.waits WHERE signals > 0)";

/** Threads that are read at a time. */
const PAGE = 1000;
