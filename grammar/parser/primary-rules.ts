/** Primary expressions: literals, names, calls, and expressions in brackets or backticks. */
import type { IToken, ParserMethod, TokenType } from "chevrotain";
import { replacement, unterminatedTemplate } from "../../diagnostics/catalog/syntax.ts";
import type { Span } from "../../diagnostics/source.ts";
import type { Argument, BrokenExpr, Expr, ForClause, Identifier, RecordField, Spread, TemplateText } from "../ast.ts";
import { durationValue, numberValue, removeIndentation, resolveEscapes, unitOf } from "../literals.ts";
import { endOf } from "../lexer/read-tokens.ts";
import * as t from "../lexer/tokens.ts";
import { newReading, spanAt } from "../reading.ts";
import { CLAUSE_WORDS, GRAPH_WORDS } from "../words.ts";
import { Halt } from "./base-parser.ts";
import { D, FIRST_LOOP } from "./decisions.ts";
import { PREFIX_HINTS } from "./foreign-syntax.ts";
import { closingBracket, namesBetween } from "./recovery.ts";
import { TypeRules } from "./type-rules.ts";

const NOWHERE: Span = { start: 0, end: 0 };
const PLACEHOLDER: BrokenExpr = { kind: "BrokenExpr", span: NOWHERE };
const NO_FIELD: RecordField = {
  kind: "RecordField",
  span: NOWHERE,
  name: { kind: "Key", span: NOWHERE, name: "", quoted: false },
  value: PLACEHOLDER,
};

/** The types of the tokens that begin an expression, prefix operators aside; those of wrong templates too. */
const PRIMARY_STARTS: ReadonlySet<TokenType> = new Set([
  t.Identifier,
  t.Numeral,
  t.Duration,
  t.Quoted,
  t.True,
  t.False,
  t.Null,
  t.TemplateStart,
  t.UnterminatedTemplate,
  t.LeftParen,
  t.StrayOpen,
  t.LeftSquare,
  t.LeftBrace,
]);

export abstract class PrimaryRules extends TypeRules {
  /** Any expression: the layer above. */
  protected abstract readonly expression: ParserMethod<[], Expr>;

  protected startsExpression(ahead = 1): boolean {
    const type = this.LA(ahead).tokenType;
    return PRIMARY_STARTS.has(type) || type === t.Not || type === t.Minus;
  }

  protected primary(): Expr {
    return this.choose(D.primary, this.primaries, this.foreignPrimary);
  }

  private readonly foreignPrimary = (): Expr => {
    if (this.at(t.UnterminatedTemplate)) return this.failTemplate();
    if (!this.at(t.StrayOpen)) return this.failPrimary();
    this.reportForeign(this.placeOf(this.LA(1)), {
      message: "`${` is outside a template",
      label: "only text between backticks interpolates",
      help: "write the value itself, or the whole text as a template: `` `… ${value} …` ``",
    });
    return this.parenthesized(t.StrayOpen, t.RightBrace);
  };

  private readonly primaries: readonly (() => Expr)[] = [
    () => this.nameOrCall(),
    () => this.stringLiteral("a string"),
    () => {
      const token = this.take(t.Numeral);
      if (this.RECORDING_PHASE) return PLACEHOLDER;
      const { value, isFloat } = numberValue(this.reading, token.image, token.startOffset);
      const spaced = this.spacedDuration(token);
      if (spaced !== undefined) return spaced;
      return { kind: "Number", span: this.spanOf(token), value, isFloat, raw: token.image };
    },
    () => {
      const token = this.take(t.Duration);
      if (this.RECORDING_PHASE) return PLACEHOLDER;
      const milliseconds = durationValue(this.reading, token.image, token.startOffset);
      return { kind: "DurationLiteral", span: this.spanOf(token), raw: token.image, milliseconds };
    },
    () => ({ kind: "Bool", span: this.spanOf(this.take(t.True)), value: true }),
    () => ({ kind: "Bool", span: this.spanOf(this.take(t.False)), value: false }),
    () => ({ kind: "Null", span: this.spanOf(this.take(t.Null)) }),
    () => this.rule(this.template),
    () => this.parenthesized(t.LeftParen, t.RightParen),
    () => this.rule(this.list),
    () => this.rule(this.record),
  ];

