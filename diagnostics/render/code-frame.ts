import type { SourceFile, Span } from "../source.ts";
import { displayLine, printable } from "./display-text.ts";
import type { Styles } from "./styles.ts";

/** A marked place of a frame. */
export interface Mark {
  readonly span: Span;
  readonly message: string;
  readonly primary: boolean;
}

export interface FrameStyle {
  readonly styles: Styles;
  /** Paints the primary marks: the colour of the severity. */
  readonly primary: (text: string) => string;
  /** Cells that the largest line number of the whole report takes. */
  readonly gutterWidth: number;
  /** Longer source lines are cut around their marks. */
  readonly maxWidth: number;
}

/** A mark on one line: columns are 0-based, `end` excluded and greater than `start`. */
interface LineMark {
  readonly start: number;
  readonly end: number;
  readonly message: string;
  readonly primary: boolean;
}

type Ink = "none" | "primary" | "secondary";
interface Cell {
  readonly character: string;
  readonly ink: Ink;
}

/** The last line that a frame with these marks shows: the gutter must hold its number. */
export function lastLineOf(file: SourceFile, marks: readonly Mark[]): number {
  return marks.reduce((last, mark) => Math.max(last, file.position(lastOffset(mark.span)).line), 1);
}

/** The marked lines of one file with their labels, ready to print. */
export function codeFrame(file: SourceFile, marks: readonly Mark[], style: FrameStyle): string[] {
  const { lines, elided } = marksByLine(file, marks);
  const empty = style.styles.gutter(`${" ".repeat(style.gutterWidth)} |`);
  const output: string[] = [];
  for (const number of [...lines.keys()].sort((a, b) => a - b)) {
    const source = file.line(number);
    const lineMarks = lines.get(number) ?? [];
    const [from, to] = windowAround(source, lineMarks, style.maxWidth);
    const shown = displayLine(source, from, to);
    const gutter = style.styles.gutter(`${String(number).padStart(style.gutterWidth)} |`);
    output.push(shown.text === "" ? gutter : `${gutter} ${shown.text}`);
    const placed = lineMarks.map(({ start: first, end, message, primary }): LineMark => {
      const start = shown.cellOf(Math.max(first, from));
      return { start, end: Math.max(start + 1, shown.cellOf(Math.min(end, to))), message, primary };
    });
    for (const row of markRows(placed)) output.push(`${empty} ${paint(row, style)}`.trimEnd());
    if (elided.has(number)) output.push(style.styles.gutter("...".padStart(style.gutterWidth)));
  }
  return output;
}

/** A place of several lines is marked on its first and its last one; `elided` holds first lines with more between. */
function marksByLine(
  file: SourceFile,
  marks: readonly Mark[],
): { lines: Map<number, LineMark[]>; elided: ReadonlySet<number> } {
  const lines = new Map<number, LineMark[]>();
  const elided = new Set<number>();
  const add = (line: number, mark: LineMark): void => {
    const there = lines.get(line);
    if (there === undefined) lines.set(line, [mark]);
    else there.push(mark);
  };
  for (const { span, message, primary } of marks) {
    const first = file.position(span.start);
    const last = file.position(lastOffset(span));
    const start = first.column - 1;
    if (first.line === last.line) {
      add(first.line, { start, end: Math.max(start + 1, last.column), message, primary });
      continue;
    }
    const firstLine = file.line(first.line);
    add(first.line, { start, end: Math.max(start + 1, firstLine.trimEnd().length), message: "", primary });
    if (last.line > first.line + 1) elided.add(first.line);
    const lastLine = file.line(last.line);
    const indent = lastLine.length - lastLine.trimStart().length;
    add(last.line, { start: Math.min(indent, last.column - 1), end: last.column, message, primary });
  }
  return { lines, elided };
}

/** The last character of a span: its `end` may be the start of the next line. */
function lastOffset(span: Span): number {
  return span.end > span.start ? span.end - 1 : span.start;
}

/** Which columns of a line are shown: all, or as many as fit with the primary mark among them. */
function windowAround(line: string, marks: readonly LineMark[], width: number): [from: number, to: number] {
  if (line.length <= width) return [0, line.length];
  const focus = marks.find((mark) => mark.primary) ?? marks[0] ?? { start: 0, end: 0 };
  const start = marks.reduce((least, mark) => Math.min(least, mark.start), focus.start);
  const end = marks.reduce((most, mark) => Math.max(most, mark.end), focus.end);
  const all = end - start <= width;
  const left = all ? start : focus.start;
  const right = Math.min(all ? end : focus.end, left + width);
  const margin = Math.floor((width - (right - left)) / 2);
  let from = Math.max(0, Math.min(left - margin, line.length - width));
  let to = Math.min(line.length, from + width);
  if (isLowSurrogate(line, from)) from -= 1;
  if (isLowSurrogate(line, to)) to += 1;
  return [from, to];
}

function isLowSurrogate(line: string, at: number): boolean {
  const unit = line.charCodeAt(at);
  return unit >= 0xdc00 && unit <= 0xdfff;
}

/**
 * The rows below a line: all marks with the message of the rightmost one; then, from right to left, a row for each
 * other message, connected to its mark.
 */
function markRows(marks: readonly LineMark[]): Cell[][] {
  const sorted = [...marks].sort((a, b) => a.start - b.start || b.end - a.end || Number(a.primary) - Number(b.primary));
  const marking: Cell[] = [];
  for (const mark of sorted.filter((item) => !item.primary)) fill(marking, mark);
  for (const mark of sorted.filter((item) => item.primary)) fill(marking, mark);

  const last = sorted.at(-1);
  const reach = marking.length;
  const inline = last !== undefined && last.message !== "" && last.end === reach ? last : undefined;
  if (inline !== undefined) write(marking, reach + 1, inline.message, inkOf(inline));

  const hanging = sorted.filter((mark) => mark !== inline && mark.message !== "");
  const rows = [marking];
  if (hanging.length > 0) rows.push(connectors(hanging));
  for (let index = hanging.length - 1; index >= 0; index--) {
    const mark = hanging[index];
    if (mark === undefined) continue;
    const row = connectors(hanging.slice(0, index).filter((other) => other.start < mark.start));
    write(row, mark.start, mark.message, inkOf(mark));
    rows.push(row);
  }
  return rows;
}

function inkOf(mark: LineMark): Ink {
  return mark.primary ? "primary" : "secondary";
}

function fill(row: Cell[], mark: LineMark): void {
  write(row, mark.start, (mark.primary ? "^" : "-").repeat(mark.end - mark.start), inkOf(mark));
}

function connectors(marks: readonly LineMark[]): Cell[] {
  const row: Cell[] = [];
  for (const mark of marks) write(row, mark.start, "|", inkOf(mark));
  return row;
}

function write(row: Cell[], at: number, text: string, ink: Ink): void {
  while (row.length < at) row.push({ character: " ", ink: "none" });
  let cell = at;
  for (const character of printable(text)) row[cell++] = { character, ink };
}

/** Neighbouring cells of one ink become one painted piece. */
function paint(row: readonly Cell[], style: FrameStyle): string {
  let output = "";
  for (let at = 0; at < row.length;) {
    const ink = row[at]?.ink ?? "none";
    let piece = "";
    for (; at < row.length && row[at]?.ink === ink; at++) piece += row[at]?.character ?? "";
    output += ink === "none" ? piece : ink === "primary" ? style.primary(piece) : style.styles.secondary(piece);
  }
  return output;
}
