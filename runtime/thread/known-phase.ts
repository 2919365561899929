import type { CheckpointHeader } from "../interface/checkpoint.ts";
import { StoreError } from "../interface/errors.ts";

const PHASES: ReadonlySet<unknown> = new Set(["input", "completed", "before", "after", "interrupted", "updated"]);
const STATUSES: ReadonlySet<unknown> = new Set([
  ...["running", "paused", "completed", "incomplete", "failed", "step_limit", "cancelled"],
]);

/** What a header says that this code does not know (5.11); those from before versions are kept whatever they say. */
export function unknownIn(header: Pick<CheckpointHeader, "schemaVersion" | "phase" | "status">): string | undefined {
  if (header.schemaVersion === 0) return undefined;
  if (!PHASES.has(header.phase)) return `phase ${JSON.stringify(header.phase) ?? "nothing"}`;
  return STATUSES.has(header.status) ? undefined : `status ${JSON.stringify(header.status) ?? "nothing"}`;
}

/** @throws StoreError NG_STORE_FAILED for a phase or status that is none */
export function refuseUnknown(header: CheckpointHeader): void {
  const unknown = unknownIn(header);
  if (unknown === undefined) return;
  throw new StoreError(
    "NG_STORE_FAILED",
    `checkpoint ${JSON.stringify(header.id)} cannot be saved: its ${unknown} is not known`,
  );
}
