/** Types: `{ role: "user" | "assistant", at?: int }[] | null`. */
import type { IToken } from "chevrotain";
import { replacement } from "../../diagnostics/catalog/syntax.ts";
import { coverSpans, type Span } from "../../diagnostics/source.ts";
import type { Key, LiteralType, RecordTypeField, TypeExpr } from "../ast.ts";
import { numberValue } from "../literals.ts";
import * as t from "../lexer/tokens.ts";
import { BaseParser } from "./base-parser.ts";

const NOWHERE: Span = { start: 0, end: 0 };

export abstract class TypeRules extends BaseParser {
  /** The `=` of a `>=` that closed a `map<`: the channel's own rule takes it. */
  protected splitEqual: IToken | undefined;
  /** `map<` that are open around the token ahead, each of which may take its `>` from a `>=`. */
  #openMaps = 0;

  protected type = this.RULE("type", (): TypeExpr => {
    if (this.RECORDING_PHASE) return this.unionType();
    this.splitEqual = undefined;
    if (this.depth === 0) this.operators = 0;
    return this.deeper(() => this.unionType());
  });

  private unionType(): TypeExpr {
    const first = this.LA(1);
    const members: TypeExpr[] = [];
    this.option(1, () => this.take(t.Pipe));
    members.push(this.subrule(this.index(), this.listType));
    this.many(1, {
      GATE: () => this.splitEqual === undefined,
      DEF: () => {
        this.take(t.Pipe);
        members.push(this.subrule(this.index(), this.listType));
      },
    });
    const [only] = members;
    if (members.length === 1 && only !== undefined) return only;
    return { kind: "UnionType", span: this.spanFrom(first), members };
  }

  private readonly listType = this.RULE("listType", (): TypeExpr => {
    const first = this.LA(1);
    let type = this.subrule(this.index(), this.typeAtom);
    this.many(1, {
      GATE: () => this.splitEqual === undefined,
      DEF: () => {
        this.take(t.LeftSquare);
        this.take(t.RightSquare, "`]` (a list type is written `T[]`)");
        this.ACTION(() => {
          this.countOperator("types");
          type = { kind: "ListType", span: this.spanFrom(first), item: type };
        });
      },
    });
    return type;
  });

  private readonly typeAtom = this.RULE("typeAtom", (): TypeExpr => {
    if (!this.RECORDING_PHASE && !this.startsType()) this.failType();
    return this.or(1, {
      DEF: [
        { GATE: () => this.isWord("map") && this.at(t.Less, 2), ALT: () => this.subrule(this.index(), this.mapType) },
        { ALT: () => this.namedType() },
        { ALT: () => this.subrule(this.index(), this.literalType) },
        { ALT: () => this.parenthesizedType() },
        { ALT: () => this.subrule(this.index(), this.recordType) },
      ],
      IGNORE_AMBIGUITIES: true,
    });
  });

  private startsType(): boolean {
    const { tokenType } = this.LA(1);
    return (
      tokenType === t.Identifier ||
      tokenType === t.Quoted ||
      tokenType === t.Numeral ||
      tokenType === t.Minus ||
      tokenType === t.True ||
      tokenType === t.False ||
      tokenType === t.Null ||
      tokenType === t.LeftParen ||
      tokenType === t.LeftBrace
    );
  }

  private failType(): never {
    this.failExpected("a type", {
      help: "types are `string` `int` `float` `bool` `json` `null`, literals, `T[]`, `map<T>`, `{ name: T }`, and unions of them with `|`",
    });
  }

  private namedType(): TypeExpr {
    const token = this.take(t.Identifier);
    if (this.RECORDING_PHASE) return { kind: "NamedType", span: NOWHERE, name: "" };
    return { kind: "NamedType", span: this.spanOf(token), name: token.image };
  }

  private readonly mapType = this.RULE("mapType", (): TypeExpr => {
    const first = this.take(t.Identifier);
    this.take(t.Less);
    this.#openMaps += 1;
    let value: TypeExpr;
    try {
      value = this.subrule(this.index(), this.type);
    } finally {
      this.#openMaps -= 1;
    }
    this.or(1, [
      { ALT: () => this.take(t.Greater, "`>`") },
      {
        // L1: `map<int>= {}` has the token `>=`; it counts as `>` and `=`.
        ALT: () => {
          const token = this.take(t.GreaterEqual);
          this.ACTION(() => {
            this.splitEqual = token;
          });
        },
      },
    ]);
    const span = this.spanFrom(first);
    return {
      kind: "MapType",
      span: this.splitEqual === undefined ? span : { start: span.start, end: span.end - 1 },
      value,
    };
  });