  /** `5 min` on one line: reported, and read as the duration that it means. */
  private spacedDuration(number: IToken): Expr | undefined {
    const next = this.LA(1);
    const unit = next.tokenType === t.Identifier ? unitOf(next.image) : undefined;
    const text = unit === undefined ? "" : this.reading.text.slice(endOf(number), next.startOffset);
    // `when x > 5 d -> e` on one line: here `d` is a node. Behind the closing parenthesis of a call it can only be a unit.
    if (unit === undefined || !/^[ \t]+$/.test(text) || !this.at(t.RightParen, 2)) return undefined;
    const raw = `${number.image}${unit}`;
    this.takeAny();
    const span = this.spanFrom(number);
    this.reportForeign(
      { ...this.placeOf(number), span },
      {
        message: "a duration has no space before its unit",
        label: `write \`${raw}\``,
        fixes: [replacement(`write \`${raw}\``, span, raw)],
      },
    );
    return { kind: "DurationLiteral", span, raw, milliseconds: durationValue(this.reading, raw, number.startOffset) };
  }

  private failPrimary(): never {
    const token = this.LA(1);
    if (token.tokenType === t.Dot && this.at(t.Numeral, 2)) {
      const number = `0.${this.LA(2).image}`;
      const fixes = [replacement(`write \`${number}\``, this.placeOf(token).span, "0.")];
      this.fail(token, { message: "a number begins with a digit", label: `write \`${number}\``, fixes });
    }
    if (token.tokenType === t.Spread) {
      this.fail(token, {
        message: "`...` is written only inside of a list or a record",
        label: "no spread here",
        help: "a list takes `[...xs, x]`, a record `{ ...r, done: true }`; a function takes the list itself",
      });
    }
    this.failExpected("an expression", { help: this.operatorHelp(token) });
  }

  /** `n++`, `n += 1`, `n ** 2`. */
  private operatorHelp(token: IToken): string | undefined {
    const before = this.position() < 0 ? undefined : this.LA(0).tokenType;
    if (before === t.Star && token.tokenType === t.Star) return "there is no `**`: write `x * x`";
    if (before === t.Less && token.tokenType === t.Greater) return "not equal is written `!=`";
    const isStep = (before === t.Plus || before === t.Minus) && token.tokenType === before;
    if (isStep || (token.tokenType === t.Equal && before !== t.Equal))
      return "nothing is assigned in an expression: a node writes, `node a = x + 1 into x`";
    return undefined;
  }

  private parenthesized(open: TokenType, close: TokenType): Expr {
    const first = this.take(open);
    return this.inBrackets(this.position(), first, () => {
      const inner = this.rule(this.expression);
      if (!this.RECORDING_PHASE && this.isWord("for")) this.failBareComprehension();
      if (!this.RECORDING_PHASE && this.LA(1).image === "=>") this.failLambda();
      this.take(close);
      if (!this.RECORDING_PHASE && this.LA(1).image === "=>") this.failLambda();
      return inner;
    });
  }

  /** `(x for x in xs)` */
  private failBareComprehension(): never {
    this.fail(this.LA(1), {
      message: "a comprehension is written in square brackets",
      label: "`for` in parentheses",
      help: "write `[f(x) for x in xs]`",
    });
  }

  private nameOrCall(): Expr {
    const token = this.take(t.Identifier);
    const call = this.maybe(D.call, this.callRule);
    if (this.RECORDING_PHASE) return PLACEHOLDER;
    if (call === undefined && PREFIX_HINTS.has(token.image)) this.checkPrefix(token);
    if (call === undefined && (this.at(t.Quoted) || this.at(t.TemplateStart))) this.checkBareArgument(token);
    if (call === undefined) return { kind: "Name", span: this.spanOf(token), name: token.image };
    if (call === "broken") return this.brokenSince(token, this.position());
    return { kind: "Call", span: this.spanFrom(token), callee: this.identifier(token), args: call };
  }

  private readonly callRule = () => this.rule(this.callArguments);

  /** `typeof x`, `new X`: on one line, where no reading as a name can be right. */
  private checkPrefix(token: IToken): void {
    const next = this.word();
    if (next === "" || CLAUSE_WORDS.has(next) || GRAPH_WORDS.has(next) || this.at(t.Arrow, 2) || this.at(t.Comma, 2))
      return;
    if (this.reading.text.slice(token.startOffset, this.LA(1).startOffset).includes("\n")) return;
    this.fail(token, {
      message: `\`${token.image}\` is not an operator here`,
      label: "no such operator",
      help: PREFIX_HINTS.get(token.image),
    });
  }

