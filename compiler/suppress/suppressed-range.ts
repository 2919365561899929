import type { Span } from "../../diagnostics/source.ts";
import type * as Ast from "../../grammar/ast.ts";

/**
 * What a comment is about: behind code, its own line; on a line of its own, the statement that begins on the next line of code, or
 * that line where none begins there (an arm of a `match`). Above a graph or plan its head is meant, not all that stands in it.
 */
export function createReach(file: Ast.File, comments: readonly Ast.Comment[]): (comment: Ast.Comment) => Span {
  const { source } = file;
  const { text } = source;
  /** Text without comments and blanks, asked for parts of a line. */
  const isBlank = (start: number, end: number): boolean => {
    let at = start;
    while (at < end) {
      const comment = commentAt(comments, at);
      if (comment !== undefined) at = comment.span.end;
      else if (/\s/.test(text[at] ?? " ")) at++;
      else return false;
    }
    return true;
  };
  let statements: ReadonlyMap<number, Span> | undefined;
  return (comment) => {
    const { line } = source.position(comment.span.start);
    const own = lineSpan(source, line);
    if (!isBlank(own.start, comment.span.start)) return own;
    const last = source.position(comment.span.end).line;
    const first = isBlank(comment.span.end, lineSpan(source, last).end) ? last + 1 : last;
    for (let next = first; next <= source.lineStarts.length; next++) {
      const span = lineSpan(source, next);
      if (isBlank(span.start, span.end) || isSeparator(text, span, file)) continue;
      statements ??= statementsByLine(file);
      const statement = statements.get(next);
      return { start: span.start, end: Math.max(span.end, statement?.end ?? 0) };
    }
    return { start: text.length, end: text.length };
  };
}

/** Documentation above a declaration, and the dashes between YAML documents, are passed over. */
function isSeparator(text: string, { start, end }: Span, { spelling }: Ast.File): boolean {
  const line = text.slice(start, end).trim();
  return spelling === "yaml" ? line === "---" : line.startsWith("///");
}

function commentAt(comments: readonly Ast.Comment[], offset: number): Ast.Comment | undefined {
  let low = 0;
  let high = comments.length - 1;
  while (low <= high) {
    const middle = (low + high) >> 1;
    const comment = comments[middle];
    if (comment === undefined || offset < comment.span.start) high = middle - 1;
    else if (offset >= comment.span.end) low = middle + 1;
    else return comment;
  }
  return undefined;
}

function lineSpan(source: Ast.File["source"], line: number): Span {
  const start = source.lineStarts[line - 1] ?? source.text.length;
  return { start, end: start + source.line(line).length };
}

/** Line -> the statements that begin on it, as one span. Of graphs, plans and tests their heads. */
function statementsByLine(file: Ast.File): Map<number, Span> {
  const found = new Map<number, Span>();
  const add = (span: Span, doc: Ast.DocComment | undefined): void => {
    const start =
      doc !== undefined && doc.span.start <= span.start ? skipBlanks(file.source.text, doc.span.end) : span.start;
    const { line } = file.source.position(Math.max(start, span.start));
    const before = found.get(line);
    found.set(line, { start: before?.start ?? span.start, end: Math.max(before?.end ?? 0, span.end) });
  };
  for (const item of file.items) {
    if (item.kind !== "Graph" && item.kind !== "Plan") {
      if (item.kind !== "Test") add(item.span, "doc" in item ? item.doc : undefined);
      continue;
    }
    for (const statement of item.statements) add(statement.span, "doc" in statement ? statement.doc : undefined);
  }
  return found;
}

function skipBlanks(text: string, offset: number): number {
  let at = offset;
  while (/\s/.test(text[at] ?? "x")) at++;
  return at;
}
