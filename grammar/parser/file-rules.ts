/** Files and their items: the top layer of the parser. */
import { replacement } from "../../diagnostics/catalog/syntax.ts";
import { findSimilar } from "../../diagnostics/similar.ts";
import type {
  Broken,
  GraphDecl,
  ImportDecl,
  ImportName,
  Item,
  PlanDecl,
  PlanStatement,
  ConstDecl,
  SecretDecl,
  Statement,
  TestDecl,
  TypeDecl,
} from "../ast.ts";
import * as t from "../lexer/tokens.ts";
import type { Fragments } from "../fragments.ts";
import { CHANNEL_WORDS, GRAPH_WORDS, ITEM_WORDS, PLAN_WORDS, POLICY_WORDS, TEST_WORDS } from "../words.ts";
import { Halt } from "./base-parser.ts";
import { D, FIRST_LOOP } from "./decisions.ts";
import {
  DEPENDENCY_WORDS,
  ITEM_HINTS,
  PLAN_HINTS,
  POLICY_ALIASES,
  PREFIX_HINTS,
  STATEMENT_HINTS,
  TEST_HINTS,
} from "./foreign-syntax.ts";
import {
  closingBracket,
  columnAtLineStart,
  nextItem,
  startsItem,
  startsPolicy,
  startsStatement,
  type BodyKind,
} from "./recovery.ts";
import { StatementLoop } from "./statement-loop.ts";

const TASK_ORDER = "the clauses of a task have this order: `for`, `after`, `when`, `into`, `{ policies }`";

export class NgraphParser extends StatementLoop {
  /** `record`: for tests, content assist and diagrams (see `base-parser.ts`). */
  constructor(record = false) {
    super(record);
    if (record) this.performSelfAnalysis();
  }

  readonly file = this.RULE("file", (): Item[] => {
    const items: Item[] = [];
    if (this.RECORDING_PHASE) {
      this.many(FIRST_LOOP, () => this.item());
      return items;
    }
    const source = this.tokenText();
    for (let previous = -1; !this.atEnd();) {
      const first = this.position() + 1;
      try {
        items.push(this.item());
      } catch (error) {
        this.depth = 0;
        this.bodyKind = undefined;
        const diagnostic = this.diagnosticOf(error);
        const torn = previous >= 0 && first - 1 > previous && startsItem(source, first - 1);
        if (torn && columnAtLineStart(source, first - 1) !== undefined) {
          this.reportTorn(first - 1, diagnostic);
          items.pop();
          items.push(this.skipTo(previous, first - 1));
        } else {
          this.report(diagnostic);
          items.push(this.skipTo(first, this.gaveUp() ? source.tokens.length : nextItem(source, first)));
        }
      }
      previous = first;
    }
    return items;
  });

  private item(): Item {
    return this.choose(D.item, this.itemForms, () => this.failItem());
  }

  private readonly itemForms: readonly (() => Item)[] = [
    () => this.rule(this.importDecl),
    () => this.rule(this.typeDecl),
    () => this.rule(this.secretDecl),
    () => this.rule(this.constDecl),
    () => this.rule(this.graph),
    () => this.rule(this.plan),
    () => this.rule(this.test),
  ];

  private failItem(): never {
    if (this.at(t.RightBrace)) {
      const { span } = this.placeOf(this.LA(1));
      this.fail(this.LA(1), {
        message: "this `}` closes nothing",
        label: "unmatched",
        fixes: [replacement("delete it", span, "")],
      });
    }
    const source = this.tokenText();
    const at = this.position() + 1;
    const stray = (["graph", "plan", "test"] as const).find((kind) => startsStatement(source, at, kind));
    if (stray !== undefined) {
      this.fail(this.LA(1), {
        message: "this statement is outside of every graph, plan and test",
        label: `belongs in a ${stray}`,
        help: `write it between the braces of \`${stray} … { … }\``,
      });
    }
    const similar = findSimilar(this.word(), ITEM_WORDS);
    this.failExpected("`graph`, `plan`, `test`, `type`, `import`, `const` or `secret`", {
      after: false,
      help: this.itemHelp() ?? (similar === undefined ? this.blockHelp() : `did you mean \`${similar}\`?`),
    });
  }

