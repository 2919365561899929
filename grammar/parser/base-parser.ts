/**
 * The parser of the text spelling, bottom layer: tokens, words, names, documentation, errors.
 *
 * PURPOSE. One Chevrotain parser with embedded actions, in layers that extend each other so that each file holds one part
 * of the grammar: types, primary expressions, expressions, policies, declarations (channels, nodes, tasks), edges, plans, tests, files.
 * `grammar/parse.ts` owns the one instance.
 *
 * CONVENTIONS
 * - A grammar rule is a class field made by `this.RULE(name, body)`; the body builds its syntax node. Chevrotain records
 *   the grammar by running every body once with placeholders for tokens and nodes: what looks into one stands in
 *   `ACTION`, or behind `RECORDING_PHASE`.
 * - What may be left out, repeated or chosen goes through `maybe`, `repeat`, `choose`. They record Chevrotain's `option`,
 *   `many` and `or`; at run time the decision is the gate given to them, because most words are soft and Chevrotain's
 *   own lookahead sees only identifiers. Their indices must differ within a rule; those of tokens and subrules matter only for
 *   features that are off here, and number themselves (`take`, `rule`).
 * - Tokens are taken by `take`, words by `takeWord`, names by `name`: they check first and halt with a sentence that says
 *   what was expected, so Chevrotain's own errors never arise.
 * - Gates G1 to G9 are listed in `docs/grammar.ebnf`; each is one method or one expression, marked with its number.
 * - `fail…` throws a `Halt`. Loops over statements, arms and policies, and the bracketed parts of expressions catch it,
 *   report it and go on (`recovery.ts`). Nothing else catches.
 * - Habits of other languages are reported in place and read as what they mean (`habits.ts`); no `Halt`.
 *
 * TO ADD A CONSTRUCT: its node in `grammar/ast.ts`; its production in `docs/grammar.ebnf` (a test derives random files
 * from it and parses them); a rule here; its first word in `grammar/words.ts` and its first tokens in `recovery.ts`; a case in
 * `test/grammar/constructs.test.ts`, and one in `test/grammar/errors.test.ts` for each way to get it wrong.
 */
import { EmbeddedActionsParser, tokenMatcher, type IToken, type ParserMethod, type TokenType } from "chevrotain";
import {
  replacement,
  syntaxProblem,
  tooDeep,
  unexpected,
  type SyntaxDetails,
} from "../../diagnostics/catalog/syntax.ts";
import type { Diagnostic, Fix, Label, Place } from "../../diagnostics/diagnostic.ts";
import { SourceFile, type Span } from "../../diagnostics/source.ts";
import type { Count, DocComment, Duration, Identifier, StringLiteral } from "../ast.ts";
import { durationValue, numberValue, resolveEscapes } from "../literals.ts";
import { endOf, shorten, type Tokens } from "../lexer/read-tokens.ts";
import * as t from "../lexer/tokens.ts";
import { newReading, placeAt, report, spanAt, type Reading } from "../reading.ts";
import { RESERVED_WORDS } from "../words.ts";

/** Levels of brackets and choices that one expression or type may nest. */
export const DEEPEST_NESTING = 64;
/** Operators, members and indices in one expression, or parts of one type: they nest the tree without brackets. */
export const MOST_OPERATORS = 1_000;

/** Thrown where reading cannot go on; caught by the loop over the siblings of what is broken. */
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

/** The part of Chevrotain's lexer adapter that its types leave out: recovery moves in the token list. */
interface TokenPosition {
  exportLexerState(): number;
  importLexerState(position: number): void;
}

const NOWHERE: Span = { start: 0, end: 0 };
const NO_READING = newReading(new SourceFile("", ""), "");
const NO_DOC: { readonly doc?: DocComment } = {};

export abstract class BaseParser extends EmbeddedActionsParser {
  protected reading: Reading = NO_READING;
  protected tokens: readonly IToken[] = [];
  protected semicolons: ReadonlyMap<number, IToken> = new Map();
  /** `;` that stand where a comma belongs: their message differs. */
  readonly semicolonsAsCommas: Set<IToken> = new Set();
  /** `///` lines that document a declaration. */
  readonly attachedDocs: Set<IToken> = new Set();
  /** Levels open now, in the expression or type that is being read. */
  protected depth = 0;
  /** Operators so far in the outermost expression or type. */
  protected operators = 0;
  /** What the list of names that is being read stands among: decides whether a comma is one too many. */
  protected around: "statements" | "policies" | "values" | "conditions" = "statements";
  #docs: readonly IToken[] = [];
  #nextDoc = 0;
  #recorded = 0;

  readonly #isRecorded: boolean;

