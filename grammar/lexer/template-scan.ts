/**
 * Finds templates that are never closed, before the lexer enters them. A template extends to the next backtick: without
 * this scan one missing backtick would hide all statements after it.
 */

/**
 * The most searches for a missing backtick. Each one scans to the end of the text, so reading would be quadratic
 * without a bound. After this many failures, the following templates count as unterminated without a search.
 */
const MOST_FAILURES = 16;

let scannedText = "";
let closedUntil = 0;
let failures = 0;
/** The offset of the last unterminated template. The patterns of two token types query the same offset. */
let failedAt = -1;
/** Offsets of templates that `tokenize` treats as unterminated, whether or not a backtick follows. */
let unclosed: ReadonlySet<number> = new Set();

/**
 * The end of the template that opens at `offset` if the template is never closed: the end of its line. `undefined` if
 * the template is closed.
 */
export function unterminatedTemplateEnd(text: string, offset: number): number | undefined {
  if (scannedText !== text) {
    resetTemplateScan(unclosed);
    scannedText = text;
  }
  if (offset < closedUntil) return undefined;
  if (offset === failedAt || unclosed.has(offset)) return restOfLine(text, offset);
  const end = failures < MOST_FAILURES ? templateEnd(text, offset) : undefined;
  if (end !== undefined) {
    closedUntil = end;
    return undefined;
  }
  failures += 1;
  failedAt = offset;
  return restOfLine(text, offset);
}

/** Clears the state of the last scan. Call it before and after a text is tokenized. */
export function resetTemplateScan(unclosedTemplates: ReadonlySet<number> = new Set()): void {
  unclosed = unclosedTemplates;
  scannedText = "";
  closedUntil = 0;
  failures = 0;
  failedAt = -1;
}

const LINE_BREAK = /[\r\n]/g;

function restOfLine(text: string, offset: number): number {
  LINE_BREAK.lastIndex = offset;
  return LINE_BREAK.exec(text)?.index ?? text.length;
}

/** Where the scan stops inside `${…}`: quotes, comments, braces, templates. */
const CODE_STOP = /["'`{}]|\/\/|\/\*|#/g;
const TEXT_STOP = /[`\\$]/g;
const STRING_STOP = { '"': /["\\\n\r]/g, "'": /['\\\n\r]/g } as const;

/** The offset after the backtick that closes the template opened at `start`, found with one pass and a stack. */
function templateEnd(text: string, start: number): number | undefined {
  // One entry for each open template or brace; a template is -1, a brace within `${…}` is 1.
  const open: (-1 | 1)[] = [-1];
  let at = start + 1;
  while (open.length > 0) {
    if (open[open.length - 1] === -1) {
      TEXT_STOP.lastIndex = at;
      const found = TEXT_STOP.exec(text);
      if (found === null) return undefined;
      at = found.index + 1;
      if (found[0] === "`") open.pop();
      else if (found[0] === "\\") at += 1;
      else if (text[at] === "{") {
        open.push(1);
        at += 1;
      }
      continue;
    }
    CODE_STOP.lastIndex = at;
    const found = CODE_STOP.exec(text);
    if (found === null) return undefined;
    at = found.index + found[0].length;
    switch (found[0]) {
      case "`":
        open.push(-1);
        break;
      case "{":
        open.push(1);
        break;
      case "}":
        open.pop();
        break;
      case "//":
      case "#":
        at = restOfLine(text, at);
        break;
      case "/*": {
        const close = text.indexOf("*/", at);
        if (close === -1) return undefined;
        at = close + 2;
        break;
      }
      default:
        at = stringEnd(text, at, found[0] === '"' ? '"' : "'");
    }
  }
  return at;
}

/** The offset after the closing quote. Without one, `"` ends at the end of its line, and `'` is a single character. */
function stringEnd(text: string, from: number, quote: '"' | "'"): number {
  for (let at = from; ;) {
    const stop = STRING_STOP[quote];
    stop.lastIndex = at;
    const found = stop.exec(text);
    if (found !== null && found[0] === quote) return found.index + 1;
    if (found === null || found[0] !== "\\") return quote === "'" ? from : (found?.index ?? text.length);
    const next = text[found.index + 1];
    at = found.index + (next === undefined || next === "\n" || next === "\r" ? 1 : 2);
  }
}
