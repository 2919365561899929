/** Types and start values of channels, from those of TypeScript and zod. */
import { quoted, recordKey } from "../imported.ts";
import { isTree, type Tree } from "../program-tree.ts";
import { elements, isFunction, keyOf, plain, returned, textOf } from "./trees.ts";

/** The start value of a channel, in the form of its type; `undefined` if it is no constant. */
export function initialOf(start: Tree, type: string): string | undefined {
  const value = isFunction(start) ? returned(start) : start;
  return value === undefined ? undefined : literalOf(value, type.startsWith("float"));
}

function literalOf(own: Tree, isFloat = false, depth = 0): string | undefined {
  const tree = plain(own)!;
  if (depth > DEEPEST) return undefined;
  const inner = (item: Tree): string | undefined => literalOf(item, isFloat, depth + 1);
  switch (tree.type) {
    case "StringLiteral":
      return quoted(String(tree["value"]));
    case "NumericLiteral": {
      const value = tree["value"] as number;
      if (Number.isInteger(value)) return Number.isSafeInteger(value) ? `${value}${isFloat ? ".0" : ""}` : undefined;
      return /e/.test(String(value)) ? undefined : String(value);
    }
    case "UnaryExpression": {
      const value = tree["operator"] === "-" ? inner(tree["argument"] as Tree) : undefined;
      return value !== undefined && /^\d/.test(value) ? `-${value}` : undefined;
    }
    case "BooleanLiteral":
      return String(tree["value"]);
    case "NullLiteral":
      return "null";
    case "Identifier":
      return tree["name"] === "undefined" ? "null" : undefined;
    case "ArrayExpression": {
      const items = (tree["elements"] as readonly (Tree | null)[]).map((item) =>
        item === null ? undefined : inner(item),
      );
      return items.includes(undefined) ? undefined : `[${items.join(", ")}]`;
    }
    case "ObjectExpression": {
      const fields = (tree["properties"] as readonly Tree[]).map((each) => {
        const key = each.type === "ObjectProperty" ? keyOf(each) : undefined;
        const value = key === undefined ? undefined : inner(each["value"] as Tree);
        return value === undefined ? undefined : `${recordKey(key!)}: ${value}`;
      });
      if (fields.includes(undefined)) return undefined;
      return fields.length === 0 ? "{}" : `{ ${fields.join(", ")} }`;
    }
    default:
      return undefined;
  }
}

/** Values and types nest at most so deep. */
const DEEPEST = 10;

/** A type of TypeScript, as far as it is plain. */
export function typeOf(type: Tree, depth = 0): string {
  if (depth > DEEPEST) return "json";
  switch (type.type) {
    case "TSStringKeyword":
      return "string";
    case "TSNumberKeyword":
      return "float";
    case "TSBooleanKeyword":
      return "bool";
    case "TSArrayType": {
      const item = typeOf(type["elementType"] as Tree, depth + 1);
      return /\|/.test(item) ? "json[]" : `${item}[]`;
    }
    case "TSLiteralType": {
      const value = literalOf(type["literal"] as Tree);
      return value !== undefined && value.startsWith('"') ? value : "json";
    }
    case "TSUnionType": {
      const members = (type["types"] as readonly Tree[]).map((member) =>
        member.type === "TSNullKeyword" || member.type === "TSUndefinedKeyword" ? "null" : typeOf(member, depth + 1),
      );
      const unique = [...new Set(members)];
      return unique.includes("json")
        ? "json"
        : [...unique.filter((member) => member !== "null"), ...(unique.includes("null") ? ["null"] : [])].join(" | ");
    }
    default:
      return "json";
  }
}

/** The type of `z.string()` and the like. */
export function zodType(call: Tree): string | undefined {
  let current: Tree = call;
  let isList = false;
  for (let depth = 0; depth < 10 && current.type === "CallExpression"; depth++) {
    const callee = current["callee"] as Tree;
    if (callee.type !== "MemberExpression" || !isTree(callee["property"]) || !isTree(callee["object"]))
      return undefined;
    const method = String(callee["property"]["name"]);
    if (callee["object"].type === "Identifier" && callee["object"]["name"] === "z") {
      const [first] = current["arguments"] as readonly Tree[];
      const texts = (method === "enum" && first !== undefined ? elements(first) : method === "literal" ? [first] : [])
        .map((each) => textOf(each))
        .filter((text) => text !== undefined);
      if (texts.length > 0 && !isList) return texts.map(quoted).join(" | ");
      const type = {
        string: "string",
        number: "float",
        boolean: "bool",
        array: "json[]",
        record: "json",
        any: "json",
        object: "json",
      }[method];
      if (type === undefined) return undefined;
      return isList && !type.endsWith("[]") ? `${type}[]` : type;
    }
    if (method === "array") isList = true;
    current = callee["object"];
  }
  return undefined;
}

/** The argument of `.default(…)` in a chain of calls such as `z.number().default(0)`. */
export function zodDefault(call: Tree): Tree | undefined {
  let current: unknown = call;
  for (let depth = 0; depth < 10 && isTree(current) && current.type === "CallExpression"; depth++) {
    const callee: unknown = current["callee"];
    if (!isTree(callee) || callee.type !== "MemberExpression") return undefined;
    if (isTree(callee["property"]) && callee["property"]["name"] === "default")
      return (current["arguments"] as readonly Tree[])[0];
    current = callee["object"];
  }
  return undefined;
}

export function tsType(type: string): string {
  // The texts of an enum stay as they are.
  return type.replace(/"(?:[^"\\]|\\.)*"|\w+/g, (part) => TS_NAMES.get(part) ?? part);
}

const TS_NAMES: ReadonlyMap<string, string> = new Map([
  ["json", "unknown"],
  ["float", "number"],
  ["int", "number"],
  ["bool", "boolean"],
]);
