import * as fc from "fast-check";
import type { Key, LiteralType, TypeExpr } from "../../grammar/ast.ts";
import { anyName } from "./name-arbitrary.ts";

const span = { start: 0, end: 0 };

export const literalType: fc.Arbitrary<LiteralType> = fc.oneof(
  fc.string({ maxLength: 8 }).map((value): LiteralType => ({ kind: "LiteralType", span, value })),
  fc.constantFrom(true, false, null).map((value): LiteralType => ({ kind: "LiteralType", span, value })),
  fc.integer().map((value): LiteralType => ({ kind: "LiteralType", span, value })),
  fc
    .constantFrom(0.5, -2.25, 1000, 1e21, -1e-7)
    .map((value): LiteralType => ({ kind: "LiteralType", span, value, isFloat: true })),
);

const key: fc.Arbitrary<Key> = fc.oneof(
  fc
    .oneof(anyName, fc.constantFrom("when", "match", "true"))
    .map((name): Key => ({ kind: "Key", span, name, quoted: false })),
  fc.string({ maxLength: 6 }).map((name): Key => ({ kind: "Key", span, name, quoted: true })),
);

const named: fc.Arbitrary<TypeExpr> = fc
  .constantFrom("string", "int", "float", "bool", "json", "Message", "Ticket", "input")
  .map((name): TypeExpr => ({ kind: "NamedType", span, name }));

function typeOf(depth: number): fc.Arbitrary<TypeExpr> {
  if (depth === 0) return fc.oneof(named, literalType);
  const inner = typeOf(depth - 1);
  return fc.oneof(
    { weight: 3, arbitrary: named },
    { weight: 1, arbitrary: literalType },
    { weight: 1, arbitrary: inner.map((item): TypeExpr => ({ kind: "ListType", span, item })) },
    { weight: 1, arbitrary: inner.map((value): TypeExpr => ({ kind: "MapType", span, value })) },
    {
      weight: 1,
      arbitrary: fc
        .array(fc.record({ name: key, optional: fc.boolean(), type: inner }), { maxLength: 3 })
        .map((fields): TypeExpr => ({
          kind: "RecordType",
          span,
          fields: fields.map((field) => ({ kind: "RecordTypeField", span, ...field })),
        })),
    },
    {
      weight: 1,
      arbitrary: fc
        .array(inner, { minLength: 2, maxLength: 4 })
        .map((members): TypeExpr => ({ kind: "UnionType", span, members })),
    },
  );
}

export const anyType: fc.Arbitrary<TypeExpr> = typeOf(2);