  /** `print "x"` and `f"x {y}"`: no expression continues with a string. */
  private checkBareArgument(token: IToken): void {
    const next = this.LA(1);
    if (this.reading.text.slice(token.startOffset, next.startOffset).includes("\n")) return;
    const isPrefix = endOf(token) === next.startOffset;
    this.fail(next, {
      message: isPrefix ? "a string has no prefix" : `the call of \`${token.image}\` has no parentheses`,
      label: isPrefix ? "write a template" : `write \`${token.image}(…)\``,
      help: isPrefix
        ? "text that contains values is written between backticks: `` `Hello ${name}` ``"
        : `a call has parentheses: \`${token.image}(…)\``,
    });
  }

  private readonly callArguments = this.RULE("callArguments", (): Argument[] | "broken" => {
    this.take(t.LeftParen);
    const args: Argument[] = [];
    const done = this.recovering(this.position(), () => {
      this.commaList(1, t.RightParen, () => args.push(this.rule(this.argument)));
      if (!this.RECORDING_PHASE && this.LA(1).image === "=>") this.failLambda();
      this.take(t.RightParen, "`,` or `)`");
    });
    // A list that has grown has room for sixteen more, and lives as long as the syntax tree.
    return done ? args.slice() : "broken";
  });

  private failLambda(): never {
    this.fail(this.LA(1), {
      message: "functions cannot be written here",
      label: "no functions as values",
      help: "a comprehension works on each item: `[f(x) for x in xs if x.ok]`; anything else is an imported function",
    });
  }

  /** G6: a word before `:` names the argument, a reserved one too. */
  protected readonly argument = this.RULE("argument", (): Argument => {
    const first = this.LA(1);
    const foreign = !this.RECORDING_PHASE && this.at(t.Equal, 2) && this.at(t.Identifier);
    const readName = (): Identifier => {
      const token = this.choose(D.argumentNameKind, this.argumentNames);
      if (foreign) this.instead("`:`", ":", "an argument and its name are joined by `:`");
      else this.take(t.Colon);
      return this.identifier(token);
    };
    const name = foreign ? readName() : this.maybe(D.argumentName, readName, this.isBeforeColon);
    const value = this.rule(this.expression);
    return { kind: "Argument", span: this.spanFrom(first), ...(name === undefined ? undefined : { name }), value };
  });

  private readonly argumentNames = [() => this.take(t.Identifier), () => this.take(t.ReservedWord)];
  private readonly isBeforeColon = (): boolean => this.at(t.Colon, 2);

  /** `[a, b]` or `[value for item in list if condition]`. */
  private readonly list = this.RULE("list", (): Expr => {
    const first = this.take(t.LeftSquare);
    return this.inBrackets(this.position(), first, () => {
      if (this.RECORDING_PHASE) return this.recordList();
      const items: (Expr | Spread)[] = [];
      let comprehension: ((span: Span) => Expr) | undefined;
      this.commaList(1, t.RightSquare, () => {
        if (this.at(t.Spread)) {
          items.push(this.rule(this.spread));
          if (this.isWord("for")) this.failSpreadFor();
          return;
        }
        const value = this.rule(this.expression);
        items.push(value);
        if (items.length === 1 && this.isWord("for")) comprehension = this.comprehension(value);
      });
      this.take(t.RightSquare, "`,` or `]`");
      const span = this.spanFrom(first);
      return comprehension === undefined ? { kind: "List", span, items } : comprehension(span);
    });
  });

  /** A list for the recorded grammar. */
  private recordList(): Expr {
    const rest = (at: number): void => {
      this.many(at, () => {
        this.take(t.Comma);
        this.or(at, [{ ALT: () => this.rule(this.spread) }, { ALT: () => this.rule(this.expression) }]);
      });
      this.option(at, () => this.take(t.Comma));
    };
    this.option(FIRST_LOOP, () => {
      this.or(FIRST_LOOP, [
        {
          ALT: () => {
            this.rule(this.spread);
            rest(FIRST_LOOP + 1);
          },
        },
        {
          ALT: () => {
            this.rule(this.expression);
            this.or(FIRST_LOOP + 2, [
              { ALT: () => this.comprehension(PLACEHOLDER) },
              { ALT: () => rest(FIRST_LOOP + 3) },
            ]);
          },
        },
      ]);
    });
    this.take(t.RightSquare);
    return PLACEHOLDER;
  }

  private readonly spread = this.RULE("spread", (): Spread => {
    const first = this.take(t.Spread);
    const value = this.rule(this.expression);
    return { kind: "Spread", span: this.spanFrom(first), value };
  });

  /** `[...x.tags for x in xs]` */
  private failSpreadFor(): never {
    this.fail(this.LA(1), {
      message: "a comprehension has one value for each item, not a spread",
      label: "`for` after a spread",
      help: "write a second `for` for the inner list: `[tag for x in xs for tag in x.tags]`",
    });
  }

