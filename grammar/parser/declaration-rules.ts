/** The declarations of graphs and plans: channels, nodes and tasks. */
import { replacement } from "../../diagnostics/catalog/syntax.ts";
import type { Span } from "../../diagnostics/source.ts";
import type {
  ChannelDecl,
  DeriveDecl,
  Expr,
  Identifier,
  Matrix,
  MatrixAxis,
  NodeDecl,
  Output,
  OutputField,
  Policy,
  TaskDecl,
  TaskNeed,
} from "../ast.ts";
import type { IToken } from "chevrotain";
import * as t from "../lexer/tokens.ts";
import { spanAt } from "../reading.ts";
import { D, FIRST_LOOP } from "./decisions.ts";
import { PolicyRules } from "./policy-rules.ts";
import { startsStatement } from "./recovery.ts";

const NOWHERE: Span = { start: 0, end: 0 };
const NO_FIELD: OutputField = {
  kind: "OutputField",
  span: NOWHERE,
  field: { kind: "Key", span: NOWHERE, name: "", quoted: false },
  channel: { kind: "Identifier", span: NOWHERE, name: "" },
};

export abstract class DeclarationRules extends PolicyRules {
  // Channels ----------------------------------------------------------------------------------------

  protected readonly channel = this.RULE("channel", (): ChannelDecl => {
    const doc = this.documentation();
    const first = this.LA(1);
    const role = this.takeOneOf(
      D.channelRole,
      ["input", "output", "state", "memory", "config"],
      "the role of a channel",
    );
    const name = this.name(`a name for the ${role} channel`);
    if (!this.RECORDING_PHASE && !this.at(t.Colon)) this.failColon(name);
    this.take(t.Colon);
    const type = this.typeOrBroken();
    const isSplit = this.splitEqual !== undefined;
    this.splitEqual = undefined;
    const initial = isSplit ? this.rule(this.expression) : this.maybe(D.initial, this.initial);
    const reducer = this.maybe(D.reducer, this.reducer, this.startsClause);
    const was = this.maybe(D.channelWas, () => this.formerNames(18), this.startsClause);
    return {
      kind: "Channel",
      span: this.spanFrom(first),
      ...doc,
      role,
      name,
      type,
      ...(initial === undefined ? undefined : { initial }),
      ...(reducer === undefined ? undefined : { reducer }),
      ...(was === undefined ? undefined : { was }),
    };
  });

  private readonly initial = (): Expr => {
    this.take(t.Equal);
    return this.rule(this.expression);
  };

  private readonly reducer = (): Identifier => {
    this.takeWord("reduce");
    if (!this.RECORDING_PHASE && this.at(t.LeftParen)) {
      this.failExpected("a reducer", {
        help: "a reducer is a name: `last`, `append`, `sum`, `min`, `max`, `merge`, `union`, or an imported function",
      });
    }
    return this.name("a reducer");
  };

  /** `was draft, write` */
  protected formerNames(index: number, isStray?: () => boolean): Identifier[] {
    this.takeWord("was");
    return this.nameList(index, "an earlier name", isStray);
  }

  private failColon(name: Identifier): never {
    this.failExpected("`:` and a type", {
      help: this.at(t.Equal)
        ? `every channel has a type: \`${name.name}: int = …\``
        : this.at(t.Question)
          ? `what may be left out has a default: \`${name.name}: int | null = null\``
          : undefined,
    });
  }

  // Derived names -----------------------------------------------------------------------------------

  protected readonly derive = this.RULE("derive", (): DeriveDecl => {
    const doc = this.documentation();
    const first = this.takeWord("derive");
    const name = this.name("a name for the expression");
    if (!this.RECORDING_PHASE && this.at(t.Colon)) this.failDerivedType(name);
    this.takeEqual("the expression");
    const value = this.rule(this.expression);
    return { kind: "Derive", span: this.spanFrom(first), ...doc, name, value };
  });

  private failDerivedType(name: Identifier): never {
    this.failExpected("`=` and an expression", {
      help: `a derived name has the type of its expression: \`derive ${name.name} = …\``,
    });
  }

  // Nodes -------------------------------------------------------------------------------------------

