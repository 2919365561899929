/** What graphs and plans declare: channels, nodes and tasks. */
import { replacement } from "../../diagnostics/catalog/syntax.ts";
import type { ChannelDecl, Expr, Identifier, NodeDecl, Output, OutputField, TaskDecl } from "../ast.ts";
import * as t from "../lexer/tokens.ts";
import { spanAt } from "../reading.ts";
import { PolicyRules } from "./policy-rules.ts";
import { startsStatement } from "./recovery.ts";

type Each = { readonly item: Identifier; readonly list: Expr };

export abstract class DeclarationRules extends PolicyRules {
  // Channels ----------------------------------------------------------------------------------------

  protected readonly channel = this.RULE("channel", (): ChannelDecl => {
    const doc = this.documentation();
    const first = this.take(t.Identifier);
    const role = first.image as ChannelDecl["role"];
    const name = this.name(`a name for the ${this.RECORDING_PHASE ? "" : role} channel`);
    if (!this.RECORDING_PHASE && !this.at(t.Colon)) this.failColon(name);
    this.take(t.Colon);
    const type = this.typeOrBroken();
    const initial = this.maybe(1, this.at(t.Equal) || this.splitEqual !== undefined, () => {
      if (this.splitEqual === undefined) this.take(t.Equal);
      this.splitEqual = undefined;
      return this.rule(this.expression);
    });
    const reducer = this.maybe(2, this.isClause("reduce"), () => {
      this.takeWord("reduce");
      return this.name("a reducer");
    });
    return {
      kind: "Channel",
      span: this.spanFrom(first),
      ...doc,
      role,
      name,
      type,
      ...(initial === undefined ? undefined : { initial }),
      ...(reducer === undefined ? undefined : { reducer }),
    };
  });

  private failColon(name: Identifier): never {
    this.failExpected("`:` and a type", {
      help: this.at(t.Equal)
        ? `every channel has a type: \`${name.name}: int = …\``
        : this.at(t.Question)
          ? `what may be left out has a default: \`${name.name}: int | null = null\``
          : undefined,
    });
  }

  // Nodes -------------------------------------------------------------------------------------------

