/** Expressions: operators, members, calls, lists, records, comprehensions, templates. */
import type { IToken, TokenType } from "chevrotain";
import type { Span } from "../../diagnostics/source.ts";
import type { Argument, BinaryOperator, Expr, RecordField, TemplateText } from "../ast.ts";
import { durationValue, numberValue, removeIndentation, resolveEscapes } from "../literals.ts";
import { endOf } from "../lexer/read-tokens.ts";
import * as t from "../lexer/tokens.ts";
import { spanAt } from "../reading.ts";
import { TypeRules } from "./type-rules.ts";

const NOWHERE: Span = { start: 0, end: 0 };
const PLACEHOLDER: Expr = { kind: "BrokenExpr", span: NOWHERE };

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

const FOREIGN_OPERATORS: ReadonlyMap<string, BinaryOperator> = new Map([
  ["===", "=="],
  ["!==", "!="],
  ["&", "&&"],
]);

/** An operand with the extent of its text: parentheses around it belong to it, although no node stands for them. */
interface Operand {
  readonly expr: Expr;
  readonly span: Span;
}

interface Operator {
  readonly operator: BinaryOperator;
  readonly span: Span;
}

const EXPRESSION_START: ReadonlySet<TokenType> = new Set([
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
  t.LeftSquare,
  t.LeftBrace,
  t.StrayOpen,
  t.Not,
  t.Minus,
]);

export abstract class ExpressionRules extends TypeRules {
  protected startsExpression(ahead = 1): boolean {
    return EXPRESSION_START.has(this.LA(ahead).tokenType);
  }

  protected failExpression(): never {
    this.failExpected("an expression");
  }

  /** `a ? b : c` and everything that binds tighter. A chain in the last place is a loop, not a recursion. */
  protected expression = this.RULE("expression", (): Expr => {
    if (this.RECORDING_PHASE) return this.conditional();
    if (this.depth === 0) this.operators = 0;
    return this.deeper(() => this.conditional());
  });

  private conditional(): Expr {
    let first = this.LA(1);
    const last: { value: Expr } = { value: this.subrule(this.index(), this.binary) };
    const choices: { condition: Expr; then: Expr; first: IToken }[] = [];
    this.many(1, () => {
      this.take(t.Question);
      this.ACTION(() => this.countOperator());
      const then = this.subrule(this.index(), this.expression);
      this.take(t.Colon, "`:` and the value for the other case");
      choices.push({ condition: last.value, then, first });
      first = this.LA(1);
      last.value = this.subrule(this.index(), this.binary);
    });
    let result = last.value;
    for (const choice of choices.toReversed()) {
      const { condition, then } = choice;
      result = { kind: "Conditional", span: this.spanFrom(choice.first), condition, then, otherwise: result };
    }
    return result;
  }

  /** Operands and operators in a row, folded by precedence. */
  private readonly binary = this.RULE("binary", (): Expr => {
    const first = this.operand();
    const { BinaryOperatorToken } = t;
    if (!this.RECORDING_PHASE && !this.at(BinaryOperatorToken)) return first.expr;
    const operands = [first];
    const operators: Operator[] = [];
    this.many(1, () => {
      const token = this.take(BinaryOperatorToken);
      const right = this.operand();
      this.ACTION(() => {
        this.countOperator();
        const operator = FOREIGN_OPERATORS.get(token.image) ?? (token.image as BinaryOperator);
        foldTighter(operands, operators, PRECEDENCE[operator]);
        operators.push({ operator, span: this.spanOf(token) });
        operands.push(right);
      });
    });
    foldTighter(operands, operators, 0);
    return operands[0]?.expr ?? PLACEHOLDER;
  });

  private operand(): Operand {
    const first = this.LA(1);
    const expr = this.subrule(this.index(), this.unary);
    return { expr, span: this.spanFrom(first) };
  }

  private readonly unary = this.RULE("unary", (): Expr => {
    const prefixes: IToken[] = [];
    this.many(1, () => {
      prefixes.push(this.or(1, [{ ALT: () => this.take(t.Not) }, { ALT: () => this.take(t.Minus) }]));
      this.ACTION(() => this.countOperator());
    });
    let result = this.subrule(this.index(), this.postfix);
    for (const prefix of prefixes.toReversed()) {
      const operator = prefix.image === "-" ? "-" : "!";
      result = { kind: "Unary", span: this.spanFrom(prefix), operator, operand: result };
    }
    return result;
  });

