import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isAssignable } from "../../compiler/types/assignable.ts";
import {
  BOOL,
  FLOAT,
  INT,
  JSON_TYPE,
  listOf,
  literal,
  mapOf,
  NEVER,
  NULL,
  nullable,
  opaque,
  recordOf,
  STRING,
  unionOf,
  widen,
} from "../../compiler/types/construct.ts";
import { canOverlap } from "../../compiler/types/overlap.ts";
import { typeToText } from "../../compiler/types/type-text.ts";
import { typeToTypeScript } from "../../compiler/types/typescript.ts";
import type { ValueType } from "../../runtime/table/value-type.ts";
import { numRuns } from "../support/depth.ts";

const TREE: ValueType = { kind: "ref", name: "Tree" };
const OTHER_TREE: ValueType = { kind: "ref", name: "OtherTree" };
const TYPES = new Map<string, ValueType>([
  [
    "Tree",
    recordOf([
      { name: "value", type: INT },
      { name: "more", type: listOf(TREE) },
    ]),
  ],
  [
    "OtherTree",
    recordOf([
      { name: "value", type: FLOAT },
      { name: "more", type: listOf(OTHER_TREE) },
    ]),
  ],
  ["Json", unionOf([STRING, listOf({ kind: "ref", name: "Json" })])],
]);

const record = (fields: Record<string, ValueType>, optional: readonly string[] = []): ValueType =>
  recordOf(
    Object.entries(fields).map(([name, type]) =>
      optional.includes(name) ? { name, type, optional: true } : { name, type },
    ),
  );

const fits = (from: ValueType, to: ValueType): boolean => isAssignable(from, to, TYPES) === undefined;

/** Types without opaque parts. Opaque types are assignable both ways, so assignability would not be a partial order. */
const arbitraryType = (isLoose: boolean): fc.Arbitrary<ValueType> =>
  fc.letrec<{ type: ValueType }>((tie) => ({
    type: fc.oneof(
      { maxDepth: 3, depthIdentifier: "type" },
      fc.constantFrom(STRING, INT, FLOAT, BOOL, NULL, TREE, OTHER_TREE, NEVER),
      fc.constantFrom<string | number | boolean>("a", "b", 1, 2, 0.5, true, false).map(literal),
      tie("type").map(listOf),
      tie("type").map(isLoose ? mapOf : listOf),
      fc
        .uniqueArray(fc.tuple(fc.constantFrom("a", "b", "c"), tie("type"), fc.boolean()), {
          selector: ([name]) => name,
          maxLength: 3,
        })
        .map((fields) =>
          recordOf(
            fields.map(([name, type, optional]) => (isLoose && optional ? { name, type, optional } : { name, type })),
          ),
        ),
      fc.array(tie("type"), { minLength: 1, maxLength: 3 }).map(unionOf),
    ),
  })).type;
const anyType = arbitraryType(true);
/**
 * Types without opaque parts, maps and optional fields, for which assignability is a partial order. A record may have
 * more fields than its type, so for maps and optional fields it is not one, as in TypeScript.
 */
const strictType = arbitraryType(false);

describe("unions in normal form", () => {
  it.each<[string, ValueType, string]>([
    ["each member once", unionOf([STRING, INT, STRING]), "string | int"],
    ["null last", unionOf([NULL, STRING, INT]), "string | int | null"],
    ["a base absorbs its literals", unionOf([literal("a"), STRING, literal(1)]), "string | 1"],
    ["float absorbs int and its literals", unionOf([INT, literal(2), FLOAT]), "float"],
    ["true and false are bool", unionOf([literal(true), NULL, literal(false)]), "bool | null"],
    ["json absorbs all", unionOf([STRING, JSON_TYPE, NULL]), "json"],
    ["nested ones are flat", unionOf([unionOf([literal("a"), literal("b")]), literal("c")]), '"a" | "b" | "c"'],
    ["of one", unionOf([STRING, STRING]), "string"],
    ["of none", unionOf([]), "never"],
    ["of a nullable", nullable(nullable(STRING)), "string | null"],
    ["widened", widen(unionOf([literal("a"), literal("b"), NULL])), "string | null"],
  ])("%s", (_about, type, text) => {
    expect(typeToText(type)).toBe(text);
  });
});

