import type { CheckpointHeader } from "./checkpoint.ts";
import { StoreError } from "./errors.ts";

const PHASES: ReadonlySet<unknown> = new Set(["input", "completed", "before", "after", "interrupted", "updated"]);
const STORED = ["running", "paused", "completed", "incomplete", "failed", "limit", "cancelled", "rolled_back"];
const STATUSES: ReadonlySet<unknown> = new Set(STORED);
/** An unfinished thread without a runner is interrupted. No checkpoint has this status. */
export const THREAD_STATUSES: readonly string[] = [...STORED, "interrupted"];

/**
 * The phase or status of a header that this version does not know (5.11), as text for an error message; undefined when it
 * knows both. A header of schema version 0 may have any.
 */
export function unknownIn(header: Pick<CheckpointHeader, "schemaVersion" | "phase" | "status">): string | undefined {
  if (header.schemaVersion === 0) return undefined;
  if (!PHASES.has(header.phase)) return `phase ${JSON.stringify(header.phase) ?? "undefined"}`;
  return STATUSES.has(header.status) ? undefined : `status ${JSON.stringify(header.status) ?? "undefined"}`;
}

/** @throws StoreError NG_STORE_FAILED for an unknown phase or status */
export function refuseUnknown(header: CheckpointHeader): void {
  const unknown = unknownIn(header);
  if (unknown === undefined) return;
  throw new StoreError(
    "NG_STORE_FAILED",
    `checkpoint ${JSON.stringify(header.id)} cannot be saved: its ${unknown} is not known`,
  );
}
