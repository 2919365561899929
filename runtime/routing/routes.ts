import type { Evaluate, Scope } from "../expression/compile-expression.ts";
import { ExpressionError } from "../expression/expression-error.ts";
import { ROLLBACK, type RouteSpec, type TargetSpec } from "../table/table.ts";

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
  /** A `when` edge, and an `otherwise` edge after it: the targets of one of them are signalled. */
  readonly isChoice: boolean;
}

/** All kinds have one hidden class: the code that follows them meets every node of every graph. */
interface EdgeCode {
  readonly kind: RouteSpec["kind"];
  /** Of `match` and `cases`, the targets of `else`. */
  readonly targets: readonly Target[];
  readonly condition: Evaluate | undefined;
  /** Of `match`. */
  readonly subject: Evaluate | undefined;
  readonly arms: ReadonlyMap<unknown, readonly Target[]> | undefined;
  readonly cases: readonly { readonly condition: Evaluate; readonly targets: readonly Target[] }[] | undefined;
}

export function compileRoutes(routes: readonly RouteSpec[], expressions: readonly Evaluate[]): RoutesCode {
  const edges = routes.map((route) => compileEdge(route, expressions));
  return {
    edges,
    fixed: edges.every(({ kind }) => kind === "plain") ? edges.flatMap(({ targets }) => targets) : undefined,
    isChoice: edges.length === 2 && edges[0]!.kind === "when" && edges[1]!.kind === "otherwise",
  };
}

function compileEdge(route: RouteSpec, expressions: readonly Evaluate[]): EdgeCode {
  const { kind } = route;
  switch (kind) {
    case "plain":
    case "otherwise":
      return edgeOf(kind, compileTargets(route.targets), {});
    case "when":
      return edgeOf(kind, compileTargets(route.targets), { condition: expressions[route.condition]! });
    case "match": {
      const arms = new Map<unknown, readonly Target[]>();
      for (const arm of route.arms) {
        const targets = compileTargets(arm.targets);
        // The first arm with a value wins.
        for (const value of arm.values) if (!arms.has(value)) arms.set(value, targets);
      }
      return edgeOf(kind, compileTargets(route.otherwise), { subject: expressions[route.subject]!, arms });
    }
    case "cases": {
      const cases = route.arms.map((arm) => ({
        condition: expressions[arm.condition]!,
        targets: compileTargets(arm.targets),
      }));
      return edgeOf(kind, compileTargets(route.otherwise), { cases });
    }
  }
}

function edgeOf(
  kind: RouteSpec["kind"],
  targets: readonly Target[],
  { condition, subject, arms, cases }: Partial<EdgeCode>,
): EdgeCode {
  return { kind, targets, condition, subject, arms, cases };
}

export function compileTargets(targets: readonly TargetSpec[] = []): readonly Target[] {
  return targets.map((target) => ("node" in target ? target.node : barrierTarget(target.barrier)));
}

/**
 * The targets of the edges in a state, in declaration order (2.4). Empty despite edges: no route.
 *
 * @throws ExpressionError if a condition has no value
 */
export function followRoutes({ edges, fixed, isChoice }: RoutesCode, scope: Scope): readonly Target[] {
  if (fixed !== undefined) return fixed;
  if (edges.length === 1) return followEdge(edges[0]!, scope);
  if (isChoice) return (holds(edges[0]!.condition!, scope) ? edges[0]! : edges[1]!).targets;
  const taken: Target[] = [];
  // `otherwise` depends on every `when` of the node, also on later ones.
  let someHolds = false;
  let applied: boolean[] | undefined;
  for (let i = 0; i < edges.length; i++) {
    const edge = edges[i]!;
    if (edge.kind !== "when" || !holds(edge.condition!, scope)) continue;
    (applied ??= [])[i] = true;
    someHolds = true;
  }
  for (let i = 0; i < edges.length; i++) {
    const edge = edges[i]!;
    switch (edge.kind) {
      case "when":
        if (applied?.[i] === true) pushAll(taken, edge.targets);
        break;
      case "otherwise":
        if (!someHolds) pushAll(taken, edge.targets);
        break;
      default:
        pushAll(taken, followEdge(edge, scope));
    }
  }
  return taken;
}

/** The targets of an edge without others; of an `otherwise`, as no condition holds. */
function followEdge(edge: EdgeCode, scope: Scope): readonly Target[] {
  switch (edge.kind) {
    case "plain":
    case "otherwise":
      return edge.targets;
    case "when":
      return holds(edge.condition!, scope) ? edge.targets : NO_TARGETS;
    case "match":
      return edge.arms!.get(edge.subject!(scope)) ?? edge.targets;
    case "cases":
      for (const { condition, targets } of edge.cases!) if (holds(condition, scope)) return targets;
      return edge.targets;
  }
}

const NO_TARGETS: readonly Target[] = Object.freeze([]);

function pushAll(taken: Target[], targets: readonly Target[]): void {
  for (const target of targets) taken.push(target);
}

export function holds(condition: Evaluate, scope: Scope): boolean {
  const value = condition(scope);
  if (typeof value === "boolean") return value;
  throw new ExpressionError("wrong_type", `expected a bool, found ${JSON.stringify(value)}`);
}
