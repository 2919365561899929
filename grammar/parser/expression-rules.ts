/** Expressions: choices, operators, members and indices. */
import type { IToken } from "chevrotain";
import { replacement } from "../../diagnostics/catalog/syntax.ts";
import type { Span } from "../../diagnostics/source.ts";
import type { Argument, BinaryOperator, BrokenExpr, Expr, Identifier } from "../ast.ts";
import { BINARY_PRECEDENCE } from "../binary-precedence.ts";
import { endOf } from "../lexer/read-tokens.ts";
import * as t from "../lexer/tokens.ts";
import { spanAt } from "../reading.ts";
import { CLAUSE_WORDS } from "../words.ts";
import { D } from "./decisions.ts";
import {
  FUNCTION_METHODS,
  HTTP_CLIENTS,
  HTTP_METHODS,
  LIST_METHODS,
  METHODS,
  NAMESPACES,
  WORD_OPERATORS,
} from "./foreign-syntax.ts";
import { PrimaryRules } from "./primary-rules.ts";
import { closingBracket } from "./recovery.ts";

const PLACEHOLDER: BrokenExpr = { kind: "BrokenExpr", span: { start: 0, end: 0 } };

/** An operand with the span of its text, which includes parentheses. The tree has no node for parentheses. */
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

const BINARY_TYPES: ReadonlySet<number | undefined> = new Set(
  t.VOCABULARY.filter((type) => type.CATEGORIES?.includes(t.BinaryOperatorToken)).map((type) => type.tokenTypeIdx),
);

export abstract class ExpressionRules extends PrimaryRules {
  /** `a ? b : c` and everything that binds tighter. A chain in the last place is a loop, not a recursion. */
  protected readonly expression = this.RULE("expression", (): Expr => this.deeper(() => this.conditional()));

