/**
 * Resolves the names in edges and splits chains. Conditions are typed later: their types depend on control flow, which
 * depends on the edges.
 */
import { waitsForNobody } from "../../diagnostics/catalog/barriers.ts";
import { edgeAtBoundary, notSupported, unknownNode } from "../../diagnostics/catalog/names.ts";
import { suggest } from "../../diagnostics/similar.ts";
import { coverSpans, type Span } from "../../diagnostics/source.ts";
import type * as Ast from "../../grammar/ast.ts";
import { targetNames } from "../../grammar/edge-syntax.ts";
import { END_NAME, FINALLY, ROLLBACK_NAME, START, type BoundReference } from "./bound-graph.ts";
import { targetsOf } from "./edge-parts.ts";
import { isSilenced, placeIn, type GraphContext } from "./graph-context.ts";

export interface ResolvedEdge {
  readonly span: Span;
  readonly syntax: Ast.EdgeDecl;
  readonly source:
    | { readonly kind: "nodes"; readonly nodes: readonly BoundReference[] }
    | {
        readonly kind: "all" | "settled";
        readonly members: readonly (readonly BoundReference[])[];
        readonly span: Span;
      };
  readonly onError: boolean;
  readonly to: ResolvedTargets;
}

export type ResolvedTargets =
  | { readonly kind: "plain"; readonly targets: readonly BoundReference[] }
  | { readonly kind: "otherwise"; readonly targets: readonly BoundReference[] }
  | { readonly kind: "when"; readonly condition: Ast.Expr; readonly targets: readonly BoundReference[] }
  | {
      readonly kind: "match";
      readonly subject: Ast.Expr;
      readonly arms: readonly (ResolvedArm & { readonly patterns: readonly Ast.LiteralType[] })[];
      readonly otherwise?: ResolvedArm;
    }
  | {
      readonly kind: "cases";
      readonly arms: readonly (ResolvedArm & { readonly condition: Ast.Expr })[];
      readonly otherwise?: ResolvedArm;
    };

interface ResolvedArm {
  readonly span: Span;
  readonly targets: readonly BoundReference[];
}

export interface ResolvedEdges {
  readonly edges: readonly ResolvedEdge[];
  /** A name could not be resolved: edges may be missing, and nothing may be concluded from their absence. */
  readonly isPartial: boolean;
}

export function resolveEdges(statements: readonly Ast.EdgeDecl[], context: GraphContext): ResolvedEdges {
  const edges: ResolvedEdge[] = [];
  const resolution: Resolution = { context, isPartial: false, isFirst: false };
  for (const statement of statements) resolveStatement(statement, edges, resolution);
  return { edges, isPartial: resolution.isPartial };
}

interface Resolution {
  readonly context: GraphContext;
  isPartial: boolean;
  /** The targets that are resolved follow `start`. */
  isFirst: boolean;
}

/** The position of a name in an edge. It decides whether `start`, `finally` and `end` are allowed. */
type Use = "source" | "failed source" | "target" | "member" | "link";

function resolveStatement(syntax: Ast.EdgeDecl, edges: ResolvedEdge[], resolution: Resolution): void {
  const onError = syntax.to.kind === "Targets" && syntax.to.onError;
  let source = resolveSource(
    syntax.source,
    onError && syntax.chain.length === 0 ? "failed source" : "source",
    resolution,
  );
  let from: Span = syntax.source.span;
  for (const link of syntax.chain) {
    const reference = resolveNode(link, "link", resolution);
    if (reference === undefined) {
      source = undefined;
    } else {
      const nodes = [reference];
      if (source !== undefined) {
        const to: ResolvedTargets = { kind: "plain", targets: nodes };
        edges.push({ span: coverSpans(from, link.span), syntax, source, onError: false, to });
      }
      source = { kind: "nodes", nodes };
    }
    from = link.span;
  }
  if (syntax.source.kind === "SettledOf") {
    const [link] = syntax.chain;
    refuseGatedTargets(link === undefined ? targetNames(syntax) : [link], resolution);
  }
  resolution.isFirst = source?.kind === "nodes" && source.nodes.some(({ name }) => name === START);
  const to = resolveTargets(syntax, syntax.chain.length === 0 && syntax.source.kind !== "NodeList", resolution);
  if (source === undefined && to !== undefined) {
    // The targets are not reported as unreachable: the edge was meant to lead to them.
    for (const { name } of targetsOf({ to })) resolution.context.poisoned.add(name);
  }
  if (source === undefined || to === undefined) return;
  reportIdleFinally(source, to, resolution);
  edges.push({ span: coverSpans(from, syntax.to.span), syntax, source, onError, to });
}