  private parenthesizedType(): TypeExpr {
    this.take(t.LeftParen);
    const type = this.subrule(this.index(), this.type);
    this.take(t.RightParen, "`)`");
    return type;
  }

  protected readonly literalType = this.RULE("literalType", (): LiteralType => {
    const first = this.LA(1);
    return this.or(1, [
      {
        ALT: () => {
          const { value, span } = this.stringLiteral("a string");
          return { kind: "LiteralType", span, value };
        },
      },
      {
        ALT: () => {
          let sign = 1;
          this.option(1, () => {
            this.take(t.Minus);
            sign = -1;
          });
          const token = this.take(t.Numeral, "a number");
          if (this.RECORDING_PHASE) return { kind: "LiteralType", span: NOWHERE, value: 0 };
          const { value, isFloat } = numberValue(this.reading, token.image, token.startOffset);
          return {
            kind: "LiteralType",
            span: this.spanFrom(first),
            value: sign * value,
            ...(isFloat ? { isFloat } : {}),
          };
        },
      },
      { ALT: () => this.constantType(this.take(t.True), true) },
      { ALT: () => this.constantType(this.take(t.False), false) },
      { ALT: () => this.constantType(this.take(t.Null), null) },
    ]);
  });

  private constantType(token: IToken, value: boolean | null): LiteralType {
    return { kind: "LiteralType", span: this.RECORDING_PHASE ? NOWHERE : this.spanOf(token), value };
  }

  private readonly recordType = this.RULE("recordType", (): TypeExpr => {
    const first = this.take(t.LeftBrace);
    const fields: RecordTypeField[] = [];
    this.commaList(1, t.RightBrace, () => fields.push(this.subrule(this.index(), this.recordTypeField)));
    this.take(t.RightBrace, "`,` or `}`");
    return { kind: "RecordType", span: this.spanFrom(first), fields };
  });

  private readonly recordTypeField = this.RULE("recordTypeField", (): RecordTypeField => {
    const first = this.LA(1);
    const name = this.subrule(this.index(), this.key);
    let optional = false;
    this.option(1, () => {
      this.take(t.Question);
      optional = true;
    });
    this.take(t.Colon, "`:` and the field's type");
    const type = this.subrule(this.index(), this.type);
    return { kind: "RecordTypeField", span: this.spanFrom(first), name, optional, type };
  });

  /** A field name: an identifier, a reserved word or a string. */
  protected readonly key = this.RULE("key", (): Key => {
    if (!this.RECORDING_PHASE && !this.startsKey()) this.failExpected("a field name");
    return this.or(1, [
      { ALT: () => this.plainKey(this.take(t.Identifier)) },
      { ALT: () => this.plainKey(this.take(t.ReservedWord)) },
      {
        ALT: () => {
          const { value, span } = this.stringLiteral("a field name");
          return { kind: "Key", span, name: value, quoted: true };
        },
      },
    ]);
  });

  private plainKey(token: IToken): Key {
    return { kind: "Key", span: this.RECORDING_PHASE ? NOWHERE : this.spanOf(token), name: token.image, quoted: false };
  }

  protected startsKey(): boolean {
    return this.at(t.Identifier) || this.at(t.ReservedWord) || this.at(t.Quoted);
  }

  /**
   * Elements up to `close`, with commas between them and one allowed behind. A missing comma is reported where it belongs,
   * and the list goes on.
   */
  protected commaList(index: number, close: t.TokenType, element: () => void): void {
    if (this.RECORDING_PHASE) {
      this.many(index, () => {
        element();
        this.option(index + 100, () => this.take(t.Comma));
      });
      return;
    }
    while (!this.at(close) && !this.atEnd()) {
      const before = this.position();
      element();
      if (this.at(t.Comma)) this.take(t.Comma);
      else if (this.at(close)) return;
      else if (!this.insteadOfComma() || this.position() === before) return;
    }
  }

  /** Whether the list can go on although no comma stands here; reports it. */
  private insteadOfComma(): boolean {
    const token = this.LA(1);
    const semicolon = this.semicolons.get(this.startOf(token));
    if (semicolon !== undefined) {
      this.semicolonsAsCommas.add(semicolon);
      return true;
    }
    if (!this.at(t.Identifier) && !this.at(t.Quoted) && !this.at(t.Numeral) && !this.at(t.LeftBrace)) return false;
    const end = spanEnd(this.spanOf(this.LA(0)));
    const diagnostic = this.expectedDiagnostic("`,`", { fixes: [replacement("insert a comma", end, ",")] });
    this.report(diagnostic);
    return true;
  }

  protected cover(a: { readonly span: Span }, b: { readonly span: Span }): Span {
    return coverSpans(a.span, b.span);
  }
}

function spanEnd(span: Span): Span {
  return { start: span.end, end: span.end };
}
