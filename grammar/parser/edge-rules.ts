/** Edges, barriers and matches. */
import type { IToken } from "chevrotain";
import { ambiguousSource, replacement } from "../../diagnostics/catalog/syntax.ts";
import type {
  AnyOf,
  ConditionArm,
  EdgeDecl,
  EdgeSource,
  Expr,
  Identifier,
  LiteralType,
  MatchCondition,
  MatchValue,
  Targets,
  ValueArm,
} from "../ast.ts";
import { shorten } from "../lexer/read-tokens.ts";
import * as t from "../lexer/tokens.ts";
import { spanAt } from "../reading.ts";
import { DeclarationRules } from "./declaration-rules.ts";
import { D } from "./decisions.ts";
import { ELSE_WORDS } from "./foreign-syntax.ts";
import { columnAtLineStart, startsDeclaration, startsPolicy, type BodyKind } from "./recovery.ts";

const NODE = "the name of a node";

export abstract class EdgeRules extends DeclarationRules {
  /** The kind of the current body; `undefined` between items. */
  protected bodyKind: BodyKind | undefined;

  protected readonly edge = this.RULE("edge", (): EdgeDecl => {
    const doc = this.documentation();
    const first = this.LA(1);
    const source = this.rule(this.edgeSource);
    this.take(t.Arrow);
    const chain: Identifier[] = [];
    const readLink = (): void => {
      chain.push(this.name(NODE));
      this.take(t.Arrow);
    };
    this.repeat(D.chainLink, readLink);
    for (; !this.RECORDING_PHASE && this.isKebabLink(); this.repeat(D.chainLink, readLink)) readLink();
    const to = this.choose(D.rightSide, this.rightSides);
    if (!this.RECORDING_PHASE && this.at(t.Arrow)) this.failChain(to);
    return { kind: "Edge", span: this.spanFrom(first), ...doc, source, chain, to };
  });

  /** `do-it ->`, which `name` reports. */
  private isKebabLink(): boolean {
    let ahead = 1;
    while (this.at(t.Identifier, ahead) && this.at(t.Minus, ahead + 1)) ahead += 2;
    return ahead > 1 && this.at(t.Identifier, ahead) && this.at(t.Arrow, ahead + 1);
  }

  private readonly rightSides: readonly (() => EdgeDecl["to"])[] = [() => this.rule(this.match), () => this.targets()];

  private failChain(to: EdgeDecl["to"]): never {
    const several = to.kind === "Targets" && to.nodes.length > 1;
    const note = this.lineBreakNote();
    this.fail(this.LA(1), {
      ...(note === undefined ? undefined : { notes: [note] }),
      message: several ? "a chain continues from one node only" : "expected the end of the edge, found `->`",
      label: "cannot follow here",
      help: several
        ? `begin a second edge: \`any(${to.nodes.map(({ name }) => name).join(", ")}) -> …\``
        : "conditions and `match` end an edge; begin a second one",
    });
  }

  protected readonly edgeSource = this.RULE("edgeSource", (): EdgeSource => {
    return this.choose(D.source, this.sources);
  });

  private readonly sources: readonly (() => EdgeSource)[] = [
    () => {
      const first = this.takeWord("all");
      const members = this.barrierMembers(2);
      return { kind: "AllOf", span: this.spanFrom(first), members };
    },
    () => {
      const first = this.takeWord("settled");
      const members = this.barrierMembers(6);
      return { kind: "SettledOf", span: this.spanFrom(first), members };
    },
    () => {
      const first = this.LA(1);
      const nodes = this.anyOf(4);
      return { kind: "NodeList", span: this.spanFrom(first), nodes };
    },
    () => {
      const first = this.LA(1);
      const nodes = [this.name(NODE)];
      if (!this.RECORDING_PHASE && this.at(t.Comma)) this.bareSources(first, nodes);
      return { kind: "NodeList", span: this.spanFrom(first), nodes };
    },
  ];

  /** `(a, any(b, c))` */
  private barrierMembers(index: number): (Identifier | AnyOf)[] {
    this.take(t.LeftParen);
    const members: (Identifier | AnyOf)[] = [];
    this.commaList(index, t.RightParen, () => members.push(this.rule(this.barrierMember)));
    this.take(t.RightParen, "`,` or `)`");
    return members;
  }