/** `finally -> end` has no effect. As the target of an arm or of `otherwise`, `end` says that nothing runs. */
function reportIdleFinally(source: ResolvedEdge["source"], to: ResolvedTargets, { context }: Resolution): void {
  if (to.kind !== "plain" || source.kind !== "nodes" || source.nodes.every(({ name }) => name !== FINALLY)) return;
  for (const { name, span } of to.targets) {
    if (name === END_NAME) context.report(edgeAtBoundary(placeIn(context, span), { name: FINALLY, use: "end" }));
  }
}

function resolveSource(syntax: Ast.EdgeSource, use: Use, resolution: Resolution): ResolvedEdge["source"] | undefined {
  if (syntax.kind === "NodeList") {
    if (syntax.nodes.length === 0) reportNobody("any", syntax.span, resolution);
    const nodes = resolveAll(syntax.nodes, use, resolution);
    return nodes.length === 0 ? undefined : { kind: "nodes", nodes };
  }
  const kind = syntax.kind === "AllOf" ? "all" : "settled";
  const members: BoundReference[][] = [];
  let isWhole = syntax.members.length > 0;
  if (!isWhole) reportNobody(kind, syntax.span, resolution);
  for (const member of syntax.members) {
    const names = member.kind === "AnyOf" ? member.nodes : [member];
    const found = resolveAll(names, "member", resolution);
    if (names.length === 0) reportNobody("any", member.span, resolution);
    if (found.length < names.length || names.length === 0) isWhole = false;
    members.push(found);
  }
  // A barrier that lacks one of its members would have another meaning.
  return isWhole ? { kind, members, span: syntax.span } : undefined;
}

function reportNobody(word: "all" | "settled" | "any", span: Span, { context }: Resolution): void {
  context.report(waitsForNobody(placeIn(context, span), { word }));
}

/** Resolves a right side. Omits unknown targets but keeps their arms. */
function resolveTargets(syntax: Ast.EdgeDecl, isBarrier: boolean, resolution: Resolution): ResolvedTargets | undefined {
  const { to } = syntax;
  switch (to.kind) {
    case "Targets": {
      const targets = resolveAll(to.nodes, "target", resolution);
      const isConditional = to.guard !== undefined || to.onError;
      if (isBarrier && isConditional) reportBarrierCondition(to.guard?.span ?? to.span, resolution);
      if (to.guard?.kind === "When") return { kind: "when", condition: to.guard.condition, targets };
      if (to.guard?.kind === "Otherwise") return { kind: "otherwise", targets };
      return targets.length === 0 ? undefined : { kind: "plain", targets };
    }
    case "MatchValue": {
      if (isBarrier) reportBarrierCondition(to.subject.span, resolution);
      const arms = to.arms.map((arm) => ({ ...resolveArm(arm, resolution), patterns: arm.patterns }));
      const otherwise = arms.find(({ patterns }) => patterns.length === 0);
      return {
        kind: "match",
        subject: to.subject,
        arms: arms.filter(({ patterns }) => patterns.length > 0),
        ...(otherwise === undefined ? {} : { otherwise }),
      };
    }
    case "MatchCondition": {
      if (isBarrier) reportBarrierCondition(to.span, resolution);
      const arms = to.arms.map((arm) => ({ ...resolveArm(arm, resolution), condition: arm.condition }));
      const otherwise = arms.find(({ condition }) => condition === undefined);
      return {
        kind: "cases",
        arms: arms.flatMap(({ condition, ...arm }) => (condition === undefined ? [] : [{ ...arm, condition }])),
        ...(otherwise === undefined ? {} : { otherwise }),
      };
    }
  }
}