  private blockHelp(): string | undefined {
    const isBlock = this.at(t.Identifier) && this.at(t.Identifier, 2) && this.at(t.LeftBrace, 3);
    return isBlock
      ? "a graph is written `graph NAME { … }`, tasks that depend on each other `plan NAME { … }`"
      : undefined;
  }

  private itemHelp(): string | undefined {
    if (this.at(t.LeftBrace) && this.at(t.Quoted, 2)) {
      return "a graph as JSON or YAML is in a file whose name ends in `.ngraph.yaml`";
    }
    if (this.at(t.Equal) && this.LA(-1).image === "secret") {
      return "the value of a secret comes from the environment variable of its name: `secret KEY`";
    }
    return ITEM_HINTS.get(this.word());
  }

  // Imports, types, secrets --------------------------------------------------------------------------

  private readonly importDecl = this.RULE("importDecl", (): ImportDecl => {
    const first = this.takeWord("import");
    const allTypes =
      !this.RECORDING_PHASE && this.isWord("type") && this.at(t.LeftBrace, 2) ? this.takeAny() : undefined;
    if (!this.RECORDING_PHASE && !this.at(t.LeftBrace)) this.failImport();
    this.take(t.LeftBrace);
    const names: ImportName[] = [];
    this.commaList(1, t.RightBrace, () => names.push(this.rule(this.importName)));
    this.take(t.RightBrace, "`,` or `}`");
    this.takeWord("from");
    const from = this.stringLiteral("the path of a module in quotes");
    const span = this.spanFrom(first);
    if (allTypes === undefined) return { kind: "Import", span, names, from };
    this.reportForeign(this.placeOf(allTypes), {
      message: "`type` goes before each name that is a type",
      label: "belongs inside the braces",
      help: `write \`import { ${names.map(({ imported }) => `type ${imported.name}`).join(", ")} } from …\``,
    });
    return { kind: "Import", span, names: names.map((name) => ({ ...name, isType: true })), from };
  });

  private failImport(): never {
    const what = this.at(t.Star) ? "a whole module" : this.at(t.Quoted) ? "a module without names" : "a default export";
    const isForeign = this.at(t.Star) || this.at(t.Quoted) || (this.at(t.Identifier) && this.isWord("from", 2));
    const help = 'name what you need: `import { search, type Ticket } from "./nodes.ts"`';
    if (isForeign)
      this.fail(this.LA(1), { message: `${what} cannot be imported`, label: "expected `{` and names", help });
    this.failExpected("`{` and the names to import", { help });
  }

  /** G1: `type` is the modifier when an identifier other than `as` follows. */
  private readonly importName = this.RULE("importName", (): ImportName => {
    const first = this.LA(1);
    const modifier = this.maybe(
      D.importType,
      () => this.takeWord("type"),
      () => this.at(t.Identifier, 2) && !this.isWord("as", 2),
    );
    const imported = this.name("a name to import");
    const local = this.maybe(D.importAs, () => {
      this.takeWord("as");
      return this.name("a name for it in this file");
    });
    return {
      kind: "ImportName",
      span: this.spanFrom(first),
      isType: modifier !== undefined,
      imported,
      local: local ?? imported,
    };
  });

  private readonly typeDecl = this.RULE("typeDecl", (): TypeDecl => {
    const doc = this.documentation();
    const first = this.takeWord("type");
    const name = this.name("a name for the type");
    if (!this.RECORDING_PHASE && this.at(t.LeftBrace)) {
      this.failExpected("`=` and a type", { help: `a record type is written \`type ${name.name} = { … }\`` });
    }
    this.take(t.Equal, "`=` and a type");
    const type = this.typeOrBroken();
    this.checkSplit();
    return { kind: "Type", span: this.spanFrom(first), ...doc, name, type };
  });

