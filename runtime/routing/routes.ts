import type { Evaluate, Scope } from "../expression/compile-expression.ts";
import { ExpressionError } from "../expression/expression-error.ts";
import { ROLLBACK, type ErrorRouteSpec, type RouteSpec, type TargetSpec } from "../table/table.ts";

/**
 * A target as one number: a node's index, `END`, `ROLLBACK`, or `barrierTarget(i)` for a barrier. The node that signals determines
 * which member of the barrier is filled.
 */
export type Target = number;

export function barrierTarget(barrier: number): Target {
  return ROLLBACK - 1 - barrier;
}
export function isBarrier(target: Target): boolean {
  return target < ROLLBACK;
}
export function barrierOf(target: Target): number {
  return ROLLBACK - 1 - target;
}

/** The edges of a node or of `start`. */
export interface RoutesCode {
  readonly edges: readonly EdgeCode[];
  /** Set if all edges are plain: these targets are always signalled. */
  readonly fixed: readonly Target[] | undefined;
}

type EdgeCode =
  | { readonly kind: "plain" | "otherwise"; readonly targets: readonly Target[] }
  | { readonly kind: "when"; readonly condition: Evaluate; readonly targets: readonly Target[] }
  | {
      readonly kind: "match";
      readonly subject: Evaluate;
      readonly arms: ReadonlyMap<unknown, readonly Target[]>;
      readonly otherwise: readonly Target[] | undefined;
    }
  | {
      readonly kind: "cases";
      readonly arms: readonly { readonly condition: Evaluate; readonly targets: readonly Target[] }[];
      readonly otherwise: readonly Target[] | undefined;
    };

export interface ErrorRouteCode {
  readonly condition: Evaluate | "otherwise" | undefined;
  readonly targets: readonly Target[];
}

export function compileRoutes(routes: readonly RouteSpec[], expressions: readonly Evaluate[]): RoutesCode {
  const edges = routes.map((route) => compileEdge(route, expressions));
  const allPlain = edges.every((edge) => edge.kind === "plain");
  return { edges, fixed: allPlain ? edges.flatMap((edge) => (edge.kind === "plain" ? edge.targets : [])) : undefined };
}

function compileEdge(route: RouteSpec, expressions: readonly Evaluate[]): EdgeCode {
  switch (route.kind) {
    case "plain":
    case "otherwise":
      return { kind: route.kind, targets: compileTargets(route.targets) };
    case "when":
      return { kind: "when", condition: expressions[route.condition]!, targets: compileTargets(route.targets) };
    case "match": {
      const arms = new Map<unknown, readonly Target[]>();
      for (const arm of route.arms) {
        const targets = compileTargets(arm.targets);
        // The first arm with a value wins.
        for (const value of arm.values) if (!arms.has(value)) arms.set(value, targets);
      }
      return { kind: "match", subject: expressions[route.subject]!, arms, otherwise: optionalTargets(route.otherwise) };
    }
    case "cases": {
      const arms = route.arms.map((arm) => ({
        condition: expressions[arm.condition]!,
        targets: compileTargets(arm.targets),
      }));
      return { kind: "cases", arms, otherwise: optionalTargets(route.otherwise) };
    }
  }
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

function compileTargets(targets: readonly TargetSpec[]): readonly Target[] {
  return targets.map((target) => ("node" in target ? target.node : barrierTarget(target.barrier)));
}

function optionalTargets(targets: readonly TargetSpec[] | undefined): readonly Target[] | undefined {
  return targets === undefined ? undefined : compileTargets(targets);
}

/**
 * The targets of the edges in a state, in declaration order (2.4). Empty despite edges: no route.
 *
 * @throws ExpressionError if a condition has no value
 */
export function followRoutes(routes: RoutesCode, scope: Scope): readonly Target[] {
  if (routes.fixed !== undefined) return routes.fixed;
  const { edges } = routes;
  const taken: Target[] = [];
  // `otherwise` depends on every `when` of the node, also on later ones.
  let someHolds = false;
  let applied: boolean[] | undefined;
  for (let i = 0; i < edges.length; i++) {
    const edge = edges[i]!;
    if (edge.kind !== "when" || !holds(edge.condition, scope)) continue;
    (applied ??= [])[i] = true;
    someHolds = true;
  }
  for (let i = 0; i < edges.length; i++) {
    const edge = edges[i]!;
    switch (edge.kind) {
      case "plain":
        pushAll(taken, edge.targets);
        break;
      case "when":
        if (applied?.[i] === true) pushAll(taken, edge.targets);
        break;
      case "otherwise":
        if (!someHolds) pushAll(taken, edge.targets);
        break;
      case "match":
        pushAll(taken, edge.arms.get(edge.subject(scope)) ?? edge.otherwise);
        break;
      case "cases":
        pushAll(taken, edge.arms.find((arm) => holds(arm.condition, scope))?.targets ?? edge.otherwise);
        break;
    }
  }
  return taken;
}

function pushAll(taken: Target[], targets: readonly Target[] | undefined): void {
  if (targets !== undefined) for (const target of targets) taken.push(target);
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

function holds(condition: Evaluate, scope: Scope): boolean {
  const value = condition(scope);
  if (typeof value === "boolean") return value;
  throw new ExpressionError("wrong_type", `expected a bool, found ${JSON.stringify(value)}`);
}
