/** Expressions: operators, members, calls, lists, records, comprehensions, templates. */
import type { IToken, TokenType } from "chevrotain";
import { replacement } from "../../diagnostics/catalog/syntax.ts";
import type { Span } from "../../diagnostics/source.ts";
import type { Argument, BinaryOperator, BrokenExpr, Expr, Identifier, RecordField, TemplateText } from "../ast.ts";
import { durationValue, numberValue, removeIndentation, resolveEscapes } from "../literals.ts";
import { endOf } from "../lexer/read-tokens.ts";
import * as t from "../lexer/tokens.ts";
import { newReading, spanAt } from "../reading.ts";
import { CLAUSE_WORDS } from "../words.ts";
import { Halt } from "./base-parser.ts";
import { FUNCTION_METHODS, METHODS, NAMESPACES, WORD_OPERATORS } from "./habits.ts";
import { closingBracket, namesBetween } from "./recovery.ts";
import { TypeRules } from "./type-rules.ts";

const NOWHERE: Span = { start: 0, end: 0 };
const PLACEHOLDER: BrokenExpr = { kind: "BrokenExpr", span: NOWHERE };

/** How tightly operators bind; all are left-associative. */
const PRECEDENCE: Readonly<Record<BinaryOperator, number>> = {
  "??": 1,
  "||": 2,
  "&&": 3,
  "==": 4,
  "!=": 4,
  "<": 5,
  "<=": 5,
  ">": 5,
  ">=": 5,
  in: 5,
  "+": 6,
  "-": 6,
  "*": 7,
  "/": 7,
  "%": 7,
};

/** An operand with the extent of its text: parentheses around it belong to it, although no node stands for them. */
interface Operand {
  readonly expr: Expr;
  readonly span: Span;
}

interface Operator {
  readonly operator: BinaryOperator;
  readonly span: Span;
  /** `x not in xs`: the whole is negated. */
  readonly negated: boolean;
}

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

const BINARY_TYPES: ReadonlySet<number | undefined> = new Set(
  t.VOCABULARY.filter((type) => type.CATEGORIES?.includes(t.BinaryOperatorToken)).map((type) => type.tokenTypeIdx),
);

export abstract class ExpressionRules extends TypeRules {
  protected startsExpression(ahead = 1): boolean {
    const type = this.LA(ahead).tokenType;
    return PRIMARY_KINDS.has(type) || type === t.Not || type === t.Minus;
  }

  /** `a ? b : c` and everything that binds tighter. A chain in the last place is a loop, not a recursion. */
  protected readonly expression = this.RULE("expression", (): Expr => this.deeper(() => this.conditional()));

  private conditional(): Expr {
    let first = this.LA(1);
    let last = this.rule(this.binary);
    if (!this.RECORDING_PHASE && !this.at(t.Question)) return last;
    const choices: { condition: Expr; then: Expr; first: IToken }[] = [];
    this.repeat(
      1,
      () => this.at(t.Question),
      () => {
        this.take(t.Question);
        this.countOperator();
        const then = this.rule(this.expression);
        this.take(t.Colon, "`:` and the value for the other case");
        choices.push({ condition: last, then, first });
        first = this.LA(1);
        last = this.rule(this.binary);
      },
    );
    let result = last;
    for (const { condition, then, first: start } of choices.toReversed()) {
      result = { kind: "Conditional", span: this.spanFrom(start), condition, then, otherwise: result };
    }
    return result;
  }

  // Operators ---------------------------------------------------------------------------------------

  /** Operands and operators in a row, folded by precedence. */
  private readonly binary = this.RULE("binary", (): Expr => {
    const first = this.LA(1);
    const expr = this.rule(this.operand);
    if (!this.RECORDING_PHASE && !this.atOperator()) return expr;
    const operands: Operand[] = [{ expr, span: this.spanFrom(first) }];
    const operators: Operator[] = [];
    this.repeat(
      1,
      () => this.atOperator(),
      () => {
        const operator = this.operator();
        const start = this.LA(1);
        const right = this.rule(this.operand);
        if (this.RECORDING_PHASE) return;
        this.countOperator();
        foldTighter(operands, operators, PRECEDENCE[operator.operator]);
        operators.push(operator);
        operands.push({ expr: right, span: this.spanFrom(start) });
      },
    );
    foldTighter(operands, operators, 0);
    return operands[0]?.expr ?? PLACEHOLDER;
  });

  private atOperator(): boolean {
    const token = this.LA(1);
    if (BINARY_TYPES.has(token.tokenTypeIdx)) return true;
    switch (token.tokenType) {
      case t.Pipe:
        return this.startsExpression(2);
      case t.Equal:
        return this.splitEqual === undefined && this.startsExpression(2);
      case t.Identifier:
        if (WORD_OPERATORS.has(token.image)) return this.startsExpression(2);
        return token.image === "not" && this.at(t.In, 2);
      default:
        return false;
    }
  }

