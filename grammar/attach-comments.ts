import type { Span } from "../diagnostics/source.ts";
import type { Comment, File, Item } from "./ast.ts";

/** The comments of a statement, an item or a file: lines of text without `//`, `#` and the like. */
export interface AttachedComments {
  /** Comments on their own lines above the part, or inside it. */
  readonly before: readonly string[];
  /** The comment after the part, on the same line. */
  readonly behind: string | undefined;
  /** Comments below the last statement of an item; for a file, below its last item. */
  readonly after: readonly string[];
}

/** Finds the comments of an item, a statement, or the file itself. */
export type CommentsOf = (part: object) => AttachedComments | undefined;

/**
 * Attaches each comment of a file to the statement that it describes. Conversion between the spellings needs this,
 * because it reorders statements and replaces their tokens. Formatting `.ngraph` text does not use it:
 * `format/weave-comments.ts` keeps each comment between its two tokens.
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

/**
 * Whether an offset is on the line where a part ends. The span of a YAML block scalar includes its last line break, so
 * no comment is on its line.
 */
function isSameLine(text: string, end: number, offset: number): boolean {
  return text[end - 1] !== "\n" && !text.slice(end, offset).includes("\n");
}

/**
 * Whether an offset after the last statement of an item belongs to the item: it is before the closing brace
 * (`.ngraph`), or before the `---` line of the next document (YAML).
 */
function isInside(offset: number, { item }: Part, following: Part | undefined, text: string): boolean {
  if (offset < item.span.end) return true;
  return following !== undefined && /^---(?:\s|$)/m.test(text.slice(offset, following.span.start));
}

interface Part {
  /** The item or statement that receives the comments. For an item with statements, `span` covers its head only. */
  readonly node: object;
  readonly item: Item;
  readonly span: Span;
}

/** The items and statements that can receive comments, sorted by position. */
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

/** The span of a statement together with the documentation above it. */
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
