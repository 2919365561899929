import type { ValueType } from "../../runtime/table/value-type.ts";
import { typeKey } from "./construct.ts";
import type { TypeTable } from "./type-table.ts";

/** The named types that some types lead to, in any depth: once each, sorted by name. */
export function referencedTypes(roots: Iterable<ValueType>, types: TypeTable): ReferencedTypes {
  const direct = [...roots];
  // Graphs of one file mostly use the same types, so the result is cached by the types.
  const key = direct
    .map((type) => (type.kind === "ref" ? type.name : typeKey(type)))
    .sort()
    .join(" ");
  const memo = known.get(types) ?? new Map<string, ReferencedTypes>();
  known.set(types, memo);
  const result = memo.get(key) ?? collect(direct, types);
  memo.set(key, result);
  return result;
}

type ReferencedTypes = readonly { readonly name: string; readonly type: ValueType }[];
const known = new WeakMap<TypeTable, Map<string, ReferencedTypes>>();

function collect(roots: readonly ValueType[], types: TypeTable): ReferencedTypes {
  const found = new Map<string, ValueType>();
  const open: ValueType[] = [...roots];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    switch (next.kind) {
      case "list":
        open.push(next.item);
        break;
      case "map":
        open.push(next.value);
        break;
      case "record":
        for (const field of next.fields) open.push(field.type);
        break;
      case "union":
        for (const each of next.members) open.push(each);
        break;
      case "ref": {
        const type = found.has(next.name) ? undefined : types.get(next.name);
        if (type !== undefined) {
          found.set(next.name, type);
          open.push(type);
        }
        break;
      }
      default:
        break;
    }
  }
  return [...found].map(([name, type]) => ({ name, type })).sort((a, b) => (a.name < b.name ? -1 : 1));
}