  /** `any(a, b)` */
  private anyOf(index: number): Identifier[] {
    this.takeWord("any");
    this.take(t.LeftParen);
    const nodes: Identifier[] = [];
    this.commaList(index, t.RightParen, () => nodes.push(this.name(NODE)));
    this.take(t.RightParen, "`,` or `)`");
    return nodes;
  }

  /** The rest of `a, b -> c`, which is reported: readers take it for a barrier. */
  private bareSources(first: IToken, nodes: Identifier[]): void {
    while (this.at(t.Comma)) {
      this.take(t.Comma);
      nodes.push(this.name(NODE));
    }
    const span = this.spanFrom(first);
    const list = nodes.map(({ name }) => name).join(", ");
    this.report(ambiguousSource({ file: this.reading.source, span }, list, shorten(list)));
  }

  private readonly barrierMember = this.RULE("barrierMember", (): Identifier | AnyOf => {
    const first = this.LA(1);
    if (!this.RECORDING_PHASE && (this.isWord("all") || this.isWord("settled")) && this.at(t.LeftParen, 2)) {
      this.fail(first, {
        message: `\`${first.image}(…)\` cannot be a member of a barrier`,
        label: "a member is a node, or `any(…)`",
        help: `lead \`${first.image}(…)\` to a node of its own, and name this node here`,
      });
    }
    return this.choose<Identifier | AnyOf>(D.member, [
      () => {
        const nodes = this.anyOf(5);
        return { kind: "AnyOf", span: this.spanFrom(first), nodes };
      },
      () => this.name("the name of a node, or `any(…)`"),
    ]);
  });

  private targets(): Targets {
    const first = this.LA(1);
    const nodes = this.targetNames(3, "the name of a node, or `match`");
    const onError = this.maybe(D.onError, this.onError, this.startsClause) === true;
    const guard = this.isForeignGuard() ? this.foreignGuard() : this.maybe(D.guard, this.guard);
    return {
      kind: "Targets",
      span: this.spanFrom(first),
      nodes,
      onError,
      ...(guard === undefined ? undefined : { guard }),
    };
  }

  private readonly onError = (): true => {
    this.takeWord("on");
    this.takeWord("error");
    return true;
  };

  private readonly guard = (): NonNullable<Targets["guard"]> => this.choose(D.guardKind, this.guards);

  private readonly guards: readonly (() => NonNullable<Targets["guard"]>)[] = [
    () => {
      const first = this.take(t.When);
      return this.whenGuard(first);
    },
    () => ({ kind: "Otherwise", span: this.spanOf(this.take(t.Otherwise)) }),
  ];

  private whenGuard(first: IToken): NonNullable<Targets["guard"]> {
    const condition = this.rule(this.expression);
    return { kind: "When", span: this.spanFrom(first), condition };
  }

  private foreignGuard(): NonNullable<Targets["guard"]> {
    const first = this.LA(1);
    if (this.isWord("if")) {
      this.instead("`when`", "when", "a condition begins with `when`, not `if`");
      return this.whenGuard(first);
    }
    const message = "an edge for all other cases ends in `otherwise`; `else` begins an arm of `match`";
    this.instead("`otherwise`", "otherwise", message);
    return { kind: "Otherwise", span: this.spanOf(first) };
  }

  /** `if` for `when`, `else` for `otherwise`. */
  private isForeignGuard(): boolean {
    if (this.RECORDING_PHASE) return false;
    if (this.isOutdented()) return false;
    return (this.isWord("if") && this.startsClause() && this.startsExpression(2)) || this.at(t.Else);
  }

  /** `b, c`; the brackets of `[b, c]` and `(b, c)` are reported. */
  private targetNames(index: number, what: string): Identifier[] {
    const isRound = this.at(t.LeftParen);
    if (this.RECORDING_PHASE || !(isRound || this.at(t.LeftSquare))) return this.nameList(index, what);
    const open = this.takeAny();
    const names: Identifier[] = [];
    const closing = isRound ? t.RightParen : t.RightSquare;
    this.commaList(index, closing, () => names.push(this.name(NODE)));
    const close = this.take(closing, isRound ? "`,` or `)`" : "`,` or `]`");
    const span = spanAt(this.reading, open.startOffset, close.startOffset + 1);
    const use = names.map(({ name }) => name).join(", ");
    this.reportForeign(
      { file: this.reading.source, span },
      {
        message: "the targets of an edge need no brackets",
        label: `write \`${use}\``,
        fixes: [replacement("delete the brackets", span, use)],
      },
    );
    if (names.length === 0) this.failName(what);
    return names;
  }

