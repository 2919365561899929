/** The tools of a model: imported functions and graphs, whose parameters the model receives as a JSON Schema. */
import { missingSignature, notATool, toolWithMemory, unknownTool } from "../../diagnostics/catalog/tools.ts";
import { unknownFunction, wrongSortOfName } from "../../diagnostics/catalog/names.ts";
import type { Place } from "../../diagnostics/diagnostic.ts";
import { suggest } from "../../diagnostics/similar.ts";
import type * as Ast from "../../grammar/ast.ts";
import type { ValueType } from "../../runtime/table/value-type.ts";
import type { BoundGraph, BoundTool } from "./bound-graph.ts";
import type { BoundTaskCall } from "./plan/bound-plan.ts";
import { nodeSignatures } from "../../stdlib/signatures.ts";
import { passesContext } from "../expressions/passes-context.ts";
import { isPoisoned, KIND_NAMES, markMeantAsUsed, namesOf, type GraphUnit } from "./file-scope.ts";
import { placeIn, useFunction, type GraphContext } from "./graph-context.ts";

/**
 * Binds `tools: [search, refund]` and `approve: [refund]`.
 *
 * @param approve those of the tools whose calls a person approves
 */
export function bindTools(
  tools: Ast.Expr | undefined,
  approve: Ast.Expr | undefined,
  context: GraphContext,
): readonly BoundTool[] {
  const approved = new Map(namesIn(approve, "approve", context).map((name) => [name.name, name]));
  const bound = new Map<string, BoundTool>();
  for (const name of namesIn(tools, "tools", context)) {
    const tool = bindTool(name, approved.has(name.name), context);
    if (tool !== undefined) bound.set(name.name, tool);
    approved.delete(name.name);
  }
  for (const [name, { span }] of approved) context.report(unknownTool(placeIn(context, span), { name }));
  return [...bound.values()];
}

/** The names of tools in the lists of a call of a built-in node, as written. Names in other lists are values. */
export function toolNamesIn({ callee, args }: Ast.CallExpr): readonly Ast.NameExpr[] {
  const parameters = nodeSignatures.get(callee.name)?.parameters ?? [];
  return args.flatMap(({ name, value }, index) => {
    const parameter = name === undefined ? parameters[index] : parameters.find((each) => each.name === name.name);
    if (parameter?.isTools !== true || value.kind !== "List") return [];
    return value.items.filter((item) => item.kind === "Name");
  });
}

/** The types of the parameters of a call's tools. */
export function toolTypes(call: BoundTaskCall): readonly ValueType[] {
  const tools = call.kind === "builtin" ? (call.tools ?? []) : [];
  return tools.flatMap((tool) => ("graph" in tool ? [] : tool.parameters.map(({ type }) => type)));
}

/** The names in a list. */
function namesIn(list: Ast.Expr | undefined, parameter: string, context: GraphContext): readonly Ast.NameExpr[] {
  if (list === undefined) return [];
  const items = list.kind === "List" ? list.items : [list];
  return items.flatMap((item) => {
    if (list.kind === "List" && item.kind === "Name") return [item];
    context.report(notATool(placeIn(context, item.span), { parameter }));
    return [];
  });
}

function bindTool({ name, span }: Ast.NameExpr, approval: boolean, context: GraphContext): BoundTool | undefined {
  const { scope } = context;
  const place = placeIn(context, span);
  const declared = scope.names.get(name);
  if (declared === undefined) {
    if (isPoisoned(name, scope)) return undefined;
    const all = (): string[] => [...namesOf("import", scope), ...namesOf("graph", scope)];
    const { similar, known } = suggest(name, all, scope.suggestions);
    markMeantAsUsed(similar, scope);
    context.report(unknownFunction(place, { name, similar, known }));
    return undefined;
  }
  scope.used.add(name);
  if (declared.kind === "broken") return undefined;
  if (declared.kind === "graph") return bindGraph(name, place, declared.unit, approval, context);
  if (declared.kind !== "import") {
    const help = declared.kind === "plan" ? "let a graph call the plan, and name the graph" : undefined;
    const facts = { name, is: KIND_NAMES[declared.kind], expected: "an imported function or a graph" };
    context.report(wrongSortOfName(place, help === undefined ? facts : { ...facts, help }));
    return undefined;
  }
  useFunction(declared.spec, context);
  const signatures = declared.signatures();
  const [signature] = signatures;
  if (signature === undefined) {
    context.report(missingSignature(place, { name, module: declared.spec.module }));
    return undefined;
  }
  const { description } = signature;
  // A last parameter of an unknown type can be the context.
  const parameters = signature.parameters
    .filter(({ type, optional }, index, { length }) => !(index === length - 1 && optional && type.kind === "opaque"))
    .map((parameter) => ({
      name: parameter.name,
      type: parameter.type,
      ...(parameter.optional ? { optional: true as const } : {}),
    }));
  return {
    function: declared.spec,
    parameters,
    // An optional argument that the model leaves out is `undefined`: the context comes after all parameters.
    ...(passesContext(parameters.length, signature, signatures, context.types) ? {} : { withoutContext: true }),
    ...(description === undefined ? {} : { description }),
    approval,
  };
}

function bindGraph(
  name: string,
  place: Place,
  unit: GraphUnit,
  approval: boolean,
  context: GraphContext,
): BoundTool | undefined {
  const graph = context.boundGraph(unit);
  if (graph === undefined) return undefined;
  context.called.add(graph);
  const memory = memoryWithin(graph, new Set());
  if (memory !== undefined) {
    context.report(toolWithMemory(place, { name, ...memory }));
    return undefined;
  }
  return { name, graph, ...(graph.doc === undefined ? {} : { description: graph.doc }), approval };
}

/** A channel that keeps its value from run to run, in a graph or in one that it calls. */
function memoryWithin(
  graph: BoundGraph,
  seen: Set<BoundGraph>,
): { readonly graph: string; readonly channel: string } | undefined {
  if (seen.has(graph)) return undefined;
  seen.add(graph);
  const own = graph.channels.find(({ role }) => role === "memory");
  if (own !== undefined) return { graph: graph.name, channel: own.name };
  for (const called of graph.graphs) {
    const found = memoryWithin(called, seen);
    if (found !== undefined) return found;
  }
  return undefined;
}
