import type { Span } from "../../diagnostics/source.ts";
import type * as Ast from "../../grammar/ast.ts";

/**
 * The range that a comment refers to. A comment after code refers to its own line. A comment on a line of its own
 * refers to the statement that begins on the next line of code, or to this next line if no statement begins there (an
 * arm of a `match`). A comment above a graph or plan refers to its head only.
 */
export function createReach(file: Ast.File, comments: readonly Ast.Comment[]): (comment: Ast.Comment) => Span {
  const { source } = file;
  const lines = createCodeLines(file, comments);
  let statements: ReadonlyMap<number, Span> | undefined;
  return (comment) => {
    const { line } = source.position(comment.span.start);
    const own = lines.codeOf(line);
    if (own !== undefined && own.start < comment.span.start) return lineSpan(source, line);
    const last = source.position(comment.span.end).line;
    const after = lines.codeOf(last);
    const next = after !== undefined && after.end > comment.span.end ? last : lines.nextCode(last + 1);
    if (next === undefined) return { start: source.text.length, end: source.text.length };
    statements ??= statementsByLine(file);
    const span = lineSpan(source, next);
    return { start: span.start, end: Math.max(span.end, statements.get(next)?.end ?? 0) };
  };
}

interface CodeLines {
  /** The code on a line, without blanks and comments at its ends; `undefined` for a line without code. */
  codeOf(line: number): Span | undefined;
  /** The first line with code, from the given line on. */
  nextCode(line: number): number | undefined;
}

/** Visits each line once for any number of comments. */
function createCodeLines(file: Ast.File, comments: readonly Ast.Comment[]): CodeLines {
  const { source } = file;
  const { text } = source;
  const known = new Map<number, Span | undefined>();
  /** The last result: the lines from `from` up to `to` have no code. */
  let passed = { from: 0, to: 0 };
  const codeOf = (line: number): Span | undefined => {
    if (known.has(line)) return known.get(line);
    const { start, end } = lineSpan(source, line);
    let first = -1;
    let last = -1;
    for (let at = start; at < end;) {
      const comment = commentAt(comments, at);
      if (comment !== undefined) {
        at = comment.span.end;
        continue;
      }
      if (!/\s/.test(text[at] ?? " ")) {
        if (first === -1) first = at;
        last = at;
      }
      at++;
    }
    const found = first === -1 ? undefined : { start: first, end: last + 1 };
    known.set(line, found);
    return found;
  };
  return {
    codeOf,
    nextCode(line) {
      let next = line >= passed.from && line <= passed.to ? passed.to : line;
      while (next <= source.lineStarts.length) {
        if (codeOf(next) !== undefined && !isSeparator(text, lineSpan(source, next), file)) break;
        next++;
      }
      passed = { from: line, to: next };
      return next > source.lineStarts.length ? undefined : next;
    },
  };
}

/** Whether a line is documentation above a declaration, or the separator of YAML documents. */
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

/** By line: the span of the statements that begin on it. Graphs, plans and tests count with their heads. */
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
