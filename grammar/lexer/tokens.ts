/**
 * The tokens of the text spelling and the Chevrotain lexer over them.
 *
 * Only the eight reserved words are keywords here; see `grammar/words.ts`. Two modes: `main`, and `template` between
 * backticks. `{` and `${` push `main`, `}` pops, so templates nest. Patterns without a bound on their length (strings,
 * comments, template text) are functions rather than regular expressions: linear, and without a backtracking stack.
 * Every character matches a token type (`Stray` as a last resort), so the lexer itself never reports an error.
 */
import { createToken, Lexer, type CustomPatternMatcherReturn, type IToken, type TokenType } from "chevrotain";
import { RESERVED_WORDS } from "../words.ts";
import { unterminatedTemplateEnd } from "./template-scan.ts";

export type Token = IToken;
export type { TokenType };

const END_OF_LINE = /[\n\r]/g;

/** The offset of the next line break, or of the end of the text. */
export function lineEnd(text: string, from: number): number {
  END_OF_LINE.lastIndex = from;
  const found = END_OF_LINE.exec(text);
  return found === null ? text.length : found.index;
}

function image(text: string, start: number, end: number): CustomPatternMatcherReturn {
  return [text.slice(start, end)];
}

const QUOTED_STOP = { '"': /["\\\n\r]/g, "'": /['\\\n\r]/g } as const;

/** The end of a quoted literal (after its closing quote); the end of its line when the quote is missing. */
function quotedEnd(text: string, start: number, quote: '"' | "'"): { end: number; closed: boolean } {
  const stop = QUOTED_STOP[quote];
  for (let at = start + 1; ;) {
    stop.lastIndex = at;
    const found = stop.exec(text);
    if (found === null) return { end: text.length, closed: false };
    if (found[0] === quote) return { end: found.index + 1, closed: true };
    if (found[0] !== "\\") return { end: found.index, closed: false };
    const next = text[found.index + 1];
    at = found.index + (next === undefined || next === "\n" || next === "\r" ? 1 : 2);
  }
}

