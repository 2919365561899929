/** Edges with their conditions typed. */
import { floatEquality, wrongType } from "../../diagnostics/catalog/types.ts";
import { suggest } from "../../diagnostics/similar.ts";
import type * as Ast from "../../grammar/ast.ts";
import type { BoundEdge } from "./bound-graph.ts";
import { sourcesOf } from "./edge-parts.ts";
import { checkScalar } from "../expressions/equality.ts";
import { bothFacts, factsOf, type Facts, type Scalar } from "../expressions/facts.ts";
import type { ExpressionScope, Typed } from "../expressions/scope.ts";
import { typeCondition, typeExpression } from "../expressions/type-expression.ts";
import { isBroken } from "../types/construct.ts";
import { typeToText } from "../types/type-text.ts";
import { alternatives, resolveType } from "../types/type-table.ts";
import type { Flow } from "../control/flow.ts";
import { placeIn, type ChannelEntry, type GraphContext } from "./graph-context.ts";
import { createNames } from "./resolve-names.ts";
import type { ResolvedEdge } from "./resolve-edges.ts";
import { toTypedExpression } from "./typed-expression.ts";

type Match = Extract<ResolvedEdge["to"], { readonly kind: "match" }>;
type Cases = Extract<ResolvedEdge["to"], { readonly kind: "cases" }>;

/** The number of arms whose conditions narrow later arms. */
const MAX_EARLIER = 32;

export function bindEdge(
  edge: ResolvedEdge,
  flow: Flow,
  context: GraphContext,
  channels: readonly ChannelEntry[],
): BoundEdge {
  if (hasNoConditions(edge)) return edge;
  const { source } = edge;
  const unwritten = [...flow.atEdge(edge).unwritten.keys()].flatMap((index) => channels[index]?.name ?? []);
  return {
    span: edge.span,
    syntax: edge.syntax,
    source,
    onError: edge.onError,
    ...(unwritten.length === 0 ? {} : { unwritten }),
    to: bindTargets(edge, () => conditionScope(edge, flow, context), context),
  };
}

function hasNoConditions(edge: ResolvedEdge): edge is ResolvedEdge & Pick<BoundEdge, "to"> {
  return edge.to.kind === "plain" || edge.to.kind === "otherwise";
}

function bindTargets(edge: ResolvedEdge, makeScope: () => ExpressionScope, context: GraphContext): BoundEdge["to"] {
  const { to } = edge;
  switch (to.kind) {
    case "plain":
    case "otherwise":
      return to;
    case "when": {
      const condition = toTypedExpression(typeCondition(to.condition, makeScope()), context);
      return { kind: "when", condition, targets: to.targets };
    }
    case "match": {
      const scope = makeScope();
      const subject = typeExpression(to.subject, scope);
      const meant = checkSubject(
        subject,
        to.arms.flatMap((arm) => arm.patterns),
        scope,
        context,
      );
      return {
        kind: "match",
        subject: toTypedExpression(subject, context),
        arms: to.arms.map(({ span, patterns, targets }) => ({
          span,
          values: patterns.flatMap((pattern) => meant.get(pattern) ?? (meant.has(pattern) ? [] : pattern.value)),
          targets,
        })),
        ...otherwiseOf(to),
      };
    }
    case "cases":
      return bindCases(to, makeScope(), context);
  }
}

function otherwiseOf({ otherwise }: Match | Cases): Pick<Match, "otherwise"> {
  return otherwise === undefined ? {} : { otherwise: { span: otherwise.span, targets: otherwise.targets } };
}

function bindCases(to: Cases, scope: ExpressionScope, context: GraphContext): BoundEdge["to"] {
  let earlier: Facts = scope.facts;
  const arms = to.arms.map(({ span, condition, targets }, index) => {
    const typed = typeCondition(condition, { ...scope, facts: earlier });
    if (index + 1 < MAX_EARLIER) earlier = bothFacts(earlier, factsOf(condition, false));
    return { span, condition: toTypedExpression(typed, context), targets };
  });
  return { kind: "cases", arms, ...otherwiseOf(to) };
}

/**
 * Checks that the subject of a `match` can equal literals, and that each literal is one of its values. Reports other
 * literals. Returns the values that were probably intended in their place, so that the arms are not also reported as
 * incomplete.
 */
function checkSubject(
  subject: Typed,
  patterns: readonly Ast.LiteralType[],
  scope: ExpressionScope,
  context: GraphContext,
): ReadonlyMap<Ast.LiteralType, Scalar | undefined> {
  const meant = new Map<Ast.LiteralType, Scalar | undefined>();
  if (isBroken(subject.type)) return meant;
  const members = alternatives(subject.type, context.types).map((member) => resolveType(member, context.types));
  if (members.length > 0 && members.every(({ kind }) => kind === "list" || kind === "record" || kind === "map")) {
    context.report(
      wrongType(placeIn(context, subject.syntax.span), {
        message: "`match` compares with literals",
        label: `this is \`${typeToText(subject.type)}\``,
        help: "match one of its parts, or write conditions: `match { len(…) > 0 -> …  else -> … }`",
      }),
    );
    return meant;
  }
  for (const pattern of patterns) {
    const { value, span } = pattern;
    if (!checkScalar(value, span, subject, scope)) meant.set(pattern, undefined);
    else if (typeof value === "number" && !Number.isInteger(value)) {
      context.report(floatEquality(placeIn(context, span), "match"));
    }
  }
  if (meant.size === 0) return meant;
  // Each wrong value is replaced by one that no arm has: the most similar one, else the first.
  const listed = new Set(patterns.map(({ value }) => value));
  const open = members.flatMap((member): string[] =>
    member.kind === "literal" && typeof member.value === "string" && !listed.has(member.value) ? [member.value] : [],
  );
  for (const pattern of meant.keys()) {
    const similar = suggest(String(pattern.value), () => open, context.suggestions).similar ?? open[0];
    if (similar === undefined) continue;
    meant.set(pattern, similar);
    open.splice(open.indexOf(similar), 1);
  }
  return meant;
}

function conditionScope(edge: ResolvedEdge, flow: Flow, context: GraphContext): ExpressionScope {
  const site = flow.atEdge(edge);
  const reader = `the edges of \`${sourcesOf(edge)[0]?.name ?? ""}\``;
  const locals = new Map<string, never>();
  return {
    file: context.file,
    types: context.types,
    names: createNames({ flow: site, reader, locals }, context),
    report: context.report,
    suggestions: context.suggestions,
    where: "condition",
    locals,
    facts: site.facts,
    reads: new Set(),
    depth: 0,
  };
}
