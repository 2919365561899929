/** Files and their items, the bodies of graphs, plans and tests, and the loops that recover inside them. */
import type { IToken } from "chevrotain";
import { replacement, syntaxProblem, tooDeep } from "../../diagnostics/catalog/syntax.ts";
import type {
  Broken,
  GraphDecl,
  ImportDecl,
  ImportName,
  Item,
  PlanDecl,
  PlanSetting,
  PlanStatement,
  Policy,
  SecretDecl,
  Statement,
  TestDecl,
  TypeDecl,
} from "../ast.ts";
import * as t from "../lexer/tokens.ts";
import type { Fragments } from "../parse.ts";
import { endOf } from "../lexer/read-tokens.ts";
import { spanAt } from "../reading.ts";
import { CHANNEL_WORDS, GRAPH_WORDS, PLAN_WORDS, POLICY_WORDS } from "../words.ts";
import { DEEPEST_NESTING, Halt } from "./base-parser.ts";
import {
  columnAtLineStart,
  namesBetween,
  nextItem,
  nextStatement,
  startsItem,
  startsStatement,
  type BodyKind,
  type TokenText,
} from "./recovery.ts";
import { TestRules } from "./test-rules.ts";

export class NgraphParser extends TestRules {
  constructor(validate = false) {
    super(validate);
    this.performSelfAnalysis();
  }

  // Items -------------------------------------------------------------------------------------------

  readonly file = this.RULE("file", (): Item[] => {
    const items: Item[] = [];
    if (this.RECORDING_PHASE) {
      this.many(1, () => this.subrule(this.index(), this.item));
      return items;
    }
    while (!this.atEnd()) {
      const first = this.position() + 1;
      try {
        items.push(this.subrule(0, this.item));
      } catch (error) {
        this.depth = 0;
        this.report(diagnosticOf(error, this));
        items.push(this.skipTo(first, nextItem(this.tokenText(), first, Number.MAX_SAFE_INTEGER)));
      }
    }
    return items;
  });

  private readonly item = this.RULE("item", (): Item => {
    const word = this.word();
    if (!this.RECORDING_PHASE && !["import", "type", "secret", "graph", "plan", "test"].includes(word)) {
      this.failExpected("`graph`, `plan`, `test`, `type`, `import` or `secret`");
    }
    return this.or<Item>(1, {
      IGNORE_AMBIGUITIES: true,
      DEF: [
        { GATE: () => this.isWord("import"), ALT: () => this.subrule(this.index(), this.importDecl) },
        { GATE: () => this.isWord("type"), ALT: () => this.subrule(this.index(), this.typeDecl) },
        { GATE: () => this.isWord("secret"), ALT: () => this.subrule(this.index(), this.secretDecl) },
        { GATE: () => this.isWord("graph"), ALT: () => this.subrule(this.index(), this.graph) },
        { GATE: () => this.isWord("plan"), ALT: () => this.subrule(this.index(), this.plan) },
        { GATE: () => this.isWord("test"), ALT: () => this.subrule(this.index(), this.test) },
      ],
    });
  });

  private readonly importDecl = this.RULE("importDecl", (): ImportDecl => {
    const first = this.takeWord("import");
    this.take(t.LeftBrace);
    const names: ImportName[] = [];
    this.commaList(1, t.RightBrace, () => names.push(this.subrule(this.index(), this.importName)));
    this.take(t.RightBrace, "`,` or `}`");
    this.takeWord("from");
    const from = this.stringLiteral("the path of a module in quotes");
    return { kind: "Import", span: this.spanFrom(first), names, from };
  });

