/** The operations on recorded runs of plans. */
import type { Principal } from "./access.ts";
import type { OperationId } from "./operations.ts";
import type { PlanRuns, PlanRunSummary } from "./plan-runs.ts";
import { Problem } from "./problem.ts";
import type { Call } from "./run-requests.ts";
import { json, type ServiceCore } from "./service-core.ts";

type Handler = (call: Call) => Promise<Response>;

export function planHandlers({ options, gatekeeper }: ServiceCore) {
  const { plans } = options;

  /** A principal reads the runs of a plan as it reads the threads of a graph of that name. */
  const permits = async (principal: Principal, { plan, thread }: PlanRunSummary): Promise<boolean> =>
    gatekeeper.permits({ principal, action: "read", graph: plan, thread });

  /** Runs that the principal may not read look as if they did not exist. */
  const found = async ({ principal, parameters }: Call): Promise<{ readonly plans: PlanRuns; readonly id: string }> => {
    const id = parameters.run!;
    const run = await plans?.find(id);
    if (plans !== undefined && run !== undefined && (await permits(principal, run))) return { plans, id };
    throw unknownRun(id);
  };

  return {
    async planRuns({ principal, values }) {
      const { plan, limit = 100 } = values;
      const filter = plan === undefined ? {} : { plan: plan as string };
      const runs: PlanRunSummary[] = [];
      // The newest runs may be those of plans that the principal may not read.
      for (const run of (await plans?.list(filter)) ?? []) {
        if (runs.length === limit) break;
        if (await permits(principal, run)) runs.push(run);
      }
      return json({ runs });
    },

    async planRun(call) {
      const { plans: known, id } = await found(call);
      const run = await known.run(id);
      if (run === undefined) throw unknownRun(id);
      return json(run);
    },

    async planLog(call) {
      const { plans: known, id } = await found(call);
      const { log, from = 0 } = call.values;
      if (log === undefined) throw new Problem("bad-field", "`log` is the name of a log of the run");
      const part = await known.log(id, log as string, from as number);
      if (part === undefined) {
        throw new Problem("not-found", `the run \`${id}\` has no log \`${(log as string).slice(0, 100)}\``);
      }
      return json(part);
    },
  } satisfies Partial<Readonly<Record<OperationId, Handler>>>;
}

function unknownRun(id: string): Problem {
  return new Problem("not-found", `there is no run of a plan with the id \`${id.slice(0, 100)}\``);
}
