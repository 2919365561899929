import { builders } from "prettier/doc";
import type { Comment } from "../ast.ts";
import { join, type Doc } from "./doc-parts.ts";

const { hardlineWithoutBreakParent, literallineWithoutBreakParent } = builders;

/** Comments on one line between two tokens. */
export interface CommentRun {
  readonly doc: Doc;
  /** A line break separates the run from the token before it. */
  readonly isOwnLine: boolean;
  /** A line break separates the run from the token after it. */
  readonly endsLine: boolean;
  readonly blankBefore: boolean;
  /** A blank line separates the run from the next token. */
  readonly blankAfter: boolean;
}

/**
 * Groups the comments between two tokens by line. `isFirst`: no token precedes them. `isLast`: no token follows.
 */
export function commentRuns(
  text: string,
  comments: readonly Comment[],
  { isFirst, isLast }: { readonly isFirst: boolean; readonly isLast: boolean },
): CommentRun[] {
  const runs: Comment[][] = [];
  for (const comment of comments) {
    const run = runs[runs.length - 1];
    const previous = run?.[run.length - 1];
    if (run === undefined || previous === undefined || endsLine(text, previous) || breaksBefore(text, comment) > 0) {
      runs.push([comment]);
    } else run.push(comment);
  }
  return runs.map((run, index) => {
    const first = run[0] as Comment;
    const last = run[run.length - 1] as Comment;
    const hasNext = index < runs.length - 1;
    return {
      doc: join(" ", run.map(layoutComment)),
      isOwnLine: index > 0 || isFirst || breaksBefore(text, first) > 0,
      endsLine: hasNext || isLast || endsLine(text, last),
      blankBefore: breaksBefore(text, first) > 1,
      blankAfter: breaksAfter(text, last) > 1,
    };
  });
}

/** A comment as it is written. If every later line begins with `*`, the lines are indented with the first line. */
export function layoutComment(comment: Comment): Doc {
  const lines = comment.text.split(/\r\n?|\n/);
  if (lines.length === 1) return comment.text.trimEnd();
  const [first = "", ...rest] = lines;
  if (rest.every((text) => text.trimStart().startsWith("*"))) {
    return join(hardlineWithoutBreakParent, [first.trimEnd(), ...rest.map((text) => ` ${text.trim()}`)]);
  }
  return join(literallineWithoutBreakParent, lines);
}

function endsLine(text: string, comment: Comment): boolean {
  return comment.kind === "LineComment" || breaksAfter(text, comment) > 0;
}

function breaksBefore(text: string, comment: Comment): number {
  let breaks = 0;
  for (let at = comment.span.start - 1; at >= 0 && isBlank(text[at]); at -= 1) if (text[at] === "\n") breaks += 1;
  return breaks;
}

function breaksAfter(text: string, comment: Comment): number {
  let breaks = 0;
  for (let at = comment.span.end; at < text.length && isBlank(text[at]); at += 1) if (text[at] === "\n") breaks += 1;
  return breaks;
}

function isBlank(character: string | undefined): boolean {
  return character === " " || character === "\t" || character === "\n" || character === "\r" || character === "\ufeff";
}
