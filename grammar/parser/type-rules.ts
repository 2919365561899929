/** Types: `{ role: "user" | "assistant", at?: int }[] | null`. Also the comma lists and recovery inside brackets. */
import type { IToken } from "chevrotain";
import { replacement } from "../../diagnostics/catalog/syntax.ts";
import type { Span } from "../../diagnostics/source.ts";
import type { BrokenType, Key, LiteralType, RecordTypeField, TypeExpr } from "../ast.ts";
import { numberValue } from "../literals.ts";
import { endOf } from "../lexer/read-tokens.ts";
import * as t from "../lexer/tokens.ts";
import { placeAt, spanAt } from "../reading.ts";
import { BaseParser, Halt } from "./base-parser.ts";
import { D, FIRST_LOOP } from "./decisions.ts";
import { BRACKET_TYPES, GENERIC_TYPES } from "./foreign-syntax.ts";
import { columnAtLineStart, namesBetween, typeEnd, type TokenText } from "./recovery.ts";

const NOWHERE: Span = { start: 0, end: 0 };
const PLACEHOLDER: BrokenType = { kind: "BrokenType", span: NOWHERE };

export abstract class TypeRules extends BaseParser {
  /** L1: the `>=` that closed a `map<`; its `=` is taken by the channel's own rule, everywhere else it is too much. */
  protected splitEqual: IToken | undefined;
  private readonly isUnsplit = (): boolean => this.splitEqual === undefined;

  protected readonly type = this.RULE("type", (): TypeExpr => {
    this.splitEqual = undefined;
    return this.deeper(() => this.unionType());
  });

  /** A type before a default. If it cannot be read, reading continues after it. */
  protected typeOrBroken(): TypeExpr {
    if (this.RECORDING_PHASE) return this.rule(this.type);
    const first = this.position() + 1;
    try {
      return this.rule(this.type);
    } catch (error) {
      if (!(error instanceof Halt)) throw error;
      const source = this.tokenText();
      const end = typeEnd(source, first);
      if (end === undefined) throw error;
      this.report(error.diagnostic);
      this.splitEqual = undefined;
      this.moveTo(end - 1);
      const token = source.tokens[first];
      const span = end > first && token !== undefined ? this.spanFrom(token) : this.gapSpan();
      return { kind: "BrokenType", span, names: namesBetween(source, first, end) };
    }
  }

  private unionType(): TypeExpr {
    const first = this.LA(1);
    this.maybe(D.leadingPipe, () => this.take(t.Pipe));
    let type = this.rule(this.listType);
    const members = [type];
    this.repeat(
      D.unionMember,
      () => {
        this.take(t.Pipe);
        members.push(this.rule(this.listType));
      },
      this.isUnsplit,
    );
    if (members.length > 1) type = { kind: "UnionType", span: this.typeFrom(first), members };
    return !this.RECORDING_PHASE && this.at(t.Question) ? this.questionMark(first, type) : type;
  }

  private readonly listType = this.RULE("listType", (): TypeExpr => {
    const first = this.LA(1);
    let type = this.typeAtom();
    this.repeat(
      D.listSuffix,
      () => {
        this.take(t.LeftSquare);
        if (!this.RECORDING_PHASE && !this.at(t.RightSquare) && type.kind === "NamedType") {
          const help = BRACKET_TYPES.get(type.name);
          if (help !== undefined) this.failExpected("`]`", { help });
        }
        this.take(t.RightSquare, "`]` (a list type is written `T[]`)");
        if (this.RECORDING_PHASE) return;
        this.countOperator("types");
        type = { kind: "ListType", span: this.spanFrom(first), item: type };
      },
      this.isUnsplit,
    );
    return type;
  });

  private typeAtom(): TypeExpr {
    return this.choose(D.typeAtom, this.typeAtoms, () => this.failType());
  }

  private readonly typeAtoms: readonly (() => TypeExpr)[] = [
    () => this.rule(this.mapType),
    () => this.namedType(),
    () => this.rule(this.literalType),
    () => this.parenthesizedType(),
    () => this.rule(this.recordType),
  ];

  protected startsLiteral(): boolean {
    switch (this.LA(1).tokenType) {
      case t.Quoted:
      case t.Numeral:
      case t.Minus:
      case t.True:
      case t.False:
      case t.Null:
        return true;
      default:
        return false;
    }
  }

  private failType(): never {
    const isTuple = this.at(t.LeftSquare);
    this.failExpected("a type", {
      help: isTuple
        ? "a list type is written `T[]`"
        : "types are `string` `int` `float` `bool` `json` `null`, literals, `T[]`, `map<T>`, `{ name: T }`, and unions of them with `|`",
    });
  }

  private namedType(): TypeExpr {
    const token = this.take(t.Identifier);
    if (!this.RECORDING_PHASE && this.at(t.Less)) return this.genericType(token);
    return { kind: "NamedType", span: this.spanOf(token), name: token.image };
  }

