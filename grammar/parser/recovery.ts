/**
 * Where to go on after a mistake: pure questions about the token list. Indentation and line breaks mean nothing to
 * the grammar, but where a statement is broken they are the best evidence of what its author meant.
 */
import type { IToken } from "chevrotain";
import * as t from "../lexer/tokens.ts";
import { CHANNEL_WORDS, ITEM_WORDS } from "../words.ts";

export type BodyKind = "graph" | "plan" | "test";

/** The token list with the text it came from. */
export interface TokenText {
  readonly tokens: readonly IToken[];
  readonly text: string;
}

/** The number of characters before a token on its line if only blanks are there; `undefined` inside a line. */
export function columnAtLineStart(source: TokenText, index: number): number | undefined {
  const token = source.tokens[index];
  if (token === undefined) return undefined;
  let at = token.startOffset - 1;
  while (at >= 0 && (source.text[at] === " " || source.text[at] === "\t")) at -= 1;
  return at < 0 || source.text[at] === "\n" || source.text[at] === "\r" || source.text[at] === "\uFEFF"
    ? token.startOffset - at - 1
    : undefined;
}

function word(source: TokenText, index: number): string {
  const token = source.tokens[index];
  return token !== undefined && token.tokenType === t.Identifier ? token.image : "";
}

function is(source: TokenText, index: number, type: t.TokenType): boolean {
  return source.tokens[index]?.tokenType === type;
}

/** The first words of an item of a file: `graph x {`, `import {`, `type X =`. */
export function startsItem(source: TokenText, index: number): boolean {
  const first = word(source, index);
  if (!ITEM_WORDS.has(first) || is(source, index + 1, t.Arrow) || is(source, index + 1, t.Comma)) return false;
  switch (first) {
    case "import":
      return (
        is(source, index + 1, t.LeftBrace) ||
        (is(source, index + 1, t.Identifier) && is(source, index + 2, t.LeftBrace))
      );
    case "type":
      return is(source, index + 1, t.Identifier) && is(source, index + 2, t.Equal);
    case "secret":
      return is(source, index + 1, t.Identifier);
    case "test":
      return is(source, index + 1, t.Quoted);
    default:
      return is(source, index + 1, t.Identifier) && is(source, index + 2, t.LeftBrace);
  }
}

/** The first words of a statement of a graph, a plan or a test. */
export function startsStatement(source: TokenText, index: number, body: BodyKind): boolean {
  const first = word(source, index);
  if (first === "") return false;
  const second = source.tokens[index + 1]?.tokenType;
  if (body === "test") {
    if (first === "given" || first === "answer") return second === t.Identifier && is(source, index + 2, t.Equal);
    if (first === "mock") return second === t.Identifier;
    return first === "expect" && second !== t.Equal && second !== t.Colon;
  }
  if (body === "graph" && (second === t.Arrow || second === t.Comma)) return true;
  if (CHANNEL_WORDS.has(first)) return second === t.Identifier && is(source, index + 2, t.Colon);
  if (first === "max") return word(source, index + 1) === "parallel";
  if (body === "graph") {
    if (first === "node") return second === t.Identifier && is(source, index + 2, t.Equal);
    if (first === "limit") return word(source, index + 1) === "steps";
    if (first === "assert") return second === t.Identifier && is(source, index + 2, t.Identifier);
    return first === "all" && second === t.LeftParen;
  }
  if (first === "task") return second === t.Identifier && is(source, index + 2, t.Equal);
  if (first === "order") return word(source, index + 1) === "file";
  if (first === "on") return word(source, index + 1) === "failure";
  return first === "pool" && second === t.Identifier && is(source, index + 2, t.Numeral);
}

/**
 * The index to go on at after the statement that begins at `first` broke: the next statement or item at the start of
 * a line, or the brace that closes the body. A statement further left than the broken one counts even inside brackets,
 * which then were never closed.
 */
export function nextStatement(source: TokenText, first: number, body: BodyKind, ownerColumn: number): number {
  const column = columnAtLineStart(source, first) ?? 0;
  let depth = 0;
  for (let at = first; at < source.tokens.length; at += 1) {
    if (at > first) {
      const here = columnAtLineStart(source, at);
      if (here !== undefined) {
        if (here <= ownerColumn && startsItem(source, at)) return at;
        if ((depth === 0 || here <= column) && startsStatement(source, at, body)) return at;
      }
    }
    const type = source.tokens[at]?.tokenType;
    if (type === t.LeftBrace || type === t.LeftParen || type === t.LeftSquare || type === t.TemplateOpen) depth += 1;
    else if (type === t.RightParen || type === t.RightSquare) depth = Math.max(0, depth - 1);
    else if (type === t.RightBrace) {
      if (depth === 0) return at;
      depth -= 1;
    }
  }
  return source.tokens.length;
}

/** The index of the next item of the file after `first`. */
export function nextItem(source: TokenText, first: number, ownerColumn: number): number {
  for (let at = first + 1; at < source.tokens.length; at += 1) {
    const column = columnAtLineStart(source, at);
    if (column !== undefined && column <= ownerColumn && startsItem(source, at)) return at;
  }
  return source.tokens.length;
}

/** Names among the tokens of a broken statement. */
export function namesBetween(source: TokenText, from: number, to: number): string[] {
  const names = new Set<string>();
  for (let at = from; at < to; at += 1) {
    const name = word(source, at);
    if (name !== "") names.add(name);
  }
  return [...names];
}
