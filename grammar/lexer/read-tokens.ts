/**
 * From text to the tokens of the parser. Characters and operators of other languages are reported here and replaced by
 * their equivalents, so that the parser continues with valid tokens.
 */
import {
  badLiteral,
  forbiddenCharacter,
  replacement,
  syntaxProblem,
  unterminated,
  unterminatedTemplate,
} from "../../diagnostics/catalog/syntax.ts";
import type { Diagnostic, Place } from "../../diagnostics/diagnostic.ts";
import type { Comment } from "../ast.ts";
import { inOneUnit, unitOf } from "../literals.ts";
import { placeAt, report, spanAt, type Reading } from "../reading.ts";
import { resetTemplateScan } from "./template-scan.ts";
import * as t from "./tokens.ts";

/** The longest identifier or number. Longer ones are reported but still read. */
const LONGEST_WORD = 65_536;

export interface Tokens {
  readonly tokens: t.Token[];
  readonly comments: Comment[];
  /** `///` comments. Those that document no declaration become comments. */
  readonly docs: t.Token[];
  /**
   * The `;` tokens, keyed by the start of the next token. They are reported after parsing, because a `;` in place of a
   * comma has another message.
   */
  readonly semicolons: Map<number, t.Token>;
}

const lexer = { instance: undefined as ReturnType<typeof t.createLexer> | undefined };

export function readTokens(reading: Reading): Tokens {
  const result = tokenize(reading.text);
  const semicolons = new Map<number, t.Token>();
  const tokens = replaceForeign(reading, result.tokens, semicolons);
  const comments = (result.groups["comments"] ?? []).map((token) => readComment(reading, token));
  const docs = result.groups["docs"] ?? [];
  for (const doc of docs) checkCharacters(reading, doc);
  return { tokens, comments, docs, semicolons };
}

/**
 * Tokenizes a text and recovers from missing backticks. A template without its closing backtick extends to the next
 * backtick, on a later line. There are two signs of this: a letter, digit, `_` or backtick directly follows that
 * backtick, or an unterminated template begins on its line. The first template is then ended at the end of its first
 * line, and the text is tokenized again.
 */
function tokenize(text: string) {
  lexer.instance ??= t.createLexer();
  const unclosed = new Set<number>();
  for (;;) {
    resetTemplateScan(unclosed);
    const result = lexer.instance.tokenize(text);
    resetTemplateScan();
    const start = unclosed.size < MOST_RESCANS ? startOfUnclosed(text, result.tokens) : undefined;
    if (start === undefined) return result;
    unclosed.add(start);
  }
}

/** Bounds the cost of missing backticks: each rescan tokenizes the whole text. */
const MOST_RESCANS = 8;

