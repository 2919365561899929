/**
 * Finds the place to continue after an error: pure functions over the token list. Indentation and line breaks mean
 * nothing to the grammar, but in a broken statement they are the best evidence of the intended structure.
 */
import type { IToken, TokenType } from "chevrotain";
import * as t from "../lexer/tokens.ts";
import { CHANNEL_WORDS, CLAUSE_WORDS, GRAPH_WORDS, ITEM_WORDS, POLICY_WORDS, TEST_WORDS } from "../words.ts";

const LIMIT_WORDS: ReadonlySet<string> = new Set(["steps", "tokens", "cost"]);
const ASSERTION_WORDS: ReadonlySet<string> = new Set(["once", "eventually", "never"]);

export type BodyKind = "graph" | "plan" | "test";

/** The token list with the text it came from. */
export interface TokenText {
  readonly tokens: readonly IToken[];
  readonly text: string;
}

/** The column of a token that begins its line; `undefined` inside a line. */
export function columnAtLineStart(source: TokenText, index: number): number | undefined {
  const token = source.tokens[index];
  if (token === undefined) return undefined;
  let at = token.startOffset - 1;
  while (at >= 0 && (source.text[at] === " " || source.text[at] === "\t")) at -= 1;
  const before = source.text[at];
  const isStart = at < 0 || before === "\n" || before === "\r" || before === "\uFEFF";
  return isStart ? token.startOffset - at - 1 : undefined;
}

function word(source: TokenText, index: number): string {
  const token = source.tokens[index];
  return token !== undefined && token.tokenType === t.Identifier ? token.image : "";
}

function is(source: TokenText, index: number, type: TokenType): boolean {
  return source.tokens[index]?.tokenType === type;
}

/** The first tokens of an item of a file: `graph x {`, `import {`, `type X =`. */
export function startsItem(source: TokenText, index: number): boolean {
  const first = word(source, index);
  if (first === "" || !ITEM_WORDS.has(first)) return false;
  const named = is(source, index + 1, t.Identifier);
  switch (first) {
    case "import":
      return (
        is(source, index + 1, t.LeftBrace) ||
        is(source, index + 1, t.Star) ||
        is(source, index + 1, t.Quoted) ||
        (named && !is(source, index + 2, t.Arrow))
      );
    case "type":
      return named && is(source, index + 2, t.Equal);
    case "const":
      return named && is(source, index + 2, t.Equal);
    case "secret":
      return named;
    case "test":
      return is(source, index + 1, t.Quoted);
    default:
      if (is(source, index + 1, t.LeftBrace) || (named && is(source, index + 2, t.LeftBrace))) return true;
      return first === "graph" && named && word(source, index + 2) === "was" && is(source, index + 3, t.Identifier);
  }
}

/** The first tokens of a statement of a graph, a plan or a test. */
export function startsStatement(source: TokenText, index: number, body: BodyKind): boolean {
  const first = word(source, index);
  if (first === "") return false;
  if (body === "graph" && (is(source, index + 1, t.Arrow) || is(source, index + 1, t.Comma))) return true;
  return startsDeclaration(source, index, body);
}

/** As `startsStatement`, without edges: tokens that cannot occur inside an expression. */
export function startsDeclaration(source: TokenText, index: number, body: BodyKind): boolean {
  const first = word(source, index);
  const named = is(source, index + 1, t.Identifier);
  if (body === "test") {
    if (first === "given" || first === "answer") return named && is(source, index + 2, t.Equal);
    if (first === "mock") return named;
    if (first === "signal") return (named || is(source, index + 1, t.Quoted)) && is(source, index + 2, t.Equal);
    return first === "expect" && (named || is(source, index + 1, t.LeftParen) || is(source, index + 1, t.Not));
  }
  if (CHANNEL_WORDS.has(first)) return named && is(source, index + 2, t.Colon);
  const next = word(source, index + 1);
  // Two words can also be a name at the end of an edge and the source of the next one: `a -> b, on  failure -> c`.
  const isPair = next !== "" && !is(source, index + 2, t.Arrow) && !is(source, index + 2, t.Comma);
  if (first === "max") return isPair && next === "parallel";
  if (body === "graph") {
    if (first === "node") return named && is(source, index + 2, t.Equal);
    if (first === "derive") return named && (is(source, index + 2, t.Equal) || is(source, index + 2, t.Colon));
    if (first === "defaults") return is(source, index + 1, t.LeftBrace);
    if (first === "limit") return isPair && LIMIT_WORDS.has(next);
    if (first === "assert") return isPair && (ASSERTION_WORDS.has(next) || word(source, index + 2) === "before");
    if (first === "drop") {
      // At the end of a line it is a node, the last target of an edge.
      const isNode = is(source, index + 2, t.Arrow) || columnAtLineStart(source, index + 1) !== undefined;
      return named && !isNode && !startsEdgeClause(source, index + 1);
    }
    return (first === "all" || first === "settled" || first === "any") && is(source, index + 1, t.LeftParen);
  }
  if (first === "finally") return next === "task" && startsDeclaration(source, index + 1, body);
  if (first === "task") return named && is(source, index + 2, t.Equal);
  if (first === "order") return isPair && next === "file";
  if (first === "on") return isPair && next === "failure";
  return first === "pool" && named && is(source, index + 2, t.Numeral);
}

