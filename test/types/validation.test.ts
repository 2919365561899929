/**
 * The runtime validator and the JSON Schema of a type accept the same values. The values fit the type, nearly fit it,
 * or are unrelated to it.
 */
import { Ajv2020 } from "ajv/dist/2020.js";
import fc from "fast-check";
import { expect, test } from "vitest";
import {
  BOOL,
  FLOAT,
  INT,
  JSON_TYPE,
  listOf,
  literal,
  mapOf,
  NULL,
  nullable,
  recordOf,
  STRING,
  unionOf,
} from "../../compiler/types/construct.ts";
import type { Json } from "../../runtime/value/json.ts";
import { admitJson, compileAdmit, compileValidator, Mismatch } from "../../runtime/value/validate.ts";
import type { ValueType } from "../../runtime/table/value-type.ts";
import { numRuns } from "../support/depth.ts";
import { typeToJsonSchema } from "./json-schema.ts";

const TREE: ValueType = { kind: "ref", name: "Tree" };
const EITHER: ValueType = { kind: "ref", name: "Ei/t~her" };
const NAMED = [
  {
    name: "Tree",
    type: recordOf([
      { name: "value", type: nullable(INT) },
      { name: "more", type: listOf(TREE), optional: true },
    ]),
  },
  { name: "Ei/t~her", type: unionOf([STRING, listOf(EITHER), mapOf(TREE)]) },
];
const TYPES = new Map(NAMED.map(({ name, type }) => [name, type]));
// Not "" and "__proto__": ajv does not check fields of these names.
const NAMES = ["a", "b", "constructor", "toString", "odd name"];

const anyType: fc.Arbitrary<ValueType> = fc.letrec<{ type: ValueType }>((tie) => ({
  type: fc.oneof(
    { maxDepth: 3, depthIdentifier: "type" },
    fc.constantFrom(STRING, INT, FLOAT, BOOL, NULL, JSON_TYPE, TREE, EITHER),
    fc.constantFrom<string | number | boolean>("a", "", 1, -2, 0.5, true, false).map(literal),
    tie("type").map(listOf),
    tie("type").map(mapOf),
    tie("type").map(nullable),
    fc
      .uniqueArray(fc.tuple(fc.constantFrom(...NAMES), tie("type"), fc.boolean()), {
        selector: ([name]) => name,
        maxLength: 4,
      })
      .map((fields) =>
        recordOf(fields.map(([name, type, optional]) => (optional ? { name, type, optional } : { name, type }))),
      ),
    fc.array(tie("type"), { minLength: 1, maxLength: 4 }).map(unionOf),
  ),
})).type;

/** Replaces whole numbers beyond 2^53: they are not valid for `int`, but the schema's `integer` accepts them. */
const plain = (value: unknown): Json =>
  JSON.parse(JSON.stringify(value), (_key, part: unknown) =>
    Number.isInteger(part) && !Number.isSafeInteger(part) ? 0 : part,
  ) as Json;
const anyJson = fc.jsonValue({ maxDepth: 2 }).map(plain);

/** A value of a type. A part of it is sometimes replaced by any JSON. */
function valueOf(type: ValueType, depth: number): fc.Arbitrary<Json> {
  const fitting = depth > 5 ? anyJson : fittingValue(type, depth);
  return fc.oneof({ weight: 14, arbitrary: fitting }, { weight: 1, arbitrary: anyJson });
}