  // Matches -----------------------------------------------------------------------------------------

  /** G4: a brace directly after `match` opens the arms; there is no subject. */
  private readonly match = this.RULE("match", (): MatchValue | MatchCondition => {
    const first = this.take(t.Match);
    const readConditions = (): MatchCondition => {
      this.take(t.LeftBrace);
      const arms = this.arms(2, "conditions", () => this.rule(this.conditionArm));
      return { kind: "MatchCondition", span: this.spanFrom(first), arms };
    };
    const readValues = (): MatchValue => {
      const subject = this.rule(this.expression);
      this.take(t.LeftBrace, "`{` and the arms");
      const arms = this.arms(3, "values", () => this.rule(this.valueArm));
      return { kind: "MatchValue", span: this.spanFrom(first), subject, arms };
    };
    if (!this.RECORDING_PHASE) return this.at(t.LeftBrace) ? readConditions() : readValues();
    return this.choose<MatchValue | MatchCondition>(D.match, [readConditions, readValues]);
  });

  private arms<Arm>(index: number, kind: "values" | "conditions", read: () => Arm): Arm[] {
    return this.within(kind, () => this.siblings(index, read, (at) => this.startsArm(at, kind)));
  }

  /** Whether an arm may begin here, as recovery sees it. */
  private startsArm(at: number, kind: "values" | "conditions"): boolean {
    const source = this.tokenText();
    const type = source.tokens[at]?.tokenType;
    if (type === t.Else) return true;
    const next = source.tokens[at + 1]?.tokenType;
    const isLiteral = type === t.Quoted || type === t.Numeral || type === t.True || type === t.False || type === t.Null;
    if (kind === "values" && isLiteral && (next === t.Arrow || next === t.Pipe)) return true;
    const column = columnAtLineStart(source, at);
    if (column === undefined || column <= this.statementColumn()) return false;
    if (isLiteral || (kind === "conditions" && (type === t.Not || type === t.LeftParen))) return true;
    if (type !== t.Identifier || startsDeclaration(source, at, "graph")) return false;
    return kind === "conditions" || next === t.Arrow || next === t.Pipe;
  }

  private readonly valueArm = this.RULE("valueArm", (): ValueArm => {
    const first = this.LA(1);
    const patterns = this.rule(this.patterns);
    this.takeArmArrow();
    const targets = this.targetNames(1, NODE);
    return { kind: "ValueArm", span: this.spanFrom(first), patterns, targets };
  });

  private takeArmArrow(): void {
    if (!this.RECORDING_PHASE && this.at(t.Colon))
      this.instead("`->`", "->", "an arm and its targets are joined by `->`");
    else this.take(t.Arrow);
  }

  /** `"a" | "b"`, or `else`: no patterns. */
  protected readonly patterns = this.RULE("patterns", (): LiteralType[] => {
    const readElse = (): LiteralType[] => {
      this.takeElse();
      return [];
    };
    if (!this.RECORDING_PHASE && this.isElse()) return readElse();
    return this.choose(D.patterns, [readElse, () => this.literalPatterns()]);
  });

  private literalPatterns(): LiteralType[] {
    const patterns = [this.pattern()];
    const readMore = (): void =>
      this.repeat(D.pattern, () => {
        this.take(t.Pipe);
        patterns.push(this.pattern());
      });
    for (readMore(); this.isPatternComma(); readMore()) {
      this.instead("`|`", "|", "the values of an arm are joined by `|`");
      patterns.push(this.pattern());
    }
    return patterns;
  }

  private isElse(): boolean {
    if (this.RECORDING_PHASE || this.at(t.Else)) return true;
    // As a condition such a word may be the name of a channel.
    const isForeign = this.at(t.Otherwise) || (this.listContext === "values" && ELSE_WORDS.has(this.word()));
    return isForeign && this.at(t.Arrow, 2);
  }

