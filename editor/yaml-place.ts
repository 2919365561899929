/** Where a place of a YAML text is: the path of keys that lead to it. Works by indentation, so it reads unfinished texts. */
import { yamlSchema } from "../grammar/yaml/yaml-schema.ts";
import { placeAt, type Place } from "./text-place.ts";

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
  const imported = importPlace(text, offset, line);
  if (imported !== undefined) return imported;
  const keys = path.filter((key) => key !== "-");
  const key = keys.at(-1) ?? "";
  const call = keys[0] === "nodes" ? callBefore(text, offset) : undefined;
  const args = call === undefined ? undefined : argumentsIn(call);
  const isName = args !== undefined && /[(,]\s*\{\s*\w*$/.test(args);
  if (isName && call !== undefined) return { kind: "parameters", ...call };
  if (isKey && args === undefined) {
    if (key === "with" && call !== undefined) return { kind: "parameters", ...call };
    if (key === "given" && keys.length === 1) return { kind: "inputs" };
    if (key === "expect" && keys.length === 1) return { kind: "expression" };
    return { kind: key === "mock" && keys.length === 1 ? "nodes" : "none" };
  }
  if (key === "servers") return { kind: "servers" };
  const written = args ?? writtenAt(line);
  const inner = placeAt(written, written.length);
  if (INNER.has(inner.kind)) return inner;
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
    case "is": {
      const subject = /(?:^|[\s{,])match:\s*(["']?)([\w.?]+)\1/.exec(itemAround(text, offset, line))?.[2];
      if (subject === undefined) break;
      return { kind: "values", subject, isQuoted: true };
    }
    case "for":
      if (keys.length === 1) return { kind: "graphs" };
      return { kind: "expression" };
    case "expect":
      return inner.kind === "nodes" ? inner : { kind: "expression" };
    case "type":
      return { kind: "types" };
    case "when":
    case "args":
    case "match":
    case "expr":
    case "done when":
      return { kind: "expression" };
    default:
  }
  if (isEdge) return { kind: "nodes", withBoundaries: true };
  return ["input", "output", "state", "memory", "config"].includes(keys.at(-2) ?? "")
    ? { kind: "types" }
    : { kind: "none" };
}

/** Places inside of an expression, which are those of the other spelling. */
const INNER: ReadonlySet<Place["kind"]> = new Set(["members", "values", "call", "patterns"]);

/** The last call before an offset, and the text from its name on. */
function callBefore(text: string, offset: number): { readonly callee: string; readonly written: string } | undefined {
  const before = text.slice(Math.max(0, offset - 2000), offset);
  const found = /[^]*\bcall:\s*(\w+)([^]*)$/.exec(before);
  return found === null ? undefined : { callee: found[1] ?? "", written: found[2] ?? "" };
}

/** The call whose `args` are open, as the other spelling writes it up to the place. */
function argumentsIn({ callee, written }: { readonly callee: string; readonly written: string }): string | undefined {
  const list = /^[\s,]*args:\s*(\[[^]*|\n\s*- [^]*)$/.exec(written)?.[1];
  if (list === undefined || /^\s*(?:with|into|for|tries|timeout|\w+):/m.test(list.replaceAll(/^\s*- .*$/gm, "")))
    return undefined;
  const items = list
    .replace(/^\[|^\n\s*- /, "")
    .replaceAll(/\n\s*- /g, ", ")
    .replaceAll(/(^|,)\s*\{\s*(\w+):\s*'/g, "$1 $2: ")
    .replaceAll(/'\s*\}/g, "")
    .replaceAll("'", "");
  return /\]\s*$/.test(items) ? undefined : `${callee}(${items}`;
}

/** A path or an exported name below `imports`. */
function importPlace(text: string, offset: number, line: string): Place | undefined {
  const keys = text.slice(0, offset).match(/^\w[\w ]*:/gm);
  if (keys?.at(-1) !== "imports:") return undefined;
  const list = /([^\s"'{,]+)["']?:\s*\[[^\]]*$/.exec(line);
  if (list !== null) return { kind: "exports", specifier: list[1] ?? "" };
  const path = /(?:^\s+|[{,]\s*)["']?([^\s"'{}[\]:,]*)$/.exec(line);
  return path === null ? undefined : { kind: "paths", typed: path[1] ?? "" };
}

/** The scalar that ends at the cursor, without the quotes of YAML. */
function writtenAt(line: string): string {
  const quoted = /(?:^|[\s[{,])'((?:[^']|'')*)$/.exec(line)?.[1] ?? /(?:^|[\s[{,])"((?:[^"\\]|\\.)*)$/.exec(line)?.[1];
  return quoted ?? /(?:^|: |- |[[{,] ?)((?:(?!: |- ).)*)$/.exec(line)?.[1] ?? "";
}

/** The list item around an offset up to it: from the nearest line above that begins one with another indentation than its own arms. */
function itemAround(text: string, offset: number, line: string): string {
  const indent = /^ */.exec(line)?.[0].length ?? 0;
  const before = text.slice(0, offset);
  const lines = before.split("\n");
  for (let at = lines.length - 1; at >= 0; at--) {
    const above = lines[at] ?? "";
    const isItem = /^ *- /.test(above);
    const column = /^ */.exec(above)?.[0].length ?? 0;
    if (isItem && (column < indent || /match:/.test(above))) return lines.slice(at).join("\n");
  }
  return "";
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
  if (dashes !== "") indent = spaces.length;
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
  // A second word of a key has no offers: the editor would insert the whole key behind the first.
  const isKey = keyed === null && !flow.isOpen ? /^\w*$/.test(rest) : flow.isKey;
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
