/** What graphs and plans declare: channels, nodes, tasks, and the policies of both. */
import type {
  ChannelDecl,
  Expr,
  Identifier,
  NodeDecl,
  Output,
  OutputField,
  Policy,
  StringLiteral,
  TaskDecl,
} from "../ast.ts";
import * as t from "../lexer/tokens.ts";
import { ExpressionRules } from "./expression-rules.ts";

type Each = { readonly item: Identifier; readonly list: Expr };

export abstract class DeclarationRules extends ExpressionRules {
  /** Loops over policies with recovery: see `RecoveryRules`. */
  protected abstract policyLoop(read: () => Policy): Policy[];

  protected readonly channel = this.RULE("channel", (): ChannelDecl => {
    const doc = this.documentation();
    const first = this.take(t.Identifier);
    const role = first.image as ChannelDecl["role"];
    const name = this.name(`a name for the ${this.RECORDING_PHASE ? "" : role} channel`);
    this.take(t.Colon, "`:` and a type");
    const type = this.subrule(this.index(), this.type);
    const initial = this.option(1, {
      GATE: () => this.at(t.Equal) || this.splitEqual !== undefined,
      DEF: () => {
        if (this.RECORDING_PHASE || this.splitEqual === undefined) this.take(t.Equal);
        this.splitEqual = undefined;
        return this.subrule(this.index(), this.expression);
      },
    });
    const reducer = this.option(2, {
      GATE: () => this.isClause("reduce"),
      DEF: () => {
        this.takeWord("reduce");
        return this.name("a reducer");
      },
    });
    return {
      kind: "Channel",
      span: this.spanFrom(first),
      ...doc,
      role,
      name,
      type,
      ...(initial === undefined ? {} : { initial }),
      ...(reducer === undefined ? {} : { reducer }),
    };
  });

  protected readonly node = this.RULE("node", (): NodeDecl => {
    const doc = this.documentation();
    const first = this.takeWord("node");
    const name = this.name("a name for the node");
    this.take(t.Equal, "`=` and the node's call");
    const call = this.subrule(this.index(), this.expression);
    const each = this.option(1, { GATE: () => this.isClause("for"), DEF: () => this.each() });
    const output = this.option(2, {
      GATE: () => this.isClause("into"),
      DEF: () => this.subrule(this.index(), this.into),
    });
    const policies = this.option(3, () => this.subrule(this.index(), this.policies)) ?? [];
    return {
      kind: "Node",
      span: this.spanFrom(first),
      ...doc,
      name,
      call,
      ...(each === undefined ? {} : { each }),
      ...(output === undefined ? {} : { output }),
      policies,
    };
  });

  protected each(): Each {
    this.takeWord("for");
    const item = this.name("a name for the item");
    this.take(t.In, "`in` and the list");
    return { item, list: this.subrule(this.index(), this.expression) };
  }

  protected readonly task = this.RULE("task", (): TaskDecl => {
    const doc = this.documentation();
    const first = this.takeWord("task");
    const name = this.name("a name for the task");
    this.take(t.Equal, "`=` and the task's call");
    const call = this.subrule(this.index(), this.expression);
    const each = this.option(1, { GATE: () => this.isClause("for"), DEF: () => this.each() });
    let trigger: TaskDecl["trigger"] = "all";
    const after: Identifier[] = [];
    this.option(2, {
      GATE: () => this.isClause("after"),
      DEF: () => {
        this.takeWord("after");
        this.option(3, {
          GATE: () => this.isTrigger(),
          DEF: () => {
            const word = this.take(t.Identifier).image;
            trigger = word === "any" ? "any" : "done";
          },
        });
        after.push(...this.nameList(1, "the name of a task"));
      },
    });
    const condition = this.option(4, () => {
      this.take(t.When);
      return this.subrule(this.index(), this.expression);
    });
    const output = this.option(5, {
      GATE: () => this.isClause("into"),
      DEF: () => this.subrule(this.index(), this.into),
    });
    const policies = this.option(6, () => this.subrule(this.index(), this.policies)) ?? [];
    return {
      kind: "Task",
      span: this.spanFrom(first),
      ...doc,
      name,
      call,
      ...(each === undefined ? {} : { each }),
      after,
      trigger,
      ...(condition === undefined ? {} : { condition }),
      ...(output === undefined ? {} : { output }),
      policies,
    };
  });

