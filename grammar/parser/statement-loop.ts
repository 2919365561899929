/** The loops that recover: over the statements of a body, and over the arms and policies within one statement. */
import type { IToken } from "chevrotain";
import { replacement, syntaxProblem, tooDeep } from "../../diagnostics/catalog/syntax.ts";
import type { Diagnostic } from "../../diagnostics/diagnostic.ts";
import type { Broken } from "../ast.ts";
import { endOf, shorten, type Tokens } from "../lexer/read-tokens.ts";
import * as t from "../lexer/tokens.ts";
import { MOST_DIAGNOSTICS, spanAt, type Reading } from "../reading.ts";
import { CHANNEL_WORDS } from "../words.ts";
import { DEEPEST_NESTING, Halt } from "./base-parser.ts";
import { FIRST_LOOP } from "./decisions.ts";
import {
  columnAtLineStart,
  namesBetween,
  nextSibling,
  nextStatement,
  startsOwnStatement,
  startsItem,
  startsStatement,
  type BodyKind,
} from "./recovery.ts";
import { TestRules } from "./test-rules.ts";

export abstract class StatementLoop extends TestRules {
  /** Set if a part of the current statement was broken although its end was found. */
  #poisoned = false;
  /** The index of the first token of the current statement. */
  #first = 0;
  override start(reading: Reading, tokens: Tokens): void {
    super.start(reading, tokens);
    this.#poisoned = false;
    this.#first = 0;
    this.bodyKind = undefined;
  }

  /** The diagnostic of a caught error. Any error but a `Halt` is a bug of the parser and is thrown again. */
  protected diagnosticOf(error: unknown): Diagnostic {
    if (error instanceof Halt) return error.diagnostic;
    // The limits keep the stack shallow, but the caller may already have used most of it.
    if (error instanceof RangeError) return tooDeep(this.placeOf(this.LA(1)), "nesting", DEEPEST_NESTING);
    throw error;
  }

  /** A file with too many errors is not read further: its rest is one broken item. */
  protected gaveUp(): boolean {
    return this.reading.diagnostics.length >= MOST_DIAGNOSTICS;
  }

  // Bodies ------------------------------------------------------------------------------------------

