/**
 * The parser of the text spelling, bottom layer: tokens, words, names, errors, recovery.
 *
 * PURPOSE. One Chevrotain parser with embedded actions, split into layers that extend each other so that each file
 * holds one part of the grammar: types, expressions, declarations (channels, nodes, tasks, policies), edges, plans,
 * tests, files. `grammar/parse.ts` owns the one instance.
 *
 * CONVENTIONS
 * - A grammar rule is a class field made by `this.RULE(name, body)`; the body builds its syntax node. While Chevrotain
 *   records the grammar every body runs once with placeholders: what looks into a node or token stands in `ACTION`,
 *   or behind `RECORDING_PHASE`.
 * - Tokens are taken by `take`, words by `takeWord`, names by `name`: they check first and `fail` with a sentence that says what
 *   was expected, so Chevrotain's own errors never arise (a test keeps that). Indices of `CONSUME` and `SUBRULE` only
 *   matter for features that are off here; `take` and `rule` number them.
 * - Only the eight reserved words are keywords. Everywhere else an identifier's image is asked for in a gate (`isWord`,
 *   `isClause`). Gates G1 to G8 are listed in `docs/grammar.ebnf`, and are methods named for what they decide.
 * - `fail` throws a `Halt`. Loops over statements, arms, policies and bracketed lists catch it, report it, and go on at the
 *   next place where one of theirs can begin (`recovery.ts`). Nothing else catches.
 * - Habits of other languages are reported in place and read as what they mean; no `Halt`.
 *
 * TO ADD A CONSTRUCT: its node in `grammar/ast.ts`; its production in `docs/grammar.ebnf` (a test derives random files from
 * it and parses them); a rule here; its first word in `grammar/words.ts`; a case in `test/grammar/constructs.test.ts`, and
 * one in `test/grammar/errors.test.ts` for each way to get it wrong.
 */
import { EmbeddedActionsParser, tokenMatcher, type IToken, type TokenType } from "chevrotain";
import { syntaxProblem, tooDeep, unexpected, type SyntaxDetails } from "../../diagnostics/catalog/syntax.ts";
import type { Diagnostic, Fix, Label, Place } from "../../diagnostics/diagnostic.ts";
import { SourceFile, type Span } from "../../diagnostics/source.ts";
import type { Count, DocComment, Duration, Identifier, StringLiteral } from "../ast.ts";
import { durationValue, numberValue, resolveEscapes } from "../literals.ts";
import { endOf, shorten, type Tokens } from "../lexer/read-tokens.ts";
import * as t from "../lexer/tokens.ts";
import { newReading, placeAt, report, spanAt, type Reading } from "../reading.ts";

/** Levels of brackets and choices that one expression or type may nest. */
export const DEEPEST_NESTING = 64;
/** Operators, members and indices in one expression: they nest the tree without brackets. */
export const MOST_OPERATORS = 1_000;

/** Thrown where a statement cannot be read on; caught by the loop over its siblings. */
export class Halt {
  readonly diagnostic: Diagnostic;
  constructor(diagnostic: Diagnostic) {
    this.diagnostic = diagnostic;
  }
}

/** The part of Chevrotain's lexer adapter that its types leave out: recovery moves in the token list. */
interface TokenPosition {
  exportLexerState(): number;
  importLexerState(position: number): void;
}

const NOTHING = newReading(new SourceFile("", ""), "");

export abstract class BaseParser extends EmbeddedActionsParser {
  protected reading: Reading = NOTHING;
  protected tokens: readonly IToken[] = [];
  protected semicolons: ReadonlyMap<number, IToken> = new Map();
  /** `;` that stand where a comma belongs. */
  protected semicolonsAsCommas: Set<IToken> = new Set();
  /** Levels open now, in the expression or type that is being read. */
  protected depth = 0;
  /** Operators so far in the outermost expression. */
  protected operators = 0;
  #docs: readonly IToken[] = [];
  #nextDoc = 0;
  /** Docs that belong to a declaration. */
  readonly attachedDocs: Set<IToken> = new Set();
  #recorded = 0;

