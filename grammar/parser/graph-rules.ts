/** The remaining statements of graphs and plans: limits, assertions, settings. */
import type { AssertDecl, DefaultsDecl, DropDecl, LimitDecl, PlanSetting } from "../ast.ts";
import * as t from "../lexer/tokens.ts";
import { D } from "./decisions.ts";
import { EdgeRules } from "./edge-rules.ts";

const NODE = "the name of a node";
const EACH = { each: true } as const;

export abstract class GraphRules extends EdgeRules {
  protected readonly limit = this.RULE("limit", (): LimitDecl => {
    const first = this.LA(1);
    return this.choose<LimitDecl>(D.limit, [
      () => {
        this.takeWord("limit");
        const of = this.takeOneOf(D.limitKind, ["steps", "tokens", "cost"], "`steps`, `tokens` or `cost`");
        const value = this.choose<LimitDecl["value"]>(D.limitValue, [
          () => {
            this.takeWord("none");
            return "none";
          },
          () => (of === "cost" ? this.amount("a cost, or `none`") : this.count(`a number of ${of}, or \`none\``)),
        ]);
        return { kind: "Limit", span: this.spanFrom(first), of, value };
      },
      () => {
        this.takeWord("max");
        this.takeWord("parallel");
        const value = this.count("a number of tasks");
        return { kind: "Limit", span: this.spanFrom(first), of: "parallel", value };
      },
    ]);
  });

  protected readonly defaults = this.RULE("defaults", (): DefaultsDecl => {
    const first = this.takeWord("defaults");
    const policies = this.rule(this.policies);
    return { kind: "Defaults", span: this.spanFrom(first), policies };
  });

  protected readonly assertion = this.RULE("assertion", (): AssertDecl => {
    const first = this.takeWord("assert");
    const body = this.rule(this.assertionBody);
    return { ...body, span: this.spanFrom(first) };
  });

  /**
   * G3: the words `once`, `eventually` and `never` before a name win over channels of that name. G10: a name before
   * `before` is a node.
   */
  protected readonly assertionBody = this.RULE("assertionBody", (): AssertDecl => {
    const first = this.LA(1);
    return this.choose<AssertDecl>(D.assertion, [
      () => {
        this.takeWord("once");
        const node = this.name(NODE);
        return { kind: "Assert", span: this.spanFrom(first), form: "once", node };
      },
      () => {
        this.takeWord("eventually");
        const node = this.name(NODE);
        return { kind: "Assert", span: this.spanFrom(first), form: "eventually", node };
      },
      () => {
        this.takeWord("never");
        const node = this.name(NODE);
        this.takeWord("with");
        const other = this.name(NODE);
        return { kind: "Assert", span: this.spanFrom(first), form: "never", node, other };
      },
      () => {
        const node = this.name(NODE);
        this.takeWord("before");
        const each = this.maybe(D.assertEach, () => this.takeWord("each"), this.isEach) === undefined ? {} : EACH;
        const other = this.name(NODE);
        return { kind: "Assert", span: this.spanFrom(first), form: "before", node, other, ...each };
      },
      () => {
        const condition = this.rule(this.expression);
        if (!this.RECORDING_PHASE && !this.isWord("at")) {
          this.failExpected(
            condition.kind === "Name" ? "`before`, or `at` and the name of a node" : "`at` and the name of a node",
          );
        }
        this.takeWord("at");
        const node = this.name(NODE);
        return { kind: "Assert", span: this.spanFrom(first), form: "at", node, condition };
      },
    ]);
  });

  /** G9: `each` is the modifier when the name of a node follows. */
  private readonly isEach = (): boolean => this.at(t.Identifier, 2);

  protected readonly drop = this.RULE("drop", (): DropDecl => {
    const first = this.takeWord("drop");
    const channels = this.nameList(1, "the name of a channel that the graph no longer has");
    return { kind: "Drop", span: this.spanFrom(first), channels };
  });

  protected readonly planSetting = this.RULE("planSetting", (): PlanSetting => {
    const first = this.LA(1);
    return this.choose<PlanSetting>(D.planSetting, [
      () => {
        this.takeWord("max");
        this.takeWord("parallel");
        const count = this.count("a number of tasks");
        return { kind: "PlanMaxParallel", span: this.spanFrom(first), count };
      },
      () => {
        this.takeWord("order");
        this.takeWord("file");
        return { kind: "PlanOrder", span: this.spanFrom(first), order: "file" };
      },
      () => {
        this.takeWord("pool");
        const name = this.name("a name for the pool");
        const count = this.count("a number of places");
        return { kind: "PlanPool", span: this.spanFrom(first), name, count };
      },
      () => {
        this.takeWord("on");
        this.takeWord("failure");
        const mode = this.failureMode();
        return { kind: "PlanOnFailure", span: this.spanFrom(first), mode };
      },
    ]);
  });

  private failureMode(): "continue" | "no-new" | "kill" {
    return this.choose<"continue" | "no-new" | "kill">(
      D.failureMode,
      [
        () => {
          this.takeWord("continue");
          return "continue";
        },
        () => {
          this.takeWord("kill");
          return "kill";
        },
        () => {
          this.takeWord("no");
          this.take(t.Minus, "`-new`");
          this.takeWord("new");
          return "no-new";
        },
      ],
      () => this.failExpected("`continue`, `no-new` or `kill`"),
    );
  }
}