  private readonly secretDecl = this.RULE("secretDecl", (): SecretDecl => {
    const doc = this.documentation();
    const first = this.takeWord("secret");
    const name = this.name("the name of an environment variable");
    return { kind: "Secret", span: this.spanFrom(first), ...doc, name };
  });

  private readonly constDecl = this.RULE("constDecl", (): ConstDecl => {
    const doc = this.documentation();
    const first = this.takeWord("const");
    if (!this.RECORDING_PHASE && this.at(t.LeftBrace)) {
      this.failExpected("a name for the constant", { help: ITEM_HINTS.get("from") });
    }
    const name = this.name("a name for the constant");
    if (!this.RECORDING_PHASE && this.at(t.Colon)) {
      this.failExpected("`=` and a value", {
        help: `a constant has the type of its value: \`const ${name.name} = …\``,
      });
    }
    this.take(t.Equal, "`=` and a value");
    const value = this.rule(this.expression);
    return { kind: "Const", span: this.spanFrom(first), ...doc, name, value };
  });

  // Graphs, plans, tests -----------------------------------------------------------------------------

  private readonly graph = this.RULE("graph", (): GraphDecl | Broken => {
    const doc = this.documentation();
    const owner = this.position() + 1;
    const first = this.takeWord("graph");
    const head = this.header("graph", () => {
      if (!this.RECORDING_PHASE && this.at(t.Colon)) {
        this.failExpected("a name for the graph", {
          help: "a graph as YAML is in a file whose name ends in `.ngraph.yaml`",
        });
      }
      const name = this.name("a name for the graph");
      // No statement follows these names: in `graph g was f, defaults {` the last one is a name, too.
      const was = this.maybe(D.graphWas, () => this.formerNames(19, () => false));
      return { name, ...(was === undefined ? undefined : { was }) };
    });
    const statements = this.body<Statement>("graph", owner, () => this.rule(this.statement));
    if (head === undefined) return this.brokenBetween(owner, this.position() + 1);
    return { kind: "Graph", span: this.spanFrom(first), ...doc, ...head, statements };
  });

  private readonly plan = this.RULE("plan", (): PlanDecl | Broken => {
    const doc = this.documentation();
    const owner = this.position() + 1;
    const first = this.takeWord("plan");
    const name = this.header("plan", () => this.name("a name for the plan"));
    const statements = this.body<PlanStatement>("plan", owner, () => this.rule(this.planStatement));
    if (name === undefined) return this.brokenBetween(owner, this.position() + 1);
    return { kind: "Plan", span: this.spanFrom(first), ...doc, name, statements };
  });

  private readonly test = this.RULE("test", (): TestDecl | Broken => {
    const owner = this.position() + 1;
    const first = this.takeWord("test");
    const head = this.header("test", () => {
      if (!this.RECORDING_PHASE && this.at(t.Identifier)) {
        this.failExpected("a title in quotes", { help: 'a test is written `test "what it shows" for g { … }`' });
      }
      const title = this.stringLiteral("a title in quotes");
      this.takeWord("for");
      const subject = this.name("the graph or plan under test");
      const cases = this.maybe(D.testCases, () => {
        this.takeWord("with");
        return this.rule(this.expression);
      });
      return cases === undefined ? { title, subject } : { title, subject, cases };
    });
    const items = this.body("test", owner, () => this.testLine());
    if (head === undefined) return this.brokenBetween(owner, this.position() + 1);
    return { kind: "Test", span: this.spanFrom(first), ...head, items };
  });

  /** The head of a body and its opening brace. If the head is broken, the body is still read. */
  private header<T>(kind: BodyKind, read: () => T): T | undefined {
    const first = this.position() + 1;
    try {
      const head = read();
      if (!this.RECORDING_PHASE && !this.at(t.LeftBrace)) this.failHeader(kind);
      this.take(t.LeftBrace);
      return head;
    } catch (error) {
      if (this.RECORDING_PHASE || !(error instanceof Halt)) throw error;
      const brace = this.openingBrace(first, kind);
      if (brace === undefined) throw error;
      this.report(error.diagnostic);
      this.moveTo(brace);
      return undefined;
    }
  }