  protected readonly node = this.RULE("node", (): NodeDecl => {
    const doc = this.documentation();
    const first = this.takeWord("node");
    const name = this.name("a name for the node");
    this.takeEqual("the node's call");
    const call = this.rule(this.expression);
    const each = this.maybe(1, this.isClause("for"), this.each);
    const output = this.maybe(2, this.isClause("into"), this.into);
    const policies = this.maybe(3, this.at(t.LeftBrace), () => this.rule(this.policies)) ?? [];
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

  /** The `=` behind a declared name, and the `await` that calls of other languages need. */
  private takeEqual(what: string): void {
    if (!this.RECORDING_PHASE && this.at(t.Colon)) this.instead("`=`", "=", `\`=\` comes before ${what}`);
    else this.take(t.Equal, `\`=\` and ${what}`);
    if (this.RECORDING_PHASE || !this.isWord("await") || !this.at(t.LeftParen, 3)) return;
    // `await` can also be a channel, and `all(…)` the next edge.
    if (!this.at(t.Identifier, 2) || this.isWord("all", 2)) return;
    const token = this.takeAny();
    const span = spanAt(this.reading, token.startOffset, this.startOf(this.LA(1)));
    this.habit(this.placeOf(token), {
      message: "calls need no `await`: a node is done when its call is",
      label: "delete it",
      fixes: [replacement("delete it", span, "")],
    });
  }

  private readonly each = (): Each => {
    this.takeWord("for");
    const item = this.name("a name for the item");
    this.take(t.In, "`in` and the list");
    return { item, list: this.rule(this.expression) };
  };

  private readonly into = (): Output => {
    this.takeWord("into");
    return this.rule(this.outputTarget);
  };

  protected readonly outputTarget = this.RULE("outputTarget", (): Output => {
    const first = this.LA(1);
    const kind = this.at(t.LeftBrace) ? "fields" : "channel";
    const output = this.choose<"fields" | "channel", Output>(1, kind, {
      channel: () => {
        const channel = this.name("a channel, or `{ field: channel }`");
        return { kind: "ChannelOutput", span: channel.span, channel };
      },
      fields: () => {
        this.take(t.LeftBrace);
        const fields: OutputField[] = [];
        this.commaList(2, t.RightBrace, () => fields.push(this.outputField()));
        this.take(t.RightBrace, "`,` or `}`");
        return { kind: "FieldsOutput", span: this.spanFrom(first), fields };
      },
    });
    if (output.kind === "ChannelOutput" && this.at(t.Comma)) return this.severalChannels(output.channel);
    return output;
  });

  /** `into a, b`: nothing can go on with a comma here, so what is meant is a record's fields. */
  private severalChannels(first: Identifier): Output {
    const channels = [first];
    while (this.at(t.Comma) && this.at(t.Identifier, 2)) {
      this.take(t.Comma);
      channels.push(this.name("a channel"));
    }
    const last = channels[channels.length - 1] ?? first;
    const span = { start: first.span.start, end: last.span.end };
    const use = `{ ${channels.map(({ name }) => name).join(", ")} }`;
    this.habit(
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

  private outputField(): OutputField {
    const first = this.LA(1);
    const field = this.key(3);
    if (!this.RECORDING_PHASE && !this.at(t.Colon) && first.tokenType !== t.Identifier) {
      this.failExpected("`:` and a channel");
    }
    const channel = this.maybe(4, this.at(t.Colon), () => {
      this.take(t.Colon);
      return this.name("a channel");
    });
    const short: Identifier = { kind: "Identifier", span: field.span, name: field.name };
    return { kind: "OutputField", span: this.spanFrom(first), field, channel: channel ?? short };
  }

  // Tasks -------------------------------------------------------------------------------------------

  protected readonly task = this.RULE("task", (): TaskDecl => {
    const doc = this.documentation();
    const first = this.takeWord("task");
    const name = this.name("a name for the task");
    this.takeEqual("the task's call");
    const call = this.rule(this.expression);
    const each = this.maybe(1, this.isClause("for"), this.each);
    let trigger: TaskDecl["trigger"] = "all";
    const after =
      this.maybe(2, this.isClause("after"), () => {
        this.takeWord("after");
        const word = this.maybe(3, this.isTrigger(), () => this.take(t.Identifier).image);
        if (word === "any" || word === "done") trigger = word;
        return this.nameList(4, "the name of a task");
      }) ?? [];
    const condition = this.maybe(5, this.at(t.When) || (!this.RECORDING_PHASE && this.isClause("if")), () => {
      if (!this.RECORDING_PHASE && this.isWord("if"))
        this.instead("`when`", "when", "a condition begins with `when`, not `if`");
      else this.take(t.When);
      return this.rule(this.expression);
    });
    const output = this.maybe(6, this.isClause("into"), this.into);
    const policies = this.maybe(7, this.at(t.LeftBrace), () => this.rule(this.policies)) ?? [];
    return {
      kind: "Task",
      span: this.spanFrom(first),
      ...doc,
      name,
      call,
      ...(each === undefined ? undefined : { each }),
      after,
      trigger,
      ...(condition === undefined ? undefined : { condition }),
      ...(output === undefined ? undefined : { output }),
      policies,
    };
  });

  /** G7: `any` and `done` are the trigger when the name of a task follows, not a clause or the next statement. */
  private isTrigger(): boolean {
    const word = this.word();
    if ((word !== "any" && word !== "done") || !this.at(t.Identifier, 2)) return false;
    if (this.isWord("into", 2) && !this.at(t.Comma, 3)) return false;
    return !startsStatement(this.tokenText(), this.position() + 2, "plan");
  }
}
