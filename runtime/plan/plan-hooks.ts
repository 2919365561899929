import type { Shared } from "../run/shared.ts";
import type { DriveRequest } from "./drive-plan.ts";

/** What plans that tasks call take over from the outermost one. */
export interface PlanSurroundings {
  readonly emit?: DriveRequest["emit"];
  readonly prefix: string;
  readonly options: Pick<DriveRequest["options"], "expected" | "taskCache">;
}

const surroundings = new WeakMap<Shared, PlanSurroundings>();

/** Runs share one `Shared` with what they call; plans find their own things by it, and graphs in between need not know. */
export function setPlanSurroundings(shared: Shared, given: PlanSurroundings): void {
  surroundings.set(shared, given);
}

/** Of a plan that a graph calls: none but its own. */
export function planSurroundings(shared: Shared): PlanSurroundings {
  return surroundings.get(shared) ?? { prefix: "", options: {} };
}
