/**
 * Building blocks of the layouts, on top of Prettier's document builders.
 *
 * Two rules hold for all layouts, and `weave-comments.ts` depends on them: every string in a document is either
 * blank or exactly one token of the language, and tokens are in the order of the source. Text that is not a token (the
 * inside of a template) is marked `verbatim`.
 */
import { builders } from "prettier/doc";
import type { Span } from "../../diagnostics/source.ts";

export const { fill, group, hardline, ifBreak, indent, join, label, line, softline } = builders;
export type Doc = builders.Doc;

/** Marks documents for the weaving of comments; printing ignores them. */
export type Mark =
  /** Begins a line wherever the list around it is broken: a statement, an argument, an arm. */
  | { readonly kind: "element"; readonly span?: Span }
  /** Text that is not a token. With a span, it is a copy of that part of the source, comments included. */
  | { readonly kind: "verbatim"; readonly span?: Span };

export function element(doc: Doc, span?: Span): Doc {
  const mark: Mark = span === undefined ? { kind: "element" } : { kind: "element", span };
  return label(mark, doc);
}

/** Unchanged text. Its line breaks do not break the enclosing groups. */
export function verbatim(text: string, span?: Span): Doc {
  const mark: Mark = span === undefined ? { kind: "verbatim" } : { kind: "verbatim", span };
  return label(mark, join(builders.literallineWithoutBreakParent, text.split(/\r\n?|\n/)));
}

/** Parts with a space between each two. */
export function words(...parts: Doc[]): Doc {
  return join(" ", parts);
}

/** `(a, b)` on one line, or one item per line with a trailing comma. */
export function bracketed(open: string, items: readonly Doc[], close: string, shouldBreak = false): Doc {
  if (items.length === 0) return [open, close];
  const list = join(
    [",", line],
    items.map((item) => element(item)),
  );
  return group([open, indent([softline, list, ifBreak(",")]), softline, close], { shouldBreak });
}

/**
 * `{ a, b }` on one line if it fits. Otherwise each line has as many items as fit, and a comma ends the last one. With
 * comments inside (`isCommented`) each line has one item, because a comment must stay with its item.
 */
export function braced(items: readonly Doc[], isCommented: boolean): Doc {
  if (items.length === 0) return ["{", "}"];
  const elements = items.map((item) => element(item));
  const list = isCommented
    ? join([",", line], elements)
    : fill(elements.flatMap((each, at) => (at + 1 < elements.length ? [[each, ","], line] : [each])));
  return group(["{", indent([line, list, ifBreak(",")]), line, "}"]);
}

/** Policies and arms: `{ a  b }` with two spaces between items, or one item per line. No commas. */
export function bracedBlock(items: readonly { readonly doc: Doc; readonly span: Span }[], shouldBreak = false): Doc {
  if (items.length === 0) return ["{", "}"];
  const list = join(
    [ifBreak("", " "), line],
    items.map((item) => element(item.doc, item.span)),
  );
  return group(["{", indent([line, list]), line, "}"], { shouldBreak });
}

/** A space, or an indented new line if the rest does not fit: each break is decided separately. */
export function wrap(): Doc {
  return group(indent(line));
}

/** `a, b, c` without brackets, wrapped like text. */
export function bareList(items: readonly Doc[]): Doc {
  return join([",", wrap()], [...items]);
}

/** The document on one line: no breaks except inside templates. */
export function flatten(doc: Doc): Doc {
  if (typeof doc === "string") return doc;
  if (Array.isArray(doc)) return doc.map(flatten);
  switch (doc.type) {
    case "line":
      return doc.hard ? doc : doc.soft ? "" : " ";
    case "if-break":
      return flatten(doc.flatContents);
    case "fill":
      return doc.parts.map(flatten);
    case "group":
    case "indent":
      return flatten(doc.contents);
    case "label":
      return (doc.label as Mark).kind === "verbatim" ? doc : flatten(doc.contents);
    case "break-parent":
      return "";
    default:
      return doc;
  }
}
