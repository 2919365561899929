/** What the checkpoints of a thread say of its steps and branches. */
import type { Json, JsonObject } from "../runtime/value/json.ts";

/** The checkpoints that the page has loaded, by id. */
export type KnownCheckpoints = ReadonlyMap<string, JsonObject>;

export function checkpointsById(checkpoints: readonly JsonObject[]): KnownCheckpoints {
  return new Map(checkpoints.map((each) => [String(each["id"]), each]));
}

export function parentOf(checkpoint: JsonObject, known: KnownCheckpoints): JsonObject | undefined {
  const { parent } = checkpoint;
  return typeof parent === "string" ? known.get(parent) : undefined;
}

/** The nodes that have run between the parent of a checkpoint and itself. Forks, edits and gates repeat the nodes of the step before. */
export function ranIn(checkpoint: JsonObject, known: KnownCheckpoints): readonly string[] {
  const { phase } = checkpoint;
  if ((phase !== "completed" && phase !== "interrupted") || isFork(checkpoint, known)) return [];
  return (checkpoint["ran"] ?? []) as readonly string[];
}

/** The step of a checkpoint and what has run in it, or why the checkpoint was written. */
export function stepText(checkpoint: JsonObject, known: KnownCheckpoints): string {
  const ran = ranIn(checkpoint, known);
  const phase = checkpoint["phase"] === "updated" ? "edited" : String(checkpoint["phase"]);
  const reason = isFork(checkpoint, known) ? "forked" : phase;
  return `${String(checkpoint["step"])} · ${ran.length === 0 ? reason : ran.join(", ")}`;
}

/** Whether a fork has written it: the first checkpoint of a run that begins at one of another run. */
function isFork(checkpoint: JsonObject, known: KnownCheckpoints): boolean {
  const parent = parentOf(checkpoint, known);
  return parent !== undefined && parent["run"] !== checkpoint["run"] && checkpoint["phase"] !== "input";
}

/** The ids from the start to a checkpoint. The others are of branches that a fork has left. */
export function lineOf(head: string, known: KnownCheckpoints): ReadonlySet<string> {
  const line = new Set<string>();
  for (let at: Json | undefined = head; typeof at === "string" && !line.has(at); at = known.get(at)?.["parent"])
    line.add(at);
  return line;
}
