/**
 * The parser of the text spelling, bottom layer: tokens, words, names, documentation, errors.
 *
 * PURPOSE. One Chevrotain parser with embedded actions, in layers that extend each other. Each file holds one part of
 * the grammar: types, primary expressions, expressions, policies, declarations (channels, nodes, tasks), edges, plans,
 * tests, files. `grammar/parse.ts` owns the one instance.
 *
 * WHAT CHEVROTAIN DOES. It defines tokens and tokenizes; its parser records the grammar (each rule body runs once with
 * placeholders), validates it, and computes the LL(2) lookahead paths that `lookahead-table.ts` stores. Content assist
 * (`completions.ts`) and the diagrams in `docs/` come from the recorded grammar too. Recording takes 20 ms, so a parser
 * that only reads files does not record (`performSelfAnalysis` is not called): it decides by the stored table, and
 * keeps its own position in the token list, because recovery moves in it. Only the documented methods of Chevrotain are
 * used and overridden.
 *
 * CONVENTIONS
 * - A grammar rule is a class field made by `this.RULE(name, body)`; the body builds its syntax node. Code that needs
 *   real tokens or nodes is guarded by `RECORDING_PHASE`.
 * - Optional parts, repetitions and alternatives go through `maybe`, `repeat` and `choose`. Each has a number
 *   (`decisions.ts`) by which the lookahead is found. A gate is an additional condition for what LL(2) cannot decide,
 *   because most words are soft.
 * - Words are taken by `takeWord`, other tokens by `take`, names by `name`. They check first and halt with an error
 *   that names the expected token, so Chevrotain's own errors never occur.
 * - Gates G1 to G10 are listed in `docs/grammar.ebnf`; each is one method or one expression, marked with its number.
 * - `fail…` throws a `Halt`. Loops over statements, arms and policies, and the bracketed parts of expressions catch it,
 *   report it and continue (`recovery.ts`). Nothing else catches it.
 * - Syntax of other languages is reported in place and read as its equivalent (`foreign-syntax.ts`), without a `Halt`.
 *
 * TO ADD A CONSTRUCT: its node in `grammar/ast.ts`; its production in `docs/grammar.ebnf` (a test derives random files
 * from it and parses them); a rule here with its decisions in `decisions.ts`; its first word in `grammar/words.ts` and
 * its first tokens in `recovery.ts`; a case in `test/grammar/constructs.test.ts`, and one in
 * `test/grammar/errors.test.ts` for each way to get it wrong. Then `UPDATE=1 npx vitest run
 * test/grammar/recorded-grammar.test.ts` writes the lookahead table and the diagrams.
 */
import { EmbeddedActionsParser, EOF, tokenMatcher, type IToken, type ParserMethod, type TokenType } from "chevrotain";
import {
  kebabName,
  replacement,
  type SyntaxDetails,
  syntaxProblem,
  tooDeep,
  unexpected,
} from "../../diagnostics/catalog/syntax.ts";
import type { Diagnostic, Fix, Label, Place } from "../../diagnostics/diagnostic.ts";
import { SourceFile, type Span } from "../../diagnostics/source.ts";
import type { Count, DocComment, Duration, Identifier, StringLiteral } from "../ast.ts";
import { durationValue, numberValue, resolveEscapes } from "../literals.ts";
import { endOf, shorten, type Tokens } from "../lexer/read-tokens.ts";
import * as t from "../lexer/tokens.ts";
import { newReading, placeAt, report, spanAt, type Reading } from "../reading.ts";
import { RESERVED_WORDS } from "../words.ts";
import { FIRST_LOOP } from "./decisions.ts";
import { advance, lookaheadOf, type LookaheadState } from "./lookahead.ts";

/** Levels of brackets and choices that one expression or type may nest. */
export const DEEPEST_NESTING = 64;
/** Operators, members and indices in one expression, or parts of one type: they nest the tree without brackets. */
export const MOST_OPERATORS = 1_000;

