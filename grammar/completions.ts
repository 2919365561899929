/** Content assist for editors: the tokens that the grammar allows at a place of a text. */
import type { IToken, TokenType } from "chevrotain";
import { SourceFile } from "../diagnostics/source.ts";
import { endOf, readTokens } from "./lexer/read-tokens.ts";
import * as t from "./lexer/tokens.ts";
import { NgraphParser } from "./parser/file-rules.ts";
import { columnAtLineStart, startsItem, startsStatement, type BodyKind, type TokenText } from "./parser/recovery.ts";
import { newReading } from "./reading.ts";

export interface Completion {
  /** `name`: any name may follow, and `text` is empty. `literal`: `text` describes one, such as "a string". */
  readonly kind: "word" | "symbol" | "name" | "literal";
  readonly text: string;
}

/** The parser with the recorded grammar; created on first use, because recording takes 20 ms. */
let recorded: NgraphParser | undefined;

/** Operators of other languages. `readTokens` reports and replaces them, so they are not suggested. */
const FOREIGN: ReadonlySet<TokenType> = new Set([t.StrictEqual, t.StrictNotEqual]);

/**
 * The words, symbols, names and literals that are allowed at an offset of a text, sorted by kind and text. A word that
 * begins before the offset is a prefix of the result. Empty inside strings, template text and comments, and where the
 * text before the offset does not fit the grammar. The cost depends on the statement at the offset, not on the size of
 * the text before it.
 *
 * @example
 * completionsAt("graph g { node a = f() in", 25); // [{ kind: "word", text: "in" }, { kind: "word", text: "into" }]
 */
export function completionsAt(text: string, offset: number): Completion[] {
  const typed = /[A-Za-z_]\w*$/.exec(text.slice(0, offset))?.[0] ?? "";
  const from = offset - typed.length;
  const reading = newReading(new SourceFile("input.ngraph", text), text);
  const { tokens, comments, docs } = readTokens(reading);
  if (comments.some(({ span }) => span.start < offset && offset <= span.end)) return [];
  if (docs.some((doc) => doc.startOffset < offset && offset <= endOf(doc))) return [];
  if (tokens.some((token) => isInsideText(token, offset))) return [];
  const before = tokens.filter((token) => token.startOffset < from);
  recorded ??= new NgraphParser(true);
  const prefix = statementTokens({ tokens: before, text }).map(withWordType);
  const found = new Map<string, Completion>();
  for (const { nextTokenType } of recorded.computeContentAssist("file", prefix)) {
    for (const completion of completionsOf(nextTokenType)) {
      if (typed !== "" && completion.kind !== "name" && !completion.text.startsWith(typed)) continue;
      found.set(`${completion.kind} ${completion.text}`, completion);
    }
  }
  return [...found.values()].sort((a, b) => compare(a.kind, b.kind) || compare(a.text, b.text));
}

function isInsideText({ tokenType, startOffset, image }: IToken, offset: number): boolean {
  const end = startOffset + image.length;
  if (tokenType === t.TemplateText) return startOffset < offset && offset <= end;
  return startOffset < offset && offset < end && (tokenType === t.Quoted || tokenType === t.UnterminatedTemplate);
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** Sets the token type of an identifier to the type of its word, so that it matches the keywords of the grammar. */
function withWordType(token: IToken): IToken {
  if (token.tokenType !== t.Identifier) return token;
  const tokenType = t.wordType(token.image);
  return { ...token, tokenType, tokenTypeIdx: tokenType.tokenTypeIdx ?? 0 };
}

/**
 * The tokens that decide which tokens may follow: the head of the last item up to its brace, and its last statement.
 * The complete statements between the two are left out.
 */
function statementTokens(source: TokenText): readonly IToken[] {
  let item = 0;
  source.tokens.forEach((_, at) => {
    if (columnAtLineStart(source, at) !== undefined && startsItem(source, at)) item = at;
  });
  const word = source.tokens[item]?.image;
  const body: BodyKind | undefined = word === "graph" || word === "plan" || word === "test" ? word : undefined;
  if (body === undefined) return source.tokens.slice(item);
  let depth = 0;
  let brace: number | undefined;
  let statement: number | undefined;
  for (let at = item; at < source.tokens.length; at += 1) {
    const type = source.tokens[at]?.tokenType;
    if (depth === 1 && columnAtLineStart(source, at) !== undefined && startsStatement(source, at, body)) statement = at;
    if (type === t.LeftBrace || type === t.LeftParen || type === t.LeftSquare || type === t.TemplateOpen) {
      depth += 1;
      brace ??= at;
    } else if (type === t.RightBrace || type === t.RightParen || type === t.RightSquare) depth -= 1;
  }
  if (brace !== undefined && depth === 0) return [];
  if (brace === undefined || statement === undefined) return source.tokens.slice(item);
  return [...source.tokens.slice(item, brace + 1), ...source.tokens.slice(statement)];
}

function completionsOf(type: TokenType): readonly Completion[] {
  if (type === t.Identifier) return [{ kind: "name", text: "" }];
  if (type === t.BinaryOperatorToken || type === t.ReservedWord) {
    return t.VOCABULARY.filter((member) => member.CATEGORIES?.includes(type) === true && !FOREIGN.has(member)).flatMap(
      completionsOf,
    );
  }
  const text = type.LABEL ?? type.name;
  if (/^[a-z]+$/.test(text)) return [{ kind: "word", text }];
  return [{ kind: text.includes(" ") ? "literal" : "symbol", text }];
}
