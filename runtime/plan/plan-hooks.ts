import type { Shared } from "../run/shared.ts";
import type { DriveRequest } from "./drive-plan.ts";

/** Settings that called plans inherit from the outermost plan. */
export interface PlanSurroundings {
  readonly emit?: DriveRequest["emit"];
  readonly prefix: string;
  readonly options: Pick<DriveRequest["options"], "expected" | "taskCache">;
}

const surroundings = new WeakMap<Shared, PlanSurroundings>();

/**
 * Runs share one `Shared` with the graphs and plans they call. This map attaches the settings to it, so that graphs
 * between two plans need not pass them on.
 */
export function setPlanSurroundings(shared: Shared, given: PlanSurroundings): void {
  surroundings.set(shared, given);
}

/** The settings of a called plan. A plan that a graph calls inherits none. */
export function planSurroundings(shared: Shared): PlanSurroundings {
  return surroundings.get(shared) ?? { prefix: "", options: {} };
}
