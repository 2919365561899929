/** The smallest expressions: literals, names and calls, and what stands in brackets or backticks. */
import type { IToken, ParserMethod, TokenType } from "chevrotain";
import { replacement } from "../../diagnostics/catalog/syntax.ts";
import type { Span } from "../../diagnostics/source.ts";
import type { Argument, BrokenExpr, Expr, RecordField, TemplateText } from "../ast.ts";
import { durationValue, numberValue, removeIndentation, resolveEscapes } from "../literals.ts";
import { endOf } from "../lexer/read-tokens.ts";
import * as t from "../lexer/tokens.ts";
import { newReading, spanAt } from "../reading.ts";
import { CLAUSE_WORDS, GRAPH_WORDS } from "../words.ts";
import { Halt } from "./base-parser.ts";
import { PREFIX_HABITS } from "./foreign-syntax.ts";
import { closingBracket, namesBetween } from "./recovery.ts";
import { TypeRules } from "./type-rules.ts";

const NOWHERE: Span = { start: 0, end: 0 };
const PLACEHOLDER: BrokenExpr = { kind: "BrokenExpr", span: NOWHERE };

/** What a token begins an expression as, by token type. */
const PRIMARY_KINDS = new Map<TokenType, PrimaryKind>([
  [t.Identifier, "name"],
  [t.Numeral, "number"],
  [t.Duration, "duration"],
  [t.Quoted, "string"],
  [t.True, "true"],
  [t.False, "false"],
  [t.Null, "null"],
  [t.TemplateStart, "template"],
  [t.UnterminatedTemplate, "openTemplate"],
  [t.LeftParen, "parentheses"],
  [t.StrayOpen, "strayOpen"],
  [t.LeftSquare, "list"],
  [t.LeftBrace, "record"],
]);
type PrimaryKind =
  | "name"
  | "number"
  | "duration"
  | "string"
  | "true"
  | "false"
  | "null"
  | "template"
  | "openTemplate"
  | "parentheses"
  | "strayOpen"
  | "list"
  | "record";

export abstract class PrimaryRules extends TypeRules {
  /** Any expression: the layer above. */
  protected abstract readonly expression: ParserMethod<[], Expr>;

  protected startsExpression(ahead = 1): boolean {
    const type = this.LA(ahead).tokenType;
    return PRIMARY_KINDS.has(type) || type === t.Not || type === t.Minus;
  }

  protected primary(): Expr {
    const kind = PRIMARY_KINDS.get(this.LA(1).tokenType);
    if (kind === undefined && !this.RECORDING_PHASE) this.failPrimary();
    return this.choose(7, kind ?? "name", this.primaries);
  }

  private readonly primaries: Readonly<Record<PrimaryKind, () => Expr>> = {
    name: () => this.nameOrCall(),
    string: () => this.stringLiteral("a string"),
    number: () => {
      const token = this.take(t.Numeral);
      if (this.RECORDING_PHASE) return PLACEHOLDER;
      const { value, isFloat } = numberValue(this.reading, token.image, token.startOffset);
      return { kind: "Number", span: this.spanOf(token), value, isFloat, raw: token.image };
    },
    duration: () => {
      const token = this.take(t.Duration);
      if (this.RECORDING_PHASE) return PLACEHOLDER;
      const milliseconds = durationValue(this.reading, token.image, token.startOffset);
      return { kind: "DurationLiteral", span: this.spanOf(token), raw: token.image, milliseconds };
    },
    true: () => ({ kind: "Bool", span: this.spanOf(this.take(t.True)), value: true }),
    false: () => ({ kind: "Bool", span: this.spanOf(this.take(t.False)), value: false }),
    null: () => ({ kind: "Null", span: this.spanOf(this.take(t.Null)) }),
    template: () => this.rule(this.template),
    openTemplate: () => this.unterminatedTemplate(),
    parentheses: () => this.parenthesized(t.LeftParen, t.RightParen),
    strayOpen: () => this.parenthesized(t.StrayOpen, t.RightBrace),
    list: () => this.rule(this.list),
    record: () => this.rule(this.record),
  };

  private failPrimary(): never {
    const token = this.LA(1);
    if (token.tokenType === t.Dot && this.at(t.Numeral, 2)) {
      const number = `0.${this.LA(2).image}`;
      const fixes = [replacement(`write \`${number}\``, this.placeOf(token).span, "0.")];
      this.fail(token, { message: "a number begins with a digit", label: `write \`${number}\``, fixes });
    }
    if (token.tokenType === t.Spread) {
      this.fail(token, {
        message: "`...` cannot be used here",
        label: "no spread",
        help: "a list grows in a channel with `reduce append`; a record is built by naming its fields",
      });
    }
    this.failExpected("an expression", { help: this.operatorHelp(token) });
  }

  /** `n++`, `n += 1`, `n ** 2`. */
  private operatorHelp(token: IToken): string | undefined {
    const before = this.position() < 0 ? undefined : this.LA(0).tokenType;
    if (before === t.Star && token.tokenType === t.Star) return "there is no `**`: write `x * x`";
    const isStep = (before === t.Plus || before === t.Minus) && token.tokenType === before;
    if (isStep || (token.tokenType === t.Equal && before !== t.Equal))
      return "nothing is assigned in an expression: a node writes, `node a = x + 1 into x`";
    return undefined;
  }