  private readonly postfix = this.RULE("postfix", (): Expr => {
    const first = this.LA(1);
    let result = this.subrule(this.index(), this.primary);
    this.many(1, () => {
      this.or(1, [
        {
          ALT: () => {
            const optional = this.or(2, [
              { ALT: () => this.take(t.Dot) },
              { ALT: () => this.take(t.QuestionDot) },
            ]).image;
            const property = this.property();
            this.ACTION(() => {
              this.countOperator();
              result = {
                kind: "Member",
                span: this.spanFrom(first),
                object: result,
                property: this.identifier(property),
                optional: optional === "?.",
              };
            });
          },
        },
        {
          ALT: () => {
            this.take(t.LeftSquare);
            const index = this.subrule(this.index(), this.expression);
            this.take(t.RightSquare, "`]`");
            this.ACTION(() => {
              this.countOperator();
              result = { kind: "Index", span: this.spanFrom(first), object: result, index };
            });
          },
        },
      ]);
    });
    return result;
  });

  /** After a dot every word is a name, the reserved ones too. */
  private property(): IToken {
    if (!this.RECORDING_PHASE && !this.at(t.Identifier) && !this.at(t.ReservedWord)) this.failExpected("a field name");
    return this.or(3, [{ ALT: () => this.take(t.Identifier) }, { ALT: () => this.take(t.ReservedWord) }]);
  }

  private readonly primary = this.RULE("primary", (): Expr => {
    if (!this.RECORDING_PHASE && !this.startsExpression()) this.failExpression();
    return this.or(1, [
      { ALT: () => this.subrule(this.index(), this.nameOrCall) },
      { ALT: () => this.stringLiteral("a string") },
      {
        ALT: () => {
          const token = this.take(t.Numeral);
          if (this.RECORDING_PHASE) return PLACEHOLDER;
          const { value, isFloat } = numberValue(this.reading, token.image, token.startOffset);
          return { kind: "Number", span: this.spanOf(token), value, isFloat, raw: token.image };
        },
      },
      {
        ALT: () => {
          const token = this.take(t.Duration);
          if (this.RECORDING_PHASE) return PLACEHOLDER;
          const milliseconds = durationValue(this.reading, token.image, token.startOffset);
          return { kind: "DurationLiteral", span: this.spanOf(token), raw: token.image, milliseconds };
        },
      },
      { ALT: () => ({ kind: "Bool", span: this.spanFrom(this.take(t.True)), value: true }) },
      { ALT: () => ({ kind: "Bool", span: this.spanFrom(this.take(t.False)), value: false }) },
      { ALT: () => ({ kind: "Null", span: this.spanFrom(this.take(t.Null)) }) },
      { ALT: () => this.subrule(this.index(), this.template) },
      { ALT: () => this.unterminatedTemplate() },
      { ALT: () => this.subrule(this.index(), this.parenthesized) },
      { ALT: () => this.subrule(this.index(), this.list) },
      { ALT: () => this.subrule(this.index(), this.record) },
    ]);
  });

  private readonly parenthesized = this.RULE("parenthesized", (): Expr => {
    let close = t.RightParen;
    this.or(1, [
      { ALT: () => this.take(t.LeftParen) },
      {
        ALT: () => {
          this.take(t.StrayOpen);
          close = t.RightBrace;
        },
      },
    ]);
    const inner = this.subrule(this.index(), this.expression);
    this.or(2, [
      { GATE: () => close === t.RightParen || !this.at(t.RightBrace), ALT: () => this.take(t.RightParen, "`)`") },
      { ALT: () => this.take(t.RightBrace) },
    ]);
    return inner;
  });

  private readonly nameOrCall = this.RULE("nameOrCall", (): Expr => {
    const token = this.take(t.Identifier);
    if (!this.RECORDING_PHASE && !this.at(t.LeftParen))
      return { kind: "Name", span: this.spanOf(token), name: token.image };
    const args: Argument[] = [];
    this.take(t.LeftParen);
    this.commaList(1, t.RightParen, () => args.push(this.subrule(this.index(), this.argument)));
    this.take(t.RightParen, "`,` or `)`");
    if (this.RECORDING_PHASE) return PLACEHOLDER;
    return { kind: "Call", span: this.spanFrom(token), callee: this.identifier(token), args };
  });