  private readonly mapType = this.RULE("mapType", (): TypeExpr => {
    const first = this.takeWord("map");
    this.take(t.Less);
    let value = this.rule(this.type);
    if (!this.RECORDING_PHASE && this.at(t.Comma)) value = this.secondMapArgument(first, value);
    // L1: `map<int>= {}` has the token `>=`; it counts as `>` and `=`.
    const split = !this.RECORDING_PHASE && this.at(t.GreaterEqual) && this.splitEqual === undefined;
    const closeWhole = () => this.take(t.Greater, "`>`");
    const closeSplit = () => (this.splitEqual = this.take(t.GreaterEqual));
    // An outer map cannot take the rest of a token that an inner one has split.
    if (!this.RECORDING_PHASE && this.splitEqual !== undefined) closeWhole();
    else this.choose(D.mapEnd, [closeSplit, closeWhole]);
    const span = split ? this.typeFrom(first) : this.spanFrom(first);
    if (this.RECORDING_PHASE) this.splitEqual = undefined;
    return { kind: "MapType", span, value };
  });

  /** As `spanFrom`, without the `=` of a `>=` that closed a map. */
  private typeFrom(first: IToken): Span {
    const span = this.spanFrom(first);
    return this.splitEqual === undefined ? span : { start: span.start, end: span.end - 1 };
  }

  private parenthesizedType(): TypeExpr {
    this.take(t.LeftParen);
    const type = this.rule(this.type);
    this.take(t.RightParen, "`)`");
    return type;
  }

  protected readonly literalType = this.RULE("literalType", (): LiteralType => {
    const first = this.LA(1);
    return this.choose<LiteralType>(D.literal, [
      () => {
        const { value, span } = this.stringLiteral("a string");
        return { kind: "LiteralType", span, value };
      },
      () => ({ kind: "LiteralType", span: this.spanOf(this.take(t.True)), value: true }),
      () => ({ kind: "LiteralType", span: this.spanOf(this.take(t.False)), value: false }),
      () => ({ kind: "LiteralType", span: this.spanOf(this.take(t.Null)), value: null }),
      () => {
        const sign = this.maybe(D.minus, () => this.take(t.Minus));
        const token = this.take(t.Numeral, "a number");
        if (this.RECORDING_PHASE) return { kind: "LiteralType", span: NOWHERE, value: 0 };
        const { value, isFloat } = numberValue(this.reading, token.image, token.startOffset);
        // Not `-value`: there is no negative zero in JSON.
        const signed = sign === undefined || value === 0 ? value : -value;
        return { kind: "LiteralType", span: this.spanFrom(first), value: signed, ...(isFloat ? { isFloat } : {}) };
      },
    ]);
  });

  private readonly recordType = this.RULE("recordType", (): TypeExpr => {
    const first = this.take(t.LeftBrace);
    const fields: RecordTypeField[] = [];
    this.commaList(1, t.RightBrace, () => fields.push(this.rule(this.recordTypeField)));
    this.take(t.RightBrace, "`,` or `}`");
    return { kind: "RecordType", span: this.spanFrom(first), fields };
  });

  private readonly recordTypeField = this.RULE("recordTypeField", (): RecordTypeField => {
    const first = this.LA(1);
    const name = this.key();
    const optional = this.maybe(D.optionalField, () => this.take(t.Question)) !== undefined;
    this.take(t.Colon, "`:` and the field's type");
    const type = this.rule(this.type);
    this.checkSplit();
    return { kind: "RecordTypeField", span: this.spanFrom(first), name, optional, type };
  });

  /** Only a channel's default may take the `=` of `map<int>=`. */
  protected checkSplit(): void {
    if (this.splitEqual === undefined) return;
    const { startOffset } = this.splitEqual;
    this.splitEqual = undefined;
    const place = placeAt(this.reading, startOffset + 1, startOffset + 2);
    this.reportForeign(place, { message: "expected the type to end after `>`, found `=`", label: "unexpected" });
  }

  /** A field name: an identifier, a reserved word or a string. */
  protected key(): Key {
    return this.choose(D.key, this.keys, () => this.failExpected("a field name"));
  }

  private readonly keys: readonly (() => Key)[] = [
    () => this.plainKey(this.take(t.Identifier)),
    () => this.plainKey(this.take(t.ReservedWord)),
    () => {
      const { value, span } = this.stringLiteral("a field name");
      return { kind: "Key", span, name: value, quoted: true };
    },
  ];

  /** A field for the recorded grammar: only a plain name may omit its value. */
  protected recordShortField<Field>(decision: number, value: () => unknown, placeholder: Field): Field {
    this.or(FIRST_LOOP, [
      {
        ALT: () => {
          this.take(t.Identifier);
          this.option(decision, value);
        },
      },
      {
        ALT: () => {
          this.or(FIRST_LOOP + 1, [{ ALT: () => this.take(t.ReservedWord) }, { ALT: () => this.take(t.Quoted) }]);
          value();
        },
      },
    ]);
    return placeholder;
  }

  private plainKey(token: IToken): Key {
    return { kind: "Key", span: this.spanOf(token), name: token.image, quoted: false };
  }

  // Lists in brackets -------------------------------------------------------------------------------

