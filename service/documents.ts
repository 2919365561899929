import type { Checkpoint, PauseItem } from "../runtime/interface/checkpoint.ts";
import type { RunResult, ThreadState, ThreadSummary } from "../runtime/interface/engine-options.ts";
import { resultDocument } from "../runtime/run/result-document.ts";
import type { Table } from "../runtime/table/table.ts";
import type { FieldType } from "../runtime/table/value-type.ts";
import type { JsonObject } from "../runtime/value/json.ts";
import { schemaOf } from "../stdlib/type-schema.ts";

/** A pause with the JSON Schema of its answer, from which a form can be made. */
export function pauseDocument(pause: PauseItem): object {
  const { expects, ...shown } = pause;
  return expects === undefined ? shown : { ...shown, schema: schemaOf(expects) };
}

/** The answer to a run or a resume: the document of `ngc run --json`, with schemas of the answers that are waited for. */
export function runDocument(result: RunResult): object {
  return { ...resultDocument(result), pauses: result.pauses.map(pauseDocument) };
}

/** The state of a thread. `isRunning`: this process runs it. */
export function stateDocument(
  table: Table,
  { state, thread, status, step, next, pauses, label, metadata, checkpointId }: ThreadState,
  head: Checkpoint,
  isRunning: boolean,
  hidden: JsonObject,
): object {
  const outputs = table.channels.filter(({ role }) => role === "output");
  return {
    thread,
    graph: table.name,
    status,
    running: isRunning,
    prepared: head.status === "running" && (head.prepared === true || head.phase === "updated"),
    step,
    next,
    pauses: pauses.map(pauseDocument),
    output: Object.fromEntries(outputs.map(({ name }) => [name, state[name] ?? null])),
    state,
    error: head.failure ?? null,
    ...(head.outcome === undefined ? {} : { outcome: head.outcome }),
    ...(head.usage === undefined ? {} : { usage: head.usage }),
    label,
    metadata: withoutHidden(metadata, hidden),
    checkpoint: checkpointId,
    timestamp: head.timestamp,
    due: head.due ?? null,
  };
}

/** @param graph the present name of its graph */
export function summaryDocument(summary: ThreadSummary, graph: string, hidden: JsonObject): object {
  const { thread, status, step, label, metadata, timestamp, due, checkpointId, checkpoints } = summary;
  const shown = { metadata: withoutHidden(metadata, hidden), timestamp, due, checkpoint: checkpointId, checkpoints };
  return { thread, graph, status, step, label, ...shown };
}

/** Metadata that the service itself has added: the names of `hidden`, of the idempotency key and of chats. */
export function withoutHidden(metadata: JsonObject, hidden: JsonObject): JsonObject {
  const names = Object.entries(metadata).filter(
    ([name]) => name !== IDEMPOTENCY && name !== MESSAGE && !Object.hasOwn(hidden, name),
  );
  return Object.fromEntries(names);
}

/** The name in the metadata of a thread of the digest of the request that has created it by an idempotency key. */
export const IDEMPOTENCY = "ngraph.request";

/** The name in the metadata of a thread of the message of a chat that its last run has read. */
export const MESSAGE = "ngraph.message";

/** What a graph takes and gives. */
export function graphDocument(table: Table): object {
  const { name, digest, effects, debug } = table;
  return {
    name,
    description: debug?.doc ?? null,
    digest,
    effects,
    input: schemaOfRole(table, "input"),
    output: schemaOfRole(table, "output"),
    config: schemaOfRole(table, "config"),
    state: stateSchema(table),
    nodes: table.nodes.map(({ name: node }, index) => ({ name: node, line: debug?.nodes[index]?.line ?? null })),
  };
}

/** The JSON Schema of the state of a thread, for forms that edit it. */
function stateSchema(table: Table): object {
  const channels = table.channels.filter(({ role }) => role !== "config");
  const fields = channels.map(({ name, type }): FieldType => ({ name, type, optional: true }));
  return schemaOf({ type: { kind: "record", fields }, types: table.types });
}

/** The JSON Schema of the channels of a role. A channel with a start value may be omitted from inputs. */
export function schemaOfRole(table: Table, role: "input" | "output" | "config"): { readonly [key: string]: unknown } {
  const fields = table.channels
    .filter((channel) => channel.role === role)
    .map(({ name, type, initial }): FieldType =>
      role === "output" || initial === undefined ? { name, type } : { name, type, optional: true },
    );
  const schema = schemaOf({ type: { kind: "record", fields }, types: table.types });
  return role === "config" ? { ...schema, required: [] } : schema;
}