function startOfUnclosed(text: string, tokens: readonly t.Token[]): number | undefined {
  if (!text.includes("`")) return undefined;
  const open: number[] = [];
  let closed: { readonly start: number; readonly end: number } | undefined;
  for (const token of tokens) {
    if (token.tokenType === t.TemplateStart) open.push(token.startOffset);
    else if (token.tokenType === t.TemplateEnd) {
      const start = open.pop() ?? 0;
      closed = hasLineBreak(text, start, token.startOffset) ? { start, end: token.startOffset } : undefined;
      if (closed !== undefined && /[\w`]/.test(text[token.startOffset + 1] ?? "")) return start;
    } else if (token.tokenType === t.UnterminatedTemplate && closed !== undefined) {
      if (!hasLineBreak(text, closed.end, token.startOffset)) return closed.start;
    }
  }
  return undefined;
}

function hasLineBreak(text: string, start: number, end: number): boolean {
  return t.lineEnd(text, start) < end;
}

/** Reports every `;`. If the parser read it as a comma, the message asks for a comma. */
export function reportSemicolons(
  reading: Reading,
  semicolons: Tokens["semicolons"],
  asCommas: ReadonlySet<t.Token>,
): void {
  for (const token of semicolons.values()) {
    const at = place(reading, token);
    const isComma = asCommas.has(token);
    const fixes = [replacement(isComma ? "replace with a comma" : "delete it", at.span, isComma ? "," : "")];
    const message = isComma ? "fields are separated by `,`, not `;`" : "`;` is not needed: statements end without it";
    report(reading, syntaxProblem(at, { message, label: isComma ? "write `,`" : "delete it", fixes }));
  }
}

export function endOf(token: t.Token): number {
  return token.startOffset + token.image.length;
}

/** Whether a token type needs a check or a replacement before parsing, by `tokenTypeIdx`. */
const WATCHED: readonly boolean[] = watch([
  t.Stray,
  t.Semicolon,
  t.SingleQuoted,
  t.UnterminatedTemplate,
  t.LongArrow,
  t.FatArrow,
  t.StrictEqual,
  t.StrictNotEqual,
  t.And,
  t.BadNumber,
  t.Dot,
  t.Quoted,
]);

function watch(types: readonly t.TokenType[]): boolean[] {
  const watched: boolean[] = t.VOCABULARY.map(() => false);
  for (const type of types) watched[type.tokenTypeIdx ?? 0] = true;
  return watched;
}

/** Replaces the tokens in their own list: a large text has a million of them. */
function replaceForeign(reading: Reading, tokens: t.Token[], semicolons: Map<number, t.Token>): t.Token[] {
  let kept = 0;
  let pending: t.Token | undefined;
  for (const token of tokens) {
    if (token.image.length > LONGEST_WORD) checkLength(reading, token);
    let use: t.Token | undefined = token;
    if (WATCHED[token.tokenTypeIdx] === true) {
      if (token.tokenType === t.Semicolon) {
        pending = token;
        continue;
      }
      use = replaced(reading, token, tokens, kept - 1);
    }
    if (use === undefined) continue;
    if (pending !== undefined) {
      semicolons.set(use.startOffset, pending);
      pending = undefined;
    }
    tokens[kept] = use;
    kept += 1;
  }
  if (pending !== undefined) semicolons.set(reading.text.length, pending);
  tokens.length = kept;
  return tokens;
}

function as(token: t.Token, tokenType: t.Token["tokenType"]): t.Token {
  return { ...token, tokenType, tokenTypeIdx: tokenType.tokenTypeIdx ?? 0 };
}

function place(reading: Reading, token: t.Token) {
  return placeAt(reading, token.startOffset, endOf(token));
}

/**
 * The token that replaces this one; `undefined` if it is skipped.
 *
 * @param last the index of the token before it
 */
function replaced(reading: Reading, token: t.Token, tokens: t.Token[], last: number): t.Token | undefined {
  const at = place(reading, token);
  const foreign = (use: string, type: t.Token["tokenType"], message: string, help?: string) => {
    const fixes = [replacement(`replace with \`${use}\``, at.span, use)];
    report(reading, syntaxProblem(at, { message, label: `write \`${use}\``, help, fixes }));
    return as(token, type);
  };
  switch (token.tokenType) {
    case t.Quoted:
      if (isClosed(token.image)) return token;
      report(reading, unterminated(at, "string", '"', [closeString(at)]));
      return token;
    case t.UnterminatedTemplate:
      report(reading, unterminatedTemplate(at));
      return token;
    case t.SingleQuoted:
      return foreign(doubleQuoted(token.image), t.Quoted, "strings are written in double quotes");
    case t.FatArrow:
    case t.LongArrow:
      // The parser reports the token where an arrow is valid. Elsewhere, as in `x => x.name`, the error is another one.
      return as(token, t.Arrow);
    case t.StrictEqual:
      return foreign("==", t.EqualEqual, "`===` is not an operator here", "`==` is strict already");
    case t.StrictNotEqual:
      return foreign("!=", t.NotEqual, "`!==` is not an operator here", "`!=` is strict already");
    case t.And:
      return foreign("&&", t.AndAnd, "`&` is not an operator here", "to require both, write `&&`");
    case t.BadNumber:
      report(reading, badNumber(reading, token));
      return as(token, /^\d+(?:\.\d+)?[A-Za-z]+$/.test(token.image) ? t.Duration : t.Numeral);
    case t.Dot:
      return pointOfNumber(reading, token, tokens[last]);
    default:
      return stray(reading, token, tokens, last);
  }
}

/** A point after a whole number and without digits, `5.`, is reported and skipped. */
function pointOfNumber(reading: Reading, token: t.Token, number: t.Token | undefined): t.Token | undefined {
  const isNumber = number?.tokenType === t.Numeral && endOf(number) === token.startOffset && /^\d+$/.test(number.image);
  if (!isNumber || /^[\w.]/.test(reading.text.slice(endOf(token), endOf(token) + 1))) return token;
  const at = placeAt(reading, number.startOffset, endOf(token));
  const use = `${number.image}.0`;
  report(
    reading,
    badLiteral(at, {
      message: `\`${shorten(number.image)}.\` has no digits after its point`,
      label: `write \`${shorten(use)}\``,
      fixes: [replacement(`write \`${shorten(use)}\``, at.span, use)],
    }),
  );
  return undefined;
}

function isClosed(image: string): boolean {
  if (image.length < 2 || !image.endsWith('"')) return false;
  let backslashes = 0;
  while (image[image.length - 2 - backslashes] === "\\") backslashes += 1;
  return backslashes % 2 === 0;
}

function closeString({ span: { end } }: Place) {
  return replacement('close it with `"`', { start: end, end }, '"');
}

function doubleQuoted(image: string): string {
  return `"${image.slice(1, -1).replace(/\\'|"/g, (found) => (found === '"' ? '\\"' : "'"))}"`;
}

function badNumber(reading: Reading, token: t.Token): Diagnostic {
  const at = place(reading, token);
  const { image } = token;
  const unit = /^(\d+(?:\.\d+)?)([A-Za-z]+)$/.exec(image);
  const short = unit === null ? undefined : unitOf(unit[2] ?? "");
  const use =
    short !== undefined
      ? `${unit?.[1] ?? ""}${short}`
      : image.includes("_")
        ? image.replaceAll("_", "")
        : inOneUnit(image);
  return badLiteral(at, {
    message: `\`${shorten(image)}\` is neither a number nor a duration`,
    label: use === undefined ? "digits run into letters" : `write \`${use}\``,
    help: "numbers are decimal (`1`, `0.5`, `1e3`); the units of durations are `ms`, `s`, `m`, `h` and `d`; names begin with a letter",
    fixes:
      use === undefined || !/^[\d.]+(?:ms|[smhd])?$/.test(use) ? [] : [replacement(`write \`${use}\``, at.span, use)],
  });
}

export function shorten(text: string): string {
  return text.length > 40 ? `${text.slice(0, 39)}…` : text;
}

/** Reports a character that is not allowed here, and skips it or replaces it by a token that it resembles. */
function stray(reading: Reading, token: t.Token, tokens: t.Token[], last: number): t.Token | undefined {
  const at = place(reading, token);
  const { image } = token;
  const code = image.codePointAt(0) ?? 0;
  const previous = tokens[last];
  const joins = previous !== undefined && previous.tokenType === t.Identifier && endOf(previous) === token.startOffset;
  if (image === "\uFEFF" && token.startOffset === 0) return undefined;
  if (image === "\u2192" || image === "\u21D2") {
    const fixes = [replacement("replace with `->`", at.span, "->")];
    report(
      reading,
      forbiddenCharacter(at, { character: `\`${image}\``, why: "is not an arrow here", help: "write `->`", fixes }),
    );
    return as(token, t.Arrow);
  }
  if (isForbidden(code)) {
    report(reading, forbidden(at, code));
    return undefined;
  }
  if (code > 127 && /^[\p{L}\p{M}\p{N}_]+$/u.test(image)) {
    const whole = joins ? `${previous.image}${image}` : image;
    const name = placeAt(reading, joins ? previous.startOffset : token.startOffset, endOf(token));
    const ascii = withoutLookAlikes(whole);
    if (ascii !== undefined) {
      report(reading, lookAlike(name, whole, ascii));
      const fixed = { ...as(token, t.Identifier), image: ascii, startOffset: token.startOffset };
      if (!joins) return fixed;
      tokens[last] = { ...previous, image: ascii };
      return undefined;
    }
    const help = "names consist of the letters A to Z, digits and `_`; other text belongs in strings and comments";
    report(reading, forbiddenCharacter(name, { character: `\`${shorten(whole)}\``, why: "is not a name", help }));
    if (!joins) return as(token, t.Identifier);
    tokens[last] = { ...previous, image: whole };
    return undefined;
  }
  if (code > 127) {
    report(reading, forbidden(at, code));
    return undefined;
  }
  report(
    reading,
    syntaxProblem(at, {
      message: `\`${image}\` has no meaning here`,
      label: "unexpected character",
      help: image === "$" || image === "@" ? "a name is written without a sign before it" : undefined,
    }),
  );
  return undefined;
}

/** The Cyrillic and Greek letters that look like ASCII letters in most fonts. */
const LOOK_ALIKES: ReadonlyMap<string, string> = new Map([
  ...pairs("аеорсухіѕјԁһԛԝАВЕКМНОРСТХУІЅЈ", "aeopcyxisjdhqwABEKMHOPCTXYISJ"),
  ...pairs("οναιΑΒΕΖΗΙΚΜΝΟΡΤΥΧ", "ovaiABEZHIKMNOPTYX"),
]);

function pairs(letters: string, ascii: string): [string, string][] {
  return [...letters].map((letter, at) => [letter, ascii[at] ?? ""]);
}

/** The ASCII spelling of a name in which every non-ASCII letter is a look-alike; otherwise `undefined`. */
function withoutLookAlikes(name: string): string | undefined {
  const ascii = [...name].map((letter) => LOOK_ALIKES.get(letter) ?? letter).join("");
  return /^[A-Za-z_]\w*$/.test(ascii) ? ascii : undefined;
}

/** Reports a name with letters that look like ASCII letters; `undefined` for any other name. */
export function lookAlikeName(at: Place, name: string): Diagnostic | undefined {
  const ascii = withoutLookAlikes(name);
  return ascii === undefined || ascii === name ? undefined : lookAlike(at, name, ascii);
}

function lookAlike(at: Place, name: string, ascii: string): Diagnostic {
  const letter = [...name].find((each) => LOOK_ALIKES.has(each)) ?? "";
  const script = /\p{Script=Greek}/u.test(letter) ? "Greek" : "Cyrillic";
  const code = letter.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0");
  return forbiddenCharacter(at, {
    character: `\`${shorten(name)}\``,
    why: `contains the ${script} letter \`${letter}\` (U+${code}), which looks like \`${LOOK_ALIKES.get(letter) ?? ""}\``,
    help: "names consist of the letters A to Z, digits and `_`",
    fixes: [replacement(`write \`${shorten(ascii)}\` in ASCII`, at.span, ascii)],
  });
}

/** Control characters, and those that reorder the text around them on screen. */
function isForbidden(code: number): boolean {
  return (
    (code < 0x20 && code !== 0x09 && code !== 0x0a && code !== 0x0d) ||
    (code >= 0x7f && code <= 0x9f) ||
    isBidirectional(code) ||
    code === 0x2028 ||
    code === 0x2029 ||
    code === 0xfeff ||
    (code >= 0x200b && code <= 0x200d)
  );
}

function isBidirectional(code: number): boolean {
  return (
    code === 0x061c ||
    code === 0x200e ||
    code === 0x200f ||
    (code >= 0x202a && code <= 0x202e) ||
    (code >= 0x2066 && code <= 0x2069)
  );
}

function forbidden(at: ReturnType<typeof place>, code: number): Diagnostic {
  const name = `U+${code.toString(16).toUpperCase().padStart(4, "0")}`;
  const quote = code === 0x201c || code === 0x201d || code === 0x201e || code === 0x2018 || code === 0x2019;
  const space = code === 0xa0 || (code >= 0x2000 && code <= 0x200a) || code === 0x202f || code === 0x3000;
  const what = isBidirectional(code)
    ? "a bidirectional control character"
    : quote
      ? "a typographic quote"
      : space
        ? "a space that is not a plain space"
        : code < 0xa0
          ? "a control character"
          : `the character \`${String.fromCodePoint(code)}\``;
  const use = quote ? '"' : space ? " " : "";
  return forbiddenCharacter(at, {
    character: `${what} (${name})`,
    why: "is not allowed outside strings",
    help: quote
      ? 'strings are written in plain double quotes: `"`'
      : `inside a string it can be written \`\\u${code.toString(16).padStart(4, "0")}\``,
    fixes: [replacement(use === "" ? "delete it" : `replace with a plain ${quote ? "quote" : "space"}`, at.span, use)],
  });
}

function checkLength(reading: Reading, token: t.Token): void {
  if (token.tokenType === t.Identifier) {
    report(
      reading,
      syntaxProblem(place(reading, token), { message: `this name is longer than ${LONGEST_WORD} characters` }),
    );
  } else if (token.tokenType === t.Numeral || token.tokenType === t.Duration) {
    report(
      reading,
      badLiteral(place(reading, token), { message: `this number is longer than ${LONGEST_WORD} characters` }),
    );
  }
}

// Comments ------------------------------------------------------------------------------------------

const FORBIDDEN_IN_COMMENT =
  // eslint-disable-next-line no-control-regex -- the pattern looks for control characters
  /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/;

/** Comments may contain any script, but no characters that make the surrounding text look different. */
function checkCharacters(reading: Reading, token: t.Token): void {
  const found = FORBIDDEN_IN_COMMENT.exec(token.image);
  if (found === null) return;
  const start = token.startOffset + found.index;
  report(reading, forbidden(placeAt(reading, start, start + 1), found[0].charCodeAt(0)));
}

function readComment(reading: Reading, token: t.Token): Comment {
  checkCharacters(reading, token);
  const span = spanAt(reading, token.startOffset, endOf(token));
  const isBlock = token.tokenType === t.BlockComment;
  if (isBlock && (token.image.length < 4 || !token.image.endsWith("*/"))) {
    report(
      reading,
      unterminated({ file: reading.source, span: { start: span.start, end: span.start + 2 } }, "comment", "*/"),
    );
  }
  if (token.tokenType === t.HashComment) {
    const written = /^(#|--|<!--)/.exec(token.image)?.[0] ?? "#";
    const mark = spanAt(reading, token.startOffset, token.startOffset + written.length);
    const fixes = [replacement("begin the comment with `//`", mark, "//")];
    report(
      reading,
      syntaxProblem(
        { file: reading.source, span: mark },
        { message: `comments begin with \`//\`, not \`${written}\``, label: "write `//`", fixes },
      ),
    );
  }
  return { kind: isBlock ? "BlockComment" : "LineComment", span, text: token.image };
}
