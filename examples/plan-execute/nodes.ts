/** Node functions of `plan-execute.ngraph`. The planner and the executor are stubs: they run offline and always answer alike. */

export interface Done {
  step: string;
  result: string;
}

/** The next version of the plan, or the response. A field that is missing stays as it was. */
export interface Replan {
  plan?: string[];
  response?: string;
}

export async function makePlan(objective: string): Promise<string[]> {
  return [`find the winner of ${objective}`, "find the hometown of the winner"];
}

/** Executes one step of the plan. */
export async function execute(step: string, done: readonly Done[]): Promise<Done> {
  return { step, result: done.length === 0 ? "Jannik Sinner" : "Sesto" };
}

/** Plans again from what is done: removes the first step, or responds. */
export async function replan(plan: readonly string[], done: readonly Done[]): Promise<Replan> {
  const rest = plan.slice(1);
  return rest.length > 0 ? { plan: rest } : { response: done.map(({ result }) => result).join(", ") };
}