  /** G1: `type` is the modifier when an identifier other than `as` follows. */
  readonly importName = this.RULE("importName", (): ImportName => {
    const first = this.LA(1);
    const type = this.option(1, {
      GATE: () => this.isWord("type") && this.at(t.Identifier, 2) && !this.isWord("as", 2),
      DEF: () => this.takeWord("type"),
    });
    const imported = this.name("a name to import");
    const local = this.option(2, {
      GATE: () => this.isWord("as"),
      DEF: () => {
        this.takeWord("as");
        return this.name("a name for it in this file");
      },
    });
    return {
      kind: "ImportName",
      span: this.spanFrom(first),
      isType: type !== undefined,
      imported,
      local: local ?? imported,
    };
  });

  private readonly typeDecl = this.RULE("typeDecl", (): TypeDecl => {
    const doc = this.documentation();
    const first = this.takeWord("type");
    const name = this.name("a name for the type");
    this.take(t.Equal, "`=` and a type");
    const type = this.subrule(this.index(), this.type);
    return { kind: "Type", span: this.spanFrom(first), ...doc, name, type };
  });

  private readonly secretDecl = this.RULE("secretDecl", (): SecretDecl => {
    const doc = this.documentation();
    const first = this.takeWord("secret");
    const name = this.name("the name of an environment variable");
    return { kind: "Secret", span: this.spanFrom(first), ...doc, name };
  });

  // Bodies ------------------------------------------------------------------------------------------

  private readonly graph = this.RULE("graph", (): GraphDecl => {
    const doc = this.documentation();
    const owner = this.position() + 1;
    const first = this.takeWord("graph");
    const name = this.name("a name for the graph");
    this.take(t.LeftBrace, "`{` and the graph's statements");
    const statements = this.body<Statement>("graph", owner, () => this.subrule(this.index(), this.statement));
    return { kind: "Graph", span: this.spanFrom(first), ...doc, name, statements };
  });

  private readonly statement = this.RULE("statement", (): Statement => {
    const follows = this.at(t.Arrow, 2) || this.at(t.Comma, 2);
    const word = follows ? "" : this.word();
    if (!this.RECORDING_PHASE && !follows && !GRAPH_WORDS.has(word) && !(word === "all" && this.at(t.LeftParen, 2)))
      this.failStatement("graph");
    return this.or<Statement>(1, {
      IGNORE_AMBIGUITIES: true,
      DEF: [
        { GATE: () => word === "node", ALT: () => this.subrule(this.index(), this.node) },
        { GATE: () => CHANNEL_WORDS.has(word), ALT: () => this.subrule(this.index(), this.channel) },
        { GATE: () => word === "limit" || word === "max", ALT: () => this.subrule(this.index(), this.limit) },
        { GATE: () => word === "assert", ALT: () => this.subrule(this.index(), this.assertion) },
        { ALT: () => this.subrule(this.index(), this.edge) },
      ],
    });
  });

  private readonly plan = this.RULE("plan", (): PlanDecl => {
    const doc = this.documentation();
    const owner = this.position() + 1;
    const first = this.takeWord("plan");
    const name = this.name("a name for the plan");
    this.take(t.LeftBrace, "`{` and the plan's tasks");
    const statements = this.body<PlanStatement>("plan", owner, () => this.subrule(this.index(), this.planStatement));
    return { kind: "Plan", span: this.spanFrom(first), ...doc, name, statements };
  });

  private readonly planStatement = this.RULE("planStatement", (): PlanStatement => {
    const word = this.word();
    if (!this.RECORDING_PHASE && !PLAN_WORDS.has(word)) this.failStatement("plan");
    return this.or<PlanStatement>(1, {
      IGNORE_AMBIGUITIES: true,
      DEF: [
        { GATE: () => word === "task", ALT: () => this.subrule(this.index(), this.task) },
        { GATE: () => CHANNEL_WORDS.has(word), ALT: () => this.subrule(this.index(), this.channel) },
        { ALT: () => this.subrule(this.index(), this.planSetting) },
      ],
    });
  });

