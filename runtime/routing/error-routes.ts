/** The `on error` edges. Apart from the other edges: runs without the engine do not load them. */
import type { Evaluate, Scope } from "../expression/compile-expression.ts";
import type { ErrorRouteSpec } from "../table/table.ts";
import { compileTargets, holds, type Target } from "./routes.ts";

export interface ErrorRouteCode {
  readonly condition: Evaluate | "otherwise" | undefined;
  readonly targets: readonly Target[];
}

export function compileErrorRoutes(
  routes: readonly ErrorRouteSpec[],
  expressions: readonly Evaluate[],
): readonly ErrorRouteCode[] {
  return routes.map(({ condition, targets }) => ({
    condition: typeof condition === "number" ? expressions[condition]! : condition,
    targets: compileTargets(targets),
  }));
}

/** The targets of a failed node's `on error` edges, with `error` in the scope; `undefined` if no edge applies. */
export function followErrorRoutes(routes: readonly ErrorRouteCode[], scope: Scope): readonly Target[] | undefined {
  const taken: Target[] = [];
  let someHolds = false;
  let some = false;
  for (const route of routes) {
    if (route.condition === "otherwise") continue;
    if (route.condition !== undefined) {
      if (!holds(route.condition, scope)) continue;
      someHolds = true;
    }
    some = true;
    for (const each of route.targets) taken.push(each);
  }
  if (!someHolds) {
    for (const route of routes) {
      if (route.condition !== "otherwise") continue;
      some = true;
      for (const each of route.targets) taken.push(each);
    }
  }
  return some ? taken : undefined;
}