describe("assignability", () => {
  it.each<[ValueType, ValueType, boolean]>([
    [INT, FLOAT, true],
    [FLOAT, INT, false],
    [literal(1), INT, true],
    [literal(1), FLOAT, true],
    [literal(0.5), INT, false],
    [literal("a"), STRING, true],
    [STRING, literal("a"), false],
    [BOOL, literal(true), false],
    [STRING, JSON_TYPE, true],
    [JSON_TYPE, STRING, false],
    [JSON_TYPE, JSON_TYPE, true],
    [NULL, nullable(STRING), true],
    [nullable(STRING), STRING, false],
    [listOf(INT), listOf(FLOAT), true],
    [listOf(NEVER), listOf(STRING), true],
    [listOf(STRING), mapOf(STRING), false],
    [record({ a: INT, b: INT }), record({ a: FLOAT }), true],
    [record({ a: INT }), record({ a: INT, b: INT }), false],
    [record({ a: INT }), record({ a: INT, b: INT }, ["b"]), true],
    [record({ a: INT }, ["a"]), record({ a: INT }), false],
    [record({ a: INT, b: STRING }), mapOf(unionOf([INT, STRING])), true],
    [record({ a: INT, b: STRING }), mapOf(INT), false],
    [mapOf(INT), record({ a: INT }, ["a"]), true],
    [mapOf(INT), record({ a: INT }), false],
    [TREE, OTHER_TREE, true],
    [OTHER_TREE, TREE, false],
    [listOf(listOf(STRING)), { kind: "ref", name: "Json" }, true],
    [listOf(listOf(INT)), { kind: "ref", name: "Json" }, false],
    [opaque("T", "m"), STRING, true],
    [STRING, opaque("T", "m"), true],
  ])("%j to %j: %s", (from, to, expected) => {
    expect(fits(from, to)).toBe(expected);
  });

  it("is reflexive", () => {
    fc.assert(
      fc.property(anyType, (type) => fits(type, type)),
      { seed: 7, numRuns: numRuns(500) },
    );
  });
  it("is transitive", () => {
    fc.assert(
      fc.property(strictType, strictType, strictType, (a, b, c) => !fits(a, b) || !fits(b, c) || fits(a, c)),
      { seed: 7, numRuns: numRuns(5000) },
    );
  });
  it("a member fits its union, and a union fits what all members fit", () => {
    fc.assert(
      fc.property(fc.array(anyType, { minLength: 1, maxLength: 4 }), anyType, (members, to) => {
        const union = unionOf(members);
        expect(members.every((member) => fits(member, union))).toBe(true);
        expect(fits(union, to)).toBe(members.every((member) => fits(member, to)));
      }),
      { seed: 7, numRuns: numRuns(1000) },
    );
  });
  it("what fits overlaps, unless it has no value", () => {
    fc.assert(
      fc.property(anyType, anyType, (a, b) => !fits(a, b) || fits(a, NEVER) || canOverlap(a, b, TYPES)),
      { seed: 7, numRuns: numRuns(2000) },
    );
  });
  it("says where and why", () => {
    const person = record({ name: STRING, tags: listOf(record({ id: INT })) });
    const from = record({ name: STRING, tags: listOf(record({ id: STRING })) });
    expect(isAssignable(from, person, TYPES)).toEqual({
      path: ".tags[].id",
      reason: "type",
      expected: INT,
      found: STRING,
    });
    expect(isAssignable(record({ name: STRING }), person, TYPES)).toMatchObject({ path: ".tags", reason: "missing" });
    expect(isAssignable(nullable(person), person, TYPES)).toMatchObject({ path: "", reason: "null" });
    expect(isAssignable(record({ name: nullable(STRING), tags: listOf(NEVER) }), person, TYPES)).toMatchObject({
      path: ".name",
      reason: "null",
    });
  });
  it("ends on types of great depth and breadth", () => {
    const types = new Map<string, ValueType>();
    for (let i = 0; i < 20_000; i++) {
      types.set(`A${i}`, record({ next: { kind: "ref", name: `A${i + 1}` } }));
      types.set(`B${i}`, record({ next: { kind: "ref", name: `B${i + 1}` } }));
    }
    expect(isAssignable({ kind: "ref", name: "A0" }, { kind: "ref", name: "B0" }, types)).toBeUndefined();
  });
});

describe("a type in other notations", () => {
  it.each<[ValueType, string, string]>([
    [STRING, "string", "string"],
    [INT, "int", "number"],
    [BOOL, "bool", "boolean"],
    [JSON_TYPE, "json", "Json"],
    [literal("a"), '"a"', '"a"'],
    [listOf(nullable(STRING)), "(string | null)[]", "readonly (string | null)[]"],
    [listOf(listOf(INT)), "int[][]", "readonly (readonly number[])[]"],
    [mapOf(INT), "map<int>", "{ readonly [key: string]: number }"],
    [
      record({ a: INT, "b c": STRING }, ["a"]),
      '{ a?: int, "b c": string }',
      '{ readonly a?: number; readonly "b c": string }',
    ],
    [TREE, "Tree", "Tree"],
    [opaque("Ticket", "./nodes.ts"), "Ticket", "Ticket"],
  ])("%j", (type, text, typescript) => {
    expect(typeToText(type)).toBe(text);
    expect(typeToTypeScript(type)).toBe(typescript);
  });
});