  private readonly planSetting = this.RULE("planSetting", (): PlanSetting => {
    const first = this.LA(1);
    return this.or<PlanSetting>(1, {
      IGNORE_AMBIGUITIES: true,
      DEF: [
        {
          GATE: () => this.isWord("max"),
          ALT: () => {
            this.takeWord("max");
            this.takeWord("parallel");
            const count = this.count("a number of tasks");
            return { kind: "PlanMaxParallel", span: this.spanFrom(first), count };
          },
        },
        {
          GATE: () => this.isWord("order"),
          ALT: () => {
            this.takeWord("order");
            this.takeWord("file");
            return { kind: "PlanOrder", span: this.spanFrom(first), order: "file" };
          },
        },
        {
          GATE: () => this.isWord("pool"),
          ALT: () => {
            this.takeWord("pool");
            const name = this.name("a name for the pool");
            const count = this.count("a number of places");
            return { kind: "PlanPool", span: this.spanFrom(first), name, count };
          },
        },
        {
          ALT: () => {
            this.takeWord("on");
            this.takeWord("failure");
            const mode = this.subrule(this.index(), this.failureMode);
            return { kind: "PlanOnFailure", span: this.spanFrom(first), mode };
          },
        },
      ],
    });
  });

  private readonly failureMode = this.RULE("failureMode", (): "continue" | "no-new" | "kill" => {
    const word = this.word();
    if (!this.RECORDING_PHASE && word !== "continue" && word !== "kill" && word !== "no")
      this.failExpected("`continue`, `no-new` or `kill`");
    return this.or(1, {
      IGNORE_AMBIGUITIES: true,
      DEF: [
        {
          GATE: () => word === "no",
          ALT: () => {
            this.takeWord("no");
            this.take(t.Minus);
            this.takeWord("new");
            return "no-new" as const;
          },
        },
        { ALT: () => (this.take(t.Identifier).image === "kill" ? ("kill" as const) : ("continue" as const)) },
      ],
    });
  });

  private readonly test = this.RULE("test", (): TestDecl => {
    const owner = this.position() + 1;
    const first = this.takeWord("test");
    const title = this.stringLiteral("a title in quotes");
    this.takeWord("for");
    const subject = this.name("the graph or plan under test");
    this.take(t.LeftBrace, "`{` and the test's lines");
    const items = this.body("test", owner, () => this.subrule(this.index(), this.testItem));
    return { kind: "Test", span: this.spanFrom(first), title, subject, items };
  });

  protected failStatement(body: BodyKind): never {
    this.failExpected(
      body === "graph"
        ? "a statement of the graph, or `}`"
        : body === "plan"
          ? "a statement of the plan, or `}`"
          : "`given`, `mock`, `answer`, `expect` or `}`",
    );
  }

  /** Statements up to the closing brace; a broken one costs only itself. */
  private body<S>(kind: BodyKind, owner: number, read: () => S): (S | Broken)[] {
    if (this.RECORDING_PHASE) {
      this.many(1, read);
      this.take(t.RightBrace);
      return [];
    }
    const source = this.tokenText();
    const open = this.LA(0);
    const ownerColumn = columnAtLineStart(source, owner) ?? 0;
    const statements: (S | Broken)[] = [];
    for (;;) {
      const first = this.position() + 1;
      if (this.at(t.RightBrace)) {
        this.take(t.RightBrace);
        return statements;
      }
      if (
        this.atEnd() ||
        (startsItem(source, first) && (columnAtLineStart(source, first) ?? Infinity) <= ownerColumn)
      ) {
        this.reportUnclosed(open, kind);
        return statements;
      }
      try {
        statements.push(read());
      } catch (error) {
        this.depth = 0;
        this.report(diagnosticOf(error, this));
        statements.push(this.skipTo(first, nextStatement(source, first, kind, ownerColumn)));
      }
    }
  }

  private reportUnclosed(open: IToken, kind: BodyKind): void {
    const end = spanAt(this.reading, endOf(this.LA(0)), endOf(this.LA(0)));
    this.report(
      syntaxProblem(this.placeOf(this.LA(1)), {
        message: `the ${kind} is not closed: a \`}\` is missing before this`,
        label: "expected `}`",
        labels: [{ ...this.placeOf(open), message: "opened here" }],
        fixes: [replacement("close it", end, "\n}")],
      }),
    );
  }

