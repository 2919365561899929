import type { ThreadInfo } from "../../store.ts";
import { decodeHeader } from "../header-text.ts";
import { decodeKey } from "../key.ts";
import { THREADS, type ThreadRow, unseal } from "../rows.ts";
import { checkpointAt } from "./checkpoints.ts";
import type { Connection } from "./connection.ts";

/** Most recently written first. Threads are few beside checkpoints, and this is asked rarely: no index is kept for it. */
export function listThreads(connection: Connection, limit: number): readonly ThreadInfo[] {
  return connection.read(() =>
    connection
      .all<ThreadRow>("SELECT * FROM threads WHERE head IS NOT NULL ORDER BY last DESC LIMIT ?", limit)
      .map((row) => {
        const thread = unseal(THREADS, row);
        const threadId = decodeKey(thread.name);
        const header = decodeHeader(checkpointAt(connection, thread, thread.head!), threadId);
        const { id: headId, status, step, timestamp, metadata } = header;
        return { threadId, headId, status, step, checkpoints: thread.checkpoints, timestamp, metadata };
      }),
  );
}