  /**
   * Elements up to `close`, separated by commas, with an optional comma at the end. A comma that is missing within a
   * line is reported, and the list continues.
   */
  protected commaList(index: number, close: t.TokenType, element: () => void): void {
    if (this.RECORDING_PHASE) {
      this.option(FIRST_LOOP + index, () => {
        element();
        this.many(FIRST_LOOP + index, () => {
          this.take(t.Comma);
          element();
        });
        this.option(FIRST_LOOP + 50 + index, () => this.take(t.Comma));
      });
      return;
    }
    while (!this.at(close) && !this.atEnd()) {
      element();
      if (this.at(t.Comma)) this.take(t.Comma);
      else if (this.at(close) || !this.insteadOfComma()) return;
    }
  }

  /** Whether the list continues without a comma; reports the missing comma. */
  private insteadOfComma(): boolean {
    const token = this.LA(1);
    const semicolon = this.semicolons.get(this.startOf(token));
    if (semicolon !== undefined) {
      this.semicolonsAsCommas.add(semicolon);
      return true;
    }
    const type = token.tokenType;
    if (type !== t.Identifier && type !== t.Quoted && type !== t.Numeral) return false;
    const here = this.position() + 1;
    // At the start of a line the closing bracket may be missing instead; a field continues the list in any case.
    const isField = this.at(t.Colon, 2) || (this.at(t.Question, 2) && this.at(t.Colon, 3));
    if (!isField && columnAtLineStart(this.tokenText(), here) !== undefined) return false;
    if (this.isWord("for") || this.at(t.Equal, 2)) return false;
    // `f(s into o`: the bracket was never closed.
    if (this.isWord("into") && !this.at(t.Comma, 2)) return false;
    if (type === t.Quoted && this.LA(0).tokenType === t.Quoted && endOf(this.LA(0)) === token.startOffset) {
      this.failExpected("`,`", { help: "text over several lines goes between backticks: `` `…` ``" });
    }
    this.report(this.expectedDiagnostic("`,`", { fixes: [replacement("insert a comma", this.gapSpan(), ",")] }));
    return true;
  }

  protected tokenText(): TokenText {
    return { tokens: this.tokens, text: this.reading.text };
  }

  // Foreign syntax ------------------------------------------------------------------------------------------

  /** `T?` */
  private questionMark(first: IToken, type: TypeExpr): TypeExpr {
    const token = this.take(t.Question);
    const place = this.placeOf(token);
    const fixes = [replacement("write `| null`", place.span, " | null")];
    this.reportForeign(place, {
      message: "a type that may be null is written `T | null`",
      label: "write `| null`",
      fixes,
    });
    const nothing: LiteralType = { kind: "LiteralType", span: place.span, value: null };
    const members = type.kind === "UnionType" ? [...type.members, nothing] : [type, nothing];
    return { kind: "UnionType", span: this.spanFrom(first), members };
  }

  /** `Array<T>`, `Record<string, T>`: read as `T[]` and `map<T>`. */
  private genericType(token: IToken): TypeExpr {
    this.take(t.Less);
    const args = [this.typeWithText()];
    while (this.at(t.Comma)) {
      this.take(t.Comma);
      args.push(this.typeWithText());
    }
    this.checkSplit();
    this.take(t.Greater, "`>`");
    const span = this.spanFrom(token);
    const last = args[args.length - 1] ?? { type: PLACEHOLDER, text: "" };
    const become = GENERIC_TYPES.get(token.image);
    const item = last.type.kind === "UnionType" ? `(${last.text})` : last.text;
    const use = become === "list" ? `${item}[]` : become === "map" ? `map<${last.text}>` : undefined;
    this.reportForeign(
      { file: this.reading.source, span },
      use === undefined
        ? { message: `\`${token.image}\` takes no type arguments`, help: "only `map<T>` does; a list is `T[]`" }
        : {
            message: `\`${token.image}<…>\` is written ${become === "list" ? "`T[]`" : "`map<T>`"} here`,
            help: become === "map" ? "the keys of a map are strings" : undefined,
            fixes: [replacement(`write \`${use}\``, span, use)],
          },
    );
    if (become === "list") return { kind: "ListType", span, item: last.type };
    if (become === "map") return { kind: "MapType", span, value: last.type };
    return become === "plain" ? last.type : { kind: "NamedType", span: this.spanOf(token), name: token.image };
  }

  private typeWithText(): { type: TypeExpr; text: string } {
    const start = this.startOf(this.LA(1));
    const type = this.rule(this.type);
    return { type, text: this.reading.text.slice(start, endOf(this.LA(0))) };
  }

  /** `map<string, T>` */
  private secondMapArgument(first: IToken, key: TypeExpr): TypeExpr {
    const comma = this.take(t.Comma);
    const value = this.rule(this.type);
    const after = spanAt(this.reading, endOf(first) + 1, endOf(comma));
    this.reportForeign(
      { file: this.reading.source, span: key.span },
      { message: "`map` takes one type: the keys are always strings", fixes: [replacement("delete it", after, "")] },
    );
    return value;
  }
}
