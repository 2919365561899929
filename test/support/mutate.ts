/**
 * Mutation of source text, for tests that show that a test suite finds mistakes. A comment in the source marks the
 * place:
 *     // Mutation point: pending-write
 *     return journal.write(() => store.putWrites!(claim, headId, [write]));
 *
 * It marks the statement, property or class member that follows, whatever its layout. A mutation replaces the marked
 * code, or a part of it. A mutation whose marker is missing, or which names something that its file does not know any
 * more, is an error: a crash of the mutated code must not count as a found mistake.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parse, type ParserOptions } from "@babel/parser";

export interface Mutation {
  /** Path of the source file, relative to a folder that the test chooses. */
  readonly file: string;
  /** Name of the marker. */
  readonly point: string;
  /**
   * Path of fields in the syntax tree, from the marked node to the part to replace: `test` is the condition of an `if`.
   */
  readonly part?: string;
  /** Returns the new code for the marked code. */
  readonly change: (code: string) => string;
}

/**
 * @param change the new code, or a function that makes it from the old code
 * @param part as in `Mutation`
 */
export function mutation(file: string, point: string, change: string | Mutation["change"], part?: string): Mutation {
  return {
    file,
    point,
    change: typeof change === "string" ? () => change : change,
    ...(part === undefined ? {} : { part }),
  };
}

/** A change that replaces `from`, which occurs once in the marked code. */
export function swap(from: string, to: string): Mutation["change"] {
  return (code) => {
    if (code.split(from).length !== 2) throw new Error(`${JSON.stringify(from)} does not occur once in: ${code}`);
    return code.replace(from, () => to);
  };
}

/** A change that adds code in front of the marked code. */
export function before(added: string): Mutation["change"] {
  return (code) => `${added} ${code}`;
}

/** A change that adds code behind the marked code. */
export function after(added: string): Mutation["change"] {
  return (code) => `${code} ${added}`;
}

/** All words of the sources in a folder: the `fields` that `mutate` accepts for them. */
export function wordsUnder(folder: string): ReadonlySet<string> {
  const words = new Set<string>();
  for (const file of readdirSync(folder, { recursive: true, encoding: "utf8" })) {
    if (!file.endsWith(".ts")) continue;
    for (const word of readFileSync(join(folder, file), "utf8").match(/[\w$]+/g) ?? []) words.add(word);
  }
  return words;
}

/** The names of all mutation points in a source text. */
export function mutationPoints(text: string): readonly string[] {
  return [...text.matchAll(/\/\/ Mutation point: ([\w-]+)$/gm)].map((match) => match[1] ?? "");
}

/**
 * @param fields names of fields that other files declare
 * @throws Error if the text has no such point, or several, or if the new code uses a name that the file does not know
 */
export function mutate(
  text: string,
  { file, point, part, change }: Mutation,
  fields: ReadonlySet<string> = new Set(),
): string {
  if (mutationPoints(text).filter((name) => name === point).length !== 1) {
    throw new Error(`${file} must have the mutation point ${point} exactly once`);
  }
  const marked = findMarked(parse(text, OPTIONS).program, `Mutation point: ${point}`);
  let node = marked;
  for (const field of part?.split(".") ?? []) node = node?.[field] as SyntaxNode | undefined;
  if (node === undefined) throw new Error(`${file}: nothing to change at mutation point ${point}`);
  const code = change(text.slice(node.start, node.end));
  const mutated = `${text.slice(0, node.start)}${code}${text.slice(node.end)}`;
  const unknown = unknownNames(text, mutated, [node.start, node.start + code.length], fields);
  if (unknown.length > 0) throw new Error(`${file}, ${point}: the file does not know ${unknown.join(", ")}`);
  return mutated;
}

const OPTIONS: ParserOptions = { sourceType: "module", plugins: ["typescript"], attachComment: true };

interface SyntaxNode {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly [field: string]: unknown;
}

/** The outermost node that begins directly after the comment. */
function findMarked(root: unknown, comment: string): SyntaxNode | undefined {
  for (const node of nodesUnder(root)) {
    const comments = (node["leadingComments"] ?? []) as readonly { readonly value: string }[];
    if (comments.some(({ value }) => value.trim() === comment)) return node;
  }
  return undefined;
}

/** In preorder. */
function* nodesUnder(value: unknown): Generator<SyntaxNode> {
  if (typeof value !== "object" || value === null) return;
  if (Array.isArray(value)) {
    for (const item of value) yield* nodesUnder(item);
    return;
  }
  const node = value as SyntaxNode;
  if (typeof node.type !== "string") return;
  yield node;
  for (const [field, child] of Object.entries(node)) if (!field.endsWith("Comments")) yield* nodesUnder(child);
}

/**
 * Names in the new code that neither occur in the old file, nor are declared in the new code, nor belong to the
 * language.
 */
function unknownNames(
  old: string,
  mutated: string,
  range: readonly [number, number],
  fields: ReadonlySet<string>,
): readonly string[] {
  const known = new Set<string>();
  for (const node of nodesUnder(parse(old, OPTIONS).program)) if (isName(node)) known.add(nameOf(node));
  const used = new Set<string>();
  for (const node of nodesUnder(parse(mutated, OPTIONS).program)) {
    if (node.start < range[0] || node.end > range[1]) continue;
    if (isName(node)) used.add(nameOf(node));
    const declared = [node["key"], node["id"], ...((node["params"] ?? []) as readonly unknown[])];
    for (const own of declared as (SyntaxNode | null | undefined)[]) if (own && isName(own)) known.add(nameOf(own));
    const property = node["property"] as SyntaxNode | undefined;
    if (property !== undefined && node["computed"] !== true && fields.has(nameOf(property)))
      known.add(nameOf(property));
  }
  return [...used].filter((name) => !known.has(name) && !LANGUAGE.has(name));
}

function isName({ type }: SyntaxNode): boolean {
  return type === "Identifier";
}

function nameOf({ name }: SyntaxNode): string {
  return name as string;
}

const LANGUAGE: ReadonlySet<string> = new Set(
  [
    globalThis,
    Array.prototype,
    Map.prototype,
    Math,
    Object,
    process,
    Promise.prototype,
    Set.prototype,
    String.prototype,
  ].flatMap((owner) => Object.getOwnPropertyNames(owner)),
);