const TEMPLATE_STOP = /[`\\$]/g;

/** The end of template text: before a backtick or `${`. */
function templateTextEnd(text: string, start: number): number {
  for (let at = start; ;) {
    TEMPLATE_STOP.lastIndex = at;
    const found = TEMPLATE_STOP.exec(text);
    if (found === null) return text.length;
    if (found[0] === "`" || (found[0] === "$" && text[found.index + 1] === "{")) return found.index;
    at = found.index + (found[0] === "\\" ? 2 : 1);
  }
}

export const Whitespace = createToken({ name: "Whitespace", pattern: /[ \t\r\n]+/, group: Lexer.SKIPPED });

export const DocComment = createToken({
  name: "DocComment",
  pattern: (text: string, offset: number) =>
    text.startsWith("///", offset) && text[offset + 3] !== "/" ? image(text, offset, lineEnd(text, offset)) : null,
  start_chars_hint: ["/"],
  line_breaks: false,
  group: "docs",
});

export const LineComment = createToken({
  name: "LineComment",
  pattern: (text: string, offset: number) =>
    text.startsWith("//", offset) ? image(text, offset, lineEnd(text, offset)) : null,
  start_chars_hint: ["/"],
  line_breaks: false,
  group: "comments",
});

export const BlockComment = createToken({
  name: "BlockComment",
  pattern: (text: string, offset: number) => {
    if (!text.startsWith("/*", offset)) return null;
    const close = text.indexOf("*/", offset + 2);
    return image(text, offset, close === -1 ? text.length : close + 2);
  },
  start_chars_hint: ["/"],
  line_breaks: true,
  group: "comments",
});

/** `-- …` or `<!-- …` at the start of a line. */
function startsForeignComment(text: string, offset: number): boolean {
  if (!text.startsWith("-- ", offset) && !text.startsWith("<!--", offset)) return false;
  let before = offset - 1;
  while (text[before] === " " || text[before] === "\t") before -= 1;
  return before < 0 || text[before] === "\n" || text[before] === "\r";
}

/** `# …`, and `-- …` and `<!-- …` at the start of a line: comments in other languages. Reported, then read as comments. */
export const HashComment = createToken({
  name: "HashComment",
  pattern: (text: string, offset: number) =>
    text[offset] === "#" || startsForeignComment(text, offset) ? image(text, offset, lineEnd(text, offset)) : null,
  start_chars_hint: ["#", "-", "<"],
  line_breaks: false,
  group: "comments",
});

/** A string in double quotes. Without its closing quote it ends at the end of its line. */
export const Quoted = createToken({
  name: "Quoted",
  label: "a string",
  pattern: (text: string, offset: number) =>
    text[offset] === '"' ? image(text, offset, quotedEnd(text, offset, '"').end) : null,
  start_chars_hint: ['"'],
  line_breaks: false,
});

/** `'x'`: a string of other languages, closed on its line. Any other apostrophe is a `Stray`. */
export const SingleQuoted = createToken({
  name: "SingleQuoted",
  pattern: (text: string, offset: number) => {
    if (text[offset] !== "'") return null;
    const { end, closed } = quotedEnd(text, offset, "'");
    return closed ? image(text, offset, end) : null;
  },
  start_chars_hint: ["'"],
  line_breaks: false,
});

export const TemplateStart = createToken({
  name: "TemplateStart",
  label: "`",
  pattern: (text: string, offset: number) =>
    text[offset] === "`" && unterminatedTemplateEnd(text, offset) === undefined
      ? image(text, offset, offset + 1)
      : null,
  start_chars_hint: ["`"],
  line_breaks: false,
  push_mode: "template",
});
/** A template without its closing backtick: the rest of its line. */
export const UnterminatedTemplate = createToken({
  name: "UnterminatedTemplate",
  pattern: (text: string, offset: number) => {
    const end = text[offset] === "`" ? unterminatedTemplateEnd(text, offset) : undefined;
    return end === undefined ? null : image(text, offset, end);
  },
  start_chars_hint: ["`"],
  line_breaks: false,
});

export const TemplateEnd = createToken({ name: "TemplateEnd", label: "`", pattern: "`", pop_mode: true });
export const TemplateOpen = createToken({ name: "TemplateOpen", label: "${", pattern: "${", push_mode: "main" });
export const TemplateText = createToken({
  name: "TemplateText",
  label: "template text",
  pattern: (text: string, offset: number) => {
    const end = templateTextEnd(text, offset);
    return end === offset ? null : image(text, offset, end);
  },
  line_breaks: true,
});
/** `${` outside a template: reported, then read as parentheses. */
export const StrayOpen = createToken({ name: "StrayOpen", label: "${", pattern: "${", push_mode: "main" });

export const LeftBrace = createToken({ name: "LeftBrace", label: "{", pattern: "{", push_mode: "main" });
export const RightBrace = createToken({ name: "RightBrace", label: "}", pattern: "}", pop_mode: true });

function symbol(name: string, pattern: string | RegExp, label?: string, categories: TokenType[] = []): TokenType {
  return createToken({ name, label: label ?? pattern.toString(), pattern, categories });
}

/** Every operator between two operands, those of other languages included. */
export const BinaryOperatorToken = createToken({ name: "BinaryOperatorToken", pattern: Lexer.NA });
const BINARY = [BinaryOperatorToken];

export const LeftParen = symbol("LeftParen", "(");
export const RightParen = symbol("RightParen", ")");
export const LeftSquare = symbol("LeftSquare", "[");
export const RightSquare = symbol("RightSquare", "]");
export const Comma = symbol("Comma", ",");
export const Colon = symbol("Colon", ":");
export const Semicolon = symbol("Semicolon", ";");
export const Arrow = symbol("Arrow", "->");
/** `-->`, `=>`: reported, then read as `->`. The bound keeps matching a long row of dashes linear. */
export const LongArrow = symbol("LongArrow", /-{2,8}>/, "-->");
export const FatArrow = symbol("FatArrow", "=>");
export const StrictEqual = symbol("StrictEqual", "===", undefined, BINARY);
export const StrictNotEqual = symbol("StrictNotEqual", "!==", undefined, BINARY);
export const EqualEqual = symbol("EqualEqual", "==", undefined, BINARY);
export const NotEqual = symbol("NotEqual", "!=", undefined, BINARY);
export const Equal = symbol("Equal", "=");
export const Not = symbol("Not", "!");
export const LessEqual = symbol("LessEqual", "<=", undefined, BINARY);
export const Less = symbol("Less", "<", undefined, BINARY);
export const GreaterEqual = symbol("GreaterEqual", ">=", undefined, BINARY);
export const Greater = symbol("Greater", ">", undefined, BINARY);
export const AndAnd = symbol("AndAnd", "&&", undefined, BINARY);
export const And = symbol("And", "&");
export const OrOr = symbol("OrOr", "||", undefined, BINARY);
export const Pipe = symbol("Pipe", "|");
export const QuestionDot = symbol("QuestionDot", /\?\.(?!\d)/, "?.");
export const QuestionQuestion = symbol("QuestionQuestion", "??", undefined, BINARY);
export const Question = symbol("Question", "?");
export const Spread = symbol("Spread", "...");
export const DotDot = symbol("DotDot", "..");
export const Dot = symbol("Dot", ".");
export const Plus = symbol("Plus", "+", undefined, BINARY);
export const Minus = symbol("Minus", "-", undefined, BINARY);
export const Star = symbol("Star", "*", undefined, BINARY);
export const Slash = symbol("Slash", "/", undefined, BINARY);
export const Percent = symbol("Percent", "%", undefined, BINARY);

/** `200ms`, `1.5h`. */
export const Duration = createToken({
  name: "Duration",
  label: "a duration such as `30s`",
  pattern: /\d+(?:\.\d+)?(?:ms|s|m|h|d)(?!\w)/,
});
export const Numeral = createToken({
  name: "Numeral",
  label: "a number",
  pattern: /\d+(?:\.\d+)?(?:[eE][+-]?\d+)?(?!\w|\.\d)/,
});
/**
 * Digits that run into letters (`5sec`, `0x1f`, `1_000`, `1.2.3`): reported, then read as the literal that they
 * resemble.
 */
export const BadNumber = createToken({ name: "BadNumber", pattern: /\d\w*(?:\.\d\w*)*/ });

function reserved(word: (typeof RESERVED_WORDS)[number], categories: TokenType[] = []): TokenType {
  return createToken({
    name: `${word[0]?.toUpperCase() ?? ""}${word.slice(1)}Word`,
    label: word,
    pattern: new RegExp(`${word}(?!\\w)`),
    categories,
  });
}
export const ReservedWord = createToken({ name: "ReservedWord", pattern: Lexer.NA });
export const True = reserved("true", [ReservedWord]);
export const False = reserved("false", [ReservedWord]);
export const Null = reserved("null", [ReservedWord]);
export const Match = reserved("match", [ReservedWord]);
export const Else = reserved("else", [ReservedWord]);
export const In = reserved("in", [ReservedWord, BinaryOperatorToken]);
export const When = reserved("when", [ReservedWord]);
export const Otherwise = reserved("otherwise", [ReservedWord]);

export const Identifier = createToken({ name: "Identifier", label: "a name", pattern: /[A-Za-z_]\w*/ });

const wordTypes = new Map<string, TokenType>();

/**
 * The token type of a word that is a keyword in some places. The lexer produces identifiers only; these types appear in
 * the recorded grammar, and in the tokens for content assist.
 */
export function wordType(word: string): TokenType {
  let type = wordTypes.get(word);
  if (type === undefined) {
    type = createToken({ name: `'${word}'`, label: word, pattern: Lexer.NA, categories: Identifier });
    wordTypes.set(word, type);
  }
  return type;
}

/** A character that begins no other token, or a run with non-ASCII letters. Reported, then skipped or replaced. */
export const Stray = createToken({
  name: "Stray",
  pattern: strayPattern,
  // Chevrotain selects candidate patterns by first character. It groups characters beyond 255 into blocks.
  start_chars_hint: Array.from({ length: 256 + 512 }, (_, at) => (at < 256 ? at : (at - 256) * 128)),
  line_breaks: true,
});

const NON_ASCII_WORD =
  /(?:[\w\u00aa-\u1fff\u2c00-\u2dff\u3040-\ud7ff\uf900-\ufdcf\ufe70-\ufefc\uff10-\uffdc]|[\ud800-\udbff][\udc00-\udfff])+/y;

function strayPattern(text: string, offset: number): CustomPatternMatcherReturn {
  NON_ASCII_WORD.lastIndex = offset;
  const word = NON_ASCII_WORD.exec(text);
  return [word === null ? text.slice(offset, offset + 1) : word[0]];
}

/** The token types of the main mode. The first type that matches is used. */
const MAIN: TokenType[] = [
  Whitespace,
  Identifier,
  DocComment,
  LineComment,
  BlockComment,
  HashComment,
  Quoted,
  SingleQuoted,
  TemplateStart,
  UnterminatedTemplate,
  StrayOpen,
  LeftBrace,
  RightBrace,
  LeftParen,
  RightParen,
  LeftSquare,
  RightSquare,
  Comma,
  Colon,
  Semicolon,
  Arrow,
  LongArrow,
  StrictEqual,
  StrictNotEqual,
  EqualEqual,
  NotEqual,
  FatArrow,
  Equal,
  Not,
  LessEqual,
  Less,
  GreaterEqual,
  Greater,
  AndAnd,
  And,
  OrOr,
  Pipe,
  QuestionDot,
  QuestionQuestion,
  Question,
  Spread,
  DotDot,
  Dot,
  Plus,
  Minus,
  Star,
  Slash,
  Percent,
  Duration,
  Numeral,
  BadNumber,
  Stray,
];
// Reserved words precede `Identifier`, which matches them too.
MAIN.splice(1, 0, True, False, Null, Match, Else, In, When, Otherwise);

const MODES = { main: MAIN, template: [TemplateEnd, TemplateOpen, TemplateText, Stray] };

/** Every token type, categories included: the parser's vocabulary. */
export const VOCABULARY: TokenType[] = [...new Set([...MAIN, ...MODES.template, BinaryOperatorToken, ReservedWord])];

/** Creates a lexer. `validate` checks the token definitions; only a test sets it, because the check slows start-up. */
export function createLexer(validate = false): Lexer {
  return new Lexer(
    { modes: MODES, defaultMode: "main" },
    {
      positionTracking: "onlyOffset",
      ensureOptimizations: false,
      skipValidations: !validate,
      errorMessageProvider: { buildUnexpectedCharactersMessage: () => "", buildUnableToPopLexerModeMessage: () => "" },
    },
  );
}
