import { StoreError } from "../../interface/errors.ts";
import type { ThreadInfo, ThreadsOptions } from "../../interface/store.ts";
import { decodeHeader } from "./header-text.ts";
import { decodeKey } from "./key.ts";
import { expiryOf } from "./listed-thread.ts";
import { corruptRecord, quote } from "./store-error.ts";
import type { CheckpointRow, ThreadRow, WaitRow } from "./rows.ts";

/**
 * Runs `read` for one thread of a listing. With `onCorrupt`, damage is reported there and the result is undefined; otherwise it is
 * thrown.
 */
export function readListed<T>(
  thread: ThreadRow | undefined,
  onCorrupt: ThreadsOptions["onCorrupt"],
  read: () => T,
): T | undefined {
  try {
    return read();
  } catch (error) {
    const isDamage =
      error instanceof StoreError && (error.code === "NG_CORRUPT_RECORD" || error.code === "NG_UNKNOWN_VERSION");
    if (onCorrupt === undefined || !isDamage) throw error;
    onCorrupt(error, thread === undefined ? undefined : nameOf(thread));
    return undefined;
  }
}

/** The name in a row that may be damaged. */
function nameOf(thread: ThreadRow): string | undefined {
  try {
    return typeof thread.name === "string" ? decodeKey(thread.name) : undefined;
  } catch {
    return undefined;
  }
}

/** The entry of a thread in a listing. The rows must have been verified. */
export function threadInfo(
  thread: ThreadRow,
  head: CheckpointRow,
  isHeld: boolean,
  wait: WaitRow | undefined,
): ThreadInfo {
  const threadId = decodeKey(thread.name);
  const {
    id: headId,
    status,
    step,
    timestamp,
    metadata,
    label,
    graph,
    prepared,
    due,
    ttl,
  } = decodeHeader(head, threadId);
  if ((wait?.due ?? undefined) !== due) {
    throw corruptRecord(`thread ${quote(threadId)} in table \`waits\``, "its due time is not that of its head");
  }
  return {
    threadId,
    headId,
    status,
    step,
    checkpoints: thread.checkpoints,
    timestamp,
    metadata,
    label,
    ...(graph === undefined ? {} : { graph }),
    position: thread.last,
    held: isHeld,
    ...(prepared === true ? { prepared } : {}),
    ...(due === undefined ? {} : { due }),
    ...expiryOf({ timestamp, ...(ttl === undefined ? {} : { ttl }) }),
    ...(wait === undefined || wait.signals === 0 ? {} : { signals: wait.signals }),
  };
}
