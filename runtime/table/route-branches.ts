/** The branches of a route of any kind, for code that treats all kinds alike. The scheduler has code for each kind. */
import type { ExpressionIndex, RouteSpec, TargetSpec } from "./table.ts";

/** Nodes and barriers that a route signals together. */
export interface RouteBranch {
  readonly targets: readonly TargetSpec[];
  /** When the route takes the branch: always, if a condition holds, if a subject has one of some values, or else. */
  readonly kind: "always" | "condition" | "values" | "otherwise";
  /** The condition, or the subject of the values. */
  readonly expression?: ExpressionIndex;
  readonly values?: readonly (string | number | boolean | null)[];
  /** The place of the targets in the route. */
  readonly path: readonly (string | number)[];
}

/** The branches of a route in the order in which they are tried. */
export function routeBranches(route: RouteSpec): readonly RouteBranch[] {
  switch (route.kind) {
    case "plain":
      return [{ kind: "always", targets: route.targets, path: ["targets"] }];
    case "when":
      return [{ kind: "condition", expression: route.condition, targets: route.targets, path: ["targets"] }];
    case "otherwise":
      return [{ kind: "otherwise", targets: route.targets, path: ["targets"] }];
    case "match":
      return [
        ...route.arms.map(({ values, targets }, arm): RouteBranch => {
          return { kind: "values", expression: route.subject, values, targets, path: ["arms", arm, "targets"] };
        }),
        ...elseBranch(route.otherwise),
      ];
    case "cases":
      return [
        ...route.arms.map(({ condition, targets }, arm): RouteBranch => {
          return { kind: "condition", expression: condition, targets, path: ["arms", arm, "targets"] };
        }),
        ...elseBranch(route.otherwise),
      ];
  }
}

function elseBranch(targets: readonly TargetSpec[] | undefined): readonly RouteBranch[] {
  return targets === undefined ? [] : [{ kind: "otherwise", targets, path: ["otherwise"] }];
}