/** Thrown where reading cannot continue; caught by the loop over the siblings of the broken part. */
export class Halt {
  readonly diagnostic: Diagnostic;
  constructor(diagnostic: Diagnostic) {
    this.diagnostic = diagnostic;
  }
}

export interface ExpectedDetails {
  readonly help?: string | undefined;
  readonly notes?: readonly string[];
  readonly fixes?: readonly Fix[];
  readonly labels?: readonly Label[];
  /** False where the token before belongs to something else. */
  readonly after?: false;
}

/** The token after the last one. */
const END: IToken = {
  image: "",
  startOffset: NaN,
  endOffset: NaN,
  tokenType: EOF,
  tokenTypeIdx: EOF.tokenTypeIdx ?? 0,
};

const NOWHERE: Span = { start: 0, end: 0 };
const NO_READING = newReading(new SourceFile("", ""), "");
const NO_DOC: { readonly doc?: DocComment } = {};

export abstract class BaseParser extends EmbeddedActionsParser {
  protected reading: Reading = NO_READING;
  protected tokens: readonly IToken[] = [];
  protected semicolons: ReadonlyMap<number, IToken> = new Map();
  /** `;` in place of a comma: their message differs. */
  readonly semicolonsAsCommas: Set<IToken> = new Set();
  /** `///` lines that document a declaration. */
  readonly attachedDocs: Set<IToken> = new Set();
  /** Open levels of the current expression or type. */
  protected depth = 0;
  /** Operators so far in the outermost expression or type. */
  protected operators = 0;
  /** The construct that contains the current list of names: decides whether a comma is one too many. */
  protected listContext: "statements" | "policies" | "values" | "conditions" = "statements";
  #docs: readonly IToken[] = [];
  #nextDoc = 0;
  #recorded = 0;

  /** The index of the token taken last. */
  #position = -1;

  #lastSpan = NOWHERE;

  /** `record` makes Chevrotain record and validate the grammar: see the file header. */
  constructor(record: boolean) {
    super(t.VOCABULARY, { recoveryEnabled: false, maxLookahead: 2, skipValidations: !record });
  }

  /** Points the parser at a text and resets its state. */
  start(reading: Reading, tokens: Tokens): void {
    this.tokens = tokens.tokens;
    this.#position = -1;
    this.#lastSpan = NOWHERE;
    this.reading = reading;
    this.semicolons = tokens.semicolons;
    this.semicolonsAsCommas.clear();
    this.attachedDocs.clear();
    this.depth = 0;
    this.operators = 0;
    this.listContext = "statements";
    this.#docs = tokens.docs;
    this.#nextDoc = 0;
  }

  /** Releases the text: the instance lives longer. */
  finish(): void {
    this.tokens = [];
    this.reading = NO_READING;
    this.semicolons = new Map();
    this.#docs = [];
    this.semicolonsAsCommas.clear();
    this.attachedDocs.clear();
  }

  // Grammar -----------------------------------------------------------------------------------------

  /** A fresh index for a recorded token or subrule; unused while reading. */
  protected index(): number {
    if (!this.RECORDING_PHASE) return 0;
    this.#recorded = (this.#recorded + 1) % 250;
    return this.#recorded;
  }

  /** Another rule, from within one. */
  protected rule<T>(rule: ParserMethod<[], T>): T {
    return this.subrule(this.index(), rule);
  }

  /** `[ read ]`: taken if the lookahead matches and the gate holds. */
  protected maybe<T>(decision: number, read: () => T, gate?: () => boolean): T | undefined {
    if (this.RECORDING_PHASE) return this.option(decision, read);
    return this.decide(decision) === 0 && (gate === undefined || gate()) ? read() : undefined;
  }

  /** `{ read }`: taken while the lookahead matches and the gate holds. */
  protected repeat(decision: number, read: () => void, gate?: () => boolean): void {
    if (this.RECORDING_PHASE) this.many(decision, read);
    else while (this.decide(decision) === 0 && (gate === undefined || gate())) read();
  }

