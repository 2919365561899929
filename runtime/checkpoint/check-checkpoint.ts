import type { Checkpoint } from "../interface/checkpoint.ts";
import { StoreError } from "../interface/errors.ts";
import { unknownIn } from "../interface/known-phase.ts";

/** What a store was asked for; without an `id`, a namespace's head. */
export interface AskedCheckpoint {
  readonly threadId: string;
  readonly namespace?: string | undefined;
  readonly id?: string;
}

/**
 * Whether a checkpoint is the one that was asked for, and has the shape that restoring it relies on (5.11). Stores of this package
 * hold checksums; those of others may give anything, and nothing may run on it.
 *
 * @throws StoreError NG_CORRUPT_RECORD that names the checkpoint and what is wrong with it
 */
export function checkCheckpoint(checkpoint: Checkpoint, asked: AskedCheckpoint): void {
  const problem = problemOf(checkpoint, asked);
  if (problem === undefined) return;
  const name = `checkpoint ${shown(checkpoint.id)} of thread \`${asked.threadId}\``;
  throw new StoreError("NG_CORRUPT_RECORD", `${name} is not as it was written: ${problem}`);
}

function problemOf(checkpoint: Checkpoint, { threadId, namespace = "", id }: AskedCheckpoint): string | undefined {
  if (id !== undefined && checkpoint.id !== id) return `it was asked for as ${shown(id)}`;
  if (checkpoint.threadId !== threadId) return `it is of thread ${shown(checkpoint.threadId)}`;
  if (checkpoint.namespace !== namespace) return `its namespace is ${shown(checkpoint.namespace)}`;
  const { step } = checkpoint;
  // One step more has to be a number still.
  if (!Number.isSafeInteger(step) || step < -1 || step >= Number.MAX_SAFE_INTEGER) return `its step is ${shown(step)}`;
  const unknown = unknownIn(checkpoint);
  if (unknown !== undefined) return `its ${unknown} is not known`;
  for (const [name, fits] of SHAPES) {
    const value = checkpoint[name];
    if (!fits(value) && !(value === undefined && OPTIONAL.has(name))) return `its \`${name}\` is ${shown(value)}`;
  }
  return undefined;
}

const OPTIONAL: ReadonlySet<keyof Checkpoint> = new Set(["unrouted", "finished", "children"] as const);

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
  ["pendingSends", listOf(withTexts("taskId", "node"))],
  ["pauses", listOf(withTexts("id", "node", "kind"))],
  ["answers", listOf(withTexts("id"))],
  ["finished", listOf(withTexts("taskId", "node"))],
  ["barrierState", recordOf(listOf(text))],
  ["children", recordOf(text)],
  ["errors", record],
  ["metadata", record],
  // What they hold is asked for channel by channel, where it is read.
  ["values", record],
  ["versions", record],
];

function shown(value: unknown): string {
  const json = typeof value === "number" ? String(value) : (JSON.stringify(value) ?? "nothing");
  return json.length > 60 ? `${json.slice(0, 57)}…` : json;
}