  private comprehension(value: Expr): (span: Span) => Expr {
    const clauses = [this.rule(this.forClause)];
    this.repeat(D.nextFor, () => clauses.push(this.rule(this.forClause)));
    if (!this.RECORDING_PHASE && !this.at(t.RightSquare)) this.failExpected("`]`");
    return (span) => ({ kind: "Comprehension", span, value, clauses });
  }

  /** `for x, i in xs if x.ok` */
  protected readonly forClause = this.RULE("forClause", (): ForClause => {
    const first = this.takeWord("for");
    const item = this.name("a name for the item");
    const index = this.maybe(D.forIndex, () => {
      this.take(t.Comma);
      return this.name("a name for the index");
    });
    this.takeIn();
    const list = this.rule(this.expression);
    const isWhen = !this.RECORDING_PHASE && this.at(t.When);
    if (isWhen) this.instead("`if`", "if", "the condition of a `for` begins with `if`");
    const condition = isWhen
      ? this.rule(this.expression)
      : this.maybe(
          D.forCondition,
          () => {
            this.takeWord("if");
            return this.rule(this.expression);
          },
          this.startsClause,
        );
    return {
      kind: "ForClause",
      span: this.spanFrom(first),
      item,
      ...(index === undefined ? undefined : { index }),
      list,
      ...(condition === undefined ? undefined : { condition }),
    };
  });

  private readonly record = this.RULE("record", (): Expr => {
    const first = this.take(t.LeftBrace);
    return this.inBrackets(this.position(), first, () => {
      const fields: (RecordField | Spread)[] = [];
      this.commaList(1, t.RightBrace, () => fields.push(this.rule(this.recordPart)));
      this.take(t.RightBrace, "`,` or `}`");
      return { kind: "Record", span: this.spanFrom(first), fields };
    });
  });

  private readonly recordPart = this.RULE("recordPart", (): RecordField | Spread => {
    if (!this.RECORDING_PHASE) return this.at(t.Spread) ? this.rule(this.spread) : this.rule(this.recordField);
    return this.or(FIRST_LOOP, [{ ALT: () => this.rule(this.spread) }, { ALT: () => this.rule(this.recordField) }]);
  });

  private readonly recordField = this.RULE("recordField", (): RecordField => {
    const readValue = (): Expr => {
      this.take(t.Colon);
      return this.rule(this.expression);
    };
    const first = this.LA(1);
    if (this.RECORDING_PHASE) return this.recordShortField(D.recordValue, readValue, NO_FIELD);
    const name = this.key();
    if (this.at(t.Equal)) {
      this.instead("`:`", ":", "a field and its value are joined by `:`");
      const value = this.rule(this.expression);
      return { kind: "RecordField", span: this.spanFrom(first), name, value };
    }
    // Only a plain name may omit its value.
    if (!this.at(t.Colon) && first.tokenType !== t.Identifier) this.failExpected("`:` and a value");
    const value = this.maybe(D.recordValue, readValue);
    const short: Expr = { kind: "Name", span: name.span, name: name.name };
    return { kind: "RecordField", span: this.spanFrom(first), name, value: value ?? short };
  });

  // Recovery inside brackets ------------------------------------------------------------------------

  /**
   * Reads up to the bracket that closes the one at `open`; where that fails, all since `first` is one broken
   * expression.
   */
  protected inBrackets(open: number, first: IToken, read: () => Expr): Expr {
    let result: Expr = PLACEHOLDER;
    const done = this.recovering(open, () => {
      result = read();
    });
    return done ? result : this.brokenSince(first, open);
  }

  /** False if reading halted and continued after the closing bracket. */
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
    const readPart = [
      () => {
        texts[texts.length - 1] = this.take(t.TemplateText);
      },
      () => {
        expressions.push(this.parenthesized(t.TemplateOpen, t.RightBrace));
        texts.push(undefined);
      },
    ];
    this.repeat(D.templatePart, () => this.choose(D.templatePartKind, readPart));
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
    // Bad escapes are reported at their place in the source, which the text without its indentation has lost.
    if (plain === text.image) return resolveEscapes(this.reading, plain, text.startOffset, true);
    resolveEscapes(this.reading, text.image, text.startOffset, true);
    return resolveEscapes(newReading(this.reading.source, plain), plain, 0, true);
  }

  /** The rest of its line is lost, so reading the statement further would only report consequences. */
  private failTemplate(): never {
    const token = this.takeAny();
    throw new Halt(unterminatedTemplate(this.placeOf(token)));
  }
}
