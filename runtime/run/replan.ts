import { planStart, planStep, type Routing } from "../routing/plan-step.ts";
import { planObserver } from "../event/run-events.ts";
import type { Run } from "./run.ts";

/** Evaluates the edges of nodes without a route again, on the current state. The other next nodes stay. */
export function replanUnrouted(run: Run): void {
  const { routing } = run.program;
  const nodes = run.unrouted.map(({ node }) => node);
  if (nodes.includes(-1)) {
    const plan = planStart(routing, run.scope, run.listening ? planObserver(run, []) : undefined);
    run.ready = plan.ready;
    run.unrouted = plan.unrouted.map(({ cause }) => ({ node: -1, cause }));
    return;
  }
  routeAs(run, nodes, run.ready);
}

/**
 * Adds the nodes that would follow if these nodes had just ended.
 *
 * @param ready the next nodes to keep
 */
export function routeAs(run: Run, nodes: readonly number[], ready: readonly number[]): void {
  const routings = nodes.map((node): Routing => ({
    node,
    goto: undefined,
    exclusive: false,
    stopped: false,
    errorTargets: undefined,
  }));
  const tasks = nodes.map((node) => ({ node: run.program.nodes[node]! }));
  const observer = run.listening ? planObserver(run, tasks) : undefined;
  const plan = planStep(run.program.routing, routings, run.scope, run.barriers, observer);
  run.ready = [...new Set([...ready, ...plan.ready])].sort((a, b) => a - b);
  run.unrouted = plan.unrouted.map(({ routing: index, cause }) => ({ node: nodes[index]!, cause }));
}
