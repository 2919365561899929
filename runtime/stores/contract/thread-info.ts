import type { ThreadInfo } from "../../interface/store.ts";
import { decodeHeader } from "./header-text.ts";
import { decodeKey } from "./key.ts";
import type { CheckpointRow, ThreadRow } from "./rows.ts";

/** The entry of a thread in a listing. Both rows must have been verified. */
export function threadInfo(thread: ThreadRow, head: CheckpointRow): ThreadInfo {
  const threadId = decodeKey(thread.name);
  const { id: headId, status, step, timestamp, metadata } = decodeHeader(head, threadId);
  return { threadId, headId, status, step, checkpoints: thread.checkpoints, timestamp, metadata };
}
