import type { ExpectedType } from "../../runtime/interface/context.ts";
import type { Json } from "../../runtime/value/json.ts";
import type { ValueType } from "../../runtime/table/value-type.ts";

/** A minimal value of a type, for nodes whose results do not matter. */
export function sampleValue({ type, types }: ExpectedType): Json {
  const named = new Map(types.map((entry) => [entry.name, entry.type]));
  const sample = (of: ValueType, open: readonly string[]): Json => {
    switch (of.kind) {
      case "string":
        return "";
      case "int":
      case "float":
        return 0;
      case "bool":
        return false;
      case "literal":
        return of.value;
      case "list":
        return [];
      case "map":
        return {};
      case "record": {
        const required = of.fields.filter((field) => field.optional !== true);
        return Object.fromEntries(required.map((field) => [field.name, sample(field.type, open)]));
      }
      case "union": {
        // A member that does not refer to an enclosing type has a finite value.
        const first = of.members.find((member) => member.kind !== "ref" || !open.includes(member.name));
        return of.members.some((member) => member.kind === "null") || first === undefined ? null : sample(first, open);
      }
      case "ref": {
        const body = named.get(of.name);
        return body === undefined || open.length > 50 ? null : sample(body, [...open, of.name]);
      }
      default:
        return null;
    }
  };
  return sample(type, []);
}
