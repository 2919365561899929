import type { ValueType } from "../../runtime/table/value-type.ts";

const MAX_TEXT = 160;

/** The text of a type in the language, for messages. Long unions and records are shortened. */
export function typeToText(type: ValueType): string {
  return write(type, false, MAX_TEXT);
}

function write(type: ValueType, inList: boolean, room: number): string {
  switch (type.kind) {
    case "literal":
      return JSON.stringify(type.value);
    case "list":
      return `${write(type.item, true, room - 2)}[]`;
    case "map":
      return `map<${write(type.value, false, room - 5)}>`;
    case "record":
      if (type.fields.length === 0) return "{}";
      return `{ ${writeList(
        type.fields,
        ", ",
        (field) =>
          `${fieldName(field.name)}${field.optional === true ? "?" : ""}: ${write(field.type, false, room / 2)}`,
        room,
      )} }`;
    case "union": {
      if (type.members.length === 0) return "never";
      const text = writeList(type.members, " | ", (member) => write(member, false, room / 2), room);
      return inList ? `(${text})` : text;
    }
    case "ref":
    case "opaque":
      return type.name;
    default:
      return type.kind;
  }
}

function writeList<T>(items: readonly T[], separator: string, writeItem: (item: T) => string, room: number): string {
  const parts: string[] = [];
  let length = 0;
  for (const item of items) {
    if (length > room) {
      parts.push("…");
      break;
    }
    const part = writeItem(item);
    length += part.length + separator.length;
    parts.push(part);
  }
  return parts.join(separator);
}

/** A field's name as it must be written in a type. */
function fieldName(name: string): string {
  return /^[A-Za-z_]\w*$/.test(name) ? name : JSON.stringify(name);
}
