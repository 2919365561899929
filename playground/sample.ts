import type { Json } from "../runtime/value/json.ts";
import type { ValueType } from "../runtime/table/value-type.ts";

/** The depth at which records and lists of recursive types end. */
const MAX_DEPTH = 4;

/** A value of a type, as short as it can be: what the page proposes for inputs and for results of nodes. */
export function sampleOf(type: ValueType, named: ReadonlyMap<string, ValueType>, depth = 0): Json {
  switch (type.kind) {
    case "string":
      return "text";
    case "int":
    case "float":
      return 1;
    case "bool":
      return true;
    case "null":
      return null;
    case "json":
    case "opaque":
      return {};
    case "literal":
      return type.value;
    case "list":
      return depth >= MAX_DEPTH ? [] : [sampleOf(type.item, named, depth + 1)];
    case "map":
      return depth >= MAX_DEPTH ? {} : { key: sampleOf(type.value, named, depth + 1) };
    case "record":
      return Object.fromEntries(
        type.fields
          .filter(({ optional }) => optional !== true)
          .map((field) => [field.name, sampleOf(field.type, named, depth + 1)]),
      );
    case "union": {
      const isNullable = type.members.some(({ kind }) => kind === "null");
      const [first] = type.members;
      if (first === undefined || (isNullable && depth >= MAX_DEPTH)) return null;
      return sampleOf(first, named, depth);
    }
    case "ref": {
      const target = named.get(type.name);
      return target === undefined || depth > 2 * MAX_DEPTH ? null : sampleOf(target, named, depth + 1);
    }
  }
}