  protected readonly node = this.RULE("node", (): NodeDecl => {
    const doc = this.documentation();
    const first = this.takeDeclarationWord("node", "task", "a step of a graph is a `node`; a `task` belongs in a plan");
    const name = this.name("a name for the node");
    this.takeEqual("the node's call");
    const call = this.rule(this.expression);
    const each = this.maybe(D.each, this.eachItem, this.startsClause);
    const output = this.maybe(D.into, this.into, this.startsClause);
    const policies = this.maybe(D.policies, this.policyBlock) ?? NO_POLICIES;
    return {
      kind: "Node",
      span: this.spanFrom(first),
      ...doc,
      name,
      call,
      ...(each === undefined ? undefined : { each }),
      ...(output === undefined ? undefined : { output }),
      policies,
    };
  });

  /** `task a = …` in a graph, `node a = …` in a plan: reported, and read as the word that belongs there. */
  private takeDeclarationWord(word: string, other: string, message: string): IToken {
    if (this.RECORDING_PHASE || !this.isWord(other)) return this.takeWord(word);
    const token = this.LA(1);
    this.instead(`\`${word}\``, word, message);
    return token;
  }

  /** The `=` after a declared name. An `await` of other languages is reported and skipped. */
  private takeEqual(what: string): void {
    if (!this.RECORDING_PHASE && this.at(t.Colon)) this.instead("`=`", "=", `\`=\` comes before ${what}`);
    else this.take(t.Equal, `\`=\` and ${what}`);
    if (this.RECORDING_PHASE || !this.isWord("await") || !this.at(t.LeftParen, 3)) return;
    // `await` can also be a channel, and `all(…)` or `settled(…)` the next edge.
    if (!this.at(t.Identifier, 2) || this.isWord("all", 2) || this.isWord("settled", 2)) return;
    const token = this.takeAny();
    const span = spanAt(this.reading, token.startOffset, this.startOf(this.LA(1)));
    this.reportForeign(this.placeOf(token), {
      message: "calls need no `await`: a node is done when its call is",
      label: "delete it",
      fixes: [replacement("delete it", span, "")],
    });
  }

  private readonly eachItem = () => this.rule(this.forClause);

  private readonly matrix = (): Matrix => {
    this.takeWord("for");
    const first = this.axis();
    const others: MatrixAxis[] = [];
    this.furtherItems(6, () => others.push(this.axis()));
    return others.length === 0 ? first : { ...first, others };
  };

  private axis(): MatrixAxis {
    const item = this.name("a name for the item");
    this.takeIn();
    return { item, list: this.rule(this.expression) };
  }

  private readonly policyBlock = () => this.rule(this.policies);

  private readonly into = (): Output => {
    this.takeWord("into");
    return this.rule(this.outputTarget);
  };

  protected readonly outputTarget = this.RULE("outputTarget", (): Output => {
    const first = this.LA(1);
    const output = this.choose<Output>(D.output, [
      () => {
        this.take(t.LeftBrace);
        const fields: OutputField[] = [];
        this.commaList(2, t.RightBrace, () => fields.push(this.rule(this.outputField)));
        this.take(t.RightBrace, "`,` or `}`");
        return { kind: "FieldsOutput", span: this.spanFrom(first), fields };
      },
      () => {
        const isSet = this.maybe(D.outputSet, this.setWord, this.isSet) !== undefined;
        if (!this.RECORDING_PHASE && this.at(t.LeftSquare)) {
          this.failExpected("a channel, or `{ field: channel }`", {
            help: "the fields of a result are written in braces: `into { a, b: channel }`",
          });
        }
        const channel = this.name("a channel, or `{ field: channel }`");
        const set = isSet ? ({ set: true } as const) : undefined;
        return { kind: "ChannelOutput", span: isSet ? this.spanFrom(first) : channel.span, ...set, channel };
      },
    ]);
    if (!this.RECORDING_PHASE && output.kind === "ChannelOutput" && (this.at(t.Dot) || this.at(t.LeftSquare))) {
      const { name } = output.channel;
      this.fail(this.LA(1), {
        message: `a node writes a whole channel, not a part of \`${name}\``,
        label: "cannot be written alone",
        help: this.at(t.Dot)
          ? `write the new record: \`{ ...${name}, field: value }\`; a channel with \`reduce merge\` takes the changed fields alone`
          : "write the new list; a channel with `reduce append` takes further items alone",
      });
    }
    if (output.kind === "ChannelOutput" && this.at(t.Comma)) return this.severalChannels(output.channel);
    return output;
  });