  /**
   * Statements up to the closing brace; a broken one costs only itself. `owner` is the index of the item's first token.
   */
  protected body<S>(kind: BodyKind, owner: number, read: () => S): (S | Broken)[] {
    if (this.RECORDING_PHASE) {
      this.many(FIRST_LOOP, read);
      this.take(t.RightBrace);
      return [];
    }
    const source = this.tokenText();
    const open = this.LA(0);
    const ownerColumn = columnAtLineStart(source, owner) ?? 0;
    const statements: (S | Broken)[] = [];
    this.bodyKind = kind;
    for (let previous = -1; ;) {
      const first = this.position() + 1;
      if (this.at(t.RightBrace)) {
        if (!this.closesBody(kind, ownerColumn)) continue;
        break;
      }
      if (this.atEnd() || this.beginsNextItem(first, ownerColumn)) {
        this.reportUnclosed(open, kind);
        break;
      }
      if (this.at(t.Comma)) {
        this.strayComma("statements are");
        continue;
      }
      try {
        this.#poisoned = false;
        this.#first = first;
        const statement = read();
        statements.push(this.#poisoned ? this.brokenBetween(first, this.position() + 1) : statement);
      } catch (error) {
        this.depth = 0;
        const diagnostic = this.diagnosticOf(error);
        if (this.isTorn(first, previous, kind)) {
          this.reportTorn(first - 1, diagnostic);
          statements.pop();
          statements.push(this.skipTo(previous, first - 1));
        } else {
          this.report(diagnostic);
          const next = this.gaveUp() ? source.tokens.length : nextStatement(source, first, kind, ownerColumn);
          statements.push(this.skipTo(first, next));
        }
      }
      previous = first;
    }
    this.bodyKind = undefined;
    return statements;
  }

  /** Takes the brace ahead; false if statements follow, so that it is one brace too many. */
  private closesBody(kind: BodyKind, ownerColumn: number): boolean {
    const source = this.tokenText();
    const brace = this.take(t.RightBrace);
    const next = this.position() + 1;
    if (startsItem(source, next) || !startsStatement(source, next, kind)) return true;
    const column = columnAtLineStart(source, next);
    if (column !== undefined && column <= ownerColumn && ownerColumn > 0) return true;
    const place = this.placeOf(brace);
    this.report(
      syntaxProblem(place, {
        message: `this \`}\` closes the ${kind}, but statements follow`,
        label: "one `}` too many",
        labels: [{ ...this.placeOf(this.LA(1)), message: `read as a statement of the same ${kind}` }],
        fixes: [replacement("delete it", place.span, "")],
      }),
    );
    return false;
  }

  private beginsNextItem(at: number, ownerColumn: number): boolean {
    const source = this.tokenText();
    if (!startsItem(source, at)) return false;
    return (columnAtLineStart(source, at) ?? Infinity) <= ownerColumn;
  }

  private reportUnclosed(open: IToken, kind: BodyKind): void {
    this.report(
      syntaxProblem(this.placeOf(this.LA(1)), {
        message: `the ${kind} is never closed: a \`}\` is missing before this`,
        label: "expected `}`",
        labels: [{ ...this.placeOf(open), message: "opened here" }],
        fixes: [replacement("close it", this.gapSpan(), "\n}")],
      }),
    );
  }

  private strayComma(what: string): void {
    const place = this.placeOf(this.take(t.Comma));
    const fixes = [replacement("delete the comma", place.span, "")];
    this.reportForeign(place, { message: `${what} not separated by commas`, label: "delete it", fixes });
  }

  // Statements torn by the end of a line -------------------------------------------------------------

  /**
   * Whether the previous statement includes the beginning of this line: `state a: int =` takes the first word of the
   * line below for its default, and the rest of that line is not a statement.
   */
  private isTorn(first: number, previous: number, kind: BodyKind): boolean {
    const source = this.tokenText();
    return (
      previous >= 0 &&
      first - 1 > previous &&
      columnAtLineStart(source, first - 1) !== undefined &&
      startsStatement(source, first - 1, kind)
    );
  }

  protected reportTorn(at: number, diagnostic: Diagnostic): void {
    const before = this.tokens[at - 1];
    if (before === undefined) return this.report(diagnostic);
    const next = this.tokens[at];
    const word = next === undefined ? "" : `: \`${shorten(next.image)}\` was read as its continuation`;
    const place = this.placeOf(before);
    this.report(
      syntaxProblem(place, {
        message: `the statement is not finished after \`${shorten(before.image)}\``,
        label: "the line ends too early",
        notes: [`line breaks do not end statements${word}`],
      }),
    );
  }

  protected isOutdented(): boolean {
    const source = this.tokenText();
    const column = columnAtLineStart(source, this.position() + 1);
    return column !== undefined && column <= this.statementColumn();
  }

  protected statementColumn(): number {
    return columnAtLineStart(this.tokenText(), this.#first) ?? -1;
  }

  protected lineBreakNote(): string | undefined {
    const at = this.position();
    const source = this.tokenText();
    const { bodyKind } = this;
    // The token that does not fit, or the one before it, begins a line and looks like a new statement.
    for (const first of [at + 1, at]) {
      const before = source.tokens[first - 1];
      const token = source.tokens[first];
      if (before === undefined || token === undefined || columnAtLineStart(source, first) === undefined) continue;
      const looksLikeOne =
        bodyKind === undefined ? startsItem(source, first) : startsOwnStatement(source, first, bodyKind);
      if (!looksLikeOne) continue;
      const line = this.reading.source.position(this.spanOf(before).end).line;
      return `line ${line} ends after \`${shorten(before.image)}\`, and line breaks do not end statements: \`${token.image}\` was read as a part of the statement above`;
    }
    return undefined;
  }

  // Arms and policies -------------------------------------------------------------------------------

  protected siblings<T>(index: number, read: () => T, starts: (index: number) => boolean): T[] {
    if (this.RECORDING_PHASE) {
      this.many(FIRST_LOOP + index, read);
      this.take(t.RightBrace);
      return [];
    }
    const all: T[] = [];
    const open = this.LA(0);
    while (!this.at(t.RightBrace)) {
      const first = this.position() + 1;
      if (this.at(t.Comma)) {
        this.strayComma(this.listContext === "policies" ? "policies are" : "arms are");
        continue;
      }
      try {
        if (this.atEnd()) this.failOpen(open);
        all.push(read());
      } catch (error) {
        const diagnostic = this.diagnosticOf(error);
        if (diagnostic.code === "NG004" || this.atEnd()) throw error;
        const next = nextSibling(this.tokenText(), first, starts);
        if (next.abandoned) this.failAbandoned(open, first, next.at, error);
        this.report(diagnostic);
        this.#poisoned = true;
        this.depth = 0;
        this.moveTo(next.at - 1);
      }
    }
    this.take(t.RightBrace);
    return all;
  }

  private failOpen(open: IToken): never {
    throw new Halt(this.expectedDiagnostic("`}`", { labels: [{ ...this.placeOf(open), message: "opened here" }] }));
  }

  /** A brace that was never closed: reported with the statement that begins inside it. */
  private failAbandoned(open: IToken, first: number, next: number, error: unknown): never {
    const token = this.tokens[next];
    if (next !== first || token === undefined) throw error;
    this.moveTo(next - 1);
    this.fail(open, {
      message: `this \`{\` is never closed`,
      label: "opened here",
      labels: [{ ...this.placeOf(token), message: "a statement begins here" }],
      fixes: [replacement("close it", this.gapSpan(), " }")],
    });
  }

  // Broken statements -------------------------------------------------------------------------------

  /** Moves forward to a token; the tokens in between become one broken statement or item. */
  protected skipTo(first: number, next: number): Broken {
    const to = Math.min(Math.max(next, first + 1), this.tokens.length);
    this.moveTo(to - 1);
    return this.brokenBetween(first, to);
  }

  protected brokenBetween(first: number, to: number): Broken {
    const source = this.tokenText();
    const token = source.tokens[first];
    const last = source.tokens[to - 1];
    const start = token?.startOffset ?? this.reading.text.length;
    const span = spanAt(this.reading, start, last === undefined ? start : endOf(last));
    return { kind: "Broken", span, of: this.brokenKind(first), names: namesBetween(source, first, to) };
  }

  private brokenKind(first: number): Broken["of"] {
    const second = this.tokens[first + 1]?.tokenType;
    const token = this.tokens[first];
    if (token?.tokenType !== t.Identifier) return "other";
    if (second === t.Arrow || second === t.Comma) return "edge";
    if (CHANNEL_WORDS.has(token.image)) return "channel";
    switch (token.image) {
      case "import":
      case "type":
      case "secret":
      case "const":
      case "derive":
      case "graph":
      case "plan":
      case "test":
      case "node":
      case "task":
        return token.image;
      case "all":
      case "settled":
      case "any":
        return second === t.LeftParen ? "edge" : "other";
      default:
        return "other";
    }
  }
}