  private operator(): Operator {
    if (this.RECORDING_PHASE || BINARY_TYPES.has(this.LA(1).tokenTypeIdx)) {
      const token = this.take(t.BinaryOperatorToken);
      return { operator: token.tokenType.LABEL as BinaryOperator, span: this.spanOf(token), negated: false };
    }
    return this.foreignOperator();
  }

  /** `and`, `or`, `|`, `=`, `not in`: no expression can go on with one of these, so nothing right is misread. */
  private foreignOperator(): Operator {
    const token = this.takeAny();
    const place = this.placeOf(token);
    if (token.image === "not") {
      const span = this.spanOf(this.take(t.In));
      this.habit(place, {
        message: "`not in` is not an operator here",
        label: "write `!(… in …)`",
        help: "negate the whole: `!(x in xs)`",
      });
      return { operator: "in", span, negated: true };
    }
    const operator =
      token.tokenType === t.Pipe
        ? "||"
        : token.tokenType === t.Equal
          ? "=="
          : (WORD_OPERATORS.get(token.image) ?? "&&");
    this.habit(place, {
      message:
        token.tokenType === t.Equal ? "`=` does not compare; `==` does" : `\`${token.image}\` is not an operator here`,
      label: `write \`${operator}\``,
      fixes: [replacement(`replace by \`${operator}\``, place.span, operator)],
    });
    return { operator, span: place.span, negated: false };
  }

  /** Takes the token ahead, whatever it is. */
  protected takeAny(): IToken {
    const token = this.LA(1);
    this.SKIP_TOKEN();
    return token;
  }

  /** Prefix operators, a primary expression, and what hangs behind it. */
  private readonly operand = this.RULE("operand", (): Expr => {
    const type = this.LA(1).tokenType;
    if (!this.RECORDING_PHASE && type !== t.Not && type !== t.Minus && !this.isNotWord()) return this.postfix();
    const prefixes: { readonly token: IToken; readonly operator: "!" | "-" }[] = [];
    this.repeat(
      1,
      () => this.at(t.Not) || this.at(t.Minus) || this.isNotWord(),
      () => {
        if (!this.RECORDING_PHASE && this.isNotWord()) {
          prefixes.push({ token: this.notWord(), operator: "!" });
          return;
        }
        const operator = this.at(t.Minus) ? "-" : "!";
        const token = this.choose(2, operator, { "!": () => this.take(t.Not), "-": () => this.take(t.Minus) });
        prefixes.push({ token, operator });
        this.countOperator();
      },
    );
    let result = this.postfix();
    for (const { token, operator } of prefixes.toReversed()) {
      result = { kind: "Unary", span: this.spanFrom(token), operator, operand: result };
    }
    return result;
  });

  /** `not x`, where no reading of `not` as a name can be right. */
  private isNotWord(): boolean {
    if (!this.isWord("not")) return false;
    switch (this.LA(2).tokenType) {
      case t.Quoted:
      case t.Numeral:
      case t.True:
      case t.False:
      case t.Null:
      case t.Not:
        return true;
      case t.Identifier:
        return (
          !CLAUSE_WORDS.has(this.word(2)) &&
          !this.at(t.Arrow, 3) &&
          !this.at(t.Comma, 3) &&
          !WORD_OPERATORS.has(this.word(2))
        );
      default:
        return false;
    }
  }

  private notWord(): IToken {
    const token = this.takeAny();
    const place = this.placeOf(token);
    const fixes = [
      replacement("replace by `!`", spanAt(this.reading, token.startOffset, this.startOf(this.LA(1))), "!"),
    ];
    this.habit(place, { message: "`not` is not an operator here", label: "write `!`", fixes });
    this.countOperator();
    return token;
  }

  private postfix(): Expr {
    const first = this.LA(1);
    let result = this.primary();
    this.repeat(
      3,
      () => this.atPostfix(),
      () => {
        const next = this.at(t.LeftSquare)
          ? "index"
          : this.at(t.QuestionDot) && this.at(t.LeftSquare, 2)
            ? "foreign"
            : "member";
        if (next === "foreign" && !this.RECORDING_PHASE) {
          this.optionalIndex();
          return;
        }
        this.choose(4, next === "foreign" ? "index" : next, {
          member: () => {
            const optional = this.at(t.QuestionDot);
            this.choose(5, optional ? "optional" : "plain", {
              plain: () => this.take(t.Dot),
              optional: () => this.take(t.QuestionDot),
            });
            const property = this.property();
            if (this.RECORDING_PHASE) return;
            this.countOperator();
            if (this.at(t.LeftParen)) result = this.methodCall(first, result, property);
            else result = { kind: "Member", span: this.spanFrom(first), object: result, property, optional };
          },
          index: () => {
            const open = this.position() + 1;
            this.take(t.LeftSquare);
            const object = result;
            result = this.inBrackets(open, first, () => {
              const index = this.rule(this.expression);
              this.take(t.RightSquare, "`]`");
              if (!this.RECORDING_PHASE) this.countOperator();
              return { kind: "Index", span: this.spanFrom(first), object, index };
            });
          },
        });
      },
    );
    return result;
  }

