/** The lines of a `test` block. */
import type { Expr, Identifier, TestItem } from "../ast.ts";
import * as t from "../lexer/tokens.ts";
import { TEST_WORDS } from "../words.ts";
import { EdgeRules } from "./edge-rules.ts";

export abstract class TestRules extends EdgeRules {
  protected abstract failStatement(body: "graph" | "plan" | "test"): never;

  protected readonly testItem = this.RULE("testItem", (): TestItem => {
    const first = this.LA(1);
    const word = this.word();
    if (!this.RECORDING_PHASE && !TEST_WORDS.has(word)) this.failStatement("test");
    return this.or<TestItem>(1, {
      IGNORE_AMBIGUITIES: true,
      DEF: [
        {
          GATE: () => word === "given",
          ALT: () => {
            this.takeWord("given");
            const channel = this.name("the name of an input");
            this.take(t.Equal, "`=` and a value");
            const value = this.subrule(this.index(), this.expression);
            return { kind: "Given", span: this.spanFrom(first), channel, value };
          },
        },
        { GATE: () => word === "mock", ALT: () => this.subrule(this.index(), this.mock) },
        {
          GATE: () => word === "answer",
          ALT: () => {
            this.takeWord("answer");
            const node = this.name("the name of a node");
            this.take(t.Equal, "`=` and an answer");
            const values = this.values(1);
            return { kind: "Answer", span: this.spanFrom(first), node, values };
          },
        },
        {
          ALT: () => {
            this.takeWord("expect");
            const item = this.subrule(this.index(), this.expectation);
            return { ...item, span: this.spanFrom(first) };
          },
        },
      ],
    });
  });

  private readonly mock = this.RULE("mock", (): TestItem => {
    const first = this.takeWord("mock");
    const node = this.name("the name of a node");
    if (!this.RECORDING_PHASE && !this.at(t.Equal) && !this.isWord("fails"))
      this.failExpected("`=` and a result, or `fails`");
    return this.or<TestItem>(1, [
      {
        ALT: () => {
          this.take(t.Equal);
          const results = this.values(1);
          return { kind: "Mock", span: this.spanFrom(first), node, results };
        },
      },
      {
        ALT: () => {
          this.takeWord("fails");
          const message = this.stringLiteral("a message in quotes");
          return { kind: "MockFails", span: this.spanFrom(first), node, message };
        },
      },
    ]);
  });

  private values(index: number): Expr[] {
    const values = [this.subrule(this.index(), this.expression)];
    this.many(index, {
      GATE: () => this.isWord("then"),
      DEF: () => {
        this.takeWord("then");
        values.push(this.subrule(this.index(), this.expression));
      },
    });
    return values;
  }

  /** What follows `expect`. */
  readonly expectation = this.RULE("expectation", (): TestItem => {
    const first = this.LA(1);
    return this.or<TestItem>(1, {
      IGNORE_AMBIGUITIES: true,
      DEF: [
        {
          GATE: () => this.isWord("ran") && (this.isNameOfTest(2) || this.at(t.LeftSquare, 2)),
          ALT: () => {
            this.takeWord("ran");
            const steps = [this.subrule(this.index(), this.step)];
            this.many(1, () => {
              this.take(t.Comma);
              steps.push(this.subrule(this.index(), this.step));
            });
            return { kind: "ExpectRan", span: this.spanFrom(first), steps };
          },
        },
        {
          GATE: () => this.isWord("status") && this.isNameOfTest(2),
          ALT: () => {
            this.takeWord("status");
            const status = this.name("a status");
            return { kind: "ExpectStatus", span: this.spanFrom(first), status };
          },
        },
        {
          ALT: () => {
            const condition = this.subrule(this.index(), this.expression);
            return { kind: "Expect", span: this.spanFrom(first), condition };
          },
        },
      ],
    });
  });

  /** G5: a name follows, not the next line of the test. A word of the test directly before `,` or `}` is a name. */
  private isNameOfTest(ahead: number): boolean {
    if (!this.at(t.Identifier, ahead)) return false;
    return !TEST_WORDS.has(this.word(ahead)) || this.at(t.Comma, ahead + 1) || this.at(t.RightBrace, ahead + 1);
  }

  /** One step of a trace: a node, or several in brackets. */
  readonly step = this.RULE("step", (): Identifier[] => {
    if (!this.RECORDING_PHASE && !this.at(t.Identifier) && !this.at(t.LeftSquare))
      this.failExpected("the name of a node, or `[…]`");
    return this.or(1, [
      { ALT: () => [this.name("the name of a node")] },
      {
        ALT: () => {
          this.take(t.LeftSquare);
          const nodes: Identifier[] = [];
          this.commaList(1, t.RightSquare, () => nodes.push(this.name("the name of a node")));
          this.take(t.RightSquare, "`,` or `]`");
          return nodes;
        },
      },
    ]);
  });
}
