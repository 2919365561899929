/** Where a place of a YAML text is: the path of keys that lead to it. Works by indentation, so it reads unfinished texts. */
import { yamlSchema } from "../grammar/yaml/yaml-schema.ts";
import type { Place } from "./complete.ts";

interface Schema {
  readonly $ref?: string;
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: Schema | boolean;
  readonly patternProperties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
  readonly definitions?: Readonly<Record<string, Schema>>;
  readonly $defs?: Readonly<Record<string, Schema>>;
}

let schema: Schema | undefined;

/** The keys that may stand at an offset. */
export function yamlKeysAt(text: string, offset: number): readonly { readonly key: string; readonly about: string }[] {
  const { path, isKey } = pathAt(text, offset);
  if (!isKey) return [];
  schema ??= yamlSchema() as Schema;
  const found = new Map<string, string>();
  const roots = rootsOf(documentAt(text, offset)).flatMap((name) => variants({ $ref: name }));
  for (const node of path.reduce((nodes, key) => nodes.flatMap((each) => below(each, key)), roots)) {
    for (const [key, value] of Object.entries(node.properties ?? {})) found.set(key, value.description ?? "");
  }
  return [...found].map(([key, about]) => ({ key, about }));
}

/** The schemas of a document, by its top-level keys. */
function rootsOf(document: string): readonly string[] {
  const found = ["graph", "plan", "test"].find((key) => new RegExp(`^${key}:`, "m").test(document));
  return found === undefined ? ["header", "graph", "plan", "test"] : [found];
}

/** The YAML document around an offset. */
function documentAt(text: string, offset: number): string {
  const start = text.lastIndexOf("\n---", offset);
  const end = text.indexOf("\n---", offset);
  return text.slice(start === -1 ? 0 : start + 1, end === -1 ? text.length : end);
}

function variants(node: Schema): readonly Schema[] {
  const root = schema ?? {};
  if (node.$ref !== undefined) {
    const name = node.$ref.slice(node.$ref.lastIndexOf("/") + 1);
    const target = root.definitions?.[name] ?? root.$defs?.[name];
    return target === undefined ? [] : variants(target);
  }
  const parts = [...(node.anyOf ?? []), ...(node.oneOf ?? []), ...(node.allOf ?? [])];
  return [node, ...parts.flatMap(variants)];
}

function below(node: Schema, key: string): readonly Schema[] {
  if (key === "-") return node.items === undefined ? [] : variants(node.items);
  const own = node.properties?.[key];
  if (own !== undefined) return variants(own);
  const pattern = Object.values(node.patternProperties ?? {});
  const rest = typeof node.additionalProperties === "object" ? [node.additionalProperties] : [];
  return [...pattern, ...rest].flatMap(variants);
}

/** What may stand at an offset, by the nearest key. */
export function yamlPlaceAt(text: string, offset: number): Place {
  const { path, isKey, line } = pathAt(text, offset);
  if (/#.*ngraph-ignore[\sA-Z\d,]*$/.test(line)) return { kind: "codes" };
  if (isKey) return { kind: "none" };
  const keys = path.filter((key) => key !== "-");
  const key = keys.at(-1) ?? "";
  const isEdge = keys[0] === "edges" || keys[0] === "start";
  if (isEdge && /->\s*(?:\w+\s*,\s*)*\w*$/.test(line)) return { kind: "nodes", withBoundaries: true };
  switch (key) {
    case "into":
      return { kind: "channels" };
    case "call":
      return { kind: "callees" };
    case "from":
    case "to":
    case "any":
    case "all":
    case "settled":
    case "waits":
    case "goes":
      return { kind: "nodes", withBoundaries: true };
    case "after":
      return { kind: "tasks" };
    case "reduce":
      return { kind: "reducers" };
    case "type":
      return { kind: "types" };
    case "when":
    case "args":
    case "match":
    case "expr":
    case "for":
    case "done when":
      return { kind: "expression" };
    default:
  }
  if (isEdge) return { kind: "nodes", withBoundaries: true };
  return ["input", "output", "state", "memory", "config"].includes(keys.at(-2) ?? "")
    ? { kind: "types" }
    : { kind: "none" };
}

interface YamlPath {
  /** Keys from the outside; `-` for an item of a list. */
  readonly path: readonly string[];
  /** A key may begin here. */
  readonly isKey: boolean;
  /** The line up to the offset. */
  readonly line: string;
}

function pathAt(text: string, offset: number): YamlPath {
  const document = text.lastIndexOf("\n---", offset);
  const before = text.slice(document === -1 ? 0 : text.indexOf("\n", document + 1) + 1, offset);
  const lines = before.split("\n");
  const line = lines.at(-1) ?? "";
  const own = /^(\s*)((?:- +)*)(.*)$/.exec(line) ?? [];
  const [, spaces = "", dashes = "", rest = ""] = own;
  let indent = spaces.length + dashes.length;
  const path: string[] = [];
  const keyed = /^("[^"]*"|[\w ]+?):(?:\s|$)/.exec(rest);
  // `{ a: 1, b: …` and `[a, …` on the line.
  const flow = flowPath(rest);
  if (keyed !== null) path.unshift(unquoted(keyed[1] ?? ""), ...flow.keys);
  else path.unshift(...flow.keys);
  if (dashes !== "") path.unshift("-");
  if (dashes !== "") indent = spaces.length + (spaces.length === 0 ? 0 : 0);
  for (let at = lines.length - 2; at >= 0 && (indent > 0 || dashes !== ""); at--) {
    const [, space = "", dash = "", content = ""] = /^(\s*)((?:- +)*)(.*)$/.exec(lines[at] ?? "") ?? [];
    const key = /^("[^"]*"|[\w ]+?):/.exec(content);
    const column = space.length + dash.length;
    const isParent = column < indent || (dashes !== "" && column <= indent && path[0] === "-" && dash === "");
    if (key === null || content.startsWith("#") || !isParent) continue;
    path.unshift(unquoted(key[1] ?? ""));
    indent = column;
    if (dash !== "") {
      path.unshift("-");
      indent = space.length;
    }
    if (indent === 0 && dash === "") break;
  }
  const isKey = keyed === null ? flow.keys.length === 0 && /^[\w ]*$/.test(rest) && !flow.isOpen : flow.isKey;
  return { path, isKey, line };
}

/** Keys of open braces in a flow collection that ends at the cursor. */
function flowPath(rest: string): {
  readonly keys: readonly string[];
  readonly isKey: boolean;
  readonly isOpen: boolean;
} {
  const keys: string[] = [];
  const open: string[] = [];
  let pending: string | undefined;
  const value = rest.replace(/^(?:"[^"]*"|[\w ]+?):\s*/, "");
  for (const [token] of value.matchAll(/[{}[\],]|"(?:[^"\\]|\\.)*"|'[^']*'|[\w ]+?:(?=\s|$)|[^{}[\],"']+/g)) {
    if (token === "{" || token === "[") {
      if (pending !== undefined) keys.push(pending);
      open.push(pending ?? "");
      pending = undefined;
    } else if (token === "}" || token === "]") {
      if ((open.pop() ?? "") !== "") keys.pop();
      pending = undefined;
    } else if (token === ",") pending = undefined;
    else if (token.endsWith(":")) pending = unquoted(token.slice(0, -1).trim());
  }
  const inMap = open.length > 0;
  const isKey = inMap && pending === undefined && /[{,]\s*\w*$/.test(value);
  return { keys: pending === undefined ? keys : [...keys, pending], isKey, isOpen: inMap };
}

function unquoted(key: string): string {
  return key.replace(/^"(.*)"$/, "$1").trim();
}