  private parenthesized(open: TokenType, close: TokenType): Expr {
    const first = this.take(open);
    return this.inBrackets(this.position(), first, () => {
      const inner = this.rule(this.expression);
      this.take(close);
      return inner;
    });
  }

  private nameOrCall(): Expr {
    const token = this.take(t.Identifier);
    const call = this.maybe(8, this.at(t.LeftParen), () => this.rule(this.callArguments));
    if (this.RECORDING_PHASE) return PLACEHOLDER;
    if (call === undefined && PREFIX_HABITS.has(token.image)) this.checkPrefix(token);
    if (call === undefined) return { kind: "Name", span: this.spanOf(token), name: token.image };
    if (call === "broken") return this.brokenSince(token, this.position());
    return { kind: "Call", span: this.spanFrom(token), callee: this.identifier(token), args: call };
  }

  /** `typeof x`, `new X`: on one line, where no reading as a name can be right. */
  private checkPrefix(token: IToken): void {
    const next = this.word();
    if (next === "" || CLAUSE_WORDS.has(next) || GRAPH_WORDS.has(next) || this.at(t.Arrow, 2) || this.at(t.Comma, 2))
      return;
    if (this.reading.text.slice(token.startOffset, this.LA(1).startOffset).includes("\n")) return;
    this.fail(token, {
      message: `\`${token.image}\` is not an operator here`,
      label: "no such operator",
      help: PREFIX_HABITS.get(token.image),
    });
  }

  private readonly callArguments = this.RULE("callArguments", (): Argument[] | "broken" => {
    this.take(t.LeftParen);
    const args: Argument[] = [];
    const done = this.recovering(this.position(), () => {
      this.commaList(1, t.RightParen, () => args.push(this.argument(2)));
      if (!this.RECORDING_PHASE && this.LA(1).image === "=>") this.failLambda();
      this.take(t.RightParen, "`,` or `)`");
    });
    return done ? args : "broken";
  });

  private failLambda(): never {
    this.fail(this.LA(1), {
      message: "functions cannot be written here",
      label: "no functions as values",
      help: "a comprehension works on each item: `[f(x) for x in xs if x.ok]`; anything else is an imported function",
    });
  }

  /** G6: a word before `:` names the argument, a reserved one too. */
  protected argument(index: number): Argument {
    const first = this.LA(1);
    const named = this.at(t.Colon, 2) && (this.at(t.Identifier) || this.atReserved());
    const foreign = !this.RECORDING_PHASE && this.at(t.Equal, 2) && this.at(t.Identifier);
    const name = this.maybe(index, named || foreign, () => {
      const token = this.choose(index + 1, this.at(t.Identifier) ? "name" : "reserved", {
        name: () => this.take(t.Identifier),
        reserved: () => this.take(t.ReservedWord),
      });
      if (foreign) this.instead("`:`", ":", "an argument and its name are joined by `:`");
      else this.take(t.Colon);
      return this.identifier(token);
    });
    const value = this.rule(this.expression);
    return { kind: "Argument", span: this.spanFrom(first), ...(name === undefined ? undefined : { name }), value };
  }

  /** `[a, b]` or `[value for item in list if condition]`. */
  private readonly list = this.RULE("list", (): Expr => {
    const first = this.take(t.LeftSquare);
    return this.inBrackets(this.position(), first, () => {
      const items: Expr[] = [];
      let comprehension: ((span: Span) => Expr) | undefined;
      this.commaList(1, t.RightSquare, () => {
        const value = this.rule(this.expression);
        items.push(value);
        this.maybe(2, items.length === 1 && this.isWord("for"), () => {
          comprehension = this.comprehension(value);
        });
      });
      this.take(t.RightSquare, "`,` or `]`");
      const span = this.spanFrom(first);
      return comprehension === undefined ? { kind: "List", span, items } : comprehension(span);
    });
  });

  private comprehension(value: Expr): (span: Span) => Expr {
    this.takeWord("for");
    const item = this.name("a name for the item");
    this.take(t.In, "`in` and the list");
    const list = this.rule(this.expression);
    const isWhen = !this.RECORDING_PHASE && this.at(t.When);
    const condition = this.maybe(3, isWhen || this.isWord("if"), () => {
      if (isWhen) this.instead("`if`", "if", "the condition of a comprehension begins with `if`");
      else this.takeWord("if");
      return this.rule(this.expression);
    });
    if (!this.RECORDING_PHASE && !this.at(t.RightSquare)) this.failExpected("`]`");
    return (span) => ({
      kind: "Comprehension",
      span,
      value,
      item,
      list,
      ...(condition === undefined ? undefined : { condition }),
    });
  }