  /**
   * `( a | b | … )`: the first alternative that the lookahead matches. `otherwise` runs if none does; without it the
   * last alternative runs, which reports the tokens that it expects.
   */
  protected choose<T>(decision: number, alternatives: readonly (() => T)[], otherwise?: () => T): T {
    if (this.RECORDING_PHASE) {
      return this.or(decision, { DEF: alternatives.map((ALT) => ({ ALT })), IGNORE_AMBIGUITIES: true });
    }
    const chosen = this.decide(decision);
    const read = chosen === undefined ? (otherwise ?? alternatives[alternatives.length - 1]) : alternatives[chosen];
    // The alternatives of a call and of the table are the same, and there is at least one.
    return read!();
  }

  /** One of some words. `expected` completes "expected …". */
  protected takeOneOf<Word extends string>(decision: number, words: readonly Word[], expected: string): Word {
    if (this.RECORDING_PHASE) {
      this.or(
        decision,
        words.map((word) => ({ ALT: () => this.takeWord(word) })),
      );
      return words[0] as Word;
    }
    const found = words.find((word) => this.isWord(word));
    if (found === undefined) this.failExpected(expected);
    this.takeAny();
    return found;
  }

  /** The first alternative of a decision that the tokens ahead match. */
  private decide(decision: number): number | undefined {
    let accepted: number | undefined;
    let state: LookaheadState | undefined = lookaheadOf(decision);
    for (let ahead = 1; ; ahead += 1) {
      state = advance(state, this.LA(ahead));
      if (state === undefined) return accepted;
      if (state.accepted !== undefined && (accepted === undefined || state.accepted < accepted)) {
        accepted = state.accepted;
      }
      if (state.isFinal) return accepted;
    }
  }

  protected within<T>(context: BaseParser["listContext"], read: () => T): T {
    const outer = this.listContext;
    this.listContext = context;
    try {
      return read();
    } finally {
      this.listContext = outer;
    }
  }

  // Tokens ------------------------------------------------------------------------------------------
  // While the grammar is recorded Chevrotain replaces `LA` by its own.