  constructor(validate: boolean) {
    super(t.VOCABULARY, { recoveryEnabled: false, maxLookahead: 1, skipValidations: !validate });
  }

  /** Points the parser at a text. The instance keeps nothing of the one before. */
  start(reading: Reading, tokens: Tokens): void {
    // A copy: Chevrotain pads its list with end markers while a rule runs.
    this.input = tokens.tokens.slice();
    this.tokens = tokens.tokens;
    this.reading = reading;
    this.semicolons = tokens.semicolons;
    this.semicolonsAsCommas = new Set();
    this.depth = 0;
    this.operators = 0;
    this.#docs = tokens.docs;
    this.#nextDoc = 0;
    this.attachedDocs.clear();
  }

  /** Lets go of the text, so that the instance does not keep it alive. */
  finish(): void {
    this.input = [];
    this.tokens = [];
    this.reading = NOTHING;
    this.semicolons = new Map();
    this.#docs = [];
    this.attachedDocs.clear();
  }

  // Tokens ------------------------------------------------------------------------------------------

  /** A fresh index for a recorded `consume` or `subrule`; at run time the index is not looked at. */
  protected index(): number {
    if (!this.RECORDING_PHASE) return 0;
    this.#recorded = (this.#recorded + 1) % 256;
    return this.#recorded;
  }

  protected at(type: TokenType, ahead = 1): boolean {
    return tokenMatcher(this.LA(ahead), type);
  }

  protected atEnd(): boolean {
    return this.LA(1).image === "" && Number.isNaN(this.LA(1).startOffset);
  }