  /** G7: `any` and `done` are the trigger when a task's name follows them. */
  private isTrigger(): boolean {
    return (
      (this.isWord("any") || this.isWord("done")) &&
      this.at(t.Identifier, 2) &&
      !(this.isWord("into", 2) && !this.at(t.Comma, 3))
    );
  }

  private readonly into = this.RULE("into", (): Output => {
    this.takeWord("into");
    return this.subrule(this.index(), this.outputTarget);
  });

  readonly outputTarget = this.RULE("outputTarget", (): Output => {
    const first = this.LA(1);
    if (!this.RECORDING_PHASE && !this.at(t.LeftBrace) && !this.at(t.Identifier)) {
      this.failExpected("a channel, or `{ field: channel }`");
    }
    return this.or(1, [
      {
        ALT: (): Output => {
          const channel = this.name("a channel");
          return { kind: "ChannelOutput", span: channel.span, channel };
        },
      },
      {
        ALT: (): Output => {
          this.take(t.LeftBrace);
          const fields: OutputField[] = [];
          this.commaList(1, t.RightBrace, () => fields.push(this.subrule(this.index(), this.outputField)));
          this.take(t.RightBrace, "`,` or `}`");
          return { kind: "FieldsOutput", span: this.spanFrom(first), fields };
        },
      },
    ]);
  });

  private readonly outputField = this.RULE("outputField", (): OutputField => {
    const first = this.LA(1);
    const field = this.subrule(this.index(), this.key);
    if (!this.RECORDING_PHASE && !this.at(t.Colon) && first.tokenType !== t.Identifier) {
      this.failExpected("`:` and a channel");
    }
    const channel = this.option(1, () => {
      this.take(t.Colon);
      return this.name("a channel");
    });
    const short: Identifier = { kind: "Identifier", span: field.span, name: field.name };
    return { kind: "OutputField", span: this.spanFrom(first), field, channel: channel ?? short };
  });

  // Policies ----------------------------------------------------------------------------------------

  private readonly policies = this.RULE("policies", (): Policy[] => {
    this.take(t.LeftBrace);
    const policies = this.policyLoop(() => this.subrule(this.index(), this.policy));
    return policies;
  });

