/** The listing of threads: from the rows `thread` of their objects, which the server of Restate sorts by their first characters. */
import { StoreError } from "../../../runtime/interface/errors.ts";
import type { ThreadInfo, ThreadsOptions } from "../../../runtime/interface/store.ts";
import { expiryOf, isListed } from "../../../runtime/stores/contract/listed-thread.ts";
import { rowLimit } from "../../../runtime/stores/contract/limits.ts";
import { decodeThread, encodePlace, placeOf, type ThreadRow } from "./rows.ts";

/** The row `thread` of an object. */
export interface ThreadText {
  readonly thread: string;
  readonly text: string;
}

/** A place in the listing. Threads that were saved by different processes at the same time may have the same one: their names decide. */
export interface ListPlace {
  /** As `encodePlace` writes it. */
  readonly place: string;
  readonly thread: string;
}

/** Rows of threads from one place to another, without both, the last one first. */
export type ScanThreads = (range: {
  readonly after: string;
  readonly before: ListPlace;
  readonly limit: number;
}) => Promise<readonly ThreadText[]>;

/** Rows that are read at a time. */
const PAGE = 1000;

/** Threads with the same place as the last one are listed in addition to `limit`: the caller's next page begins behind that place. */
export async function listThreads(
  scan: ScanThreads,
  options: ThreadsOptions,
  now: number,
): Promise<readonly ThreadInfo[]> {
  const limit = rowLimit(options.limit);
  const found: ThreadInfo[] = [];
  // Threads without checkpoints have the place 0.
  const after = encodePlace(0);
  const end = Math.min(options.after ?? Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER);
  let before: ListPlace = { place: encodePlace(end), thread: "" };
  for (;;) {
    const page = await scan({ after, before, limit: PAGE });
    for (const { thread, text } of page) {
      const info = readThread(thread, text, now, options.onCorrupt);
      if (info === undefined || !isListed(info, options)) continue;
      if (found.length >= limit && info.position !== found.at(-1)?.position) return found;
      found.push(info);
    }
    const last = page.at(-1);
    if (page.length < PAGE || last === undefined) return found;
    before = { place: placeOf(last.text), thread: last.thread };
  }
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
