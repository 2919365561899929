/** The lines of a `test` block. */
import type { Expr, Identifier, TestItem } from "../ast.ts";
import * as t from "../lexer/tokens.ts";
import { TEST_WORDS } from "../words.ts";
import { D } from "./decisions.ts";
import { GraphRules } from "./graph-rules.ts";

const NODE = "the name of a node";

export abstract class TestRules extends GraphRules {
  protected readonly testItem = this.RULE("testItem", (): TestItem => {
    const first = this.LA(1);
    return this.choose<TestItem>(D.testItem, [
      () => {
        this.takeWord("given");
        const channel = this.name("the name of an input");
        this.takeAssign("a value");
        const value = this.rule(this.expression);
        return { kind: "Given", span: this.spanFrom(first), channel, value };
      },
      () => this.rule(this.mock),
      () => {
        this.takeWord("answer");
        const node = this.name(NODE);
        this.takeAssign("an answer");
        const values = this.values(D.answerThen);
        return { kind: "Answer", span: this.spanFrom(first), node, values };
      },
      () => {
        this.takeWord("expect");
        const item = this.rule(this.expectation);
        return { ...item, span: this.spanFrom(first) };
      },
    ]);
  });

  private takeAssign(what: string): void {
    if (!this.RECORDING_PHASE && (this.at(t.Colon) || this.at(t.EqualEqual)))
      this.instead("`=`", "=", `\`=\` comes before ${what}`);
    else this.take(t.Equal, `\`=\` and ${what}`);
  }

  private readonly mock = this.RULE("mock", (): TestItem => {
    const first = this.takeWord("mock");
    const node = this.name(NODE);
    const fails = this.isWord("fails");
    if (!this.RECORDING_PHASE && !fails && !this.at(t.Equal) && !this.at(t.Colon))
      this.failExpected("`=` and a result, or `fails`");
    return this.choose<TestItem>(D.mock, [
      () => {
        this.takeWord("fails");
        const message = this.stringLiteral("a message in quotes");
        return { kind: "MockFails", span: this.spanFrom(first), node, message };
      },
      () => {
        this.takeAssign("a result");
        const results = this.values(D.mockThen);
        return { kind: "Mock", span: this.spanFrom(first), node, results };
      },
    ]);
  });

  private values(decision: number): Expr[] {
    const values = [this.rule(this.expression)];
    this.repeat(decision, () => {
      this.takeWord("then");
      values.push(this.rule(this.expression));
    });
    return values;
  }

  /** The expectation after `expect`. */
  protected readonly expectation = this.RULE("expectation", (): TestItem => {
    const first = this.LA(1);
    const readRan = (): TestItem => {
      this.takeWord("ran");
      const steps = [this.step(D.step)];
      this.repeat(
        D.nextStep,
        () => {
          this.take(t.Comma);
          steps.push(this.step(D.laterStep));
        },
        () => !this.isStrayComma(),
      );
      return { kind: "ExpectRan", span: this.spanFrom(first), steps };
    };
    const readStatus = (): TestItem => {
      this.takeWord("status");
      const status = this.name("a status");
      return { kind: "ExpectStatus", span: this.spanFrom(first), status };
    };
    const readCondition = (): TestItem => {
      const condition = this.rule(this.expression);
      return { kind: "Expect", span: this.spanFrom(first), condition };
    };
    if (this.RECORDING_PHASE) return this.choose(D.expectation, [readRan, readStatus, readCondition]);
    const kind = this.expectationKind();
    return kind === "ran" ? readRan() : kind === "status" ? readStatus() : readCondition();
  });

  /** G5: `ran` before a name or `[` begins a trace; `status` before a name checks the status. */
  private expectationKind(): "ran" | "status" | "condition" {
    if (this.isWord("ran") && (this.isNameInTest(2) || this.at(t.LeftSquare, 2))) return "ran";
    return this.isWord("status") && this.isNameInTest(2) ? "status" : "condition";
  }

  /** A word that begins a line of a test is a name only directly before `,` or `}`. */
  private isNameInTest(ahead: number): boolean {
    if (!this.at(t.Identifier, ahead) || this.isOperatorWord(ahead)) return false;
    return !TEST_WORDS.has(this.word(ahead)) || this.at(t.Comma, ahead + 1) || this.at(t.RightBrace, ahead + 1);
  }

  private isOperatorWord(ahead: number): boolean {
    const word = this.word(ahead);
    return (
      (word === "and" || word === "or") && this.startsExpression(ahead + 1) && !TEST_WORDS.has(this.word(ahead + 1))
    );
  }

  /** One step of a trace: a node, or several in brackets. */
  protected step(decision: number): Identifier[] {
    return this.choose(decision, [
      () => {
        this.take(t.LeftSquare);
        const nodes: Identifier[] = [];
        this.commaList(decision === D.step ? 1 : 2, t.RightSquare, () => nodes.push(this.name(NODE)));
        this.take(t.RightSquare, "`,` or `]`");
        return nodes;
      },
      () => [this.name("the name of a node, or `[…]`")],
    ]);
  }
}
