/**
 * Source text as a terminal shows it: tabs are widened, characters that move the cursor or reorder the line are made
 * visible, and each grapheme cluster takes as many cells as terminals give it. The marks under a line are placed by
 * cell.
 *
 * The width of a character comes from `get-east-asian-width`. The package `string-width` builds on the same table, but
 * creates an `Intl.Segmenter` on import, which adds 20 ms to the start of each command; here it is created for the
 * first line that needs it.
 */
import { eastAsianWidth } from "get-east-asian-width";

const TAB_WIDTH = 4;
/** Control characters, and the characters that change the direction of text. */
const FORBIDDEN = /[\u0000-\u0008\u000a-\u001f\u007f-\u009f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;
/** One cell for each character. */
const PRINTABLE_ASCII = /^[\u0020-\u007e]*$/;

/** Characters that take no cell of their own: marks, joiners, variation selectors. */
const INVISIBLE = /[\p{Default_Ignorable_Code_Point}\p{Cc}\p{Cf}\p{Mn}\p{Me}\p{Cs}]/gu;
/** A sequence that a terminal draws as one emoji (UTS #51): by default, by U+FE0F, as a keycap or as a flag. */
const EMOJI = /^(?:\p{Emoji_Presentation}|\p{Emoji}\ufe0f|[\d#*]\ufe0f?\u20e3|\p{RI}\p{RI})/u;

let segmenter: Intl.Segmenter | undefined;

function graphemes(text: string): Iterable<Intl.SegmentData> {
  segmenter ??= new Intl.Segmenter();
  return segmenter.segment(text);
}

/** A part of one line, ready to print. */
export interface DisplayedLine {
  readonly text: string;
  /** The cell of a 0-based column (in UTF-16 code units) of the line; columns outside of the shown part are clamped. */
  cellOf(column: number): number;
}

/** Shows the columns from `from` to `to` of a line, with an ellipsis at each side where the line is cut. */
export function displayLine(line: string, from: number, to: number): DisplayedLine {
  const left = from > 0 ? "…" : "";
  const right = to < line.length ? "…" : "";
  const part = line.slice(from, to);
  if (PRINTABLE_ASCII.test(part)) {
    const cellOf = (column: number): number => (column < from ? 0 : left.length + Math.min(column - from, part.length));
    return { text: (left + part + right).trimEnd(), cellOf };
  }
  let text = left;
  let cell = left.length;
  const cells: number[] = [];
  for (const { segment } of graphemes(part)) {
    for (let unit = 0; unit < segment.length; unit++) cells.push(cell);
    const shown =
      segment === "\t" ? " ".repeat(TAB_WIDTH - ((cell - left.length) % TAB_WIDTH)) : segment.replace(FORBIDDEN, "�");
    text += shown;
    cell += displayWidth(shown);
  }
  return {
    text: (text + right).trimEnd(),
    cellOf: (column) => (column < from ? 0 : (cells[column - from] ?? cell)),
  };
}

/** The number of terminal cells that a text takes. */
export function displayWidth(text: string): number {
  if (PRINTABLE_ASCII.test(text)) return text.length;
  let width = 0;
  for (const { segment } of graphemes(text)) width += clusterWidth(segment);
  return width;
}

function clusterWidth(cluster: string): number {
  if (EMOJI.test(cluster)) return 2;
  const base = cluster.replace(INVISIBLE, "").codePointAt(0);
  return base === undefined ? 0 : eastAsianWidth(base);
}

/** Escapes the characters of a text that could move the cursor, change colours or reorder the text after them. */
export function printable(text: string): string {
  return text.replace(
    FORBIDDEN,
    (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16).padStart(4, "0")}}`,
  );
}