/** The words after the last target of an edge: `a -> b, drop on error`. */
function startsEdgeClause(source: TokenText, index: number): boolean {
  const first = word(source, index);
  return first === "when" || first === "otherwise" || (first === "on" && word(source, index + 1) === "error");
}

/** As `startsStatement`, without lists of sources: tokens that cannot occur inside an expression. */
export function startsOwnStatement(source: TokenText, index: number, body: BodyKind): boolean {
  const isEdge = body === "graph" && is(source, index, t.Identifier) && is(source, index + 1, t.Arrow);
  return isEdge || startsDeclaration(source, index, body);
}

/** Whether a statement of any body, or an item, begins here. Recovery never extends brackets over it. */
function startsAnything(source: TokenText, index: number): boolean {
  return (
    startsDeclaration(source, index, "graph") ||
    startsDeclaration(source, index, "plan") ||
    startsItem(source, index) ||
    (is(source, index, t.Identifier) && is(source, index + 1, t.Arrow))
  );
}

function opens(type: TokenType | undefined): TokenType | undefined {
  switch (type) {
    case t.LeftParen:
      return t.RightParen;
    case t.LeftSquare:
      return t.RightSquare;
    case t.LeftBrace:
    case t.TemplateOpen:
    case t.StrayOpen:
      return t.RightBrace;
    case t.TemplateStart:
      return t.TemplateEnd;
    default:
      return undefined;
  }
}

function closes(type: TokenType | undefined): boolean {
  return type === t.RightParen || type === t.RightSquare || type === t.RightBrace || type === t.TemplateEnd;
}

/**
 * The index of the bracket that closes the one at `open`; `undefined` when a statement begins at the start of a line
 * before it, or brackets are crossed.
 */
export function closingBracket(source: TokenText, open: number): number | undefined {
  const expected: TokenType[] = [];
  for (let at = open; at < source.tokens.length; at += 1) {
    const type = source.tokens[at]?.tokenType;
    const close = opens(type);
    if (close !== undefined) expected.push(close);
    else if (closes(type)) {
      // A bracket that was never closed ends with the enclosing one.
      while (expected.length > 0 && expected[expected.length - 1] !== type) expected.pop();
      if (expected.length === 0) return undefined;
      expected.pop();
      if (expected.length === 0) return at;
    } else if (at > open && columnAtLineStart(source, at) !== undefined && startsAnything(source, at)) return undefined;
  }
  return undefined;
}

/**
 * The index to continue at after the statement that begins at `first` broke: the next statement or item at the start of
 * a line, or the brace that closes the body. A statement that is indented no further than the broken one counts even
 * inside brackets, which then were never closed.
 */
export function nextStatement(source: TokenText, first: number, body: BodyKind, ownerColumn: number): number {
  const column = columnAtLineStart(source, first) ?? 0;
  const open = noBrackets();
  for (let at = first; at < source.tokens.length; at += 1) {
    if (at > first) {
      const here = columnAtLineStart(source, at);
      if (here !== undefined) {
        if (here <= ownerColumn && startsItem(source, at)) return at;
        if (open.expected.length === 0 && startsStatement(source, at, body)) return at;
        const begins = startsAnything(source, at) || (open.expected.length === 0 && beginsLikeStatement(source, at));
        if (here <= column && begins) return at;
        // A brace further left than the statement closes the body, even with open brackets.
        if (here < column && is(source, at, t.RightBrace)) return at;
      }
    }
    if (closesAround(open, source.tokens[at]?.tokenType)) return at;
  }
  return source.tokens.length;
}

/** Open brackets: the token that closes each, and the number of each kind, so that a lookup is constant time. */
interface OpenBrackets {
  readonly expected: TokenType[];
  readonly counts: Map<TokenType, number>;
}

function noBrackets(): OpenBrackets {
  return { expected: [], counts: new Map() };
}