  /** Moves to a token further on; what lies between is one broken statement. */
  private skipTo(first: number, next: number): Broken {
    const source = this.tokenText();
    const to = Math.max(next, first + 1);
    const token = source.tokens[first];
    const last = source.tokens[Math.min(to, source.tokens.length) - 1];
    this.moveTo(Math.min(to, source.tokens.length) - 1);
    const start = token?.startOffset ?? this.reading.text.length;
    const span = spanAt(this.reading, start, last === undefined ? start : endOf(last));
    return { kind: "Broken", span, of: brokenKind(token), names: namesBetween(source, first, to) };
  }

  private tokenText(): TokenText {
    return { tokens: this.tokens, text: this.reading.text };
  }

  // Fragments ---------------------------------------------------------------------------------------

  /** Reads one thing and nothing after it; `undefined` after reporting why it cannot be read. */
  fragment(kind: keyof Fragments): Fragments[keyof Fragments] | undefined {
    const rules = {
      expression: this.expression,
      type: this.type,
      edge: this.edge,
      source: this.edgeSource,
      names: this.names,
      name: this.singleName,
      importName: this.importName,
      output: this.outputTarget,
      assert: this.assertionBody,
      expect: this.expectation,
      step: this.step,
      duration: this.duration,
      backoff: this.backoff,
      patterns: this.patterns,
    };
    try {
      const rule: (this: this) => Fragments[keyof Fragments] = rules[kind];
      const node = rule.call(this);
      if (!this.atEnd()) this.failExpected("the end");
      return node;
    } catch (error) {
      this.report(this.diagnosticAtEnd(error));
      return undefined;
    }
  }

  private readonly names = this.RULE("names", () => this.nameList(1, "a name"));
  private readonly singleName = this.RULE("singleName", () => this.name("a name"));
  private readonly duration = this.RULE("duration", () => this.durationAhead());

  protected policyLoop(read: () => Policy): Policy[] {
    if (this.RECORDING_PHASE) {
      this.many(1, read);
      this.take(t.RightBrace);
      return [];
    }
    const policies: Policy[] = [];
    while (!this.at(t.RightBrace)) policies.push(read());
    this.take(t.RightBrace);
    return policies;
  }

  protected armLoop<Arm>(index: number, read: () => Arm): Arm[] {
    if (this.RECORDING_PHASE) {
      this.many(index, read);
      this.take(t.RightBrace);
      return [];
    }
    const arms: Arm[] = [];
    while (!this.at(t.RightBrace)) arms.push(read());
    this.take(t.RightBrace);
    return arms;
  }

  protected startsPolicy(): boolean {
    return POLICY_WORDS.has(this.word());
  }

  protected failPolicy(): never {
    this.failExpected("a policy or `}`", {
      help: `the policies are ${[...POLICY_WORDS].map((word) => `\`${word}\``).join(" ")}`,
    });
  }

  diagnosticAtEnd(error: unknown) {
    if (error instanceof Halt) return error.diagnostic;
    if (error instanceof RangeError) return tooDeep(this.placeOf(this.LA(1)), "nesting", DEEPEST_NESTING);
    throw error;
  }
}

function diagnosticOf(error: unknown, parser: NgraphParser) {
  return parser.diagnosticAtEnd(error);
}

function brokenKind(token: IToken | undefined): Broken["of"] {
  const word = token?.tokenType === t.Identifier ? token.image : "";
  if (CHANNEL_WORDS.has(word)) return "channel";
  switch (word) {
    case "import":
    case "type":
    case "secret":
    case "graph":
    case "plan":
    case "test":
    case "node":
    case "task":
      return word;
    default:
      return "other";
  }
}

export { startsStatement };