  /** Takes a token of this type, or halts: "expected …". */
  protected take(type: TokenType, expected?: string): IToken {
    if (!this.RECORDING_PHASE && !this.at(type)) this.failExpected(expected ?? `\`${type.LABEL ?? type.name}\``);
    return this.consume(this.index(), type);
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

  protected position(): number {
    return (this as unknown as TokenPosition).exportLexerState();
  }

  protected moveTo(position: number): void {
    (this as unknown as TokenPosition).importLexerState(position);
  }

  // Spans -------------------------------------------------------------------------------------------

  protected startOf(token: IToken): number {
    return Number.isNaN(token.startOffset) ? this.reading.text.length : token.startOffset;
  }

  protected spanOf(token: IToken): Span {
    if (this.RECORDING_PHASE) return { start: 0, end: 0 };
    return spanAt(this.reading, token.startOffset, endOf(token));
  }

  /** From the start of `first` to the end of the token taken last. */
  protected spanFrom(first: IToken): Span {
    if (this.RECORDING_PHASE) return { start: 0, end: 0 };
    return spanAt(this.reading, first.startOffset, Math.max(endOf(this.LA(0)), first.startOffset));
  }

  protected placeOf(token: IToken): Place {
    const start = this.startOf(token);
    return placeAt(this.reading, start, start + token.image.length);
  }

  // Documentation -----------------------------------------------------------------------------------

  /** The `///` lines directly before the token ahead. */
  protected documentation(): { readonly doc?: DocComment } {
    if (this.RECORDING_PHASE) return {};
    const start = this.startOf(this.LA(1));
    const before = this.position() < 0 ? 0 : endOf(this.LA(0));
    const lines: IToken[] = [];
    for (let doc = this.#docs[this.#nextDoc]; doc !== undefined && doc.startOffset < start;) {
      if (doc.startOffset >= before) lines.push(doc);
      this.#nextDoc += 1;
      doc = this.#docs[this.#nextDoc];
    }
    const [first] = lines;
    const last = lines[lines.length - 1];
    if (first === undefined || last === undefined) return {};
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
  protected failExpected(
    expected: string,
    details: { help?: string | undefined; fixes?: readonly Fix[]; labels?: readonly Label[] } = {},
  ): never {
    throw new Halt(this.expectedDiagnostic(expected, details));
  }

  protected expectedDiagnostic(
    expected: string,
    details: { help?: string | undefined; fixes?: readonly Fix[]; labels?: readonly Label[] } = {},
  ): Diagnostic {
    const token = this.LA(1);
    const before = this.position() < 0 ? undefined : this.LA(0);
    return unexpected(this.placeOf(token), {
      expected,
      found: describe(token),
      ...(before === undefined ? {} : { after: `\`${shorten(before.image)}\`` }),
      ...details,
    });
  }

  protected failName(what: string): never {
    const token = this.LA(1);
    if (tokenMatcher(token, t.ReservedWord)) {
      this.fail(token, {
        message: `\`${token.image}\` is a reserved word, not ${what}`,
        label: "reserved",
        help: "the reserved words are `true` `false` `null` `match` `else` `in` `when` `otherwise`",
      });
    }
    this.failExpected(what);
  }

  /** Runs `read` one level deeper; halts beyond the limit, long before the stack would overflow. */
  protected deeper<T>(read: () => T): T {
    if (this.depth >= DEEPEST_NESTING) throw new Halt(tooDeep(this.placeOf(this.LA(1)), "nesting", DEEPEST_NESTING));
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

  // Small things that many rules need ----------------------------------------------------------------

  protected stringLiteral(what: string): StringLiteral {
    const token = this.take(t.Quoted, what);
    if (this.RECORDING_PHASE) return { kind: "String", span: { start: 0, end: 0 }, value: "" };
    return { kind: "String", span: this.spanOf(token), value: this.stringValue(token) };
  }

  protected stringValue(token: IToken): string {
    const closed = token.image.length > 1 && token.image.endsWith(token.image[0] ?? '"');
    const raw = token.image.slice(1, closed ? -1 : undefined);
    // A single-quoted string was reported as a whole; `\'` in it is no further mistake.
    const text = token.image.startsWith("'") ? raw.replaceAll("\\'", "'") : raw;
    return resolveEscapes(this.reading, text, token.startOffset + 1, false);
  }

  protected count(what: string): Count {
    const token = this.take(t.Numeral, what);
    if (this.RECORDING_PHASE) return { kind: "Count", span: { start: 0, end: 0 }, value: 0 };
    const { value, isFloat } = numberValue(this.reading, token.image, token.startOffset);
    if (isFloat)
      this.habit(this.placeOf(token), {
        message: `expected ${what}, found \`${token.image}\``,
        label: "not a whole number",
      });
    return { kind: "Count", span: this.spanOf(token), value: Math.floor(value) };
  }

  protected durationAhead(): Duration {
    const token = this.take(t.Duration, "a duration such as `30s`");
    if (this.RECORDING_PHASE) return { kind: "Duration", span: { start: 0, end: 0 }, raw: "", milliseconds: 0 };
    const milliseconds = durationValue(this.reading, token.image, token.startOffset);
    return { kind: "Duration", span: this.spanOf(token), raw: token.image, milliseconds };
  }

  /** Names with commas between them and none behind: `a, b`. */
  protected nameList(index: number, what: string): Identifier[] {
    const names = [this.name(what)];
    this.many(index, {
      GATE: () => this.at(t.Comma),
      DEF: () => {
        this.take(t.Comma);
        names.push(this.name(what));
      },
    });
    return names;
  }
}

/** A token as messages name it. */
export function describe(token: IToken): string {
  if (token.image === "") return "the end of the file";
  if (token.tokenType === t.Quoted)
    return `the string ${token.image.length > 30 ? `${token.image.slice(0, 29)}…"` : token.image}`;
  if (token.tokenType === t.TemplateStart || token.tokenType === t.UnterminatedTemplate) return "a template";
  return `\`${shorten(token.image)}\``;
}
