/** Edges, barriers, matches, and the other statements of a graph that speak about nodes: limits and assertions. */
import type {
  AnyOf,
  AssertDecl,
  ConditionArm,
  EdgeDecl,
  EdgeSource,
  Identifier,
  LimitDecl,
  LiteralType,
  MatchCondition,
  MatchValue,
  Targets,
  ValueArm,
} from "../ast.ts";
import * as t from "../lexer/tokens.ts";
import { DeclarationRules } from "./declaration-rules.ts";

export abstract class EdgeRules extends DeclarationRules {
  /** Loops over arms with recovery: see `RecoveryRules`. */
  protected abstract armLoop<Arm>(index: number, read: () => Arm): Arm[];

  protected readonly edge = this.RULE("edge", (): EdgeDecl => {
    const doc = this.documentation();
    const first = this.LA(1);
    const source = this.subrule(this.index(), this.edgeSource);
    this.take(t.Arrow, "`->`");
    const chain: Identifier[] = [];
    this.many(1, {
      GATE: () => this.at(t.Arrow, 2),
      DEF: () => {
        chain.push(this.name("the name of a node"));
        this.take(t.Arrow);
      },
    });
    if (!this.RECORDING_PHASE && !this.at(t.Match) && !this.at(t.Identifier)) {
      this.failExpected("the name of a node, or `match`");
    }
    const to = this.or<Targets | MatchValue | MatchCondition>(1, [
      { ALT: () => this.subrule(this.index(), this.match) },
      { ALT: () => this.subrule(this.index(), this.guardedTargets) },
    ]);
    return { kind: "Edge", span: this.spanFrom(first), ...doc, source, chain, to };
  });

  readonly edgeSource = this.RULE("edgeSource", (): EdgeSource => {
    const first = this.LA(1);
    return this.or(1, {
      IGNORE_AMBIGUITIES: true,
      DEF: [
        {
          GATE: () => this.isWord("all") && this.at(t.LeftParen, 2),
          ALT: (): EdgeSource => {
            this.takeWord("all");
            this.take(t.LeftParen);
            const members: (Identifier | AnyOf)[] = [];
            this.commaList(1, t.RightParen, () => members.push(this.subrule(this.index(), this.barrierMember)));
            this.take(t.RightParen, "`,` or `)`");
            return { kind: "AllOf", span: this.spanFrom(first), members };
          },
        },
        {
          ALT: (): EdgeSource => {
            const nodes = this.nameList(2, "the name of a node");
            return { kind: "NodeList", span: this.spanFrom(first), nodes };
          },
        },
      ],
    });
  });

  private readonly barrierMember = this.RULE("barrierMember", (): Identifier | AnyOf => {
    const first = this.LA(1);
    return this.or(1, {
      IGNORE_AMBIGUITIES: true,
      DEF: [
        {
          GATE: () => this.isWord("any") && this.at(t.LeftParen, 2),
          ALT: (): AnyOf => {
            this.takeWord("any");
            this.take(t.LeftParen);
            const nodes: Identifier[] = [];
            this.commaList(1, t.RightParen, () => nodes.push(this.name("the name of a node")));
            this.take(t.RightParen, "`,` or `)`");
            return { kind: "AnyOf", span: this.spanFrom(first), nodes };
          },
        },
        { ALT: () => this.name("the name of a node, or `any(…)`") },
      ],
    });
  });

  private readonly guardedTargets = this.RULE("guardedTargets", (): Targets => {
    const first = this.LA(1);
    const nodes = this.nameList(1, "the name of a node");
    const onError = this.option(2, {
      GATE: () => this.isClause("on"),
      DEF: () => {
        this.takeWord("on");
        this.takeWord("error");
        return true;
      },
    });
    const guard = this.option(3, () => {
      const word = this.LA(1);
      return this.or<NonNullable<Targets["guard"]>>(1, [
        {
          ALT: () => {
            this.take(t.When);
            const condition = this.subrule(this.index(), this.expression);
            return { kind: "When", span: this.spanFrom(word), condition };
          },
        },
        {
          ALT: () => {
            this.take(t.Otherwise);
            return { kind: "Otherwise", span: this.spanFrom(word) };
          },
        },
      ]);
    });
    return {
      kind: "Targets",
      span: this.spanFrom(first),
      nodes,
      onError: onError === true,
      ...(guard === undefined ? {} : { guard }),
    };
  });

  /** G4: a brace directly after `match` opens the arms; there is no subject. */
  private readonly match = this.RULE("match", (): MatchValue | MatchCondition => {
    const first = this.take(t.Match);
    return this.or(1, {
      IGNORE_AMBIGUITIES: true,
      DEF: [
        {
          ALT: (): MatchCondition => {
            this.take(t.LeftBrace);
            const arms = this.armLoop(1, () => this.subrule(this.index(), this.conditionArm));
            return { kind: "MatchCondition", span: this.spanFrom(first), arms };
          },
        },
        {
          ALT: (): MatchValue => {
            const subject = this.subrule(this.index(), this.expression);
            this.take(t.LeftBrace, "`{` and the arms");
            const arms = this.armLoop(2, () => this.subrule(this.index(), this.valueArm));
            return { kind: "MatchValue", span: this.spanFrom(first), subject, arms };
          },
        },
      ],
    });
  });

