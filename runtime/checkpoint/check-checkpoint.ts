import type { Checkpoint } from "../interface/checkpoint.ts";
import { StoreError } from "../interface/errors.ts";
import { readUsage } from "../interface/usage.ts";
import { unknownIn } from "../interface/known-phase.ts";
import { refuseEncoded } from "./refuse-encoded.ts";

/** The checkpoint that was requested. Without an `id`: the head of the namespace. */
export interface RequestedCheckpoint {
  readonly threadId: string;
  readonly namespace?: string | undefined;
  readonly id?: string;
}

/**
 * Checks that a checkpoint is the requested one, and has the shape that restoring it relies on (5.11). The stores of
 * this package have checksums; other stores may return anything.
 *
 * @throws StoreError NG_CORRUPT_RECORD with the name of the checkpoint and the problem
 */
export function checkCheckpoint(checkpoint: Checkpoint, asked: RequestedCheckpoint): void {
  refuseEncoded(asked.threadId, checkpoint.codec);
  const problem = problemOf(checkpoint, asked);
  if (problem === undefined) return;
  const name = `checkpoint ${shown(checkpoint.id)} of thread \`${asked.threadId}\``;
  throw new StoreError("NG_CORRUPT_RECORD", `${name} is not as it was written: ${problem}`);
}

function problemOf(checkpoint: Checkpoint, { threadId, namespace = "", id }: RequestedCheckpoint): string | undefined {
  if (id !== undefined && checkpoint.id !== id) return `its id is ${shown(checkpoint.id)} instead of ${shown(id)}`;
  if (checkpoint.threadId !== threadId) return `it belongs to thread ${shown(checkpoint.threadId)}`;
  if (checkpoint.namespace !== namespace) return `its namespace is ${shown(checkpoint.namespace)}`;
  const { step } = checkpoint;
  // `step + 1` must be a safe integer too.
  if (!Number.isSafeInteger(step) || step < -1 || step >= Number.MAX_SAFE_INTEGER) return `its step is ${shown(step)}`;
  const unknown = unknownIn(checkpoint);
  if (unknown !== undefined) return `its ${unknown} is not known`;
  for (const [name, fits] of SHAPES) {
    const value = checkpoint[name];
    if (!fits(value) && !(value === undefined && OPTIONAL.has(name))) return `its \`${name}\` is ${shown(value)}`;
  }
  return undefined;
}

const OPTIONAL: ReadonlySet<keyof Checkpoint> = new Set([
  "unrouted",
  "failedEdges",
  "finished",
  "children",
  "dues",
  "taken",
  "outcome",
  "ends",
  "finally",
  "usage",
] as const);

type Fits = (value: unknown) => boolean;

const text: Fits = (value) => typeof value === "string";
const record: Fits = (value) => typeof value === "object" && value !== null && !Array.isArray(value);
const listOf =
  (item: Fits): Fits =>
  (value) =>
    Array.isArray(value) && value.every(item);
const recordOf =
  (field: Fits): Fits =>
  (value) =>
    record(value) && Object.values(value as object).every(field);
const withTexts =
  (...names: readonly string[]): Fits =>
  (value) =>
    record(value) && names.every((name) => text((value as Readonly<Record<string, unknown>>)[name]));

const SHAPES: readonly (readonly [keyof Checkpoint, Fits])[] = [
  ["id", (value) => text(value) && value !== ""],
  ["runId", text],
  ["digest", text],
  ["currentNodes", listOf(text)],
  ["nextNodes", listOf(text)],
  ["unrouted", listOf(text)],
  ["failedEdges", listOf(text)],
  ["pendingSends", listOf(withTexts("taskId", "node"))],
  ["pauses", listOf(withTexts("id", "node", "kind"))],
  ["answers", listOf(withTexts("id"))],
  ["finished", listOf(withTexts("taskId", "node"))],
  ["barrierState", recordOf(listOf(text))],
  ["children", recordOf(text)],
  ["dues", recordOf((value) => typeof value === "number")],
  ["taken", listOf(withTexts("id", "name"))],
  ["outcome", withTexts("status")],
  ["ends", (value) => Number.isSafeInteger(value)],
  ["finally", (value) => withTexts("status")(value) && record((value as { readonly values?: unknown }).values)],
  ["usage", (value) => readUsage(value) !== undefined],
  ["errors", record],
  ["metadata", record],
  // The fields of these records are checked where they are read.
  ["values", record],
  ["versions", record],
];

function shown(value: unknown): string {
  const json = typeof value === "number" ? String(value) : (JSON.stringify(value) ?? "nothing");
  return json.length > 60 ? `${json.slice(0, 57)}…` : json;
}
