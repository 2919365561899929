/** The remaining statements of graphs and plans: limits, assertions, settings. */
import type { AssertDecl, LimitDecl, PlanSetting } from "../ast.ts";
import * as t from "../lexer/tokens.ts";
import { EdgeRules } from "./edge-rules.ts";

const NODE = "the name of a node";

export abstract class GraphRules extends EdgeRules {
  protected readonly limit = this.RULE("limit", (): LimitDecl => {
    const first = this.LA(1);
    return this.choose<"limit" | "max", LimitDecl>(1, this.isWord("limit") ? "limit" : "max", {
      limit: () => {
        this.takeWord("limit");
        this.takeWord("steps");
        const value = this.choose<"none" | "count", LimitDecl["value"]>(2, this.isWord("none") ? "none" : "count", {
          none: () => {
            this.takeWord("none");
            return "none";
          },
          count: () => this.count("a number of steps, or `none`"),
        });
        return { kind: "Limit", span: this.spanFrom(first), of: "steps", value };
      },
      max: () => {
        this.takeWord("max");
        this.takeWord("parallel");
        const value = this.count("a number of tasks");
        return { kind: "Limit", span: this.spanFrom(first), of: "parallel", value };
      },
    });
  });

  protected readonly assertion = this.RULE("assertion", (): AssertDecl => {
    const first = this.takeWord("assert");
    const body = this.rule(this.assertionBody);
    return { ...body, span: this.spanFrom(first) };
  });

  /** G3: the words `once`, `eventually` and `never` win over nodes of that name. */
  protected readonly assertionBody = this.RULE("assertionBody", (): AssertDecl => {
    const first = this.LA(1);
    const word = this.word();
    const form = word === "once" || word === "eventually" || word === "never" ? word : "before";
    return this.choose<AssertDecl["form"], AssertDecl>(1, form, {
      once: () => {
        this.takeWord("once");
        const node = this.name(NODE);
        return { kind: "Assert", span: this.spanFrom(first), form: "once", node };
      },
      eventually: () => {
        this.takeWord("eventually");
        const node = this.name(NODE);
        return { kind: "Assert", span: this.spanFrom(first), form: "eventually", node };
      },
      never: () => {
        this.takeWord("never");
        const node = this.name(NODE);
        this.takeWord("with");
        const other = this.name(NODE);
        return { kind: "Assert", span: this.spanFrom(first), form: "never", node, other };
      },
      before: () => {
        const node = this.name("`once`, `eventually`, `never`, or the name of a node");
        this.takeWord("before");
        const other = this.name(NODE);
        return { kind: "Assert", span: this.spanFrom(first), form: "before", node, other };
      },
    });
  });

  protected readonly planSetting = this.RULE("planSetting", (): PlanSetting => {
    const first = this.LA(1);
    return this.choose<string, PlanSetting>(1, this.word(), {
      max: () => {
        this.takeWord("max");
        this.takeWord("parallel");
        const count = this.count("a number of tasks");
        return { kind: "PlanMaxParallel", span: this.spanFrom(first), count };
      },
      order: () => {
        this.takeWord("order");
        this.takeWord("file");
        return { kind: "PlanOrder", span: this.spanFrom(first), order: "file" };
      },
      pool: () => {
        this.takeWord("pool");
        const name = this.name("a name for the pool");
        const count = this.count("a number of places");
        return { kind: "PlanPool", span: this.spanFrom(first), name, count };
      },
      on: () => {
        this.takeWord("on");
        this.takeWord("failure");
        const mode = this.failureMode();
        return { kind: "PlanOnFailure", span: this.spanFrom(first), mode };
      },
    });
  });

  private failureMode(): "continue" | "no-new" | "kill" {
    const word = this.word();
    if (!this.RECORDING_PHASE && word !== "continue" && word !== "kill" && word !== "no") {
      this.failExpected("`continue`, `no-new` or `kill`");
    }
    return this.choose<string, "continue" | "no-new" | "kill">(2, word, {
      continue: () => {
        this.takeWord("continue");
        return "continue";
      },
      kill: () => {
        this.takeWord("kill");
        return "kill";
      },
      no: () => {
        this.takeWord("no");
        this.take(t.Minus, "`-new`");
        this.takeWord("new");
        return "no-new";
      },
    });
  }
}
