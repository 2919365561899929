/**
 * JSON Schemas (2020-12) of routing tables and plan tables, for other tools: made of the shapes that `loadTable`
 * checks. A schema cannot state that an index points at something; `loadTable` checks that too.
 */
import type { ShapeFields, ShapeNode } from "../../runtime/table/shape.ts";
import { EXPRESSION_SHAPE, GRAPH_SHAPE, PLAN_SHAPE, VALUE_TYPE_SHAPE } from "../../runtime/table/table-shapes.ts";

type Schema = Readonly<Record<string, unknown>>;

/** One level of a type or an expression: its parts are objects of any kind. */
export const TYPE_SCHEMA: Schema = schemaOf(VALUE_TYPE_SHAPE);
export const EXPRESSION_SCHEMA: Schema = schemaOf(EXPRESSION_SHAPE);
export const TABLE_SCHEMA: Schema = titled("ngraph routing table", GRAPH_SHAPE);
export const PLAN_SCHEMA: Schema = titled("ngraph plan table", PLAN_SHAPE);

function titled(title: string, shape: ShapeNode): Schema {
  return { $schema: "https://json-schema.org/draft/2020-12/schema", title, ...schemaOf(shape) };
}

function schemaOf(shape: ShapeNode): Schema {
  switch (shape.kind) {
    case "any":
      return {};
    case "text":
      return { type: "string", ...(shape.pattern === undefined ? {} : { pattern: shape.pattern.source }) };
    case "scalar":
      return { type: ["string", "number", "boolean", ...(shape.null ? ["null"] : [])] };
    case "number":
      return { type: shape.whole ? "integer" : "number", minimum: shape.least };
    case "oneOf":
      return shape.values.length === 1 ? { const: shape.values[0] } : { enum: shape.values };
    case "nullable":
      return { anyOf: [schemaOf(shape.of), { type: "null" }] };
    case "index":
      return indexSchema(shape.others);
    case "list":
      return { type: "array", items: schemaOf(shape.item) };
    case "record":
      return recordSchema(shape.fields);
    case "variants":
      return {
        type: "object",
        required: [shape.tag],
        oneOf: [...shape.of].map(([value, fields]) => recordSchema(fields, { [shape.tag]: { const: value } })),
      };
    case "either":
      return {
        type: "object",
        if: { required: [shape.field] },
        then: schemaOf(shape.first),
        else: schemaOf(shape.second),
      };
    case "textOr":
      return { anyOf: [{ type: "string" }, schemaOf(shape.of)] };
    case "nested":
    case "table":
      return { type: "object" };
    default:
      return shape satisfies never;
  }
}

function indexSchema(others: readonly (string | number)[]): Schema {
  const position = { type: "integer", minimum: 0 };
  return others.length === 0 ? position : { anyOf: [position, { enum: others }] };
}

/** A closed object. `tag`: fields besides those of the shape. */
function recordSchema(fields: ShapeFields, tag: Readonly<Record<string, Schema>> = {}): Schema {
  const entries = [...fields].map(([name, { shape }]) => [name, schemaOf(shape)] as const);
  return {
    type: "object",
    properties: { ...tag, ...Object.fromEntries(entries) },
    required: [...Object.keys(tag), ...[...fields].flatMap(([name, field]) => (field.optional ? [] : [name]))],
    additionalProperties: false,
  };
}
