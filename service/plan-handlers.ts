/** The operations on recorded runs of plans. */
import type { Action, Principal } from "./access.ts";
import type { OperationId } from "./operations.ts";
import type { PlanRuns, PlanRunSummary } from "./plan-runs.ts";
import { Problem } from "./problem.ts";
import type { Call } from "./run-requests.ts";
import { json, type ServiceCore } from "./service-core.ts";

type Handler = (call: Call) => Promise<Response>;

interface Found {
  readonly plans: PlanRuns;
  readonly id: string;
  readonly run: PlanRunSummary;
}

export function planHandlers({ options, gatekeeper }: ServiceCore) {
  const { plans } = options;

  /** A principal reads and cancels the runs of a plan as it does with the threads of a graph of that name. */
  const permits = async (
    principal: Principal,
    { plan, thread }: PlanRunSummary,
    action: Action = "read",
  ): Promise<boolean> => gatekeeper.permits({ principal, action, graph: plan, thread });

  /** Runs that the principal may not read look as if they did not exist. */
  const found = async ({ principal, parameters }: Call): Promise<Found> => {
    const id = parameters.run!;
    const run = await plans?.find(id);
    if (plans !== undefined && run !== undefined && (await permits(principal, run))) return { plans, id, run };
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

    async planCancel(call) {
      const { plans: known, id, run } = await found(call);
      const { principal } = call;
      if (!(await permits(principal, run, "cancel"))) {
        throw new Problem("forbidden", `the principal \`${principal.name}\` has no permission to cancel this run`);
      }
      const refused =
        known.cancel === undefined ? { reason: "this service cancels no runs of plans" } : await known.cancel(id);
      if (refused !== undefined) throw new Problem("not-running", refused.reason);
      return json(run, 202);
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
