/** Syntax trees of programs in JavaScript and TypeScript. Nothing of a program runs. */
import { parse } from "@babel/parser";
import { ImportError } from "./imported.ts";

/** A node of Babel's tree. Its fields depend on its type. */
export interface Tree {
  readonly type: string;
  readonly loc?: { readonly start: { readonly line: number }; readonly filename?: string | undefined } | null;
  readonly [field: string]: unknown;
}

/** @param file the name of an imported file, which messages about its lines have */
export function parseProgram(text: string, file?: string): Tree {
  try {
    return parse(text, {
      sourceType: "unambiguous",
      plugins: ["typescript", "jsx", "decorators"],
      ...(file === undefined ? {} : { sourceFilename: file }),
    }) as unknown as Tree;
  } catch (error) {
    if (error instanceof RangeError) throw new ImportError("line 1", "the program is nested too deeply");
    throw new ImportError(
      `line ${lineOf(error)}`,
      `the program cannot be parsed: ${error instanceof Error ? error.message.slice(0, 200) : ""}`,
    );
  }
}

/** The line on which a text stops to be JSON. Messages of `JSON.parse` have no place in some versions of Node. */
export function lineOfBrokenJson(text: string): number {
  try {
    parse(`(${text})`);
    return 1;
  } catch (error) {
    return lineOf(error);
  }
}

/** The line of an error of the parser. */
function lineOf(error: unknown): number {
  return (error as { readonly loc?: { readonly line: number } }).loc?.line ?? 1;
}

/** The place of a tree in messages: `line 12`, and the file if it is an imported one. */
export function line({ loc }: Tree): string {
  const place = `line ${loc?.start.line ?? 1}`;
  return typeof loc?.filename === "string" ? `${place} of ${loc.filename}` : place;
}

/** Fields of a tree that are no parts of it. */
const OTHER_FIELDS: ReadonlySet<string> = new Set([
  "loc",
  "comments",
  "leadingComments",
  "innerComments",
  "trailingComments",
  "tokens",
  "errors",
]);

/** The fields of a tree that are trees or lists of trees, with their names. */
export function partsOf(tree: Tree): readonly (readonly [field: string, part: object | null])[] {
  return Object.entries(tree).filter(
    (entry): entry is [string, object | null] => typeof entry[1] === "object" && !OTHER_FIELDS.has(entry[0]),
  );
}

/** Visits all nodes of a tree, without recursion. */
export function* walk(root: Tree): Generator<Tree> {
  const open: unknown[] = [root];
  while (open.length > 0) {
    const next = open.pop();
    if (Array.isArray(next)) for (let index = next.length - 1; index >= 0; index--) open.push(next[index]);
    else if (isTree(next)) {
      yield next;
      const parts = partsOf(next);
      for (let index = parts.length - 1; index >= 0; index--) open.push(parts[index]![1]);
    }
  }
}

export function isTree(value: unknown): value is Tree {
  return typeof value === "object" && value !== null && typeof (value as { type?: unknown }).type === "string";
}