/** A `settled` into a node with `waits` would have to pass on the signals of some of its members. */
function refuseGatedTargets(targets: readonly Ast.Identifier[], { context }: Resolution): void {
  for (const { name, span } of targets) {
    const target = context.nodes.get(name);
    if (target?.declaration.policies.some(({ kind }) => kind === "Waits") !== true) continue;
    context.report(
      notSupported(placeIn(context, span), {
        what: "`settled` into a node with `waits` is",
        help: `remove \`waits\` from \`${name}\`, or lead \`settled\` to another node that signals \`${name}\``,
      }),
    );
  }
}

function resolveArm(arm: Ast.ValueArm | Ast.ConditionArm, resolution: Resolution): ResolvedArm {
  return { span: arm.span, targets: resolveAll(arm.targets, "target", resolution) };
}

function reportBarrierCondition(span: Span, resolution: Resolution): void {
  const { context } = resolution;
  resolution.isPartial = true;
  context.report(
    notSupported(placeIn(context, span), {
      what: "a condition on a barrier is",
      help: "let the barrier lead to a node and put the condition on its edges, or use `waits` on the target",
    }),
  );
}

function resolveAll(names: readonly Ast.Identifier[], use: Use, resolution: Resolution): BoundReference[] {
  const [only] = names;
  if (only !== undefined && names.length === 1) {
    const reference = resolveNode(only, use, resolution);
    return reference === undefined ? [] : [reference];
  }
  const found: BoundReference[] = [];
  for (const name of names) {
    const reference = resolveNode(name, use, resolution);
    if (reference !== undefined) found.push(reference);
  }
  return found;
}

function resolveNode(identifier: Ast.Identifier, use: Use, resolution: Resolution): BoundReference | undefined {
  const { name, span } = identifier;
  const { context } = resolution;
  const boundary = (
    named: "start" | "end" | "finally" | "rollback",
    as: Parameters<typeof edgeAtBoundary>[1]["use"],
  ): undefined => {
    resolution.isPartial = true;
    // A node with a built-in name has been reported.
    if (!isSilenced(named, context)) context.report(edgeAtBoundary(placeIn(context, span), { name: named, use: as }));
    return undefined;
  };
  if (name === START || name === FINALLY) {
    if (use === "source") return identifier;
    return boundary(name, use === "failed source" ? "error" : use === "member" ? "member" : "target");
  }
  if (name === ROLLBACK_NAME) {
    if (use === "target" && !resolution.isFirst) return identifier;
    return boundary(ROLLBACK_NAME, use === "member" ? "member" : use === "target" ? "first" : "source");
  }
  if (name === END_NAME) {
    if (use === "target") return identifier;
    return boundary(END_NAME, use === "member" ? "member" : "source");
  }
  if (context.nodes.has(name)) return identifier;
  resolution.isPartial = true;
  const builtIn = use === "target" ? [END_NAME, ROLLBACK_NAME] : use === "source" ? [START, FINALLY] : [];
  reportUnknownNode(identifier, context, builtIn);
  return undefined;
}

/** Reports NG101 once for each name. Poisons the name and the name that was probably meant. */
export function reportUnknownNode(
  { name, span }: Ast.Identifier,
  context: GraphContext,
  builtIn: readonly string[] = [],
): void {
  if (isSilenced(name, context) || isBeforeSyntaxError(span, context)) {
    context.poisoned.add(name);
    return;
  }
  const { similar, known } = suggest(name, () => [...builtIn, ...context.nodes.keys()], context.scope.suggestions);
  context.report(
    unknownNode(placeIn(context, span), {
      name,
      similar,
      known: known.slice(builtIn.length),
      isChannel: context.channels.has(name),
    }),
  );
  if (similar !== undefined) context.poisoned.add(similar);
  context.poisoned.add(name);
}

/** Whether a syntax error follows directly: in `a -> mathc x { … }` the name is a misspelt keyword. */
function isBeforeSyntaxError({ end }: Span, context: GraphContext): boolean {
  const { errors } = context.scope.file;
  if (errors.length === 0) return false;
  const gap = /^\s*/.exec(context.file.text.slice(end, end + 200))?.[0].length ?? 0;
  return errors.includes(end + gap);
}