  /** `record`: see `performSelfAnalysis`. */
  constructor(record: boolean) {
    super(t.VOCABULARY, { recoveryEnabled: false, maxLookahead: 1 });
    this.#isRecorded = record;
  }

  /**
   * Chevrotain records the grammar, validates it and computes a lookahead function for every option, repetition and alternation:
   * longer work than reading a small file. This parser decides by gates of its own (`maybe`, `repeat`, `choose`), so nothing of
   * it is used while reading, and only a test asks for it, which thereby checks the grammar.
   */
  protected override performSelfAnalysis(): void {
    if (this.#isRecorded) super.performSelfAnalysis();
    else (this as unknown as { selfAnalysisDone: boolean }).selfAnalysisDone = true;
  }

  /** Points the parser at a text. Nothing of the one before is left. */
  start(reading: Reading, tokens: Tokens): void {
    // A copy: Chevrotain pads its list with end markers while a rule runs.
    this.input = tokens.tokens.slice();
    this.tokens = tokens.tokens;
    this.reading = reading;
    this.semicolons = tokens.semicolons;
    this.semicolonsAsCommas.clear();
    this.attachedDocs.clear();
    this.depth = 0;
    this.operators = 0;
    this.around = "statements";
    this.#docs = tokens.docs;
    this.#nextDoc = 0;
  }

  /** Lets go of the text, so that the instance does not keep it alive. */
  finish(): void {
    this.input = [];
    this.tokens = [];
    this.reading = NO_READING;
    this.semicolons = new Map();
    this.#docs = [];
    this.semicolonsAsCommas.clear();
    this.attachedDocs.clear();
  }

  // Grammar -----------------------------------------------------------------------------------------

  /** A fresh index for a recorded token or subrule; at run time nobody looks at it. */
  protected index(): number {
    if (!this.RECORDING_PHASE) return 0;
    this.#recorded = (this.#recorded + 1) % 250;
    return this.#recorded;
  }

  /** Another rule, from within one. */
  protected rule<T>(rule: ParserMethod<[], T>): T {
    return this.subrule(this.index(), rule);
  }

  /** `[ read ]`, taken where `ahead` holds. */
  protected maybe<T>(index: number, ahead: boolean, read: () => T): T | undefined {
    if (this.RECORDING_PHASE) return this.option(index, read);
    return ahead ? read() : undefined;
  }

  /** `{ read }`, taken while `ahead` holds. */
  protected repeat(index: number, ahead: () => boolean, read: () => void): void {
    if (this.RECORDING_PHASE) this.many(index, read);
    else while (ahead()) read();
  }

  /** `( a | b | … )`; `chosen` is the key of the alternative to take. */
  protected choose<K extends string, T>(index: number, chosen: K, alternatives: Readonly<Record<K, () => T>>): T {
    if (!this.RECORDING_PHASE) return alternatives[chosen]();
    const all: (() => T)[] = Object.values(alternatives);
    return this.or(index, { DEF: all.map((ALT) => ({ ALT })), IGNORE_AMBIGUITIES: true });
  }

  protected within<T>(around: BaseParser["around"], read: () => T): T {
    const outer = this.around;
    this.around = around;
    try {
      return read();
    } finally {
      this.around = outer;
    }
  }

  // Tokens ------------------------------------------------------------------------------------------

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
    const token = this.consume(this.index(), type);
    if (type === t.Arrow && token.image !== "->" && !this.RECORDING_PHASE) this.foreignArrow(token);
    return token;
  }

  /** `=>` or `-->` */
  private foreignArrow(token: IToken): void {
    const place = this.placeOf(token);
    const message = `an arrow is written \`->\`, not \`${token.image}\``;
    this.habit(place, { message, label: "write `->`", fixes: [replacement("replace with `->`", place.span, "->")] });
  }

  /** The image of the identifier ahead; the empty string for every other token. */
  protected word(ahead = 1): string {
    const token = this.LA(ahead);
    return token.tokenType === t.Identifier ? token.image : "";
  }

  protected isWord(word: string, ahead = 1): boolean {
    return this.word(ahead) === word;
  }

  /** G2: a clause word is the clause, unless `->` or `,` follows: then it is a name, the next edge's source. */
  protected isClause(word: string): boolean {
    return this.word() === word && !this.at(t.Arrow, 2) && !this.at(t.Comma, 2);
  }

  protected takeWord(word: string): IToken {
    if (!this.RECORDING_PHASE && !this.isWord(word)) this.failExpected(`\`${word}\``);
    return this.consume(this.index(), t.Identifier);
  }

  /** Takes a name; `what` completes "expected …": "a name for the node". */
  protected name(what: string): Identifier {
    if (!this.RECORDING_PHASE && !this.at(t.Identifier)) this.failName(what);
    return this.identifier(this.consume(this.index(), t.Identifier));
  }