  private takeElse(): undefined {
    if (this.RECORDING_PHASE || this.at(t.Else)) this.take(t.Else);
    else
      this.instead("`else`", "else", `the arm for all other cases begins with \`else\`, not \`${this.LA(1).image}\``);
  }

  private isPatternComma(): boolean {
    if (this.RECORDING_PHASE || !this.at(t.Comma)) return false;
    return this.at(t.Quoted, 2) || this.at(t.Numeral, 2) || this.at(t.Minus, 2);
  }

  private pattern(): LiteralType {
    if (this.RECORDING_PHASE || this.startsLiteral()) return this.rule(this.literalType);
    const isValue = this.at(t.Identifier) && (this.at(t.Arrow, 2) || this.at(t.Pipe, 2) || this.at(t.Colon, 2));
    if (isValue && !this.isOutdented()) return this.barePattern(this.takeAny());
    this.failExpected("a literal, or `else`", {
      help: this.isWord("case")
        ? 'an arm has no `case`: `"a" -> b`'
        : "the arms of `match EXPR { … }` are literals; for conditions leave the subject out: `match { x > 9 -> a }`",
    });
  }

  /** `match kind { technical -> a }`: the quotes of the value are missing. */
  private barePattern(token: IToken): LiteralType {
    const place = this.placeOf(token);
    const use = `"${token.image}"`;
    this.reportForeign(place, {
      message: `a pattern is a literal, and \`${token.image}\` is a name`,
      label: `write \`${use}\``,
      help: "to compare with another value, use conditions: `match { x == y -> a }`",
      fixes: [replacement("put it in quotes", place.span, use)],
    });
    return { kind: "LiteralType", span: place.span, value: token.image };
  }

  private readonly conditionArm = this.RULE("conditionArm", (): ConditionArm => {
    const first = this.LA(1);
    const readElse = (): undefined => this.takeElse();
    const readCondition = (): Expr => {
      if (!this.RECORDING_PHASE && !this.startsExpression()) this.failExpected("a condition, or `else`");
      return this.rule(this.expression);
    };
    const condition =
      !this.RECORDING_PHASE && this.isElse()
        ? readElse()
        : this.choose<Expr | undefined>(D.conditionArm, [readElse, readCondition]);
    this.takeArmArrow();
    const targets = this.targetNames(2, NODE);
    return {
      kind: "ConditionArm",
      span: this.spanFrom(first),
      ...(condition === undefined ? undefined : { condition }),
      targets,
    };
  });

  // Commas ------------------------------------------------------------------------------------------

  /** Whether the comma ahead separates arms, policies or statements, which need no separator. */
  protected isStrayComma(): boolean {
    if (this.at(t.RightBrace, 2)) return true;
    const { listContext } = this;
    const next = this.position() + 2;
    if (!this.at(t.Identifier, 2)) {
      return (
        (listContext === "values" || listContext === "conditions") && (this.startsExpression(2) || this.at(t.Else, 2))
      );
    }
    if (listContext === "policies") return startsPolicy(this.tokenText(), next);
    if (listContext === "values") return this.at(t.Arrow, 3) || this.at(t.Pipe, 3);
    if (listContext === "statements") {
      // A word of another body is a name: `expect ran a, drop`, in a test, and `after a, drop into b`, in a plan.
      const { bodyKind } = this;
      const kinds = bodyKind === "test" || bodyKind === "plan" ? [bodyKind] : (["graph", "plan"] as const);
      return kinds.some((kind) => startsDeclaration(this.tokenText(), next, kind));
    }
    // After `b, y` an arm may begin with a bracket or a minus; everything else that follows `y` makes it a condition.
    switch (this.LA(3).tokenType) {
      case t.Comma:
      case t.RightBrace:
      case t.LeftSquare:
      case t.LeftParen:
      case t.LeftBrace:
      case t.Minus:
      case t.Not:
        return false;
      default:
        return !this.startsExpression(3) && !this.at(t.Else, 3) && !Number.isNaN(this.LA(3).startOffset);
    }
  }
}