  private failHeader(kind: BodyKind): never {
    this.failExpected(`\`{\` and the statements of the ${kind}`, {
      help: this.at(t.LeftParen)
        ? `a ${kind} has no parameters: it declares what a run gets, \`input a: string\``
        : kind === "test"
          ? 'a test is written `test "what it shows" for g { … }`; the values of inputs stand inside: `given n = "x"`'
          : `the statements of a ${kind} are written in braces: \`${kind} a { … }\``,
    });
  }

  private openingBrace(first: number, kind: BodyKind): number | undefined {
    const source = this.tokenText();
    for (let at = first; at < source.tokens.length; at += 1) {
      if (source.tokens[at]?.tokenType === t.LeftBrace) return at;
      if (columnAtLineStart(source, at) === undefined) continue;
      // The brace itself is missing: the statements begin here.
      if (startsStatement(source, at, kind)) return at - 1;
      if (startsItem(source, at)) return undefined;
    }
    return undefined;
  }

  private readonly statement = this.RULE("statement", (): Statement => {
    return this.choose(D.statement, this.statementForms, this.brokenStatement);
  });

  private readonly statementForms: readonly (() => Statement)[] = [
    () => this.rule(this.edge),
    () => this.rule(this.channel),
    () => this.rule(this.derive),
    () => this.rule(this.node),
    () => this.rule(this.limit),
    () => this.rule(this.defaults),
    () => this.rule(this.assertion),
    () => this.rule(this.drop),
  ];

  /** The first word alone decides which statement reports its error. */
  private readonly brokenStatement = (): Statement => {
    const word = this.word();
    // `a, b -> c`: the edge reports its source.
    if (this.at(t.Identifier) && this.at(t.Comma, 2)) return this.rule(this.edge);
    if (CHANNEL_WORDS.has(word)) return this.rule(this.channel);
    switch (word) {
      case "derive":
        return this.rule(this.derive);
      case "node":
        return this.rule(this.node);
      case "task":
        return this.at(t.Identifier, 2) && this.at(t.Equal, 3) ? this.rule(this.node) : this.failStatement("graph");
      case "limit":
      case "max":
        return this.rule(this.limit);
      case "defaults":
        return this.rule(this.defaults);
      case "assert":
        return this.rule(this.assertion);
      case "drop":
        return this.rule(this.drop);
      default:
        return this.failStatement("graph");
    }
  };

  private readonly planStatement = this.RULE("planStatement", (): PlanStatement => {
    return this.choose(D.planStatement, this.planStatementForms, () =>
      this.isWord("node") && this.at(t.Identifier, 2) && this.at(t.Equal, 3)
        ? this.rule(this.task)
        : this.failStatement("plan"),
    );
  });

  private readonly planStatementForms: readonly (() => PlanStatement)[] = [
    () => this.rule(this.channel),
    () => this.rule(this.task),
    () => this.rule(this.planSetting),
  ];

  private testLine() {
    if (!this.RECORDING_PHASE && !TEST_WORDS.has(this.word())) this.failStatement("test");
    return this.rule(this.testItem);
  }

  private failStatement(kind: BodyKind): never {
    const words = kind === "graph" ? GRAPH_WORDS : kind === "plan" ? PLAN_WORDS : TEST_WORDS;
    const list = [...words].map((word) => `\`${word}\``).join(" ");
    const more = kind === "graph" ? `, or an edge: \`a -> b\`` : "";
    this.failExpected(`a statement of the ${kind} or \`}\``, {
      after: false,
      help: this.statementHelp(kind, words) ?? `statements begin with ${list}${more}`,
    });
  }

