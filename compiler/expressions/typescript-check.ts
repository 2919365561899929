import type { Span } from "../../diagnostics/source.ts";
import type { FunctionSpec } from "../../runtime/table/table.ts";
import type { ValueType } from "../../runtime/table/value-type.ts";

/** A check that only `tsc` can make, because it concerns opaque types. Generated modules contain it. */
export type TypeScriptCheck = (
  | {
      /** A call inside an expression: the function accepts these arguments, and does not return a promise. */
      readonly kind: "call";
      readonly function: FunctionSpec;
      readonly args: readonly { readonly type: ValueType; readonly name: string | undefined }[];
    }
  /** A value of an imported type where another type is needed. */
  | { readonly kind: "fits"; readonly type: ValueType; readonly expected: ValueType }
  /** A field of an imported type. */
  | { readonly kind: "field"; readonly type: ValueType; readonly field: string }
) & { readonly span: Span };

/**
 * Whether a type or a part of it is opaque. Does not look into named types: they are checked where they are declared.
 */
export function isOpaque(type: ValueType): boolean {
  switch (type.kind) {
    case "opaque":
      return type.module !== "";
    case "list":
      return isOpaque(type.item);
    case "map":
      return isOpaque(type.value);
    case "record":
      return type.fields.some((field) => isOpaque(field.type));
    case "union":
      return type.members.some(isOpaque);
    default:
      return false;
  }
}