  private conditional(): Expr {
    let first = this.LA(1);
    let last = this.rule(this.binary);
    if (!this.RECORDING_PHASE && !this.at(t.Question)) return last;
    const choices: { condition: Expr; then: Expr; first: IToken }[] = [];
    this.repeat(D.choice, () => {
      this.take(t.Question);
      this.countOperator();
      const then = this.rule(this.expression);
      this.take(t.Colon, "`:` and the value for the other case");
      choices.push({ condition: last, then, first });
      first = this.LA(1);
      last = this.rule(this.binary);
    });
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
    const readNext = (): void => {
      const operator = this.operator();
      const start = this.LA(1);
      const right = this.rule(this.operand);
      if (this.RECORDING_PHASE) return;
      this.countOperator();
      foldTighter(operands, operators, BINARY_PRECEDENCE[operator.operator]);
      operators.push(operator);
      operands.push({ expr: right, span: this.spanFrom(start) });
    };
    // By hand while reading: operators of other languages are operators here.
    if (this.RECORDING_PHASE) this.repeat(D.binaryOperator, readNext);
    else while (this.atOperator()) readNext();
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

  /** `and`, `or`, `|`, `=`, `not in`: no valid expression continues with one of these tokens. */
  private foreignOperator(): Operator {
    const token = this.takeAny();
    const place = this.placeOf(token);
    if (token.image === "not") {
      const span = this.spanOf(this.take(t.In));
      this.reportForeign(place, {
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
    this.reportForeign(place, {
      message:
        token.tokenType === t.Equal ? "`=` does not compare; `==` does" : `\`${token.image}\` is not an operator here`,
      label: `write \`${operator}\``,
      fixes: [replacement(`replace with \`${operator}\``, place.span, operator)],
    });
    return { operator, span: place.span, negated: false };
  }

  /** Prefix operators, a primary expression, and its members, indices and `!`. */
  private readonly operand = this.RULE("operand", (): Expr => {
    const type = this.LA(1).tokenType;
    if (!this.RECORDING_PHASE && type !== t.Not && type !== t.Minus && !this.isNotWord()) return this.postfix();
    const prefixes: { readonly token: IToken; readonly operator: "!" | "-" }[] = [];
    const readPrefixes = (): void =>
      this.repeat(D.prefix, () => {
        const token = this.choose(D.prefixOperator, this.prefixes);
        prefixes.push({ token, operator: token.image === "-" ? "-" : "!" });
        this.countOperator();
      });
    for (readPrefixes(); !this.RECORDING_PHASE && this.isNotWord(); readPrefixes()) {
      prefixes.push({ token: this.notWord(), operator: "!" });
    }
    let result = this.postfix();
    for (const { token, operator } of prefixes.toReversed()) {
      result = { kind: "Unary", span: this.spanFrom(token), operator, operand: result };
    }
    return result;
  });

  private readonly prefixes = [() => this.take(t.Not), () => this.take(t.Minus)];

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
      replacement("replace with `!`", spanAt(this.reading, token.startOffset, this.startOf(this.LA(1))), "!"),
    ];
    this.reportForeign(place, { message: "`not` is not an operator here", label: "write `!`", fixes });
    this.countOperator();
    return token;
  }

  private postfix(): Expr {
    const first = this.LA(1);
    let result = this.primary();
    if (!this.RECORDING_PHASE && !this.atPostfix()) return result;
    this.repeat(D.postfix, () => {
      if (!this.RECORDING_PHASE && this.at(t.QuestionDot) && this.at(t.LeftSquare, 2)) this.optionalIndex();
      this.choose(D.postfixKind, [
        () => {
          const optional = this.at(t.QuestionDot);
          this.choose(D.memberDot, this.memberDots);
          const property = this.property();
          if (this.RECORDING_PHASE) return;
          this.countOperator();
          if (this.at(t.LeftParen)) result = this.methodCall(first, result, property);
          else result = { kind: "Member", span: this.spanFrom(first), object: result, property, optional };
        },
        () => {
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
        () => {
          this.take(t.Not);
          if (this.RECORDING_PHASE) return;
          this.countOperator();
          result = { kind: "NonNull", span: this.spanFrom(first), object: result };
        },
      ]);
    });
    return result;
  }

  private readonly memberDots = [() => this.take(t.Dot), () => this.take(t.QuestionDot)];

  private atPostfix(): boolean {
    const type = this.LA(1).tokenType;
    return type === t.Dot || type === t.LeftSquare || type === t.QuestionDot || type === t.Not;
  }

  /** After a dot every word is a name, including reserved words. */
  private property(): Identifier {
    return this.identifier(this.choose(D.property, this.properties, () => this.failExpected("a field name")));
  }

  private readonly properties = [() => this.take(t.Identifier), () => this.take(t.ReservedWord)];

  /** `xs?.[0]` */
  private optionalIndex(): void {
    const place = this.placeOf(this.take(t.QuestionDot));
    const fixes = [replacement("delete `?.`", place.span, "")];
    this.reportForeign(place, {
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
    if (object.kind === "Name" && object.name === "console") {
      this.reportForeign(place, {
        message: `\`console.${method.name}(…)\` cannot be called`,
        label: "no method",
        help: "a node prints a line: `node a = print(…)`",
      });
      const close = closingBracket(this.tokenText(), open);
      if (close === undefined) this.failExpected("`)`");
      this.moveTo(close);
      return { kind: "BrokenExpr", span: this.spanFrom(first), names: [] };
    }
    if (object.kind === "Name" && HTTP_CLIENTS.has(object.name) && HTTP_METHODS.has(method.name)) {
      this.reportForeign(place, {
        message: `\`${object.name}.${method.name}(…)\` cannot be called`,
        label: "no method",
        help:
          method.name === "get"
            ? "a request is `http(url)`"
            : `a request is \`http(url, method: "${method.name.toUpperCase()}", body: …)\``,
      });
      const close = closingBracket(this.tokenText(), open);
      if (close === undefined) this.failExpected("`)`");
      this.moveTo(close);
      return { kind: "BrokenExpr", span: this.spanFrom(first), names: [] };
    }
    if (FUNCTION_METHODS.has(method.name) && !isNamespace) {
      this.reportForeign(place, {
        message: `\`.${method.name}(…)\` cannot be called: there are no methods and no functions as values`,
        label: "no method",
        help:
          method.name === "some" || method.name === "every"
            ? `write the condition of each item: \`${method.name}([x.ok for x in xs])\``
            : "write a comprehension: `[f(x) for x in xs if x.ok]`",
      });
      const close = closingBracket(this.tokenText(), open);
      if (close === undefined) this.failExpected("`)`");
      this.moveTo(close);
      return this.brokenSince(first, open);
    }
    const list = LIST_METHODS.get(method.name);
    if (list !== undefined && !isNamespace) {
      this.reportForeign(place, {
        message: `\`.${method.name}(…)\` cannot be called: values never change`,
        label: "no method",
        help: `build a new list: \`${list}\`; a channel that collects values has \`reduce append\``,
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
      this.commaList(0, t.RightParen, () => args.push(this.rule(this.argument)));
      this.take(t.RightParen, "`,` or `)`");
      return { kind: "Call", span: this.spanFrom(first), callee, args };
    });
    this.reportForeign(place, {
      message: `\`.${method.name}(…)\` is not a method: functions are called by name`,
      label: `write \`${callee.name}(${isNamespace ? "" : "…, "}…)\``,
      fixes,
    });
    return result;
  }
}

/** Folds the operators at the end of the row that bind at least as tightly as the next one. */
function foldTighter(operands: Operand[], operators: Operator[], precedence: number): void {
  for (let last = operators[operators.length - 1]; last !== undefined; last = operators[operators.length - 1]) {
    if (BINARY_PRECEDENCE[last.operator] < precedence) return;
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