  private statementHelp(kind: BodyKind, words: ReadonlySet<string>): string | undefined {
    const word = this.word();
    const step = kind === "plan" ? "task" : "node";
    const isLineStart = columnAtLineStart(this.tokenText(), this.position() + 1) !== undefined;
    if (kind === "test" && TEST_HINTS.has(word)) return TEST_HINTS.get(word);
    if (POLICY_ALIASES.has(word) && this.reading.text[this.LA(1).startOffset - 1] === "@")
      return `policies are written in braces behind the call: \`node a = f(x) { ${POLICY_ALIASES.get(word) ?? word} … }\``;
    if (this.at(t.LeftSquare))
      return "a barrier is written `all(a, b) -> c`; nodes that each signal the target `any(a, b) -> c`";
    if (word === "const" && kind === "graph") return STATEMENT_HINTS.get(word);
    if (ITEM_WORDS.has(word) && startsItem(this.tokenText(), this.position() + 1))
      return `a \`${word}\` is declared beside the ${kind}, not inside it`;
    if (this.at(t.Else)) return STATEMENT_HINTS.get("else");
    if (this.at(t.When) && kind === "plan" && !isLineStart) return TASK_ORDER;
    if (
      this.at(t.When) ||
      this.at(t.Otherwise) ||
      (word === "on" && !this.isWord("error", 2)) ||
      (this.at(t.Colon) && kind === "graph")
    )
      return "a condition follows the targets of an edge: `a -> b when x > 3`";
    if (kind === "plan" && (this.at(t.Arrow, 2) || word === "edge")) {
      return "a plan has no edges: write the order on the task that runs later, `task b = … after a`";
    }
    if (kind === "plan" && DEPENDENCY_WORDS.has(word)) return "dependencies are written `after a, b`";
    if (kind === "graph" && (word === "after" || DEPENDENCY_WORDS.has(word))) {
      return "the order of nodes is written as edges: `a -> b`";
    }
    if (word === "for" && isLineStart) {
      return `a ${step} runs once for each item: \`${step} a = f(x) for x in xs\``;
    }
    if (!isLineStart && startsPolicy(this.tokenText(), this.position() + 1)) {
      return `policies are written in braces: \`{ ${word} … }\``;
    }
    if (word === "if" && !isLineStart) return PREFIX_HINTS.get(word);
    if (["for", "into", "after"].includes(word)) {
      return kind === "plan"
        ? TASK_ORDER
        : word === "for"
          ? "the clauses of a node have this order: `for`, `into`, `{ policies }`; one `for` goes over pairs as `for p in [[x, y] for x in xs for y in ys]`"
          : "the clauses of a node have this order: `for`, `into`, `{ policies }`";
    }
    const ofEdge = kind === "graph" ? this.edgeHelp(word, isLineStart) : undefined;
    if (ofEdge !== undefined) return ofEdge;
    if (word === "on") return "`on error` follows the target of an edge: `a -> b on error`";
    const hint = (kind === "plan" ? PLAN_HINTS.get(word) : undefined) ?? STATEMENT_HINTS.get(word);
    if (hint !== undefined) return hint;
    if (this.at(t.Arrow) && this.position() >= 0)
      return `what a ${step} writes follows \`into\`: \`${step} a = f(x) into y\`; functions are written in TypeScript; edges are statements of their own: \`a -> b\``;
    if (this.at(t.Identifier) && isLineStart) {
      if (this.at(t.Equal, 2))
        return `a step is a ${step}, which writes to a channel: \`${step} a = f(x) into ${word}\``;
      if (this.at(t.Equal, 3) || (this.at(t.Plus, 2) && this.at(t.Plus, 3)))
        return `a channel is changed by a ${step} that writes to it: \`${step} a = ${word} + 1 into ${word}\``;
      if (this.at(t.LeftParen, 2)) return `a call is written in a ${step}: \`${step} a = ${word}(…)\``;
      if (this.at(t.Colon, 2))
        return `a channel begins with its role, \`state ${word}: …\`; a step is \`${step} ${word} = …\``;
      if (this.at(t.Greater, 2) || (this.at(t.Minus, 2) && this.at(t.Greater, 3))) return "an arrow is written `->`";
      if (this.isWord("on", 2)) return "`on error` follows the target of an edge: `a -> b on error`";
    }
    if (this.at(t.Colon, 2) && this.at(t.Identifier)) return `each channel has its own role: \`input ${word}: …\``;
    if (this.at(t.Pipe) || this.at(t.And)) return "several targets are separated by commas: `a -> b, c`";
    const similar = findSimilar(word, words);
    if (similar !== undefined) return `did you mean \`${similar}\`?`;
    const isSecondWord = !isLineStart && this.position() >= 0 && this.LA(0).tokenType === t.Identifier;
    if (isSecondWord && (this.at(t.Identifier) || this.at(t.Quoted) || this.at(t.Numeral))) {
      return 'a call has parentheses: `f(x)`; a command is a string: `shell("npm test")`';
    }
    return undefined;
  }

