/** The nested parts of a table, as JSON that has the right shape on its own level, each with its place in the one around it. */

/** A part of an expression or a type. */
export interface TablePart {
  readonly value: unknown;
  /** JSON pointer. */
  readonly path: string;
}

/** The expressions that one is made of. */
export function expressionChildren(part: TablePart): readonly TablePart[] {
  const node = part.value as Fields;
  switch (node["op"]) {
    case "member":
    case "not":
    case "negate":
      return pick(part, "of");
    case "index":
      return pick(part, "of", "at");
    case "binary":
      return pick(part, "left", "right");
    case "if":
      return pick(part, "condition", "then", "else");
    case "list":
      return items(part, "items");
    case "record":
      return items(part, "fields", "value");
    case "template":
      return items(part, "parts").filter(({ value }) => typeof value === "object");
    case "comprehension":
      return pick(part, "list", "value", ...(node["condition"] === undefined ? [] : ["condition"]));
    case "library":
    case "call":
      return items(part, "args");
    default:
      return [];
  }
}

/** The types that one is made of. */
export function typeChildren(part: TablePart): readonly TablePart[] {
  switch ((part.value as Fields)["kind"]) {
    case "list":
      return pick(part, "item");
    case "map":
      return pick(part, "value");
    case "record":
      return items(part, "fields", "type");
    case "union":
      return items(part, "members");
    default:
      return [];
  }
}

type Fields = Readonly<Record<string, unknown>>;

function pick({ value, path }: TablePart, ...names: readonly string[]): readonly TablePart[] {
  return names.map((name) => ({ value: (value as Fields)[name], path: `${path}/${name}` }));
}

function items({ value, path }: TablePart, list: string, field?: string): readonly TablePart[] {
  return ((value as Fields)[list] as readonly Fields[]).map((item, at) =>
    field === undefined
      ? { value: item, path: `${path}/${list}/${at}` }
      : { value: item[field], path: `${path}/${list}/${at}/${field}` },
  );
}
