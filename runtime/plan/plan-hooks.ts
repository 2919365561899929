import type { Shared } from "../run/shared.ts";
import type { DriveRequest } from "./drive-plan.ts";

/** Settings that called plans inherit from the outermost plan. */
export interface PlanContext {
  readonly emit?: DriveRequest["emit"];
  readonly prefix: string;
  readonly options: Pick<DriveRequest["options"], "expected" | "taskCache" | "worktrees">;
}

const contexts = new WeakMap<Shared, PlanContext>();

/**
 * Runs share one `Shared` with the graphs and plans they call. This map attaches the settings to it, so that graphs
 * between two plans need not pass them on.
 */
export function setPlanContext(shared: Shared, given: PlanContext): void {
  contexts.set(shared, given);
}

/** The settings of a called plan. A plan that a graph calls inherits none. */
export function planContext(shared: Shared): PlanContext {
  return contexts.get(shared) ?? { prefix: "", options: {} };
}
