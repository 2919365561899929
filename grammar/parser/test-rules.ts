/** The lines of a `test` block. */
import type { Expr, Identifier, StringLiteral, TestItem } from "../ast.ts";
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
      () => this.rule(this.signal),
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
    const result = this.choose<{ readonly message: StringLiteral } | { readonly results: readonly Expr[] }>(D.mock, [
      () => {
        this.takeWord("fails");
        return { message: this.stringLiteral("a message in quotes") };
      },
      () => {
        this.takeAssign("a result");
        return { results: this.values(D.mockThen) };
      },
    ]);
    const delay = this.maybe(D.mockAfter, () => {
      this.takeWord("after");
      return this.durationAhead();
    });
    const span = this.spanFrom(first);
    const after = delay === undefined ? {} : { delay };
    return "message" in result
      ? { kind: "MockFails", span, node, message: result.message, ...after }
      : { kind: "Mock", span, node, results: result.results, ...after };
  });

  private readonly signal = this.RULE("signal", (): TestItem => {
    const first = this.takeWord("signal");
    const name = this.choose<Identifier | StringLiteral>(D.signalName, [
      () => this.stringLiteral("the name of a signal"),
      () => this.name("the name of a signal"),
    ]);
    this.takeAssign("a value");
    const values = this.values(D.signalThen);
    return { kind: "Signal", span: this.spanFrom(first), name, values };
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
    const readNeverRan = (): TestItem => {
      this.takeWord("never");
      this.takeWord("ran");
      const nodes = this.nameList(3, NODE);
      return { kind: "ExpectNeverRan", span: this.spanFrom(first), nodes };
    };
    const readPausedAt = (): TestItem => {
      this.takeWord("paused");
      this.takeWord("at");
      const node = this.name(NODE);
      return { kind: "ExpectPausedAt", span: this.spanFrom(first), node };
    };
    const readFailsWith = (): TestItem => {
      this.takeWord("fails");
      this.takeWord("with");
      const code = this.name("the code of an error");
      return { kind: "ExpectFailsWith", span: this.spanFrom(first), code };
    };
    const readUndone = (): TestItem => {
      this.takeWord("undone");
      const nodes = this.nameList(4, NODE);
      return { kind: "ExpectUndone", span: this.spanFrom(first), nodes };
    };
    const forms = {
      ran: readRan,
      status: readStatus,
      never: readNeverRan,
      paused: readPausedAt,
      fails: readFailsWith,
      undone: readUndone,
      condition: readCondition,
    };
    if (this.RECORDING_PHASE) return this.choose(D.expectation, Object.values(forms));
    return forms[this.expectationKind()]();
  });

  /**
   * G5: `ran` before a name or `[` begins a trace; `status` before a name checks the status, and `undone` the undos. Two words
   * distinguish the other forms from channels.
   */
  private expectationKind(): "ran" | "status" | "never" | "paused" | "fails" | "undone" | "condition" {
    if (this.isWord("ran") && (this.isNameInTest(2) || this.at(t.LeftSquare, 2))) return "ran";
    if (this.isWord("never") && this.isWord("ran", 2)) return "never";
    if (this.isWord("paused") && this.isWord("at", 2)) return "paused";
    if (this.isWord("fails") && this.isWord("with", 2)) return "fails";
    for (const word of ["status", "undone"] as const) if (this.isWord(word) && this.isNameInTest(2)) return word;
    return "condition";
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
