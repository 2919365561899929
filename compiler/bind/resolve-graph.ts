/** The first stage of binding one graph: names, the channels that nodes write, policies and edges. It types no expression. */
import type * as Ast from "../../grammar/ast.ts";
import type { Write } from "./resolve-writes.ts";
import { bindAllPolicies } from "./bind-defaults.ts";
import type { BoundPolicies } from "./bind-policies.ts";
import { collectDeclarations, type Declarations } from "./declarations.ts";
import {
  createExpansion,
  expandAssertion,
  expandChannel,
  expandEdge,
  expandNode,
  type Expand,
  type Expansion,
} from "./expand-names.ts";
import type { GraphUnit } from "./file-scope.ts";
import type { ChannelEntry, GraphContext } from "./graph-context.ts";
import { openContext, watchErrors, type BindOptions } from "./open-context.ts";
import { resolveEdges, type ResolvedEdge } from "./resolve-edges.ts";

/** A graph whose names are resolved. The control flow is built from it, and its expressions are typed afterwards. */
export interface ResolvedGraph {
  readonly unit: GraphUnit;
  readonly options: ReturnType<typeof watchErrors>;
  readonly context: GraphContext;
  /** Derived names and constants are replaced by their expressions. */
  readonly declarations: Declarations;
  readonly expansion: Expansion;
  readonly channels: readonly ChannelEntry[];
  /** By node: the channels that it writes. */
  readonly writes: readonly (readonly Write[])[];
  /** By node. */
  readonly policies: readonly BoundPolicies[];
  readonly edges: readonly ResolvedEdge[];
  /** Statements are missing because of errors: nothing may be concluded from their absence. */
  readonly isPartial: boolean;
}

export function resolveGraph(unit: GraphUnit, bindOptions: BindOptions): ResolvedGraph {
  const { declaration, scope } = unit;
  const options = watchErrors(
    declaresNames(declaration) ? { ...bindOptions, report: onceEach(bindOptions.report) } : bindOptions,
  );
  const collected = collectDeclarations(declaration, scope.file.source, scope.secrets, options.report);
  const { declarations, expansion } = expandDeclarations(collected, scope, options);
  const { context, channels, writes } = openContext(unit, { ...declarations, noun: "node" }, options);
  const policies = bindAllPolicies(declarations, context);
  const { edges, isPartial } = resolveEdges(declarations.edges, context);
  return {
    unit,
    options,
    context,
    declarations,
    expansion,
    channels,
    writes,
    policies,
    edges,
    isPartial: isPartial || declarations.hasBroken || options.foundErrors(),
  };
}

function declaresNames({ statements }: Ast.GraphDecl): boolean {
  return statements.some(({ kind }) => kind === "Derive");
}

/** Reports each finding once: a derived name is bound at each place that reads it. */
function onceEach(report: BindOptions["report"]): BindOptions["report"] {
  const seen = new Set<string>();
  return (diagnostic) => {
    const { code, span, message } = diagnostic;
    const key = `${code} ${span.start} ${span.end} ${message}`;
    if (!seen.has(key)) report(diagnostic);
    seen.add(key);
  };
}

/** The declarations with derived names and constants replaced by what they stand for. */
function expandDeclarations(
  declarations: Declarations,
  scope: GraphUnit["scope"],
  { report }: BindOptions,
): { readonly declarations: Declarations; readonly expansion: Expansion } {
  const { derived, poisoned } = declarations;
  const own = new Set(declarations.channels.map(({ name }) => name.name));
  const expansion = createExpansion({ scope, derived, isOwnName: (name) => own.has(name), report, poisoned });
  const { expand } = expansion;
  const expanded = {
    ...declarations,
    channels: declarations.channels.map((channel) => expandChannel(channel, constantsOnly(expand, derived))),
    nodes: declarations.nodes.map((node) => {
      const declaration = expandNode(node.declaration, expand);
      return declaration === node.declaration ? node : { ...node, declaration };
    }),
    edges: declarations.edges.map((edge) => expandEdge(edge, expand)),
    assertions: declarations.assertions.map((assertion) => expandAssertion(assertion, expand)),
  };
  return { declarations: expanded, expansion };
}

/** For defaults: they are constant, so a derived name stays as it is and is reported. */
function constantsOnly(expand: Expand, derived: readonly Ast.DeriveDecl[]): Expand {
  const names = derived.map(({ name }) => name.name);
  return (expression) => expand(expression, names);
}
