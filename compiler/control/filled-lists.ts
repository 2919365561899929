/** Lists to which each node certainly adds an item. */
import type * as Ast from "../../grammar/ast.ts";
import type { ValueType } from "../../runtime/table/value-type.ts";
import type { Write } from "../bind/resolve-writes.ts";
import type { Declarations } from "../bind/declarations.ts";
import type { GraphContext } from "../bind/graph-context.ts";

/** See `FlowInput.fills`. */
export function filledLists(
  nodes: Declarations["nodes"],
  writes: readonly (readonly Write[])[],
  context: GraphContext,
): readonly (readonly string[])[] {
  // A node that replaces a list can remove its items.
  // Mutation point: replaced-list
  const replaced = new Set(writes.flat().flatMap(({ channel, isSet }) => (isSet === true ? [channel.name] : [])));
  return writes.map((list, index) => {
    const { call, each } = nodes[index]!.declaration;
    if (each !== undefined || !isSomeItem(call, context)) return [];
    return list.flatMap(({ channel, field }) => {
      const collects = channel.reducer?.kind === "append" || channel.reducer?.kind === "union";
      return collects && field === undefined && !replaced.has(channel.name) ? [channel.name] : [];
    });
  });
}

/**
 * Whether the value of an expression is known to be a list with items, or not a list. Reads the syntax, because the analysis
 * runs before expressions have types.
 */
function isSomeItem(expression: Ast.Expr, context: GraphContext): boolean {
  switch (expression.kind) {
    case "String":
    case "Number":
    case "Bool":
    case "Template":
    case "Record":
    case "Unary":
      return true;
    case "Binary":
      return expression.operator !== "??";
    case "List":
      return expression.items.some((item) => item.kind !== "Spread");
    case "Derived":
      return isSomeItem(expression.value, context);
    case "Conditional":
      return isSomeItem(expression.then, context) && isSomeItem(expression.otherwise, context);
    case "Name":
    case "Member":
      return ITEMS.has(pathType(expression, context)?.kind ?? "null");
    default:
      return false;
  }
}

const ITEMS: ReadonlySet<ValueType["kind"]> = new Set(["string", "int", "float", "bool", "literal", "record"]);

/** The type of a channel, or of a field of its record. */
function pathType(path: Ast.Expr, context: GraphContext): ValueType | undefined {
  if (path.kind === "Name") return context.channels.get(path.name)?.type;
  if (path.kind !== "Member" || path.optional) return undefined;
  const record = pathType(path.object, context);
  if (record?.kind !== "record") return undefined;
  const field = record.fields.find(({ name }) => name === path.property.name);
  return field?.optional === true ? undefined : field?.type;
}