  protected identifier(token: IToken): Identifier {
    return { kind: "Identifier", span: this.spanOf(token), name: token.image };
  }

  /** Takes the token ahead, whatever it is. */
  protected takeAny(): IToken {
    const token = this.LA(1);
    this.SKIP_TOKEN();
    return token;
  }

  /** Takes the token ahead for another one, and says so. */
  protected instead(label: string, text: string, message: string, help?: string): void {
    const place = this.placeOf(this.takeAny());
    this.habit(place, {
      message,
      label: `write ${label}`,
      help,
      fixes: [replacement(`write ${label}`, place.span, text)],
    });
  }

  /** The index in `tokens` of the token taken last; -1 before the first. */
  protected position(): number {
    return (this as unknown as TokenPosition).exportLexerState();
  }

  /** Makes the token at this index the one taken last. */
  protected moveTo(position: number): void {
    (this as unknown as TokenPosition).importLexerState(position);
  }

  // Spans -------------------------------------------------------------------------------------------

  /** Where a token begins; the end of the text for the end marker. */
  protected startOf(token: IToken): number {
    return Number.isNaN(token.startOffset) ? this.reading.text.length : token.startOffset;
  }

  protected spanOf(token: IToken): Span {
    return this.RECORDING_PHASE ? NOWHERE : spanAt(this.reading, token.startOffset, endOf(token));
  }

  /** From the start of `first` to the end of the token taken last. */
  protected spanFrom(first: IToken): Span {
    if (this.RECORDING_PHASE) return NOWHERE;
    return spanAt(this.reading, first.startOffset, endOf(this.LA(0)));
  }

  protected placeOf(token: IToken): Place {
    const start = this.startOf(token);
    return placeAt(this.reading, start, start + token.image.length);
  }

  /** The empty span behind the token taken last: where something is missing. */
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

  /** Reports a habit of another language; reading goes on. */
  protected habit(place: Place, details: SyntaxDetails): void {
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
    return unexpected(this.placeOf(token), {
      expected,
      found: describeToken(token, this.reading.toSource === undefined ? "the end of the file" : "the end"),
      ...(isAlone ? {} : { after: `\`${shorten(this.LA(0).image)}\`` }),
      ...rest,
      ...(lines === undefined ? {} : { notes: [...(details.notes ?? []), lines] }),
    });
  }

  /** Where a statement was read on into the next line, which looks like one of its own: a sentence that says so. */
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

  /** Runs `read` one level deeper; halts beyond the limit, long before the stack would overflow. */
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

  /** A whole number, zero included: whether it makes sense is for the compiler to say. */
  protected count(what: string): Count {
    const token = this.take(t.Numeral, what);
    if (this.RECORDING_PHASE) return { kind: "Count", span: NOWHERE, value: 0 };
    const { value, isFloat } = numberValue(this.reading, token.image, token.startOffset);
    if (isFloat) {
      const message = `expected ${what}, found \`${shorten(token.image)}\``;
      this.habit(this.placeOf(token), { message, label: "not a whole number" });
    }
    return { kind: "Count", span: this.spanOf(token), value: Math.floor(value) };
  }

  protected durationAhead(): Duration {
    if (!this.RECORDING_PHASE && this.at(t.Numeral)) {
      const { image } = this.LA(1);
      this.fail(this.LA(1), {
        message: `expected a duration, found \`${shorten(image)}\``,
        label: "a unit is missing",
        help: `write the unit behind the number: \`${shorten(image)}s\`, or \`ms\`, \`m\`, \`h\`, \`d\``,
      });
    }
    const token = this.take(t.Duration, "a duration such as `30s`");
    if (this.RECORDING_PHASE) return { kind: "Duration", span: NOWHERE, raw: "", milliseconds: 0 };
    const milliseconds = durationValue(this.reading, token.image, token.startOffset);
    return { kind: "Duration", span: this.spanOf(token), raw: token.image, milliseconds };
  }

  /** Names with commas between them and none behind: `a, b`. */
  protected nameList(index: number, what: string): Identifier[] {
    const names = [this.name(what)];
    const next = (): void => {
      this.take(t.Comma);
      names.push(this.name(what));
    };
    if (this.RECORDING_PHASE) this.many(index, next);
    else while (this.at(t.Comma) && !this.isStrayComma()) next();
    return names;
  }

  /** Whether the token ahead begins a line no further right than the statement that is being read. */
  protected abstract isOutdented(): boolean;

  /** Where the line of the statement that is being read begins; -1 if it begins within a line. */
  protected abstract statementColumn(): number;

  /** Whether the comma ahead only separates what needs no separator (arms, policies, statements). */
  protected abstract isStrayComma(): boolean;
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