  private readonly setWord = () => this.takeWord("set");
  /** G8: `set` is the modifier when the name of a channel follows. */
  private readonly isSet = (): boolean => this.at(t.Identifier, 2);

  /** `into a, b`: no valid syntax has a comma here, so the names are read as fields of a record. */
  private severalChannels(first: Identifier): Output {
    const channels = [first];
    while (this.at(t.Comma) && this.at(t.Identifier, 2)) {
      this.take(t.Comma);
      channels.push(this.name("a channel"));
    }
    const last = channels[channels.length - 1] ?? first;
    const span = { start: first.span.start, end: last.span.end };
    const use = `{ ${channels.map(({ name }) => name).join(", ")} }`;
    this.reportForeign(
      { file: this.reading.source, span },
      {
        message: "the fields of a result that go into channels are written in braces",
        label: `write \`${use}\``,
        fixes: [replacement(`write \`${use}\``, span, use)],
      },
    );
    const fields = channels.map((channel): OutputField => {
      const field = { kind: "Key" as const, span: channel.span, name: channel.name, quoted: false };
      return { kind: "OutputField", span: channel.span, field, channel };
    });
    return { kind: "FieldsOutput", span, fields };
  }

  private readonly outputField = this.RULE("outputField", (): OutputField => {
    let isSet = false;
    const readOptional = () => this.maybe(D.outputOptional, () => this.take(t.Question));
    const readChannel = (): Identifier => {
      this.take(t.Colon);
      isSet = this.maybe(D.fieldSet, this.setWord, this.isSet) !== undefined;
      return this.name("a channel");
    };
    const first = this.LA(1);
    if (this.RECORDING_PHASE) {
      this.or(FIRST_LOOP, [
        {
          ALT: () => {
            this.consume(this.index(), t.Identifier);
            readOptional();
            this.maybe(D.outputChannel, readChannel);
          },
        },
        {
          ALT: () => {
            this.or(FIRST_LOOP + 1, [
              { ALT: () => this.consume(this.index(), t.ReservedWord) },
              { ALT: () => this.consume(this.index(), t.Quoted) },
            ]);
            this.option(FIRST_LOOP, () => this.take(t.Question));
            this.take(t.Colon);
            this.option(FIRST_LOOP + 1, this.setWord);
            this.name("a channel");
          },
        },
      ]);
      return NO_FIELD;
    }
    const field = this.key();
    const isOptional = readOptional() !== undefined;
    if (!this.at(t.Colon) && first.tokenType !== t.Identifier) this.failExpected("`:` and a channel");
    const channel = this.maybe(D.outputChannel, readChannel);
    const short: Identifier = { kind: "Identifier", span: field.span, name: field.name };
    return {
      kind: "OutputField",
      span: this.spanFrom(first),
      field,
      ...(isOptional ? ({ optional: true } as const) : undefined),
      ...(isSet ? ({ set: true } as const) : undefined),
      channel: channel ?? short,
    };
  });

  // Tasks -------------------------------------------------------------------------------------------

  protected readonly task = this.RULE("task", (): TaskDecl => {
    const doc = this.documentation();
    const begin = this.LA(1);
    const isFinal = this.maybe(D.finalTask, () => this.takeWord("finally")) !== undefined;
    this.takeDeclarationWord("task", "node", "a step of a plan is a `task`; a `node` belongs in a graph");
    const name = this.name("a name for the task");
    this.takeEqual("the task's call");
    const call = this.rule(this.expression);
    const each = this.maybe(D.matrix, this.matrix, this.startsClause);
    const dependencies = this.maybe(D.after, this.dependencies, this.startsClause) ?? NO_DEPENDENCIES;
    const isIf = !this.RECORDING_PHASE && this.isWord("if") && this.startsClause();
    if (isIf) this.instead("`when`", "when", "a condition begins with `when`, not `if`");
    const condition = isIf
      ? this.rule(this.expression)
      : this.maybe(D.taskCondition, () => {
          this.take(t.When);
          return this.rule(this.expression);
        });
    const output = this.maybe(D.into, this.into, this.startsClause);
    const policies = this.maybe(D.policies, this.policyBlock) ?? NO_POLICIES;
    return {
      kind: "Task",
      span: this.spanFrom(begin),
      ...doc,
      name,
      ...(isFinal ? { isFinal } : undefined),
      call,
      ...(each === undefined ? undefined : { each }),
      ...dependencies,
      ...(condition === undefined ? undefined : { condition }),
      ...(output === undefined ? undefined : { output }),
      policies,
    };
  });

