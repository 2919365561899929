/** Encoding of pending writes in rows. */
import type { PendingWrite } from "../../interface/checkpoint.ts";
import type { Json } from "../../value/json.ts";
import { freezeDeep } from "./frozen-json.ts";
import { jsonText } from "./json-text.ts";
import { decodeKey, encodeKey } from "./key.ts";
import { rowName, WRITES, type WriteRow } from "./rows.ts";
import { corruptRecord, quote } from "./store-error.ts";

/** JSON text by task key. Of several results of one task the last is kept. */
export function encodeWrites(writes: readonly PendingWrite[]): ReadonlyMap<string, string> {
  return new Map(
    writes.map(({ taskId, node, result }) => {
      return [encodeKey(taskId), jsonText([node, result], () => `the result of task ${quote(taskId)}`)];
    }),
  );
}

/** @param row with a verified checksum */
export function decodeWrite(row: WriteRow): PendingWrite {
  let parsed: unknown;
  try {
    parsed = JSON.parse(row.data);
  } catch (error) {
    throw corruptRecord(rowName(WRITES, row), "it is not JSON", error);
  }
  if (!Array.isArray(parsed) || parsed.length !== 2 || typeof parsed[0] !== "string") {
    throw corruptRecord(rowName(WRITES, row), "it is not a node and its result");
  }
  return Object.freeze({ taskId: decodeKey(row.task), node: parsed[0], result: freezeDeep(parsed[1] as Json) });
}
