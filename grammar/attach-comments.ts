import type { Span } from "../diagnostics/source.ts";
import type { Comment, File, Item } from "./ast.ts";

/** The comments of a statement, an item or a file: lines of text without `//`, `#` and the like. */
export interface AttachedComments {
  /** On their own lines above it, or inside of it. */
  readonly before: readonly string[];
  /** After it, on its line. */
  readonly behind: string | undefined;
  /** Below the last statement of an item; for a file, below its last item. */
  readonly after: readonly string[];
}

/** Finds the comments of an item, a statement, or the file itself. */
export type CommentsOf = (part: object) => AttachedComments | undefined;

/**
 * Binds each comment of a file to the statement that it is about, for spellings that put statements in other places and
 * know no tokens between which a comment could stay. (Formatting does not: there a comment stays between its two
 * tokens.)
 */
export function attachComments(file: File): CommentsOf {
  const attached = new Map<object, { before: string[]; behind: string[]; after: string[] }>();
  const of = (part: object) => {
    let comments = attached.get(part);
    if (comments === undefined) attached.set(part, (comments = { before: [], behind: [], after: [] }));
    return comments;
  };
  const parts = partsOf(file);
  const { text } = file.source;
  let next = 0;
  for (const comment of file.comments) {
    const lines = bodyOf(comment);
    const { start } = comment.span;
    while (next < parts.length && (parts[next] as Part).span.start <= start) next += 1;
    const previous = parts[next - 1];
    const following = parts[next];
    if (previous !== undefined && start < previous.span.end)
      for (const each of lines) of(previous.node).before.push(each);
    else if (previous !== undefined && isSameLine(text, previous.span.end, start)) {
      if (lines.length === 1) for (const each of lines) of(previous.node).behind.push(each);
      else for (const each of lines) of(previous.node).before.push(each);
    } else if (
      previous !== undefined &&
      following?.item !== previous.item &&
      isInside(start, previous, following, text)
    ) {
      for (const each of lines) of(previous.item).after.push(each);
    } else if (following === undefined) for (const each of lines) of(file).after.push(each);
    else for (const each of lines) of(following.node).before.push(each);
  }
  return (part) => {
    const comments = attached.get(part);
    if (comments === undefined) return undefined;
    const { before, behind, after } = comments;
    return { before, behind: behind.length === 0 ? undefined : behind.join(" "), after };
  };
}

/** Whether no line ends between the end of a part and an offset. Block scalars of YAML end after their line break. */
function isSameLine(text: string, end: number, offset: number): boolean {
  return text[end - 1] !== "\n" && !text.slice(end, offset).includes("\n");
}

/**
 * Whether an offset after the last statement of an item is still in the item: before its brace, or before the next
 * document.
 */
function isInside(offset: number, { item }: Part, following: Part | undefined, text: string): boolean {
  if (offset < item.span.end) return true;
  return following !== undefined && /^---(?:\s|$)/m.test(text.slice(offset, following.span.start));
}

interface Part {
  /** The parts that comments are bound to; an item with statements represents its first line. */
  readonly node: object;
  readonly item: Item;
  readonly span: Span;
}

/** What comments are bound to, in the order of the text. */
function partsOf(file: File): Part[] {
  const parts = file.items.flatMap((item): Part[] => {
    if (item.kind !== "Graph" && item.kind !== "Plan" && item.kind !== "Test")
      return [{ node: item, item, span: item.span }];
    // In YAML the title of a test has its own line.
    const name = item.kind !== "Test" ? item.name : file.spelling === "yaml" ? item.title : item.subject;
    const doc = item.kind === "Test" ? undefined : item.doc;
    const head = { start: Math.min(item.span.start, doc?.span.start ?? item.span.start), end: name.span.end };
    const inner = item.kind === "Test" ? item.items : item.statements;
    return [{ node: item, item, span: head }, ...inner.map((node) => ({ node, item, span: wholeSpan(node) }))];
  });
  return parts.sort((a, b) => a.span.start - b.span.start);
}

/** With the documentation above it. */
function wholeSpan({ span, doc }: { readonly span: Span; readonly doc?: { readonly span: Span } }): Span {
  return doc === undefined
    ? span
    : { start: Math.min(span.start, doc.span.start), end: Math.max(span.end, doc.span.end) };
}

function bodyOf({ text }: Comment): string[] {
  if (!text.startsWith("/*")) return [text.replace(/^(?:#+|\/\/+) ?/, "").trimEnd()];
  const lines = text
    .slice(2)
    .replace(/\*\/$/, "")
    .split(/\r\n?|\n/)
    .map((line, index) => (index === 0 ? line : line.replace(/^\s*\*(?: |$)/, "")).trim());
  while (lines.length > 1 && lines[0] === "") lines.shift();
  while (lines.length > 1 && lines[lines.length - 1] === "") lines.pop();
  return lines;
}