  private readonly valueArm = this.RULE("valueArm", (): ValueArm => {
    const first = this.LA(1);
    const patterns: LiteralType[] = this.subrule(this.index(), this.patterns);
    this.take(t.Arrow, "`->`");
    const targets = this.nameList(1, "the name of a node");
    return { kind: "ValueArm", span: this.spanFrom(first), patterns, targets };
  });

  /** `"a" | "b"`, or `else`: no patterns. */
  readonly patterns = this.RULE("patterns", (): LiteralType[] => {
    if (!this.RECORDING_PHASE && !this.startsPattern()) this.failPattern();
    return this.or(1, [
      {
        ALT: (): LiteralType[] => {
          this.take(t.Else);
          return [];
        },
      },
      {
        ALT: (): LiteralType[] => {
          const patterns = [this.subrule(this.index(), this.literalType)];
          this.many(1, () => {
            this.take(t.Pipe);
            if (!this.RECORDING_PHASE && !this.startsPattern()) this.failPattern();
            patterns.push(this.subrule(this.index(), this.literalType));
          });
          return patterns;
        },
      },
    ]);
  });

  private startsPattern(): boolean {
    const { tokenType } = this.LA(1);
    return (
      tokenType === t.Quoted ||
      tokenType === t.Numeral ||
      tokenType === t.Minus ||
      tokenType === t.True ||
      tokenType === t.False ||
      tokenType === t.Null ||
      tokenType === t.Else
    );
  }

  private failPattern(): never {
    this.failExpected("a literal, or `else`", {
      help: "the arms of `match EXPR { … }` are literals; for conditions leave the subject out: `match { x > 9 -> a }`",
    });
  }

  private readonly conditionArm = this.RULE("conditionArm", (): ConditionArm => {
    const first = this.LA(1);
    if (!this.RECORDING_PHASE && !this.at(t.Else) && !this.startsExpression())
      this.failExpected("a condition, or `else`");
    const condition = this.or(1, [
      {
        ALT: () => {
          this.take(t.Else);
          return undefined;
        },
      },
      { ALT: () => this.subrule(this.index(), this.expression) },
    ]);
    this.take(t.Arrow, "`->`");
    const targets = this.nameList(1, "the name of a node");
    return {
      kind: "ConditionArm",
      span: this.spanFrom(first),
      ...(condition === undefined ? {} : { condition }),
      targets,
    };
  });

  // Limits and assertions ----------------------------------------------------------------------------

  protected readonly limit = this.RULE("limit", (): LimitDecl => {
    const first = this.LA(1);
    return this.or(1, {
      IGNORE_AMBIGUITIES: true,
      DEF: [
        {
          GATE: () => this.isWord("limit"),
          ALT: (): LimitDecl => {
            this.takeWord("limit");
            this.takeWord("steps");
            const none = this.option(1, { GATE: () => this.isWord("none"), DEF: () => this.takeWord("none") });
            const value = this.option(2, {
              GATE: () => none === undefined,
              DEF: () => this.count("a number of steps, or `none`"),
            });
            if (!this.RECORDING_PHASE && none === undefined && value === undefined)
              this.count("a number of steps, or `none`");
            return { kind: "Limit", span: this.spanFrom(first), of: "steps", value: value ?? "none" };
          },
        },
        {
          ALT: (): LimitDecl => {
            this.takeWord("max");
            this.takeWord("parallel");
            const value = this.count("a number of tasks");
            return { kind: "Limit", span: this.spanFrom(first), of: "parallel", value };
          },
        },
      ],
    });
  });

  protected readonly assertion = this.RULE("assertion", (): AssertDecl => {
    const first = this.takeWord("assert");
    const body = this.subrule(this.index(), this.assertionBody);
    return { ...body, span: this.spanFrom(first) };
  });

  /** G3: the words `once`, `eventually` and `never` win over nodes of that name. */
  readonly assertionBody = this.RULE("assertionBody", (): AssertDecl => {
    const first = this.LA(1);
    return this.or(1, {
      IGNORE_AMBIGUITIES: true,
      DEF: [
        { GATE: () => this.isWord("once"), ALT: () => this.singleAssertion("once") },
        { GATE: () => this.isWord("eventually"), ALT: () => this.singleAssertion("eventually") },
        {
          GATE: () => this.isWord("never"),
          ALT: (): AssertDecl => {
            this.takeWord("never");
            const node = this.name("the name of a node");
            this.takeWord("with");
            const other = this.name("the name of a node");
            return { kind: "Assert", span: this.spanFrom(first), form: "never", node, other };
          },
        },
        {
          ALT: (): AssertDecl => {
            const node = this.name("`once`, `eventually`, `never`, or the name of a node");
            this.takeWord("before");
            const other = this.name("the name of a node");
            return { kind: "Assert", span: this.spanFrom(first), form: "before", node, other };
          },
        },
      ],
    });
  });

  private singleAssertion(form: "once" | "eventually"): AssertDecl {
    const first = this.takeWord(form);
    const node = this.name("the name of a node");
    return { kind: "Assert", span: this.spanFrom(first), form, node };
  }
}