  protected override LA(howMuch: number): IToken {
    return this.tokens[this.#position + howMuch] ?? END;
  }

  protected at(type: TokenType, ahead = 1): boolean {
    return this.LA(ahead).tokenType === type;
  }

  protected atReserved(ahead = 1): boolean {
    return tokenMatcher(this.LA(ahead), t.ReservedWord);
  }

  protected atEnd(): boolean {
    return this.position() + 1 >= this.tokens.length;
  }

  /** Takes a token of this type, or halts: "expected …". */
  protected take(type: TokenType, expected?: string): IToken {
    if (!this.RECORDING_PHASE && !tokenMatcher(this.LA(1), type)) {
      this.failExpected(expected ?? `\`${type.LABEL ?? type.name}\``);
    }
    const token = this.RECORDING_PHASE ? this.consume(this.index(), type) : this.takeAny();
    if (type === t.Arrow && token.image !== "->" && !this.RECORDING_PHASE) this.foreignArrow(token);
    return token;
  }

  /** `=>` or `-->` */
  private foreignArrow(token: IToken): void {
    const place = this.placeOf(token);
    const message = `an arrow is written \`->\`, not \`${token.image}\``;
    this.reportForeign(place, {
      message,
      label: "write `->`",
      fixes: [replacement("replace with `->`", place.span, "->")],
    });
  }

  /** The image of the identifier ahead; the empty string for every other token. */
  protected word(ahead = 1): string {
    const token = this.LA(ahead);
    return token.tokenType === t.Identifier ? token.image : "";
  }

  protected isWord(word: string, ahead = 1): boolean {
    return this.word(ahead) === word;
  }

  /** G2: a clause word before `->` or `,` is a name, the source of the next edge. */
  protected readonly startsClause = (): boolean => !this.at(t.Arrow, 2) && !this.at(t.Comma, 2);

  protected takeWord(word: string): IToken {
    if (!this.RECORDING_PHASE && !this.isWord(word)) this.failExpected(`\`${word}\``);
    return this.RECORDING_PHASE ? this.consume(this.index(), t.wordType(word)) : this.takeAny();
  }

  /** Takes a name; `what` completes "expected …": "a name for the node". */
  protected name(what: string): Identifier {
    if (!this.RECORDING_PHASE && !this.at(t.Identifier)) this.failName(what);
    if (this.RECORDING_PHASE) return this.identifier(this.consume(this.index(), t.Identifier));
    const token = this.takeAny();
    return this.at(t.Minus) && this.listContext !== "conditions" ? this.kebabName(token) : this.identifier(token);
  }

  /** `draft-reply`: read as `draft_reply`. */
  private kebabName(first: IToken): Identifier {
    const parts = [first.image];
    for (let last = first; this.at(t.Minus) && this.at(t.Identifier, 2);) {
      const minus = this.LA(1);
      const next = this.LA(2);
      if (minus.startOffset !== endOf(last) || next.startOffset !== endOf(minus)) break;
      this.takeAny();
      last = this.takeAny();
      parts.push(last.image);
    }
    if (parts.length === 1) return this.identifier(first);
    const span = this.spanFrom(first);
    const name = parts.join("_");
    this.report(kebabName({ file: this.reading.source, span }, parts.join("-")));
    return { kind: "Identifier", span, name };
  }

  /** The `in` of a loop. */
  protected takeIn(): void {
    if (this.RECORDING_PHASE || !this.isWord("of")) this.take(t.In, "`in` and the list");
    else this.instead("`in`", "in", "a loop over a list is written with `in`, not `of`");
  }

  protected identifier(token: IToken): Identifier {
    return { kind: "Identifier", span: this.spanOf(token), name: token.image };
  }

  /** Takes the token ahead, whatever it is. */
  protected takeAny(): IToken {
    const token = this.LA(1);
    if (token !== END) this.#position += 1;
    return token;
  }

  /** Takes the token ahead in place of another one, and reports it. */
  protected instead(label: string, text: string, message: string, help?: string): void {
    const place = this.placeOf(this.takeAny());
    this.reportForeign(place, {
      message,
      label: `write ${label}`,
      help,
      fixes: [replacement(`write ${label}`, place.span, text)],
    });
  }

  /** The index in `tokens` of the token taken last; -1 before the first. */
  protected position(): number {
    return this.#position;
  }

  /** Makes the token at this index the one taken last. */
  protected moveTo(position: number): void {
    this.#position = position;
  }

  // Spans -------------------------------------------------------------------------------------------

  /** Where a token begins; the end of the text for the end marker. */
  protected startOf(token: IToken): number {
    return Number.isNaN(token.startOffset) ? this.reading.text.length : token.startOffset;
  }

  protected spanOf(token: IToken): Span {
    return this.RECORDING_PHASE ? NOWHERE : this.#span(token.startOffset, endOf(token));
  }

  /** From the start of `first` to the end of the token taken last. */
  protected spanFrom(first: IToken): Span {
    if (this.RECORDING_PHASE) return NOWHERE;
    return this.#span(first.startOffset, endOf(this.LA(0)));
  }

  /** Nodes of the same extent share a span: a name, and the list or argument that consists of it. Large graphs keep fewer objects. */
  #span(start: number, end: number): Span {
    const span = spanAt(this.reading, start, end);
    const last = this.#lastSpan;
    if (last.start === span.start && last.end === span.end) return last;
    this.#lastSpan = span;
    return span;
  }

  protected placeOf(token: IToken): Place {
    const start = this.startOf(token);
    return placeAt(this.reading, start, start + token.image.length);
  }

  /** The empty span after the token taken last: the place of a missing token. */
  protected gapSpan(): Span {
    const end = this.position() < 0 ? 0 : endOf(this.LA(0));
    return spanAt(this.reading, end, end);
  }

  // Documentation -----------------------------------------------------------------------------------

