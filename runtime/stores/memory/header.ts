import { CHECKPOINT_SCHEMA_VERSION, type CheckpointHeader, type CheckpointId } from "../../interface/checkpoint.ts";
import { frozenJson } from "../contract/frozen-json.ts";
import { quote } from "../contract/store-error.ts";
import type { Stored } from "./thread-record.ts";

/**
 * How a header is kept. `frozen`: as a frozen copy. The others were made by a run, which does not change them, and are copied when
 * they are read. `whole`: the header itself, with fields that few headers have. `plain`: as the fields in which it differs from another
 * header. `recorded`: likewise, with `channels`.
 */
export type KeptFields = "frozen" | "whole" | "plain" | "recorded";

type HeaderParts = Pick<
  Stored,
  "id" | "step" | "phase" | "currentNodes" | "nextNodes" | "status" | "timestamp" | "parent" | "base" | "fields"
>;

/** The number of fields of a header without those that only some headers have. */
const PLAIN_FIELDS = 22;

/** Whether a header can be kept as the fields in which it differs from another one. */
export function keptFieldsOf(header: CheckpointHeader): "whole" | "plain" | "recorded" {
  const { schemaVersion, currentNodes, currentNode, graph, channels } = header;
  if (schemaVersion !== CHECKPOINT_SCHEMA_VERSION || graph === undefined) return "whole";
  const last = currentNodes.length === 0 ? null : currentNodes[currentNodes.length - 1]!;
  if (currentNode !== last) return "whole";
  let count = 0;
  for (const _ in header) count++;
  if (channels === undefined) return count === PLAIN_FIELDS ? "plain" : "whole";
  return count === PLAIN_FIELDS + 1 ? "recorded" : "whole";
}

/** The header that has the fields of a new one which are not kept for each checkpoint: that of the head, or the new one. */
export function baseOf(header: CheckpointHeader, fields: KeptFields, head: HeaderParts | undefined): CheckpointHeader {
  if (head === undefined || isWhole(fields) || isWhole(head.fields)) return header;
  const { base } = head;
  const isShared =
    header.runId === base.runId &&
    header.threadId === base.threadId &&
    header.namespace === base.namespace &&
    header.pendingSends === base.pendingSends &&
    header.barrierState === base.barrierState &&
    header.pauses === base.pauses &&
    header.answers === base.answers &&
    header.errors === base.errors &&
    header.label === base.label &&
    header.metadata === base.metadata &&
    header.digest === base.digest &&
    header.graph === base.graph &&
    (header.channels === undefined || header.channels === base.channels);
  return isShared ? base : header;
}

function isWhole(fields: KeptFields): boolean {
  return fields === "frozen" || fields === "whole";
}

/** The header of a checkpoint, of which nothing is modified. */
export function headerOf(stored: HeaderParts): CheckpointHeader {
  const { base, fields, parent, id, step, phase, currentNodes, nextNodes, status, timestamp } = stored;
  if (base.id === id) return base;
  const { channels, ...shared } = base;
  return {
    ...shared,
    id,
    parentId: idOf(parent),
    step,
    phase,
    currentNodes,
    currentNode: currentNodes.at(-1) ?? null,
    nextNodes,
    status,
    timestamp,
    ...(fields === "recorded" ? { channels } : {}),
  };
}

export function idOf(parent: Stored["parent"]): CheckpointId | null {
  return typeof parent === "string" || parent === null ? parent : parent.id;
}

/** The lists of a header that its run also returns to its caller are copied. Without pauses, the list is the one of all headers. */
export function ownHeader(header: CheckpointHeader): CheckpointHeader {
  const { currentNodes, pauses } = header;
  if (pauses.length > 0) return { ...header, currentNodes: [...currentNodes], pauses: frozenJson(pauses, "") };
  return Object.isFrozen(currentNodes) ? header : { ...header, currentNodes: [...currentNodes] };
}

export function frozenMetadata({ id, metadata }: CheckpointHeader): CheckpointHeader["metadata"] {
  return frozenRecord(metadata, () => `the metadata of checkpoint ${quote(id)}`);
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
