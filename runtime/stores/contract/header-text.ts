import { CHECKPOINT_SCHEMA_VERSION, type CheckpointHeader } from "../../interface/checkpoint.ts";
import type { Json } from "../../value/json.ts";
import { freezeDeep } from "./frozen-json.ts";
import { jsonText } from "./json-text.ts";
import { decodeKey } from "./key.ts";
import { refuseUnknown, unknownIn } from "../../interface/known-phase.ts";
import { type CheckpointRow, CHECKPOINTS, rowName } from "./rows.ts";
import { corruptRecord, quote, unknownVersion } from "./store-error.ts";

/** Fields that are empty in most checkpoints. They are omitted then, since every step writes a header. */
const EMPTY = freezeDeep({
  parentId: null,
  currentNodes: [],
  nextNodes: [],
  pendingSends: [],
  barrierState: {},
  pauses: [],
  answers: [],
  errors: {},
  metadata: {},
}) as unknown as Readonly<Partial<CheckpointHeader>>;

const COLUMNS: ReadonlySet<string> = new Set(["id", "threadId", "namespace", "label"]);

/** The header as JSON, without the fields that have columns. Written field by field because every step calls it. */
export function encodeHeader(header: CheckpointHeader): string {
  refuseUnknown(header);
  const what = (): string => `the header of checkpoint ${quote(header.id)}`;
  let text = "";
  for (const field in header) {
    if (COLUMNS.has(field)) continue;
    const value: unknown = header[field as keyof CheckpointHeader];
    if (value === undefined || (field in EMPTY && isEmpty(value))) continue;
    text += `${text === "" ? "{" : ","}${JSON.stringify(field)}:${jsonText(value, what)}`;
  }
  return `${text}}`;
}

/**
 * @param row with a verified checksum
 * @throws StoreError NG_UNKNOWN_VERSION for a schema newer than this code, NG_CORRUPT_RECORD for text that is not a header
 */
export function decodeHeader(row: CheckpointRow, threadId: string): CheckpointHeader {
  let parsed: unknown;
  try {
    parsed = JSON.parse(row.header);
  } catch (error) {
    throw corruptRecord(rowName(CHECKPOINTS, row), "its header is not JSON", error);
  }
  if (typeof parsed !== "object" || parsed === null || !("schemaVersion" in parsed)) {
    throw corruptRecord(rowName(CHECKPOINTS, row), "its header is not a record with a schema version");
  }
  checkSchemaVersion(rowName(CHECKPOINTS, row), parsed.schemaVersion);
  const header = freezeDeep(parsed as Json) as unknown as CheckpointHeader;
  const unknown = unknownIn(header);
  if (unknown !== undefined) throw corruptRecord(rowName(CHECKPOINTS, row), `its ${unknown} is not known`);
  return {
    ...EMPTY,
    ...header,
    id: decodeKey(row.id),
    threadId,
    namespace: decodeKey(row.namespace),
    label: row.label === null ? null : decodeKey(row.label),
  };
}

/**
 * Refuses checkpoints that this version of ngraph cannot read.
 *
 * @param row names the record in the error
 * @throws StoreError NG_UNKNOWN_VERSION
 */
export function checkSchemaVersion(row: string, version: unknown): void {
  const known =
    typeof version === "number" &&
    Number.isSafeInteger(version) &&
    version >= 0 &&
    version <= CHECKPOINT_SCHEMA_VERSION;
  if (!known) throw unknownVersion(row, "schema version", version, CHECKPOINT_SCHEMA_VERSION);
}

function isEmpty(value: unknown): boolean {
  if (value === null) return true;
  return typeof value === "object" && Object.keys(value).length === 0;
}
