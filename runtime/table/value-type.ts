/**
 * Types of values in a table: one form for the compiler's checks, the run-time validators, JSON Schema and generated
 * TypeScript.
 */
export type ValueType =
  | { readonly kind: "string" }
  /** A safe integer. */
  | { readonly kind: "int" }
  /** A finite number. */
  | { readonly kind: "float" }
  | { readonly kind: "bool" }
  | { readonly kind: "null" }
  /** Any JSON value. The type is unknown until it is narrowed. */
  | { readonly kind: "json" }
  | { readonly kind: "literal"; readonly value: string | number | boolean }
  | { readonly kind: "list"; readonly item: ValueType }
  | { readonly kind: "map"; readonly value: ValueType }
  /** Fields in declaration order. A value may have further fields, which are kept. */
  | { readonly kind: "record"; readonly fields: readonly FieldType[] }
  /** At least two members, none of them a union; `T | null` has `null` last. */
  | { readonly kind: "union"; readonly members: readonly ValueType[] }
  /** A named type of the file. Names keep recursive types finite. */
  | { readonly kind: "ref"; readonly name: string }
  /** A type of a TypeScript module: any JSON value at run time, checked by `tsc` in the generated module. */
  | { readonly kind: "opaque"; readonly name: string; readonly module: string };

export interface FieldType {
  readonly name: string;
  readonly type: ValueType;
  readonly optional?: true;
}
