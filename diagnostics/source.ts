/**
 * Source text with positions. The compiler uses offsets (`Span`); lines and columns are computed only
 * for output.
 */

/** A half-open range of UTF-16 offsets into one source text: `start` included, `end` excluded. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/** A place for output: line and column from 1. Columns count UTF-16 code units, as editors do. */
export interface Position {
  readonly line: number;
  readonly column: number;
}

/** A 1-based range, `end` exclusive: the shape in every JSON document this project prints. */
export interface Range {
  readonly start: Position;
  readonly end: Position;
}

/** A carriage return without a line feed also ends a line. */
const LONE_RETURN = /\r(?!\n)/;

/** A source text: the content of a file, or a string with a name in place of a path. */
export class SourceFile {
  /** The path as the user wrote it; diagnostics print it. */
  readonly path: string;
  readonly text: string;
  /** Offset of the first character of each line; built on first use, because a clean check needs none. */
  #lineStarts: readonly number[] | undefined;

  constructor(path: string, text: string) {
    this.path = path;
    this.text = text;
  }

  get lineStarts(): readonly number[] {
    if (this.#lineStarts === undefined) {
      const starts = [0];
      if (LONE_RETURN.test(this.text)) {
        for (const lineBreak of this.text.matchAll(/\r\n?|\n/g)) starts.push(lineBreak.index + lineBreak[0].length);
      } else {
        for (let at = this.text.indexOf("\n"); at !== -1; at = this.text.indexOf("\n", at + 1)) starts.push(at + 1);
      }
      this.#lineStarts = starts;
    }
    return this.#lineStarts;
  }

  /** Where an offset is. Offsets outside the text are clamped into it. */
  position(offset: number): Position {
    const clamped = Math.max(0, Math.min(offset, this.text.length));
    const starts = this.lineStarts;
    let low = 0;
    let high = starts.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((starts[middle] ?? 0) <= clamped) low = middle;
      else high = middle - 1;
    }
    return { line: low + 1, column: clamped - (starts[low] ?? 0) + 1 };
  }

  range(span: Span): Range {
    return { start: this.position(span.start), end: this.position(span.end) };
  }

  /** The text of a 1-based line, without its line break. */
  line(number: number): string {
    const start = this.lineStarts[number - 1];
    if (start === undefined) return "";
    const next = this.lineStarts[number];
    return this.text.slice(start, next).replace(/\r?\n$|\r$/, "");
  }
}

/** The smallest span that holds both. */
export function coverSpans(first: Span, last: Span): Span {
  return { start: Math.min(first.start, last.start), end: Math.max(first.end, last.end) };
}
