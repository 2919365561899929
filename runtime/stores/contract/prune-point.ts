import { decodeHeader } from "./header-text.ts";
import { decodeKey } from "./key.ts";
import type { PrunePoint } from "./retention.ts";
import type { CheckpointRow } from "./rows.ts";

/** @param row with a verified checksum */
export function prunePoint(row: CheckpointRow, threadId: string): PrunePoint {
  const { ord, namespace, label } = row;
  return { ord, id: decodeKey(row.id), namespace, label, header: () => decodeHeader(row, threadId) };
}
