/** The listing of threads: from the rows `thread` of their objects, which the server of Restate sorts by their first characters. */
import { StoreError } from "../../../runtime/interface/errors.ts";
import type { ThreadInfo, ThreadsOptions } from "../../../runtime/interface/store.ts";
import { expiryOf, isListed } from "../../../runtime/stores/contract/listed-thread.ts";
import { rowLimit } from "../../../runtime/stores/contract/limits.ts";
import { decodeThread, encodePlace, type ThreadRow } from "./rows.ts";

/** The row `thread` of an object. */
export interface ThreadText {
  readonly thread: string;
  readonly text: string;
}

/** Rows of threads that come after one text and before another, the last one first. */
export type ScanThreads = (range: {
  readonly after: string;
  readonly before: string;
  readonly limit: number;
}) => Promise<readonly ThreadText[]>;

/** Rows that are read at a time. */
const PAGE = 1000;

export async function listThreads(
  scan: ScanThreads,
  options: ThreadsOptions,
  now: number,
): Promise<readonly ThreadInfo[]> {
  const limit = rowLimit(options.limit);
  const found: ThreadInfo[] = [];
  // Threads without checkpoints have the place 0.
  const after = encodePlace(1);
  let before = encodePlace(Math.min(options.after ?? Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER));
  while (found.length < limit) {
    const page = await scan({ after, before, limit: PAGE });
    for (const { thread, text } of page) {
      const info = readThread(thread, text, now, options.onCorrupt);
      if (info !== undefined && found.length < limit && isListed(info, options)) found.push(info);
    }
    const last = page.at(-1);
    if (page.length < PAGE || last === undefined) break;
    before = last.text.slice(0, before.length);
  }
  return found;
}

function readThread(
  thread: string,
  text: string,
  now: number,
  onCorrupt: ThreadsOptions["onCorrupt"],
): ThreadInfo | undefined {
  try {
    return infoOf(thread, decodeThread(text), now);
  } catch (error) {
    if (onCorrupt === undefined || !(error instanceof StoreError)) throw error;
    onCorrupt(error, thread);
    return undefined;
  }
}

function infoOf(
  threadId: string,
  { listed, checkpoints, position, owner, expires, signals }: ThreadRow,
  now: number,
): ThreadInfo | undefined {
  if (listed === null) return undefined;
  const { id: headId, status, step, timestamp, metadata, label, graph, prepared, due, ttl } = listed;
  return {
    ...{ threadId, headId, status, step, checkpoints, timestamp, metadata, label, position },
    ...(graph === undefined ? {} : { graph }),
    held: owner !== null && expires > now,
    ...(prepared === true ? { prepared } : {}),
    ...(due === undefined ? {} : { due }),
    ...expiryOf({ timestamp, ...(ttl === undefined ? {} : { ttl }) }),
    ...(signals === 0 ? {} : { signals }),
  };
}