  private atPostfix(): boolean {
    const type = this.LA(1).tokenType;
    return type === t.Dot || type === t.LeftSquare || type === t.QuestionDot;
  }

  /** After a dot every word is a name, the reserved ones too. */
  private property(): Identifier {
    if (!this.RECORDING_PHASE && !this.at(t.Identifier) && !this.atReserved()) this.failExpected("a field name");
    return this.identifier(
      this.choose(6, this.at(t.Identifier) ? "name" : "reserved", {
        name: () => this.take(t.Identifier),
        reserved: () => this.take(t.ReservedWord),
      }),
    );
  }

  /** `xs?.[0]` */
  private optionalIndex(): void {
    const place = this.placeOf(this.take(t.QuestionDot));
    const fixes = [replacement("delete `?.`", place.span, "")];
    this.habit(place, {
      message: "an index needs no `?.`",
      label: "delete it",
      help: "`xs[i]` is `null` where there is no such item",
      fixes,
    });
  }

  /** `xs.includes(x)`: there are no methods; read as `contains(xs, x)`. */
  private methodCall(first: IToken, object: Expr, method: Identifier): Expr {
    const open = this.position() + 1;
    const objectEnd = endOf(this.tokens[open - 3] ?? first);
    this.take(t.LeftParen);
    const isNamespace = object.kind === "Name" && NAMESPACES.has(object.name);
    const callee: Identifier = { ...method, name: METHODS.get(method.name) ?? method.name };
    const place = { file: this.reading.source, span: method.span };
    if (FUNCTION_METHODS.has(method.name) && !isNamespace) {
      this.habit(place, {
        message: `\`.${method.name}(…)\` cannot be called: there are no methods and no functions as values`,
        label: "no method",
        help: "a comprehension says the same: `[f(x) for x in xs if x.ok]`",
      });
      const close = closingBracket(this.tokenText(), open);
      if (close === undefined) this.failExpected("`)`");
      this.moveTo(close);
      return this.brokenSince(first, open);
    }
    const args: Argument[] = isNamespace ? [] : [{ kind: "Argument", span: object.span, value: object }];
    const start = first.startOffset;
    const isEmpty = this.at(t.RightParen);
    const behind = this.LA(0);
    const fixes = [
      {
        title: isNamespace ? `call \`${callee.name}\`` : `write \`${callee.name}(…)\``,
        edits: isNamespace
          ? [{ span: spanAt(this.reading, start, method.span.start), text: "" }]
          : [
              { span: spanAt(this.reading, start, start), text: `${callee.name}(` },
              { span: spanAt(this.reading, objectEnd, endOf(behind)), text: isEmpty ? "" : ", " },
            ],
      },
    ];
    const result = this.inBrackets(open, first, (): Expr => {
      this.commaList(90, t.RightParen, () => args.push(this.argument(91)));
      this.take(t.RightParen, "`,` or `)`");
      return { kind: "Call", span: this.spanFrom(first), callee, args };
    });
    this.habit(place, {
      message: `\`.${method.name}(…)\` is not a method: functions are called by name`,
      label: `write \`${callee.name}(${isNamespace ? "" : "…, "}…)\``,
      ...(isNamespace && this.reading.toSource !== undefined ? {} : { fixes }),
    });
    return result;
  }

  // Primary expressions -----------------------------------------------------------------------------

  private primary(): Expr {
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
        help: "lists are joined with `+`, records by naming their fields",
      });
    }
    this.failExpected("an expression");
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
    if (call === undefined) return { kind: "Name", span: this.spanOf(token), name: token.image };
    if (call === "broken") return this.brokenSince(token, this.position());
    return { kind: "Call", span: this.spanFrom(token), callee: this.identifier(token), args: call };
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
  private argument(index: number): Argument {
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
  private inBrackets(open: number, first: IToken, read: () => Expr): Expr {
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

  private brokenSince(first: IToken, open: number): BrokenExpr {
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

/** Folds the operators at the end of the row that bind at least as tightly as the next one. */
function foldTighter(operands: Operand[], operators: Operator[], precedence: number): void {
  for (let last = operators[operators.length - 1]; last !== undefined; last = operators[operators.length - 1]) {
    if (PRECEDENCE[last.operator] < precedence) return;
    operators.pop();
    const right = operands.pop();
    const left = operands.pop();
    if (left === undefined || right === undefined) return;
    const span = { start: left.span.start, end: right.span.end };
    const { operator, span: operatorSpan, negated } = last;
    const expr: Expr = { kind: "Binary", span, operator, operatorSpan, left: left.expr, right: right.expr };
    operands.push({ expr: negated ? { kind: "Unary", span, operator: "!", operand: expr } : expr, span });
  }
}
