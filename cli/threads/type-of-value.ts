import type { Json } from "../../runtime/value/json.ts";

/** A type that was read from values: the kinds of its scalars, with the items and fields of its lists and objects. */
interface Shape {
  readonly scalars: Set<string>;
  items?: Shape;
  fields?: Map<string, { readonly shape: Shape; count: number }>;
  /** Number of objects. */
  objects: number;
}

/**
 * The type of a value as text of the language. Lists have one type for all items; a field that only some of the objects have is
 * optional.
 *
 * @param objects whether objects are records or maps. An object whose keys are not names is a map
 */
export function typeTextOf(value: Json, objects: "record" | "map"): string {
  const shape = newShape();
  add(shape, value);
  return textOf(shape, objects);
}

function newShape(): Shape {
  return { scalars: new Set(), objects: 0 };
}

function add(shape: Shape, value: Json): void {
  if (value === null) shape.scalars.add("null");
  else if (typeof value === "string") shape.scalars.add("string");
  else if (typeof value === "boolean") shape.scalars.add("bool");
  else if (typeof value === "number") shape.scalars.add(Number.isSafeInteger(value) ? "int" : "float");
  else if (Array.isArray(value)) {
    shape.items ??= newShape();
    for (const item of value as readonly Json[]) add(shape.items, item);
  } else {
    shape.objects++;
    shape.fields ??= new Map();
    for (const [name, field] of Object.entries(value)) {
      let known = shape.fields.get(name);
      if (known === undefined) shape.fields.set(name, (known = { shape: newShape(), count: 0 }));
      known.count++;
      add(known.shape, field);
    }
  }
}

function textOf({ scalars, items, fields, objects }: Shape, kind: "record" | "map"): string {
  const members = [...scalars].filter((name) => name !== "int" || !scalars.has("float"));
  if (items !== undefined) members.push(`${memberText(textOf(items, kind))}[]`);
  if (fields !== undefined) {
    const names = [...fields.keys()];
    if (kind === "record" && names.length > 0 && names.every((name) => NAME.test(name))) {
      const texts = [...fields].map(
        ([name, { shape, count }]) => `${name}${count < objects ? "?" : ""}: ${textOf(shape, kind)}`,
      );
      members.push(`{ ${texts.join(", ")} }`);
    } else {
      const all = newShape();
      for (const { shape } of fields.values()) merge(all, shape);
      members.push(`map<${textOf(all, kind)}>`);
    }
  }
  return members.length === 0 ? "json" : members.join(" | ");
}

/** A union needs parentheses before `[]`. Fields and items of a map are inside of their own. */
function memberText(type: string): string {
  return type.includes(" | ") ? `(${type})` : type;
}

function merge(into: Shape, { scalars, items, fields, objects }: Shape): void {
  for (const name of scalars) into.scalars.add(name);
  if (items !== undefined) merge((into.items ??= newShape()), items);
  into.objects += objects;
  if (fields === undefined) return;
  into.fields ??= new Map();
  for (const [name, { shape, count }] of fields) {
    let known = into.fields.get(name);
    if (known === undefined) into.fields.set(name, (known = { shape: newShape(), count: 0 }));
    known.count += count;
    merge(known.shape, shape);
  }
}

const NAME = /^[A-Za-z_]\w*$/;
