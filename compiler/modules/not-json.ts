import type { ValueType } from "../../runtime/table/value-type.ts";
import { opaque, SCALARS } from "../types/construct.ts";
import { resolveType, type TypeTable } from "../types/type-table.ts";

/** Descriptions of opaque types whose values JSON cannot hold, such as "a `Date`". */
const descriptions = new WeakMap<ValueType, string>();

/** Creates an opaque type whose values JSON cannot hold. */
export function notJson(name: string, module: string, description: string): ValueType {
  const type = opaque(name, module);
  descriptions.set(type, description);
  return type;
}

/**
 * The first part of a type that JSON cannot hold, with its path inside the type: `.author.created`.
 *
 * @param optional whether to look at optional fields, too: a value that is only read may be without them
 */
export function findNotJson(
  type: ValueType,
  types: TypeTable,
  optional = true,
): { readonly path: string; readonly description: string } | undefined {
  if (SCALARS.has(type.kind)) return undefined;
  const seen = new Set<string>();
  const open: { readonly type: ValueType; readonly path: string }[] = [{ type, path: "" }];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { path } = next;
    const description = descriptions.get(next.type);
    if (description !== undefined) return { path, description };
    if (next.type.kind === "ref") {
      if (seen.has(next.type.name)) continue;
      seen.add(next.type.name);
    }
    const plain = resolveType(next.type, types);
    switch (plain.kind) {
      case "list":
        open.push({ type: plain.item, path: `${path}[]` });
        break;
      case "map":
        open.push({ type: plain.value, path: `${path}[*]` });
        break;
      case "record":
        for (const field of [...plain.fields].reverse())
          if (optional || field.optional !== true) open.push({ type: field.type, path: `${path}.${field.name}` });
        break;
      case "union":
        for (const member of plain.members) open.push({ type: member, path });
        break;
      default:
    }
  }
  return undefined;
}
