/**
 * Source text as it appears on a terminal: tabs widened, characters that would move the cursor or reorder the line made
 * visible, wide characters counted as two cells. Marks under a line are placed by the cells computed here.
 */

const TAB_WIDTH = 4;
/** Combining marks, joiners and variation selectors take no cell of their own. */
const ZERO_WIDTH = /^[\p{Mn}\p{Me}\p{Cf}]$/u;
/** Control characters and everything that changes the direction of text. */
const FORBIDDEN = /[\u0000-\u0008\u000a-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g;

/** A stretch of one line, ready to print. */
export interface DisplayedLine {
  readonly text: string;
  /** The cell at which a 0-based column (in UTF-16 code units) of the line stands; columns outside are clamped. */
  cellOf(column: number): number;
}

/** Shows the columns from `from` to `to` of a line; an ellipsis stands for what is left out at either side. */
export function displayLine(line: string, from: number, to: number): DisplayedLine {
  let text = from > 0 ? "…" : "";
  let cell = text.length;
  const cells: number[] = [];
  for (let column = from; column < to;) {
    const character = String.fromCodePoint(line.codePointAt(column) ?? 0x20);
    for (let unit = 0; unit < character.length; unit++) cells.push(cell);
    if (character === "\t") {
      const width = TAB_WIDTH - ((cell - (from > 0 ? 1 : 0)) % TAB_WIDTH);
      text += " ".repeat(width);
      cell += width;
    } else {
      const shown = visible(character);
      text += shown;
      cell += displayWidth(shown);
    }
    column += character.length;
  }
  if (to < line.length) text += "…";
  return {
    text: text.trimEnd(),
    cellOf: (column) => (column < from ? 0 : (cells[column - from] ?? cell)),
  };
}

/** The number of terminal cells a text takes. */
export function displayWidth(text: string): number {
  let width = 0;
  for (const character of text) width += cellsOf(character);
  return width;
}

/** Makes a text safe to print: nothing in it can move the cursor, change colours or reorder what follows. */
export function printable(text: string): string {
  return text.replace(
    FORBIDDEN,
    (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16).padStart(4, "0")}}`,
  );
}

/** One cell for each forbidden character, so that columns stay where they are. */
function visible(character: string): string {
  return character.replace(FORBIDDEN, "�");
}

function cellsOf(character: string): 0 | 1 | 2 {
  const code = character.codePointAt(0) ?? 0;
  if (code < 0x300) return 1;
  if (ZERO_WIDTH.test(character)) return 0;
  return isWide(code) ? 2 : 1;
}

/** The East Asian wide and fullwidth blocks of Unicode TR11, and the emoji blocks. */
function isWide(code: number): boolean {
  return (
    code >= 0x1100 &&
    (code <= 0x115f ||
      (code >= 0x2e80 && code <= 0xa4cf && code !== 0x303f) ||
      (code >= 0xac00 && code <= 0xd7a3) ||
      (code >= 0xf900 && code <= 0xfaff) ||
      (code >= 0xfe30 && code <= 0xfe6f) ||
      (code >= 0xff00 && code <= 0xff60) ||
      (code >= 0xffe0 && code <= 0xffe6) ||
      (code >= 0x1f300 && code <= 0x1f64f) ||
      (code >= 0x1f680 && code <= 0x1f6ff) ||
      (code >= 0x1f900 && code <= 0x1f9ff) ||
      (code >= 0x20000 && code <= 0x3fffd))
  );
}
