/** The tools of a model: imported functions, whose parameters the model receives as a JSON Schema. */
import { missingSignature, notATool, unknownTool } from "../../diagnostics/catalog/tools.ts";
import { unknownFunction, wrongSortOfName } from "../../diagnostics/catalog/names.ts";
import { suggest } from "../../diagnostics/similar.ts";
import type * as Ast from "../../grammar/ast.ts";
import type { ValueType } from "../../runtime/table/value-type.ts";
import type { BoundTool } from "./bound-graph.ts";
import type { BoundTaskCall } from "./plan/bound-plan.ts";
import { isPoisoned, KIND_NAMES, markMeantAsUsed, namesOf } from "./file-scope.ts";
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

/** The types of the parameters of a call's tools. */
export function toolTypes(call: BoundTaskCall): readonly ValueType[] {
  const tools = call.kind === "builtin" ? (call.tools ?? []) : [];
  return tools.flatMap(({ parameters }) => parameters.map(({ type }) => type));
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
    const { similar, known } = suggest(name, () => [...namesOf("import", scope)], scope.suggestions);
    markMeantAsUsed(similar, scope);
    context.report(unknownFunction(place, { name, similar, known }));
    return undefined;
  }
  scope.used.add(name);
  if (declared.kind === "broken") return undefined;
  if (declared.kind !== "import") {
    const help = "a tool is an imported function, which can call the engine of a graph";
    context.report(
      wrongSortOfName(place, { name, is: KIND_NAMES[declared.kind], expected: "an imported function", help }),
    );
    return undefined;
  }
  useFunction(declared.spec, context);
  const [signature] = declared.signatures();
  if (signature === undefined) {
    context.report(missingSignature(place, { name, module: declared.spec.module }));
    return undefined;
  }
  const { parameters, description } = signature;
  return {
    function: declared.spec,
    // A last parameter of an unknown type can be the context.
    parameters: parameters
      .filter(({ type, optional }, index) => !(index === parameters.length - 1 && optional && type.kind === "opaque"))
      .map((parameter) => ({
        name: parameter.name,
        type: parameter.type,
        ...(parameter.optional ? { optional: true as const } : {}),
      })),
    ...(description === undefined ? {} : { description }),
    approval,
  };
}