function fittingValue(type: ValueType, depth: number): fc.Arbitrary<Json> {
  const part = (inner: ValueType): fc.Arbitrary<Json> => valueOf(inner, depth + 1);
  switch (type.kind) {
    case "string":
      return fc.string({ maxLength: 3 });
    case "int":
      return fc.oneof(fc.integer(), fc.constantFrom(0.5, 2 ** 53 - 1));
    case "float":
      return fc.double({ noNaN: true, noDefaultInfinity: true }).map(plain);
    case "bool":
      return fc.boolean();
    case "null":
      return fc.constant(null);
    case "literal":
      return fc.constant(type.value);
    case "list":
      return fc.array(part(type.item), { maxLength: 3 });
    case "map":
      return fc.array(fc.tuple(fc.constantFrom(...NAMES), part(type.value)), { maxLength: 3 }).map(objectOf);
    case "record":
      return fc
        .tuple(...type.fields.map(({ type: of }) => fc.tuple(fc.integer({ min: 0, max: 9 }), part(of))))
        .map((parts) =>
          objectOf(
            parts.flatMap(([present, value], at) => {
              const field = type.fields[at];
              return field === undefined || present === 0 || (field.optional === true && present < 5)
                ? []
                : [[field.name, value] as const];
            }),
          ),
        );
    case "union":
      return type.members.length === 0 ? anyJson : fc.oneof(...type.members.map(part));
    case "ref":
      return part(TYPES.get(type.name) ?? JSON_TYPE);
    default:
      return anyJson;
  }
}

function objectOf(entries: readonly (readonly [string, Json])[]): Json {
  const object: Record<string, Json> = {};
  for (const [name, value] of entries) {
    Object.defineProperty(object, name, { value, enumerable: true, writable: true, configurable: true });
  }
  return object;
}

test("values admitted by a type are those that its JSON Schema accepts", () => {
  const accepted = { yes: 0, no: 0 };
  fc.assert(
    fc.property(
      anyType.chain((type) =>
        fc.tuple(fc.constant(type), fc.array(valueOf(type, 0), { minLength: 10, maxLength: 10 })),
      ),
      ([type, values]) => {
        const isValid = new Ajv2020({ strict: false, ownProperties: true }).compile(typeToJsonSchema(type, TYPES));
        const validate = compileValidator(type, NAMED);
        for (const value of values) {
          const mismatch = validate(value);
          accepted[mismatch === undefined ? "yes" : "no"]++;
          expect(mismatch === undefined, JSON.stringify(value)).toBe(isValid(value));
        }
      },
    ),
    { seed: 20_260_402, numRuns: numRuns(400) },
  );
  // The comparison is meaningful only if both results are frequent.
  expect(accepted.yes).toBeGreaterThan(numRuns(1000));
  expect(accepted.no).toBeGreaterThan(numRuns(400));
});

test("-0 is stored as 0, also where literals are the type", () => {
  const bit = unionOf([literal(0), literal(1)]);
  for (const type of [bit, literal(0), INT, FLOAT]) expect(compileAdmit(type, NAMED)(-0)).toBe(0);
});

test.each([
  ["list", (items: readonly Json[]): unknown => [...items]],
  ["map", (items: readonly Json[]): unknown => Object.fromEntries(items.map((item, at) => [`k${at}`, item]))],
])("a long %s that was admitted before is checked as its copy would be", (_, shaped) => {
  const results = { same: 0, refused: 0 };
  fc.assert(
    fc.property(
      anyType.chain((type) => fc.tuple(fc.constant(type), valueOf(type, 0), valueOf(type, 0), fc.nat(299))),
      ([type, most, one, at]) => {
        const items = Array.from({ length: 300 }, (_each, index) => (index === at ? one : most));
        const given = shaped(items);
        const own = admitJson(given);
        const admit = compileAdmit(unionOf([listOf(type), mapOf(type)]), NAMED);
        const [copy, checked] = [admit(given), admit(own)];
        if (copy instanceof Mismatch) expect((checked as Mismatch).describe()).toBe(copy.describe());
        else {
          expect(checked).toBe(own);
          expect(copy).not.toBe(given);
          expect(JSON.stringify(checked)).toBe(JSON.stringify(copy));
        }
        results[copy instanceof Mismatch ? "refused" : "same"]++;
        // The next value is copied again.
        const later = shaped(items);
        expect(admit(later)).not.toBe(later);
      },
    ),
    { seed: 20_260_403, numRuns: numRuns(300) },
  );
  expect(results.same).toBeGreaterThan(10);
  expect(results.refused).toBeGreaterThan(10);
});
