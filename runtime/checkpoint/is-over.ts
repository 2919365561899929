import type { Checkpoint } from "../interface/checkpoint.ts";

/** Whether a run has ended for good: nothing is left to resume. */
export function isOver({ status }: { readonly status: Checkpoint["status"] }): boolean {
  return status === "completed" || status === "incomplete" || status === "rolled_back";
}