  private readonly record = this.RULE("record", (): Expr => {
    const first = this.take(t.LeftBrace);
    return this.inBrackets(this.position(), first, () => {
      const fields: RecordField[] = [];
      this.commaList(1, t.RightBrace, () => fields.push(this.recordField()));
      this.take(t.RightBrace, "`,` or `}`");
      return { kind: "Record", span: this.spanFrom(first), fields };
    });
  });

  private recordField(): RecordField {
    const first = this.LA(1);
    const name = this.key(3);
    if (!this.RECORDING_PHASE && this.at(t.Equal)) {
      this.instead("`:`", ":", "a field and its value are joined by `:`");
      const value = this.rule(this.expression);
      return { kind: "RecordField", span: this.spanFrom(first), name, value };
    }
    // Only a plain name can stand for its own value.
    if (!this.RECORDING_PHASE && !this.at(t.Colon) && first.tokenType !== t.Identifier)
      this.failExpected("`:` and a value");
    const value = this.maybe(2, this.at(t.Colon), () => {
      this.take(t.Colon);
      return this.rule(this.expression);
    });
    const short: Expr = { kind: "Name", span: name.span, name: name.name };
    return { kind: "RecordField", span: this.spanFrom(first), name, value: value ?? short };
  }

  // Recovery inside brackets ------------------------------------------------------------------------

  /** Reads up to the bracket that closes the one at `open`; where that fails, all since `first` is one broken expression. */
  protected inBrackets(open: number, first: IToken, read: () => Expr): Expr {
    let result: Expr = PLACEHOLDER;
    const done = this.recovering(open, () => {
      result = read();
    });
    return done ? result : this.brokenSince(first, open);
  }

  /** False when reading halted and went on behind the closing bracket. */
  private recovering(open: number, read: () => void): boolean {
    const depth = this.depth;
    try {
      read();
      return true;
    } catch (error) {
      if (this.RECORDING_PHASE || !(error instanceof Halt)) throw error;
      // A limit was passed: reading on would only pass it again.
      if (error.diagnostic.code === "NG004") throw error;
      const close = closingBracket(this.tokenText(), open);
      if (close === undefined || close <= this.position()) throw error;
      this.report(error.diagnostic);
      this.moveTo(close);
      this.depth = depth;
      return false;
    }
  }

  protected brokenSince(first: IToken, open: number): BrokenExpr {
    let from = open;
    while (from > 0 && this.startOf(this.tokens[from] ?? first) > first.startOffset) from -= 1;
    return {
      kind: "BrokenExpr",
      span: this.spanFrom(first),
      names: namesBetween(this.tokenText(), from, this.position() + 1),
    };
  }

  // Templates ---------------------------------------------------------------------------------------

  private readonly template = this.RULE("template", (): Expr => {
    const first = this.take(t.TemplateStart);
    // Texts and expressions alternate, beginning and ending with a text, which may be absent.
    const texts: (IToken | undefined)[] = [undefined];
    const expressions: Expr[] = [];
    this.repeat(
      1,
      () => this.at(t.TemplateText) || this.at(t.TemplateOpen),
      () =>
        this.choose(2, this.at(t.TemplateText) ? "text" : "expression", {
          text: () => {
            texts[texts.length - 1] = this.take(t.TemplateText);
          },
          expression: () => {
            expressions.push(this.parenthesized(t.TemplateOpen, t.RightBrace));
            texts.push(undefined);
          },
        }),
    );
    this.take(t.TemplateEnd, "a backtick");
    if (this.RECORDING_PHASE) return PLACEHOLDER;
    return { kind: "Template", span: this.spanFrom(first), parts: this.templateParts(first, texts, expressions) };
  });

  private templateParts(first: IToken, texts: readonly (IToken | undefined)[], expressions: readonly Expr[]) {
    const parts: (TemplateText | Expr)[] = [];
    const plain = removeIndentation(texts.map((text) => text?.image ?? ""));
    texts.forEach((text, at) => {
      if (text !== undefined) {
        const value = this.templateValue(plain[at] ?? "", text);
        parts.push({ kind: "TemplateText", span: this.spanOf(text), value, raw: text.image });
      }
      const expression = expressions[at];
      if (expression !== undefined) parts.push(expression);
    });
    if (parts.length > 0) return parts;
    const empty = spanAt(this.reading, endOf(first), endOf(first));
    return [{ kind: "TemplateText" as const, span: empty, value: "", raw: "" }];
  }

  private templateValue(plain: string, text: IToken): string {
    // Bad escapes are reported where they stand in the source, which the text without its indentation no longer knows.
    if (plain === text.image) return resolveEscapes(this.reading, plain, text.startOffset, true);
    resolveEscapes(this.reading, text.image, text.startOffset, true);
    return resolveEscapes(newReading(this.reading.source, plain), plain, 0, true);
  }

  private unterminatedTemplate(): Expr {
    const token = this.take(t.UnterminatedTemplate);
    if (this.RECORDING_PHASE) return PLACEHOLDER;
    const raw = token.image.slice(1);
    const span = spanAt(this.reading, token.startOffset + 1, endOf(token));
    return { kind: "Template", span: this.spanOf(token), parts: [{ kind: "TemplateText", span, value: raw, raw }] };
  }
}