  private readonly policy = this.RULE("policy", (): Policy => {
    const first = this.LA(1);
    const gate = (word: string) => () => this.isWord(word);
    if (!this.RECORDING_PHASE && !this.startsPolicy()) this.failPolicy();
    return this.or(1, {
      IGNORE_AMBIGUITIES: true,
      DEF: [
        {
          GATE: gate("tries"),
          ALT: (): Policy => {
            this.takeWord("tries");
            const attempts = this.count("a number of attempts");
            const backoff = this.option(1, {
              GATE: () => this.isWord("backoff"),
              DEF: () => {
                this.takeWord("backoff");
                return this.subrule(this.index(), this.backoff);
              },
            });
            return {
              kind: "Tries",
              span: this.spanFrom(first),
              attempts,
              ...(backoff === undefined ? {} : { backoff }),
            };
          },
        },
        {
          GATE: gate("timeout"),
          ALT: (): Policy => {
            this.takeWord("timeout");
            const duration = this.durationAhead();
            return { kind: "Timeout", span: this.spanFrom(first), duration };
          },
        },
        {
          GATE: gate("cache"),
          ALT: (): Policy => {
            this.takeWord("cache");
            const duration = this.option(2, {
              GATE: () => this.isWord("for"),
              DEF: () => {
                this.takeWord("for");
                return this.durationAhead();
              },
            });
            const inputs = this.option(3, {
              GATE: () => this.isWord("inputs"),
              DEF: () => {
                this.takeWord("inputs");
                return this.paths(1);
              },
            });
            return {
              kind: "Cache",
              span: this.spanFrom(first),
              ...(duration === undefined ? {} : { duration }),
              ...(inputs === undefined ? {} : { inputs }),
            };
          },
        },
        {
          GATE: gate("max"),
          ALT: (): Policy => {
            this.takeWord("max");
            this.takeWord("parallel");
            const count = this.count("a number of tasks");
            return { kind: "MaxParallel", span: this.spanFrom(first), count };
          },
        },
        {
          GATE: gate("waits"),
          ALT: (): Policy => {
            this.takeWord("waits");
            const nodes = this.nameList(2, "the name of a node");
            return { kind: "Waits", span: this.spanFrom(first), nodes };
          },
        },
        {
          GATE: gate("goes"),
          ALT: (): Policy => {
            this.takeWord("goes");
            const nodes = this.nameList(3, "the name of a node");
            return { kind: "Goes", span: this.spanFrom(first), nodes };
          },
        },
        {
          GATE: gate("pause"),
          ALT: (): Policy => {
            this.takeWord("pause");
            if (!this.RECORDING_PHASE && !this.isWord("before") && !this.isWord("after"))
              this.failExpected("`before` or `after`");
            const when = this.take(t.Identifier).image === "before" ? "before" : "after";
            return { kind: "Pause", span: this.spanFrom(first), when };
          },
        },
        {
          GATE: gate("idempotent"),
          ALT: (): Policy => {
            this.takeWord("idempotent");
            return { kind: "Idempotent", span: this.spanFrom(first) };
          },
        },
        {
          GATE: gate("touches"),
          ALT: (): Policy => {
            this.takeWord("touches");
            const read = this.option(4, { GATE: () => this.isWord("read"), DEF: () => this.takeWord("read") });
            const paths = this.paths(4);
            return { kind: "Touches", span: this.spanFrom(first), mode: read === undefined ? "write" : "read", paths };
          },
        },
        {
          GATE: gate("alone"),
          ALT: (): Policy => {
            this.takeWord("alone");
            return { kind: "Alone", span: this.spanFrom(first) };
          },
        },
        {
          GATE: gate("done"),
          ALT: (): Policy => {
            this.takeWord("done");
            this.take(t.When, "`when` and a check");
            const check = this.subrule(this.index(), this.expression);
            return { kind: "DoneWhen", span: this.spanFrom(first), check };
          },
        },
        {
          GATE: gate("pool"),
          ALT: (): Policy => {
            this.takeWord("pool");
            const name = this.name("the name of a pool");
            const count = this.option(5, () => this.count("a number of places"));
            return { kind: "Pool", span: this.spanFrom(first), name, ...(count === undefined ? {} : { count }) };
          },
        },
        {
          GATE: gate("estimate"),
          ALT: (): Policy => {
            this.takeWord("estimate");
            const duration = this.durationAhead();
            return { kind: "Estimate", span: this.spanFrom(first), duration };
          },
        },
      ],
    });
  });

  protected abstract startsPolicy(): boolean;
  protected abstract failPolicy(): never;

  readonly backoff = this.RULE("backoff", () => {
    const min = this.durationAhead();
    const max = this.option(1, () => {
      this.take(t.DotDot);
      return this.durationAhead();
    });
    return { min, ...(max === undefined ? {} : { max }) };
  });

  /** Strings with commas between them. */
  private paths(index: number): StringLiteral[] {
    const paths = [this.stringLiteral("a path in quotes")];
    this.many(index, () => {
      this.take(t.Comma);
      paths.push(this.stringLiteral("a path in quotes"));
    });
    return paths;
  }
}
