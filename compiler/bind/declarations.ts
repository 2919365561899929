/** What a graph declares: channels, nodes, limits, assertions; duplicates and reserved names are reported here. */
import {
  confusableNames,
  duplicateName,
  edgeAtBoundary,
  reservedName,
  statedTwice,
} from "../../diagnostics/catalog/names.ts";
import { illegalPolicyValue, maxParallelBelowOne } from "../../diagnostics/catalog/policies.ts";
import type { Diagnostic } from "../../diagnostics/diagnostic.ts";
import type { SourceFile, Span } from "../../diagnostics/source.ts";
import type * as Ast from "../../grammar/ast.ts";
import { END_NAME, START, type BoundAssertion, type BoundGraph } from "../bound-graph.ts";
import type { NodeEntry, GraphContext } from "./graph-context.ts";
import { placeIn } from "./graph-context.ts";
import { reportUnknownNode } from "./resolve-edges.ts";

export interface Declarations {
  readonly channels: readonly Ast.ChannelDecl[];
  readonly nodes: readonly NodeEntry[];
  readonly edges: readonly Ast.EdgeDecl[];
  readonly limits: readonly Ast.LimitDecl[];
  readonly assertions: readonly Ast.AssertDecl[];
  readonly poisoned: Set<string>;
  readonly hasUnknownNames: boolean;
  /** Statements could not be read: edges, nodes or channels may be missing. */
  readonly hasBroken: boolean;
}

const NODE_NAMES: ReadonlyMap<string, string> = new Map([
  [START, "where a run begins"],
  [END_NAME, "where a branch ends"],
  ["error", "the failure that led to a node"],
  ["all", "the word of a barrier: `all(a, b) -> c`"],
  ["any", "the word of a barrier's member: `all(any(a, b), c) -> d`"],
]);
const CHANNEL_NAMES: ReadonlyMap<string, string> = new Map(
  [...NODE_NAMES].filter(([name]) => name !== "all" && name !== "any"),
);

export function collectDeclarations(
  graph: Ast.GraphDecl,
  file: SourceFile,
  secrets: ReadonlyMap<string, Span>,
  report: (diagnostic: Diagnostic) => void,
): Declarations {
  const channels: Ast.ChannelDecl[] = [];
  const nodes: NodeEntry[] = [];
  const edges: Ast.EdgeDecl[] = [];
  const limits: Ast.LimitDecl[] = [];
  const assertions: Ast.AssertDecl[] = [];
  const poisoned = new Set<string>();
  let hasUnknownNames = false;
  let hasBroken = false;
  const seen = new Map<string, { span: Span; what: string }>(
    [...secrets].map(([name, span]) => [name, { span, what: "a secret" }]),
  );
  const declare = (identifier: Ast.Identifier, what: string, reserved: ReadonlyMap<string, string>): boolean => {
    const { name, span } = identifier;
    const meaning = reserved.get(name);
    if (meaning !== undefined) {
      report(reservedName({ file, span }, { name, meaning }));
      poisoned.add(name);
      return false;
    }
    const first = seen.get(name);
    if (first !== undefined) {
      report(duplicateName({ file, span }, { name, what: first.what, first: { file, span: first.span } }));
      poisoned.add(name);
      return false;
    }
    seen.set(name, { span, what });
    return true;
  };
  for (const statement of graph.statements) {
    switch (statement.kind) {
      case "Channel":
        if (declare(statement.name, `an ${statement.role}`.replace(/^an ([sm])/, "a $1"), CHANNEL_NAMES))
          channels.push(statement);
        else hasBroken = true;
        break;
      case "Node":
        if (declare(statement.name, "a node", NODE_NAMES)) {
          nodes.push({ declaration: statement, name: statement.name.name, index: nodes.length });
        } else hasBroken = true;
        break;
      case "Edge":
        edges.push(statement);
        break;
      case "Limit":
        limits.push(statement);
        break;
      case "Assert":
        assertions.push(statement);
        break;
      case "Broken":
        hasBroken = true;
        for (const name of statement.names) poisoned.add(name);
        if (statement.names.length === 0) hasUnknownNames = true;
        break;
    }
  }
  for (const name of secrets.keys()) seen.delete(name);
  reportConfusable(seen, file, report);
  return { channels, nodes, edges, limits, assertions, poisoned, hasUnknownNames, hasBroken };
}

/** NG110: names that differ only in case, underscores, or characters that look alike (`l1I`, `O0`). */
export function reportConfusable(
  names: ReadonlyMap<string, { span: Span }>,
  file: SourceFile,
  report: (diagnostic: Diagnostic) => void,
): void {
  for (const key of [foldCase, foldGlyphs]) {
    const seen = new Map<string, string>();
    for (const [name, { span }] of names) {
      const folded = key(name);
      const other = seen.get(folded);
      if (other === undefined) {
        seen.set(folded, name);
        continue;
      }
      if (key === foldGlyphs && foldCase(name) === foldCase(other)) continue;
      const first = { file, span: names.get(other)?.span ?? span };
      report(confusableNames({ file, span }, { name, other, first }));
    }
  }
}

/** An underscore between digits tells numbers apart: `row_1_11` is not `row_11_1`. */
function foldCase(name: string): string {
  return name.replace(/(?<!\d)_|_(?!\d)/g, "").toLowerCase();
}

function foldGlyphs(name: string): string {
  return name.replace(/[I1]/g, "l").replace(/[O0]/g, "o");
}

/** `limit steps` and `limit parallel`; 100 steps where nothing is said (2.8). */
export function bindLimits(limits: readonly Ast.LimitDecl[], context: GraphContext): BoundGraph["limits"] {
  const bound: { steps: number | null; parallel: number | null } = { steps: 100, parallel: null };
  const first = new Map<string, Span>();
  for (const { of, value, span } of limits) {
    const what = of === "steps" ? "`limit steps`" : "`max parallel`";
    const earlier = first.get(of);
    if (earlier !== undefined) {
      context.report(statedTwice(placeIn(context, span), { what, first: placeIn(context, earlier) }));
      continue;
    }
    first.set(of, span);
    if (value === "none") bound[of] = null;
    else if (value.value >= 1) bound[of] = value.value;
    else if (of === "parallel") context.report(maxParallelBelowOne(placeIn(context, value.span)));
    else {
      const facts = {
        message: "`limit steps` is at least 1",
        label: "no node could run",
        help: "write `limit steps none` for no limit",
      };
      context.report(illegalPolicyValue(placeIn(context, value.span), facts));
    }
  }
  return bound;
}

export function bindAssertions(
  assertions: readonly Ast.AssertDecl[],
  context: GraphContext,
): readonly BoundAssertion[] {
  const bound: BoundAssertion[] = [];
  for (const declaration of assertions) {
    const { form, node, other } = declaration;
    const isKnown = assertedNode(node, false, context);
    const isOtherKnown = other === undefined || assertedNode(other, form === "before", context);
    if (!isKnown || !isOtherKnown) continue;
    bound.push({ declaration, form, node: node.name, ...(other === undefined ? {} : { other: other.name }) });
  }
  return bound;
}

function assertedNode(identifier: Ast.Identifier, mayBeEnd: boolean, context: GraphContext): boolean {
  const { name, span } = identifier;
  if (context.nodes.has(name) || (name === END_NAME && mayBeEnd)) return true;
  if (name === START || name === END_NAME) {
    context.report(edgeAtBoundary(placeIn(context, span), { name, use: "other" }));
    return false;
  }
  reportUnknownNode(identifier, context, mayBeEnd ? [END_NAME] : []);
  return false;
}
