/** JSDoc types of JavaScript: `@param {T} name`, `@returns {T}`, `@typedef {T} Name`. */
import { parse } from "@babel/parser";
import type { Statement, TsType } from "./parse-module.ts";

export interface FunctionDoc {
  readonly parameters: ReadonlyMap<string, { readonly type: TsType; readonly optional: boolean }>;
  readonly result: TsType | undefined;
}

interface Comment {
  readonly type: string;
  readonly value: string;
}

/** The types in the JSDoc comment above a function; `undefined` if it contains no types. */
export function readFunctionDoc(comments: readonly Comment[] | null | undefined): FunctionDoc | undefined {
  const text = comments?.findLast(isDoc)?.value;
  if (text === undefined) return undefined;
  const parameters = new Map<string, { type: TsType; optional: boolean }>();
  for (const { tag, type: written, rest } of tagsOf(text)) {
    if (tag !== "param" && tag !== "arg" && tag !== "argument") continue;
    const name = /^\[?\s*([\w$]+)/.exec(rest)?.[1];
    const type = parseDocType(written.replace(/=$/, ""));
    if (name === undefined || type === undefined) continue;
    parameters.set(name, { type, optional: rest.startsWith("[") || written.endsWith("=") });
  }
  const returned = tagsOf(text).find(({ tag }) => tag === "returns" || tag === "return");
  const result = returned === undefined ? undefined : parseDocType(returned.type);
  return parameters.size === 0 && result === undefined ? undefined : { parameters, result };
}

/** The text of the JSDoc comment above a function, up to its first tag; `undefined` if there is none. */
export function readDescription(comments: readonly Comment[] | null | undefined): string | undefined {
  const text = comments?.findLast(isDoc)?.value;
  const lines =
    text
      ?.slice(1)
      .split("\n")
      .map((line) => line.replace(/^\s*\* ?/, "").trim()) ?? [];
  const end = lines.findIndex((line) => line.startsWith("@"));
  const description = lines
    .slice(0, end === -1 ? undefined : end)
    .join(" ")
    .replace(/\s+/g, " ")
    .trim();
  return description === "" ? undefined : description;
}

/** Each `@typedef` of a module as an exported type alias. */
export function readTypedefs(comments: readonly Comment[] | null | undefined): readonly Statement[] {
  return (comments ?? []).filter(isDoc).flatMap(({ value }) =>
    tagsOf(value).flatMap(({ tag, type, rest }) => {
      const name = /^[\w$]+/.exec(rest)?.[0];
      return tag === "typedef" && name !== undefined
        ? parseStatement(`export type ${name} = ${toTypeScript(type)};`)
        : [];
    }),
  );
}

function isDoc({ type, value }: Comment): boolean {
  return type === "CommentBlock" && value.startsWith("*");
}

interface Tag {
  readonly tag: string;
  readonly type: string;
  /** The text after the type. */
  readonly rest: string;
}

/** The tags of a comment that have a type in braces. */
function tagsOf(comment: string): readonly Tag[] {
  const text = comment.replace(/^[ \t]*\*[ \t]?/gm, "");
  return [...text.matchAll(/@(\w+)\s*\{/g)].flatMap((match): readonly Tag[] => {
    const from = match.index + match[0].length;
    let depth = 1;
    let at = from;
    for (; at < text.length && depth > 0; at++) depth += text[at] === "{" ? 1 : text[at] === "}" ? -1 : 0;
    if (depth > 0) return [];
    return [{ tag: match[1] ?? "", type: text.slice(from, at - 1).trim(), rest: text.slice(at).trimStart() }];
  });
}

function parseDocType(text: string): TsType | undefined {
  const [statement] = parseStatement(`type T = ${toTypeScript(text)};`);
  return statement?.type === "TSTypeAliasDeclaration" ? statement.typeAnnotation : undefined;
}

/** Converts the forms of JSDoc that TypeScript does not have: `?T`, `!T`, `*`, `Object.<K, V>`, `Array.<T>`. */
function toTypeScript(text: string): string {
  const plain = text
    .replaceAll(/\bObject\.?<\s*string\s*,/g, "Record<string,")
    .replaceAll(/\b(Array|Promise)\.</g, "$1<")
    .replaceAll(/\bObject\b(?!\s*[.<])/g, "object");
  if (plain === "*") return "unknown";
  if (plain.startsWith("?")) return `(${plain.slice(1)}) | null`;
  return plain.replace(/^!/, "");
}

function parseStatement(text: string): readonly Statement[] {
  try {
    return parse(text, { sourceType: "module", plugins: ["typescript"] }).program.body;
  } catch {
    return [];
  }
}
