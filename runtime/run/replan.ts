import { planFinally, planStart, planStep, type Routing } from "../routing/plan-step.ts";
import { followErrorRoutes } from "../routing/error-routes.ts";
import { barrierOf, isBarrier } from "../routing/routes.ts";
import { planObserver } from "../event/run-events.ts";
import type { Run, Unrouted } from "./run.ts";

/** Evaluates the edges of nodes without a route again, on the current state. The other next nodes stay. */
export function replanUnrouted(run: Run): void {
  const { routing } = run.program;
  const { unrouted } = run;
  if (unrouted.some(({ node }) => node === -1)) {
    const plan = (run.isFinally ? planFinally : planStart)(
      routing,
      run.scope,
      run.listening ? planObserver(run, []) : undefined,
    );
    run.ready = plan.ready;
    run.unrouted = plan.unrouted.map(({ cause }) => ({ node: -1, cause }));
    return;
  }
  const still: Unrouted[] = [];
  const routings: Routing[] = [];
  for (const { node, hasFailed } of unrouted) {
    if (hasFailed !== true) {
      routings.push(routingOf(node));
      continue;
    }
    const routed = followFailed(run, node);
    if ("cause" in routed) still.push(routed);
    else routings.push(routed);
  }
  follow(run, routings, run.ready);
  run.unrouted = [...run.unrouted, ...still];
}

/** Evaluates the `on error` edges of a failed node again. */
function followFailed(run: Run, node: number): Routing | Unrouted {
  const { state, secrets } = run.scope;
  const error = run.errors?.get(node) ?? run.error;
  let errorTargets: Routing["errorTargets"];
  try {
    errorTargets = followErrorRoutes(run.program.routing.errors[node]!, { state, secrets, error });
  } catch (cause) {
    return { node, cause, hasFailed: true };
  }
  const allowsFailure = run.program.nodes[node]!.spec.each?.allowFailure === true;
  if (errorTargets === undefined) return allowsFailure ? routingOf(node) : { node, cause: undefined, hasFailed: true };
  const errors = new Map(run.errors);
  errors.delete(node);
  const { barriers } = run.program.table;
  for (const target of errorTargets) {
    const reached = isBarrier(target) ? barriers[barrierOf(target)]!.target : target;
    if (reached >= 0 && !errors.has(reached)) errors.set(reached, error);
  }
  run.errors = errors.size === 0 ? undefined : errors;
  return { ...routingOf(node), errorTargets };
}

/**
 * Adds the nodes that would follow if these nodes had just ended.
 *
 * @param ready the next nodes to keep
 */
export function routeAs(run: Run, nodes: readonly number[], ready: readonly number[]): void {
  follow(run, nodes.map(routingOf), ready);
}

function follow(run: Run, routings: readonly Routing[], ready: readonly number[]): void {
  const tasks = routings.map(({ node }) => ({ node: run.program.nodes[node]! }));
  const observer = run.listening ? planObserver(run, tasks) : undefined;
  const beside = [...ready, ...run.sends.map(({ node }) => node)];
  const plan = planStep(run.program.routing, routings, run.scope, run.barriers, observer, beside);
  run.ready = [...new Set([...ready, ...plan.ready])].sort((a, b) => a - b);
  run.unrouted = plan.unrouted.map(({ routing: index, cause }) => ({ node: routings[index]!.node, cause }));
}

function routingOf(node: number): Routing {
  return { node, goto: undefined, exclusive: false, stopped: false, errorTargets: undefined };
}