/** Updates the open brackets; true at a brace that closes the enclosing body. */
function closesAround({ expected, counts }: OpenBrackets, type: TokenType | undefined): boolean {
  const close = opens(type);
  if (close !== undefined) {
    expected.push(close);
    counts.set(close, (counts.get(close) ?? 0) + 1);
    return false;
  }
  if (type === undefined || !closes(type)) return false;
  // A bracket that was never opened is ignored.
  if ((counts.get(type) ?? 0) === 0) return type === t.RightBrace;
  // Brackets that were never closed end with the enclosing one.
  for (let last = expected.pop(); last !== undefined; last = expected.pop()) {
    counts.set(last, (counts.get(last) ?? 1) - 1);
    if (last === type) break;
  }
  return false;
}

/**
 * Whether a token begins a (possibly wrong) statement at the indentation of the one before: a name that is not a clause
 * word.
 */
function beginsLikeStatement(source: TokenText, index: number): boolean {
  const first = word(source, index);
  return (
    first !== "" && (!CLAUSE_WORDS.has(first) || GRAPH_WORDS.has(first) || TEST_WORDS.has(first) || first === "task")
  );
}

/** The index of the next item of the file after `first`: at the start of a line, or directly after a brace. */
export function nextItem(source: TokenText, first: number): number {
  for (let at = first + 1; at < source.tokens.length; at += 1) {
    if (!startsItem(source, at)) continue;
    if (columnAtLineStart(source, at) !== undefined || is(source, at - 1, t.RightBrace)) return at;
  }
  return source.tokens.length;
}

/** Whether the tokens after the keyword of a policy distinguish it from a node of that name. */
export function startsPolicy(source: TokenText, index: number): boolean {
  const next = source.tokens[index + 1];
  switch (word(source, index)) {
    case "tries":
      return is(source, index + 1, t.Numeral);
    case "timeout":
    case "within":
    case "estimate":
      return is(source, index + 1, t.Duration) || is(source, index + 1, t.Numeral);
    case "cwd":
      return is(source, index + 1, t.Quoted) || is(source, index + 1, t.TemplateStart);
    case "env":
      return is(source, index + 1, t.LeftBrace);
    case "undo":
      return next?.tokenType === t.Identifier && is(source, index + 2, t.LeftParen);
    case "outputs":
      return is(source, index + 1, t.Quoted);
    case "touches":
      return is(source, index + 1, t.Quoted) || word(source, index + 1) === "read";
    case "cache":
      return ["for", "inputs", "variables", "tools"].includes(word(source, index + 1) ?? "");
    case "max":
      return word(source, index + 1) === "parallel";
    case "allow":
      return word(source, index + 1) === "failure";
    case "pause":
      return word(source, index + 1) === "before" || word(source, index + 1) === "after";
    case "done":
      return next?.tokenType === t.When;
    case "waits":
    case "goes":
    case "was":
      return next?.tokenType === t.Identifier && !POLICY_WORDS.has(next.image);
    default:
      return false;
  }
}

/** The place to continue after a broken policy or arm; `abandoned`: the brace was never closed. */
export interface Resumption {
  readonly at: number;
  readonly abandoned: boolean;
}

/**
 * The next policy or arm after the broken one at `first`, or the brace that closes them. `starts` recognises a sibling;
 * it is called for tokens outside of further brackets.
 */
export function nextSibling(source: TokenText, first: number, starts: (index: number) => boolean): Resumption {
  const open = noBrackets();
  for (let at = first; at < source.tokens.length; at += 1) {
    const isSibling = open.expected.length === 0 && starts(at);
    if (isSibling && at > first) return { at, abandoned: false };
    const isLineStart = columnAtLineStart(source, at) !== undefined;
    if (!isSibling && isLineStart && startsAnything(source, at)) return { at, abandoned: true };
    if (closesAround(open, source.tokens[at]?.tokenType)) return { at, abandoned: false };
  }
  return { at: source.tokens.length, abandoned: true };
}

/** The end of a broken type: before a default, a reducer, or the next line; `undefined` if none is found. */
export function typeEnd(source: TokenText, first: number): number | undefined {
  let depth = 0;
  for (let at = first; at < source.tokens.length; at += 1) {
    const type = source.tokens[at]?.tokenType;
    const isLineStart = at > first && columnAtLineStart(source, at) !== undefined;
    if (isLineStart && startsAnything(source, at)) return depth === 0 ? at : undefined;
    if (depth === 0) {
      if (type === t.Equal || type === t.RightBrace || (isLineStart && type !== t.Pipe)) return at;
      if (word(source, at) === "reduce" || word(source, at) === "was") return at;
    }
    if (opens(type) !== undefined) depth += 1;
    else if (closes(type)) {
      if (depth === 0) return undefined;
      depth -= 1;
    }
  }
  return depth === 0 ? source.tokens.length : undefined;
}

/** Names among the tokens of something broken. */
export function namesBetween(source: TokenText, from: number, to: number): string[] {
  const names = new Set<string>();
  for (let at = from; at < to; at += 1) {
    const name = word(source, at);
    if (name !== "") names.add(name);
  }
  return [...names];
}
