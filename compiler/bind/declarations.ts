/** Collects what a graph declares: channels, nodes, limits, assertions. Reports duplicates and reserved names. */
import { edgeAtBoundary, statedTwice } from "../../diagnostics/catalog/names.ts";
import { illegalPolicyValue, maxParallelBelowOne } from "../../diagnostics/catalog/policies.ts";
import type { Diagnostic } from "../../diagnostics/diagnostic.ts";
import type { SourceFile, Span } from "../../diagnostics/source.ts";
import type * as Ast from "../../grammar/ast.ts";
import { renameFix } from "./rename-fix.ts";
import { END_NAME, FINALLY, START, type BoundAssertion, type BoundGraph, type TypedExpression } from "./bound-graph.ts";
import { DeclaredNames } from "./declared-names.ts";
import type { NodeEntry, GraphContext } from "./graph-context.ts";
import { placeIn } from "./graph-context.ts";
import { reportUnknownNode } from "./resolve-edges.ts";

export interface Declarations {
  readonly channels: readonly Ast.ChannelDecl[];
  readonly derived: readonly Ast.DeriveDecl[];
  readonly nodes: readonly NodeEntry[];
  readonly edges: readonly Ast.EdgeDecl[];
  readonly limits: readonly Ast.LimitDecl[];
  readonly defaults: readonly Ast.DefaultsDecl[];
  readonly assertions: readonly Ast.AssertDecl[];
  readonly drops: readonly Ast.DropDecl[];
  readonly poisoned: Set<string>;
  readonly hasUnknownNames: boolean;
  /** Statements could not be read: edges, nodes or channels may be missing. */
  readonly hasBroken: boolean;
}

const NODE_NAMES: ReadonlyMap<string, string> = new Map([
  [START, "where a run begins"],
  [END_NAME, "where a branch ends"],
  [FINALLY, "where the nodes begin that run at the end"],
  ["rollback", "where completed work is undone"],
  ["error", "the failure that led to a node"],
  ["outcome", "how the run has ended"],
  ["each", "the word of an assertion: `assert a before each b`"],
  ["all", "the word of a barrier: `all(a, b) -> c`"],
  ["settled", "the word of a barrier: `settled(a, b) -> c`"],
  ["any", "the word of a barrier's member: `all(any(a, b), c) -> d`"],
]);
const CHANNEL_NAMES: ReadonlyMap<string, string> = new Map([
  ...[...NODE_NAMES].filter(([name]) => !["all", "settled", "any", "each"].includes(name)),
  ["set", "the word of a write that replaces a value: `into set x`"],
]);

export function collectDeclarations(
  graph: Ast.GraphDecl,
  file: SourceFile,
  secrets: ReadonlyMap<string, Span>,
  report: (diagnostic: Diagnostic) => void,
): Declarations {
  const channels: Ast.ChannelDecl[] = [];
  const derived: Ast.DeriveDecl[] = [];
  const nodes: NodeEntry[] = [];
  const edges: Ast.EdgeDecl[] = [];
  const limits: Ast.LimitDecl[] = [];
  const defaults: Ast.DefaultsDecl[] = [];
  const assertions: Ast.AssertDecl[] = [];
  const drops: Ast.DropDecl[] = [];
  const names = new DeclaredNames(file, secrets, report, (name, what) => renameFix(graph, name, what));
  for (const statement of graph.statements) {
    switch (statement.kind) {
      case "Channel":
        if (names.declare(statement.name, `an ${statement.role}`.replace(/^an ([smc])/, "a $1"), CHANNEL_NAMES))
          channels.push(statement);
        break;
      case "Derive":
        if (names.declare(statement.name, "a derived name", CHANNEL_NAMES)) derived.push(statement);
        break;
      case "Node":
        if (names.declare(statement.name, "a node", NODE_NAMES))
          nodes.push({ declaration: statement, name: statement.name.name, index: nodes.length });
        break;
      case "Edge":
        edges.push(statement);
        break;
      case "Limit":
        limits.push(statement);
        break;
      case "Defaults":
        defaults.push(statement);
        break;
      case "Assert":
        assertions.push(statement);
        break;
      case "Drop":
        drops.push(statement);
        break;
      case "Broken":
        names.addBroken(statement);
        break;
    }
  }
  const { poisoned, hasUnknownNames, hasBroken } = names;
  return { channels, derived, nodes, edges, limits, defaults, assertions, drops, poisoned, hasUnknownNames, hasBroken };
}

/** `limit steps`, `limit tokens`, `limit cost` and `max parallel`. The default is 100 steps (2.8). */
export function bindLimits(limits: readonly Ast.LimitDecl[], context: GraphContext): BoundGraph["limits"] {
  const bound: { steps: number | null; parallel: number | null; tokens?: number; cost?: number } = {
    steps: 100,
    parallel: null,
  };
  const first = new Map<string, Span>();
  for (const { of, value, span } of limits) {
    const what = of === "parallel" ? "`max parallel`" : `\`limit ${of}\``;
    const earlier = first.get(of);
    if (earlier !== undefined) {
      context.report(statedTwice(placeIn(context, span), { what, first: placeIn(context, earlier) }));
      continue;
    }
    first.set(of, span);
    if (value === "none") {
      if (of === "steps" || of === "parallel") bound[of] = null;
    } else if (of === "cost" ? value.value > 0 : value.value >= 1) bound[of] = value.value;
    else if (of === "parallel") context.report(maxParallelBelowOne(placeIn(context, value.span), { of: "graph" }));
    else {
      const facts = {
        message: of === "cost" ? "`limit cost` is more than 0" : `\`limit ${of}\` is at least 1`,
        label: of === "steps" ? "no node could run" : "no node could follow a report",
        help: `write \`limit ${of} none\` for no limit`,
      };
      context.report(illegalPolicyValue(placeIn(context, value.span), facts));
    }
  }
  return bound;
}

export function bindAssertions(
  assertions: readonly Ast.AssertDecl[],
  conditionOf: (condition: Ast.Expr, node: NodeEntry) => TypedExpression,
  context: GraphContext,
): readonly BoundAssertion[] {
  const bound: BoundAssertion[] = [];
  for (const declaration of assertions) {
    const { form, node, other, each, condition } = declaration;
    const isKnown = assertedNode(node, false, context);
    const isOtherKnown = other === undefined || assertedNode(other, form === "before" && each !== true, context);
    if (!isKnown || !isOtherKnown) continue;
    const entry = context.nodes.get(node.name);
    bound.push({
      declaration,
      form,
      node: node.name,
      ...(other === undefined ? {} : { other: other.name }),
      ...(each === undefined ? {} : { each }),
      ...(condition === undefined || entry === undefined ? {} : { condition: conditionOf(condition, entry) }),
    });
  }
  return bound;
}

function assertedNode(identifier: Ast.Identifier, mayBeEnd: boolean, context: GraphContext): boolean {
  const { name, span } = identifier;
  if (context.nodes.has(name) || (name === END_NAME && mayBeEnd)) return true;
  if (name === START || name === FINALLY || name === END_NAME) {
    context.report(edgeAtBoundary(placeIn(context, span), { name, use: "other" }));
    return false;
  }
  reportUnknownNode(identifier, context, mayBeEnd ? [END_NAME] : []);
  return false;
}
