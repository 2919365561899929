import { onlyDeadRoutes } from "../../diagnostics/catalog/reachability.ts";
import { routeNeverTaken } from "../../diagnostics/catalog/routes.ts";
import type { Label } from "../../diagnostics/diagnostic.ts";
import { ALWAYS, isUnsatisfiable } from "../explore/formula.ts";
import type { Branch } from "../explore/model.ts";
import { choicesOf } from "../control/signals.ts";
import type { StateGraph } from "../explore/state-graph.ts";
import type { CheckContext } from "./check-context.ts";

/**
 * Reports NG202, and NG502 for conditions that are never true for the values that the graph writes. Requires a complete
 * state graph without barriers that never fire, because their consequences would be reported as well.
 */
export function checkDeadRoutes(context: CheckContext, graph: StateGraph): void {
  const { model } = context;
  /** Nodes with the same targets share their branches. */
  const seen = new Set<Branch>();
  const routesTo = new Map<number, Branch[]>();
  for (const { index, routing, errorRouting } of [
    { index: -1, routing: model.start, errorRouting: undefined },
    ...model.nodes,
  ]) {
    if (index >= 0 && graph.nodeRuns[index] === 0) continue;
    // The edges of a node that never fails.
    for (const group of errorRouting?.groups ?? []) {
      if (group.kind !== "always") continue;
      for (const { place, node, origin } of group.signals) {
        if (place !== node || node < 0 || graph.nodeRuns[node] === 1) continue;
        const branch = { formula: ALWAYS, signals: group.signals, label: "on error", span: origin.target };
        routesTo.set(node, [...(routesTo.get(node) ?? []), branch]);
      }
    }
    for (const branch of [...choicesOf(routing), ...choicesOf(errorRouting)]) {
      if (graph.taken.has(branch) || seen.has(branch)) continue;
      seen.add(branch);
      let isOnlyWay = false;
      for (const { place, node } of branch.signals) {
        if (place !== node || node < 0 || graph.nodeRuns[node] === 1) continue;
        isOnlyWay = true;
        const known = routesTo.get(node);
        if (known === undefined) routesTo.set(node, [branch]);
        else known.push(branch);
      }
      if (!isOnlyWay) reportNeverTaken(context, branch);
    }
  }
  for (const [node, branches] of routesTo) {
    const routes = branches.flatMap((branch): Label[] =>
      branch.span === undefined ? [] : [context.label(branch.span, "never taken")],
    );
    context.report(
      onlyDeadRoutes(context.nodePlace(node), { node: context.nodeName(node), routes: routes.slice(0, 3) }),
    );
  }
}

/** Reports NG502. `checkRoutes` reports contradictory conditions, and an `else` may be defensive. */
function reportNeverTaken(context: CheckContext, branch: Branch): void {
  if (branch.span === undefined || context.reportedConditions.has(branch.span)) return;
  if (branch.label === "otherwise" || branch.label === "else" || isUnsatisfiable(branch.formula)) return;
  if (branch.formula.kind === "const") return;
  context.report(
    routeNeverTaken(context.place(branch.span), {
      condition: `\`${branch.label.replace(/^when /, "")}\``,
      why: "is never true when a run evaluates it",
    }),
  );
}
