import type { Position, Range } from "vscode-languageserver-protocol";
import type { SourceFile, Span } from "../diagnostics/source.ts";

/** Protocol positions count from 0, ours from 1. Both count UTF-16 code units. */
export function toPosition(file: SourceFile, offset: number): Position {
  const { line, column } = file.position(offset);
  return { line: line - 1, character: column - 1 };
}

export function toRange(file: SourceFile, span: Span): Range {
  return { start: toPosition(file, span.start), end: toPosition(file, Math.max(span.start, span.end)) };
}

/** The offset of a position. A position behind the end of its line or text is moved to that end, as the protocol requires. */
export function toOffset(file: SourceFile, { line, character }: Position): number {
  const start = file.lineStarts[line];
  if (line < 0) return 0;
  if (start === undefined) return file.text.length;
  return Math.min(start + Math.max(0, character), start + file.line(line + 1).length);
}

export function toSpan(file: SourceFile, range: Range): Span {
  const start = toOffset(file, range.start);
  return { start, end: Math.max(start, toOffset(file, range.end)) };
}
