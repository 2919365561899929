/**
 * Shapes of plain JSON as data. One description of a table serves three readers: TypeScript compares it with the table's types
 * (a field that the type has and the shape lacks does not compile), `check-shape.ts` checks values with it, and the compiler
 * makes JSON Schema of it.
 */

/** A list of a table whose items are referred to by index: `expression` for `expressions`. */
export type IndexedList =
  "channel" | "node" | "barrier" | "expression" | "function" | "graph" | "plan" | "task" | "pool";

export type Shape<T> = ShapeNode & {
  /** Never set. Makes `Shape<A>` and `Shape<B>` different types, so that a shape is compared with the type it describes. */
  readonly describes?: (value: T) => T;
};

export type ShapeNode =
  | { readonly kind: "any" }
  /** `string`, `number` or `boolean`, and `null` where `null` is allowed. */
  | { readonly kind: "scalar"; readonly null: boolean }
  | { readonly kind: "text"; readonly pattern?: RegExp }
  /** `whole`: an integer. */
  | { readonly kind: "number"; readonly least: number; readonly whole: boolean }
  | { readonly kind: "oneOf"; readonly values: readonly (string | number | true)[] }
  | { readonly kind: "nullable"; readonly of: ShapeNode }
  /** An index into a list of the same table. `others`: values that are allowed in place of one. */
  | { readonly kind: "index"; readonly of: IndexedList; readonly others: readonly (string | number)[] }
  /** `names`: a field whose values differ from item to item. */
  | {
      readonly kind: "list";
      readonly item: ShapeNode;
      readonly names?: { readonly field: string; readonly noun: string };
    }
  | { readonly kind: "record"; readonly fields: ShapeFields }
  /** Records that are distinguished by the text in one field, which `fields` do not repeat. */
  | { readonly kind: "variants"; readonly tag: string; readonly of: ReadonlyMap<string, ShapeFields> }
  /** One of two records: the first where a value has the field. */
  | { readonly kind: "either"; readonly field: string; readonly first: ShapeNode; readonly second: ShapeNode }
  /** A string, or what `of` describes. */
  | { readonly kind: "textOr"; readonly of: ShapeNode }
  /** A part that may contain parts of the same shape. `most`: the deepest nesting. */
  | { readonly kind: "nested"; readonly noun: string; readonly most: number; readonly of: () => ShapeNode }
  /** A complete table of its own, which is checked by itself. */
  | { readonly kind: "table"; readonly of: "graph" | "plan" };

export type ShapeFields = ReadonlyMap<string, { readonly shape: ShapeNode; readonly optional: boolean }>;

/** A field that may be absent. */
interface OptionalField<T> {
  readonly optional: Shape<T>;
}

/** A shape for each field of a record; `optional(…)` exactly where the field may be absent. */
export type Fields<T> = {
  readonly [K in keyof T]-?: object extends Pick<T, K> ? OptionalField<Exclude<T[K], undefined>> : Shape<T[K]>;
};

/** The fields of those members of a union that have `Value` in their field `Tag`. */
type FieldsOfVariant<T, Tag extends keyof T, Value> = T extends unknown
  ? Value extends T[Tag]
    ? Fields<Omit<T, Tag>>
    : never
  : never;

export const TEXT: Shape<string> = { kind: "text" };
export const SCALAR: Shape<string | number | boolean> = { kind: "scalar", null: false };
export const SCALAR_OR_NULL: Shape<string | number | boolean | null> = { kind: "scalar", null: true };
export const COUNT: Shape<number> = { kind: "number", least: 1, whole: true };
export const ORDINAL: Shape<number> = { kind: "number", least: 0, whole: true };
export const AMOUNT: Shape<number> = { kind: "number", least: 0, whole: false };
export const YES: Shape<true> = { kind: "oneOf", values: [true] };

/** Any JSON value, for fields of type `T`. */
export function any<T>(): Shape<T> {
  return { kind: "any" };
}

export function text<T extends string>(pattern: RegExp): Shape<T> {
  return { kind: "text", pattern };
}

export function oneOf<T extends string | number>(...values: readonly T[]): Shape<T> {
  return { kind: "oneOf", values };
}

export function nullable<T>(of: Shape<T>): Shape<T | null> {
  return { kind: "nullable", of };
}

export function index(of: IndexedList): Shape<number> {
  return { kind: "index", of, others: [] };
}

/** An index, or one of some other values. */
export function indexOr<T extends string | number>(of: IndexedList, ...others: readonly T[]): Shape<number | T> {
  return { kind: "index", of, others };
}

export function list<T>(item: Shape<T>): Shape<readonly T[]> {
  return { kind: "list", item };
}

/** A list in which no two items have the same value in a field. `noun`: what the items are, in the plural. */
export function namedList<T>(item: Shape<T>, noun: string, field: keyof T & string): Shape<readonly T[]> {
  return { kind: "list", item, names: { field, noun } };
}

export function optional<T>(shape: Shape<T>): OptionalField<T> {
  return { optional: shape };
}

/** A record with these fields and no others. */
export function record<T>(fields: Fields<T>): Shape<T> {
  return { kind: "record", fields: toFields(fields) };
}

/** Records of a union, by the value of their `tag`. */
export function variants<T, Tag extends keyof T & string>(
  tag: Tag,
  of: { readonly [V in T[Tag] & string]: FieldsOfVariant<T, Tag, V> },
): Shape<T> {
  const entries = Object.entries<object>(of).map(([value, fields]) => [value, toFields(fields)] as const);
  return { kind: "variants", tag, of: new Map(entries) };
}

export function either<A, B>(field: keyof A & string, first: Shape<A>, second: Shape<B>): Shape<A | B> {
  return { kind: "either", field, first, second };
}

export function textOr<T>(of: Shape<T>): Shape<string | T> {
  return { kind: "textOr", of };
}

export function nested<T>(noun: string, most: number, of: () => Shape<T>): Shape<T> {
  return { kind: "nested", noun, most, of };
}

export function calledTable<T extends { readonly kind: "graph" | "plan" }>(of: T["kind"]): Shape<T> {
  return { kind: "table", of };
}

function toFields(fields: object): ShapeFields {
  const entries = Object.entries(fields as Record<string, ShapeNode | { readonly optional: ShapeNode }>);
  return new Map(
    entries.map(([name, field]) => [
      name,
      "optional" in field ? { shape: field.optional, optional: true } : { shape: field, optional: false },
    ]),
  );
}
