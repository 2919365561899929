import type { SourceFile, Span } from "../../diagnostics/source.ts";
import { attachComments, type CommentsOf } from "../attach-comments.ts";
import type { Comment, DocComment, File } from "../ast.ts";

/** The properties of the source that the layout keeps: spelling of literals, blank lines, ignored statements. */
export interface SourceView {
  /** The text of a span; empty for trees that were not read from `.ngraph` text. */
  spelled(span: Span): string;
  /** Whether a span contains a comment. */
  hasComment(span: Span): boolean;
  /** Whether the source has a blank line after the offset `end`; `undefined` if there is no source. */
  blankAfter(end: number): boolean | undefined;
  /** The part of the source that a `// prettier-ignore` above a statement protects. */
  ignored(statement: { readonly span: Span; readonly doc?: DocComment }): Span | undefined;
  /** Comments of a tree that was read from YAML. `weave-comments.ts` prints the comments of `.ngraph` text. */
  readonly commentsOf: CommentsOf;
}

/** The view for trees without `.ngraph` text: trees from YAML, and trees that a program builds. */
export const noSource: SourceView = {
  spelled: () => "",
  hasComment: () => false,
  blankAfter: () => undefined,
  ignored: () => undefined,
  commentsOf: () => undefined,
};

const IGNORE = /^(?:\/\/|\/\*)\s*prettier-ignore\s*(?:\*\/)?$/;

export function sourceView(file: File): SourceView {
  if (file.spelling === "yaml" && file.comments.length > 0) return { ...noSource, commentsOf: attachComments(file) };
  if (file.spelling !== "ngraph" || file.source.text.trim() === "") return noSource;
  const { text } = file.source;
  const commentsByStart = new Map(file.comments.map((comment) => [comment.span.start, comment]));
  const ignores = new Set<number>();
  for (const comment of file.comments) {
    if (IGNORE.test(comment.text.trim()) && isFirstOnLine(text, comment.span.start)) {
      ignores.add(skipBlanks(text, comment.span.end));
    }
  }
  return {
    spelled: (span) => text.slice(span.start, span.end),
    hasComment: (span) => startsWithin(file.comments, span),
    blankAfter: (end) => isBlankLineAfter(file.source, commentsByStart, end),
    ignored(statement) {
      const start = Math.min(statement.span.start, statement.doc?.span.start ?? statement.span.start);
      if (!ignores.has(start) && !ignores.has(statement.span.start)) return undefined;
      return { start, end: statement.span.end };
    },
    commentsOf: () => undefined,
  };
}

function skipBlanks(text: string, from: number): number {
  let at = from;
  while (at < text.length && /\s/.test(text[at] ?? "")) at += 1;
  return at;
}

function isFirstOnLine(text: string, offset: number): boolean {
  return text.slice(text.lastIndexOf("\n", offset - 1) + 1, offset).trim() === "";
}

/** Skips comments on the line of `end`: they belong to the element that ends there, so the blank line follows them. */
function isBlankLineAfter(source: SourceFile, comments: ReadonlyMap<number, Comment>, end: number): boolean {
  const { text } = source;
  for (let at = end, breaks = 0; at < text.length; at += 1) {
    const character = text[at];
    if (character === "\n") {
      breaks += 1;
      if (breaks === 2) return true;
      continue;
    }
    if (character === " " || character === "\t" || character === "\r") continue;
    const comment = comments.get(at);
    if (comment === undefined || breaks > 0) return false;
    at = comment.span.end - 1;
  }
  return false;
}

/** Whether a comment starts in a span, by binary search. `comments` are sorted by position. */
function startsWithin(comments: readonly Comment[], span: Span): boolean {
  let low = 0;
  let high = comments.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((comments[middle]?.span.start ?? 0) < span.start) low = middle + 1;
    else high = middle;
  }
  return (comments[low]?.span.start ?? Infinity) < span.end;
}