  /** `after a, b`, `after any a, b`, `after a, done b, failed c`: a word applies to all names behind it, up to the next word. */
  private readonly dependencies = (): Pick<TaskDecl, "after" | "trigger" | "needs"> => {
    this.takeWord("after");
    const lists = [this.anyDependency, this.dependencyList];
    if (this.RECORDING_PHASE) return this.choose(D.trigger, lists);
    return this.isWord("any") && this.isTrigger() ? this.anyDependency() : this.dependencyList();
  };

  /** `any a, b` */
  private readonly anyDependency = (): Pick<TaskDecl, "after" | "trigger"> => {
    this.takeWord("any");
    const after = [this.taskName()];
    this.furtherItems(4, () => {
      if (TRIGGER_WORDS.some((word) => this.isWord(word)) && this.isTrigger()) this.failMixedAny();
      after.push(this.taskName());
    });
    return { after, trigger: "any" };
  };

  /** `a, done b, failed c` */
  private readonly dependencyList = (): Pick<TaskDecl, "after" | "trigger" | "needs"> => {
    let need: TaskNeed =
      this.maybe(D.need, () => this.takeOneOf(D.needWord, NEED_WORDS, NEEDS), this.isTrigger) ?? "all";
    if (!this.RECORDING_PHASE && !this.at(t.Identifier)) this.failAfter();
    const after = [this.taskName()];
    const needs = [need];
    this.furtherItems(5, () => {
      if (this.isWord("any") && this.isTrigger()) this.failMixedAny();
      need = this.maybe(D.nextNeed, () => this.takeOneOf(D.nextNeedWord, NEED_WORDS, NEEDS), this.isTrigger) ?? need;
      after.push(this.taskName());
      needs.push(need);
    });
    return triggerOf(after, needs);
  };

  /** `{ "," read }` up to a comma that ends an item of the list around the task. */
  private furtherItems(loop: number, read: () => void): void {
    const next = (): void => {
      this.take(t.Comma);
      read();
    };
    if (this.RECORDING_PHASE) this.many(FIRST_LOOP + loop, next);
    else while (this.at(t.Comma) && !this.isStrayComma()) next();
  }

  private taskName(): Identifier {
    return this.name("the name of a task");
  }

  private failMixedAny(): never {
    this.failExpected("the name of a task", {
      help: "`any` cannot be mixed with other words: add a task in between that comes after `any` of them",
    });
  }

  private failAfter(): never {
    this.failExpected("the name of a task", { help: "tasks are listed without colon and brackets: `after a, b`" });
  }

  /** G7: `any`, `done` and `failed` are the trigger when the name of a task follows, not a clause or the next statement. */
  private readonly isTrigger = (): boolean => {
    if (!this.at(t.Identifier, 2)) return false;
    if (this.isWord("into", 2) && !this.at(t.Comma, 3)) return false;
    return !startsStatement(this.tokenText(), this.position() + 2, "plan");
  };
}

/** Most nodes have no policies. */
const NO_POLICIES: readonly Policy[] = [];

const NEED_WORDS = ["done", "failed"] as const;
const TRIGGER_WORDS = ["any", ...NEED_WORDS] as const;
const NEEDS = "`done` or `failed`";

const NO_DEPENDENCIES: Pick<TaskDecl, "after" | "trigger"> = { after: [], trigger: "all" };

function triggerOf(
  after: readonly Identifier[],
  needs: readonly TaskNeed[],
): Pick<TaskDecl, "after" | "trigger" | "needs"> {
  const [first = "all"] = needs;
  return needs.every((need) => need === first) ? { after, trigger: first } : { after, trigger: "mixed", needs };
}