  /** The `///` lines between the token taken last and the one ahead. */
  protected documentation(): { readonly doc?: DocComment } {
    const next = this.#docs[this.#nextDoc];
    if (this.RECORDING_PHASE || next === undefined) return NO_DOC;
    const start = this.startOf(this.LA(1));
    if (next.startOffset > start) return NO_DOC;
    const before = this.position() < 0 ? 0 : endOf(this.LA(0));
    const lines: IToken[] = [];
    for (let doc: IToken | undefined = next; doc !== undefined && doc.startOffset < start;) {
      if (doc.startOffset >= before) lines.push(doc);
      this.#nextDoc += 1;
      doc = this.#docs[this.#nextDoc];
    }
    const first = lines[0];
    const last = lines[lines.length - 1];
    if (first === undefined || last === undefined) return NO_DOC;
    for (const line of lines) this.attachedDocs.add(line);
    const text = lines.map((line) => line.image.slice(line.image[3] === " " ? 4 : 3).trimEnd()).join("\n");
    return { doc: { span: spanAt(this.reading, first.startOffset, endOf(last)), text } };
  }

  // Errors ------------------------------------------------------------------------------------------

  protected report(diagnostic: Diagnostic): void {
    report(this.reading, diagnostic);
  }

  /** Reports syntax of another language; reading continues. */
  protected reportForeign(place: Place, details: SyntaxDetails): void {
    this.report(syntaxProblem(place, details));
  }

  protected fail(token: IToken, details: SyntaxDetails): never {
    throw new Halt(syntaxProblem(this.placeOf(token), details));
  }

  /** Halts at the token ahead: "expected X after Y, found Z". */
  protected failExpected(expected: string, details: ExpectedDetails = {}): never {
    throw new Halt(this.expectedDiagnostic(expected, details));
  }

  protected expectedDiagnostic(expected: string, details: ExpectedDetails = {}): Diagnostic {
    const token = this.LA(1);
    const { after, ...rest } = details;
    const isAlone = this.position() < 0 || after === false;
    const lines = this.lineBreakNote();
    const help = details.help ?? this.foreignTokenHelp(token, expected);
    return unexpected(this.placeOf(token), {
      expected,
      found: describeToken(token, this.reading.toSource === undefined ? "the end of the file" : "the end"),
      ...(isAlone ? {} : { after: `\`${shorten(this.LA(0).image)}\`` }),
      ...rest,
      help,
      ...(lines === undefined ? {} : { notes: [...(details.notes ?? []), lines] }),
    });
  }

  private foreignTokenHelp(token: IToken, expected: string): string | undefined {
    if (token.tokenType === t.DotDot) return "the whole numbers from 1 to 3 are `range(1, 4)`";
    if (token.tokenType === t.Colon && expected === "`]`") return "a part of a list or text is `slice(xs, from, to)`";
    if (token.tokenType === t.Star && this.at(t.Star, 2)) return "the fields of a record are copied with `...r`";
    return undefined;
  }

  /** A note for a statement that was continued into the next line although that line looks like a new statement. */
  protected abstract lineBreakNote(): string | undefined;

