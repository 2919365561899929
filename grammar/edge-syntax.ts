/** The parts of an edge statement, whatever its form. */
import type { EdgeDecl, Expr, Identifier } from "./ast.ts";

/** The names on the left side, members of a barrier included. */
export function sourceNames({ source }: EdgeDecl): readonly Identifier[] {
  return source.kind === "NodeList"
    ? source.nodes
    : source.members.flatMap((member) => (member.kind === "AnyOf" ? member.nodes : [member]));
}

/** The names on the right side, those of a chain excluded. */
export function targetNames({ to }: EdgeDecl): readonly Identifier[] {
  return to.kind === "Targets" ? to.nodes : to.arms.flatMap((arm) => arm.targets);
}

/** The expressions that choose among the targets. */
export function edgeExpressions({ to }: EdgeDecl): readonly Expr[] {
  switch (to.kind) {
    case "Targets":
      return to.guard?.kind === "When" ? [to.guard.condition] : [];
    case "MatchValue":
      return [to.subject];
    case "MatchCondition":
      return to.arms.flatMap((arm) => arm.condition ?? []);
    default:
      return to satisfies never;
  }
}
