/** The lines of a `test` block. */
import type { Expr, Identifier, TestItem } from "../ast.ts";
import * as t from "../lexer/tokens.ts";
import { TEST_WORDS } from "../words.ts";
import { GraphRules } from "./graph-rules.ts";

const NODE = "the name of a node";

export abstract class TestRules extends GraphRules {
  protected readonly testItem = this.RULE("testItem", (): TestItem => {
    const first = this.LA(1);
    return this.choose<string, TestItem>(1, this.word(), {
      given: () => {
        this.takeWord("given");
        const channel = this.name("the name of an input");
        this.takeAssign("a value");
        const value = this.rule(this.expression);
        return { kind: "Given", span: this.spanFrom(first), channel, value };
      },
      mock: () => this.rule(this.mock),
      answer: () => {
        this.takeWord("answer");
        const node = this.name(NODE);
        this.takeAssign("an answer");
        const values = this.values(2);
        return { kind: "Answer", span: this.spanFrom(first), node, values };
      },
      expect: () => {
        this.takeWord("expect");
        const item = this.rule(this.expectation);
        return { ...item, span: this.spanFrom(first) };
      },
    });
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
    return this.choose<"results" | "fails", TestItem>(1, fails ? "fails" : "results", {
      results: () => {
        this.takeAssign("a result");
        const results = this.values(2);
        return { kind: "Mock", span: this.spanFrom(first), node, results };
      },
      fails: () => {
        this.takeWord("fails");
        const message = this.stringLiteral("a message in quotes");
        return { kind: "MockFails", span: this.spanFrom(first), node, message };
      },
    });
  });

  private values(index: number): Expr[] {
    const values = [this.rule(this.expression)];
    this.repeat(
      index,
      () => this.isWord("then"),
      () => {
        this.takeWord("then");
        values.push(this.rule(this.expression));
      },
    );
    return values;
  }

  /** What follows `expect`. */
  protected readonly expectation = this.RULE("expectation", (): TestItem => {
    const first = this.LA(1);
    return this.choose<"ran" | "status" | "condition", TestItem>(1, this.expectationKind(), {
      ran: () => {
        this.takeWord("ran");
        const steps = [this.step(2)];
        this.repeat(
          3,
          () => this.at(t.Comma) && !this.isStrayComma(),
          () => {
            this.take(t.Comma);
            steps.push(this.step(4));
          },
        );
        return { kind: "ExpectRan", span: this.spanFrom(first), steps };
      },
      status: () => {
        this.takeWord("status");
        const status = this.name("a status");
        return { kind: "ExpectStatus", span: this.spanFrom(first), status };
      },
      condition: () => {
        const condition = this.rule(this.expression);
        return { kind: "Expect", span: this.spanFrom(first), condition };
      },
    });
  });

  /** G5: `ran` before a name or `[` begins a trace, `status` before a name asks for the status. */
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
  protected step(index: number): Identifier[] {
    return this.choose(index, this.at(t.LeftSquare) ? "several" : "one", {
      one: () => [this.name("the name of a node, or `[…]`")],
      several: () => {
        this.take(t.LeftSquare);
        const nodes: Identifier[] = [];
        this.commaList(index + 20, t.RightSquare, () => nodes.push(this.name(NODE)));
        this.take(t.RightSquare, "`,` or `]`");
        return nodes;
      },
    });
  }
}
