import type { Fix, Place } from "../diagnostic.ts";
import type { SourceFile, Span } from "../source.ts";
import type { Edit } from "./apply-edits.ts";
import { deleteWith, wholeSection, type Surroundings } from "./surroundings.ts";

const OF_ITEM: Surroundings = [
  // A line of its own in YAML. A comment after the item stays.
  { left: /(?<=^|\n)[ \t]*-[ \t]+$/, right: /^[ \t]*(?:\r?\n|$)/ },
  { left: /-[ \t]+$/, right: /^[ \t]*(?=#)/ },
  // A line of its own in the text.
  { left: /(?<=\n)[ \t]*$/, right: /^[ \t]*,[ \t]*\r?\n/ },
  // One of several, between commas.
  { left: /,\s*$/, right: /^/ },
  { left: /(?<=[([{]\s*)$/, right: /^\s*,\s*/ },
];

/** Deletes an item of a list with its comma, or with its line; `undefined` where neither is found. */
export function deleteItem({ file, span }: Place): Edit | undefined {
  return deleteWith({ file, span: itemSpan(file, span) }, OF_ITEM);
}

/** An item of YAML with its quotes. */
export function itemSpan({ text }: SourceFile, { start, end }: Span): Span {
  const quote = text[start - 1];
  const isQuoted = (quote === '"' || quote === "'") && text[end] === quote;
  return isQuoted ? { start: start - 1, end: end + 1 } : { start, end };
}

const OF_DECLARATION: Surroundings = [
  // A line of its own, with the comment after the declaration.
  { left: /(?<=^|\n)[ \t]*$/, right: /^[ \t]*(?:(?:#|\/\/)[^\n]*)?(?:\r?\n|$)/ },
  ...OF_ITEM,
  { left: /[ \t]*$/, right: /^/ },
];

/**
 * Deletes a declaration, with its line, its comma, or the section of YAML that holds nothing else.
 *
 * @param section the key of the section in YAML
 */
export function deleteDeclaration({ file, span }: Place, section: string): Fix {
  const place = { file, span: itemSpan(file, span) };
  const edit = deleteWith(place, [...wholeSection(section), ...OF_DECLARATION]);
  return { title: "delete it", edits: edit === undefined ? [] : [edit] };
}