  protected failName(what: string): never {
    const token = this.LA(1);
    if (tokenMatcher(token, t.ReservedWord)) {
      this.fail(token, {
        message: `\`${token.image}\` is a reserved word and cannot be ${what}`,
        label: "reserved",
        help: `the reserved words are ${RESERVED_WORDS.map((word) => `\`${word}\``).join(" ")}`,
      });
    }
    this.failExpected(what);
  }

  /** Runs `read` one level deeper; halts beyond the limit, long before the stack overflows. */
  protected deeper<T>(read: () => T): T {
    if (this.depth >= DEEPEST_NESTING) throw new Halt(tooDeep(this.placeOf(this.LA(1)), "nesting", DEEPEST_NESTING));
    if (this.depth === 0) this.operators = 0;
    this.depth += 1;
    try {
      return read();
    } finally {
      this.depth -= 1;
    }
  }

  /** Counts an operator of the outermost expression, or a part of the outermost type. */
  protected countOperator(what: "operators" | "types" = "operators"): void {
    this.operators += 1;
    if (this.operators > MOST_OPERATORS) throw new Halt(tooDeep(this.placeOf(this.LA(0)), what, MOST_OPERATORS));
  }

  // What many rules need -----------------------------------------------------------------------------

  protected stringLiteral(what: string): StringLiteral {
    const token = this.take(t.Quoted, what);
    return { kind: "String", span: this.spanOf(token), value: this.RECORDING_PHASE ? "" : this.stringValue(token) };
  }

  private stringValue(token: IToken): string {
    const closed = token.image.length > 1 && token.image.endsWith(token.image[0] ?? '"');
    const raw = token.image.slice(1, closed ? -1 : undefined);
    // A single-quoted string was reported as a whole; `\'` in it is no further mistake.
    const text = token.image.startsWith("'") ? raw.replaceAll("\\'", "'") : raw;
    return resolveEscapes(this.reading, text, token.startOffset + 1, false);
  }

  /** A whole number, zero included. The compiler checks its range. */
  protected count(what: string): Count {
    const token = this.take(t.Numeral, what);
    if (this.RECORDING_PHASE) return { kind: "Count", span: NOWHERE, value: 0 };
    const { value, isFloat } = numberValue(this.reading, token.image, token.startOffset);
    if (isFloat) {
      const message = `expected ${what}, found \`${shorten(token.image)}\``;
      this.reportForeign(this.placeOf(token), { message, label: "not a whole number" });
    }
    return { kind: "Count", span: this.spanOf(token), value: Math.floor(value) };
  }

  /** A number that may have a fraction. */
  protected amount(what: string): Count {
    const token = this.take(t.Numeral, what);
    if (this.RECORDING_PHASE) return { kind: "Count", span: NOWHERE, value: 0 };
    const { value } = numberValue(this.reading, token.image, token.startOffset);
    return { kind: "Count", span: this.spanOf(token), value };
  }

  protected durationAhead(): Duration {
    if (!this.RECORDING_PHASE && this.at(t.Numeral)) {
      const { image } = this.LA(1);
      this.fail(this.LA(1), {
        message: `expected a duration, found \`${shorten(image)}\``,
        label: "a unit is missing",
        help: unitHelp(image),
      });
    }
    const token = this.take(t.Duration, "a duration such as `30s`");
    if (this.RECORDING_PHASE) return { kind: "Duration", span: NOWHERE, raw: "", milliseconds: 0 };
    const milliseconds = durationValue(this.reading, token.image, token.startOffset);
    return { kind: "Duration", span: this.spanOf(token), raw: token.image, milliseconds };
  }

  /** Names separated by commas, without a comma at the end: `a, b`. */
  protected nameList(index: number, what: string, isStray = (): boolean => this.isStrayComma()): Identifier[] {
    const names = [this.name(what)];
    const next = (): void => {
      this.take(t.Comma);
      names.push(this.name(what));
    };
    if (this.RECORDING_PHASE) this.many(FIRST_LOOP + index, next);
    else while (this.at(t.Comma) && !isStray()) next();
    return names;
  }

  /** Whether the token ahead begins a line that is indented no further than the current statement. */
  protected abstract isOutdented(): boolean;

  /** The column of the current statement; -1 if it begins within a line. */
  protected abstract statementColumn(): number;

  /** Whether the comma ahead separates arms, policies or statements, which need no separator. */
  protected abstract isStrayComma(): boolean;
}

/** Suggests a unit for a number: from 1,000 on it is more likely in milliseconds. */
export function unitHelp(number: string): string {
  const value = Number(number);
  const units = "the units are `ms`, `s`, `m`, `h` and `d`";
  if (!(value >= 1000)) return `add a unit: \`${shorten(number)}s\`; ${units}`;
  const seconds = value % 1000 === 0 ? `, which is \`${value / 1000}s\`` : "";
  return `add a unit: \`${shorten(number)}ms\`${seconds}; ${units}`;
}

/** A token as messages name it. */
export function describeToken(token: IToken, end: string): string {
  if (token.image === "") return end;
  if (token.tokenType === t.Quoted) {
    return `the string ${token.image.length > 30 ? `${token.image.slice(0, 29)}…"` : token.image}`;
  }
  if (token.tokenType === t.TemplateStart || token.tokenType === t.UnterminatedTemplate) return "a template";
  return `\`${shorten(token.image)}\``;
}
