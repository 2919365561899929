import type { CheckpointHeader } from "../../interface/checkpoint.ts";
import { frozenJson } from "../contract/frozen-json.ts";
import { quote } from "../contract/store-error.ts";

/**
 * A header that a run has created. The run does not change it, so it is kept without a copy. `currentNodes` and `pauses` are copied,
 * because the run also returns these lists to its caller.
 */
export function ownHeader(header: CheckpointHeader): CheckpointHeader {
  const { currentNodes, pauses } = header;
  const isShared = !Object.isFrozen(currentNodes) || pauses.length > 0;
  return isShared ? { ...header, currentNodes: [...currentNodes], pauses: frozenJson(pauses, "") } : header;
}

/**
 * A frozen copy of a header. Runs save and read many, so the fields are copied one by one, and empty lists and records
 * share one instance.
 */
export function frozenHeader(header: CheckpointHeader): CheckpointHeader {
  const what = (): string => `the header of checkpoint ${quote(header.id)}`;
  // Records from before versions lack some of these fields, and are kept as they are.
  if (header.schemaVersion === 0) return frozenJson(header, what);
  const copy: { -readonly [K in keyof CheckpointHeader]: CheckpointHeader[K] } = {
    schemaVersion: header.schemaVersion,
    id: header.id,
    threadId: header.threadId,
    runId: header.runId,
    namespace: header.namespace,
    parentId: header.parentId,
    step: frozenJson(header.step, what),
    phase: header.phase,
    currentNodes: frozenList(header.currentNodes, what),
    nextNodes: frozenList(header.nextNodes, what),
    pendingSends: frozenList(header.pendingSends, what),
    barrierState: frozenRecord(header.barrierState, what),
    pauses: frozenList(header.pauses, what),
    answers: frozenList(header.answers, what),
    errors: frozenRecord(header.errors, what),
    status: header.status,
    label: header.label,
    metadata: frozenRecord(header.metadata, what),
    timestamp: frozenJson(header.timestamp, what),
    digest: header.digest,
  };
  // Fields that most headers lack.
  const fields = copy as unknown as Record<string, unknown>;
  for (const field in header) {
    if (field in fields) continue;
    const value: unknown = header[field as keyof CheckpointHeader];
    if (value !== undefined) fields[field] = frozenJson(value, what);
  }
  return Object.freeze(copy);
}

function frozenList<T>(list: readonly T[], what: () => string): readonly T[] {
  return Array.isArray(list) && list.length === 0 ? NO_ITEMS : frozenJson(list, what);
}

function frozenRecord<T extends object>(record: T, what: () => string): T {
  for (const _ in record) return frozenJson(record, what);
  return NO_FIELDS as T;
}

const NO_ITEMS: readonly never[] = Object.freeze([]);
const NO_FIELDS: object = Object.freeze({});