  /** The help for an edge in the notation of another language. */
  private edgeHelp(word: string, isLineStart: boolean): string | undefined {
    const barrier = (a: string, b: string): string =>
      `a node that waits for both is written \`all(${a}, ${b}) -> c\`, one that runs for each of them \`any(${a}, ${b}) -> c\``;
    if (this.at(t.Quoted) && (this.at(t.Arrow, 2) || this.at(t.Comma, 2))) {
      return "the names of nodes have no quotes: `start -> a`";
    }
    if ((this.at(t.Plus, 2) || this.at(t.And, 2) || this.at(t.AndAnd, 2)) && this.at(t.Arrow, 4)) {
      return barrier(word, this.LA(3).image);
    }
    if (isLineStart && this.at(t.Identifier) && this.at(t.LeftParen, 2)) {
      const close = closingBracket(this.tokenText(), this.position() + 2);
      if (close !== undefined && this.tokenText().tokens[close + 1]?.tokenType === t.Arrow) return barrier("a", "b");
    }
    if (isLineStart && POLICY_WORDS.has(word)) {
      return `policies are written in braces behind the call: \`node a = f(x) { ${word} … }\``;
    }
    if (this.position() < 0) return undefined;
    const behindArrow = this.at(t.Arrow, -1) || this.at(t.Comma, -1);
    if (behindArrow && this.at(t.Identifier, 0)) {
      const hint = STATEMENT_HINTS.get(this.LA(0).image);
      if (hint !== undefined) return hint;
      if (this.at(t.LeftParen))
        return "an edge leads to names of nodes: `a -> b, c`; a call is written in a node: `node b = f(x)`";
    }
    return undefined;
  }

  // Fragments ---------------------------------------------------------------------------------------

  /** Reads one thing and nothing after it; `undefined` after reporting why it cannot be read. */
  fragment(kind: keyof Fragments): Fragments[keyof Fragments] | undefined {
    const rules: { readonly [K in keyof Fragments]: (this: this) => Fragments[K] } = {
      expression: this.expression,
      type: this.type,
      edge: this.edge,
      source: this.edgeSource,
      names: this.names,
      name: this.singleName,
      importName: this.importName,
      output: this.outputTarget,
      forClause: this.forClause,
      assert: this.assertionBody,
      expect: this.expectation,
      step: this.singleStep,
      duration: this.duration,
      backoff: this.backoff,
      patterns: this.patterns,
      testItem: this.testItem,
    };
    try {
      if (kind === "testItem" && !TEST_WORDS.has(this.word())) this.failStatement("test");
      const rule: (this: this) => Fragments[keyof Fragments] = rules[kind];
      const node = rule.call(this);
      this.checkSplit();
      if (!this.atEnd()) this.failExpected("the end");
      return node;
    } catch (error) {
      this.report(this.diagnosticOf(error));
      return undefined;
    }
  }

  private readonly names = this.RULE("names", () => this.nameList(1, "a name"));
  private readonly singleName = this.RULE("singleName", () => this.name("a name"));
  private readonly singleStep = this.RULE("singleStep", () => this.step(D.step));
  private readonly duration = this.RULE("duration", () => this.durationAhead());
}
