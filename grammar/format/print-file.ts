import { printer } from "prettier/doc";
import type { File } from "../ast.ts";
import { endOf, readTokens } from "../lexer/read-tokens.ts";
import { newReading } from "../reading.ts";
import { hardline, type Doc } from "./doc-parts.ts";
import { layoutFile } from "./layout-file.ts";
import type { SourceToken } from "./match-tokens.ts";
import { sourceView } from "./source-view.ts";
import { weaveComments } from "./weave-comments.ts";

/** Columns of a line. The one style has no options; Prettier's own settings win where the plugin runs in Prettier. */
export const PRINT_WIDTH = 120;

/** Spaces per level of indentation. */
export const TAB_WIDTH = 2;

/**
 * The `.ngraph` text of a tree, in the one style: a tree read from text keeps its comments, blank lines and the
 * spelling of its literals; a tree read from YAML gets a blank line between paragraphs, and its comments go with their
 * statements. The tree should be free of errors: `Broken` nodes are copied from the source.
 *
 * @example
 * const text = printFile(parseYaml(yaml).file);
 */
export function printFile(file: File): string {
  return printer.printDocToString(fileDocument(file), { printWidth: PRINT_WIDTH, tabWidth: TAB_WIDTH }).formatted;
}

/** The text as a Prettier document, for the plugin. */
export function fileDocument(file: File): Doc {
  const doc = layoutFile(file, sourceView(file));
  if (file.spelling !== "ngraph" || file.comments.length === 0) {
    return file.items.length === 0 && file.comments.length === 0 ? "" : [doc, hardline];
  }
  const { text } = file.source;
  return [weaveComments(doc, text, sourceTokens(file), file.comments), hardline];
}

/** The tokens of a file in order, including its documentation lines. */
function sourceTokens(file: File): SourceToken[] {
  const { tokens, docs } = readTokens(newReading(file.source, file.source.text));
  const comments = new Set(file.comments.map(({ span }) => span.start));
  const attached = docs.filter((doc) => !comments.has(doc.startOffset));
  return [...tokens, ...attached]
    .map((token) => ({ text: token.image, start: token.startOffset, end: endOf(token) }))
    .sort((a, b) => a.start - b.start);
}