  /** G6: a word before `:` names the argument. */
  private readonly argument = this.RULE("argument", (): Argument => {
    const first = this.LA(1);
    const name = this.option(1, {
      GATE: () => this.at(t.Colon, 2),
      DEF: () => {
        const token = this.or(1, [{ ALT: () => this.take(t.Identifier) }, { ALT: () => this.take(t.ReservedWord) }]);
        this.take(t.Colon);
        return this.identifier(token);
      },
    });
    const value = this.subrule(this.index(), this.expression);
    return { kind: "Argument", span: this.spanFrom(first), ...(name === undefined ? {} : { name }), value };
  });

  /** `[a, b]` or `[value for item in list if condition]`. */
  private readonly list = this.RULE("list", (): Expr => {
    const first = this.take(t.LeftSquare);
    const items: Expr[] = [];
    let comprehension: ((span: Span) => Expr) | undefined;
    this.commaList(1, t.RightSquare, () => {
      const value = this.subrule(this.index(), this.expression);
      items.push(value);
      this.option(1, {
        GATE: () => items.length === 1 && this.isWord("for"),
        DEF: () => {
          this.takeWord("for");
          const item = this.name("a name for the item");
          this.take(t.In, "`in` and the list");
          const list = this.subrule(this.index(), this.expression);
          const condition = this.option(2, {
            GATE: () => this.isWord("if") || this.at(t.When),
            DEF: () => {
              this.takeWord("if");
              return this.subrule(this.index(), this.expression);
            },
          });
          comprehension = (span) => ({
            kind: "Comprehension",
            span,
            value,
            item,
            list,
            ...(condition === undefined ? {} : { condition }),
          });
          if (!this.RECORDING_PHASE && !this.at(t.RightSquare)) this.failExpected("`]`");
        },
      });
    });
    this.take(t.RightSquare, "`,` or `]`");
    const span = this.spanFrom(first);
    return comprehension === undefined ? { kind: "List", span, items } : comprehension(span);
  });

  private readonly record = this.RULE("record", (): Expr => {
    const first = this.take(t.LeftBrace);
    const fields: RecordField[] = [];
    this.commaList(1, t.RightBrace, () => fields.push(this.subrule(this.index(), this.recordField)));
    this.take(t.RightBrace, "`,` or `}`");
    return { kind: "Record", span: this.spanFrom(first), fields };
  });

  private readonly recordField = this.RULE("recordField", (): RecordField => {
    const first = this.LA(1);
    const name = this.subrule(this.index(), this.key);
    if (!this.RECORDING_PHASE && !this.at(t.Colon) && LA0IsNotName(this.LA(0))) this.failExpected("`:` and a value");
    const value = this.option(1, () => {
      this.take(t.Colon);
      return this.subrule(this.index(), this.expression);
    });
    const short: Expr = { kind: "Name", span: name.span, name: name.name };
    return { kind: "RecordField", span: this.spanFrom(first), name, value: value ?? short };
  });

  // Templates ---------------------------------------------------------------------------------------

  private readonly template = this.RULE("template", (): Expr => {
    const first = this.take(t.TemplateStart);
    // Texts and expressions alternate, beginning and ending with a text, which may be absent.
    const texts: (IToken | undefined)[] = [undefined];
    const expressions: Expr[] = [];
    this.many(1, () => {
      this.or(1, [
        {
          ALT: () => {
            texts[texts.length - 1] = this.take(t.TemplateText);
          },
        },
        {
          ALT: () => {
            this.take(t.TemplateOpen);
            expressions.push(this.subrule(this.index(), this.expression));
            this.take(t.RightBrace, "`}`");
            texts.push(undefined);
          },
        },
      ]);
    });
    this.take(t.TemplateEnd, "`` ` ``");
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
    if (plain === text.image || !plain.includes("\\"))
      return resolveEscapes(this.reading, plain, text.startOffset, true);
    resolveEscapes(this.reading, text.image, text.startOffset, true);
    return resolveEscapes({ ...this.reading, diagnostics: [], reported: new Set() }, plain, 0, true);
  }

  private unterminatedTemplate(): Expr {
    const token = this.take(t.UnterminatedTemplate);
    if (this.RECORDING_PHASE) return PLACEHOLDER;
    const raw = token.image.slice(1);
    const span = spanAt(this.reading, token.startOffset + 1, endOf(token));
    return { kind: "Template", span: this.spanOf(token), parts: [{ kind: "TemplateText", span, value: raw, raw }] };
  }
}

function LA0IsNotName(token: IToken): boolean {
  return token.tokenType !== t.Identifier;
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
    const { operator, span: operatorSpan } = last;
    operands.push({ expr: { kind: "Binary", span, operator, operatorSpan, left: left.expr, right: right.expr }, span });
  }
}
