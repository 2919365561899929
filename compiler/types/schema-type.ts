/** JSON Schemas of other programs, such as MCP servers, as types. */
import type { FieldType, ValueType } from "../../runtime/table/value-type.ts";
import { BOOL, INT, JSON_TYPE, listOf, literal, mapOf, NULL, NUMBER, recordOf, STRING, unionOf } from "./construct.ts";

/** Parts of a schema after which the rest is `json`, and the depth from which it is: references may repeat without end. */
const MAX_PARTS = 5000;
const MAX_DEPTH = 24;

/**
 * The type of the values that a schema accepts. Parts that types cannot express are `json`, so the type never refuses a value that the
 * schema accepts, with one exception: a record of a closed schema. Never throws.
 */
export function typeOfSchema(schema: unknown): ValueType {
  return new Reader(schema).read(schema, 0);
}

/**
 * Whether a schema states that objects may have fields that it does not name: by itself, or by other schemas that apply beside its
 * `properties`.
 */
export function isOpenSchema(schema: unknown): boolean {
  if (!isObject(schema)) return true;
  const { additionalProperties: more, patternProperties } = schema;
  return patternProperties !== undefined || (more !== undefined && more !== false) || isCombined(schema);
}

/**
 * Whether a schema states that objects have no other fields. A schema that says nothing accepts them (JSON Schema, 10.3.2.3), but servers
 * rarely read them.
 */
export function isClosedSchema(schema: unknown): boolean {
  return isObject(schema) && schema["additionalProperties"] === false && !isOpenSchema(schema);
}

/** Keywords whose schemas apply to an object beside its `properties`: they may name further fields. */
const COMBINING = ["$ref", "anyOf", "oneOf", "allOf", "if", "dependentSchemas"];

function isCombined(schema: Schema): boolean {
  const properties = own(schema, "properties");
  return (
    isObject(properties) && Object.keys(properties).length > 0 && COMBINING.some((key) => Object.hasOwn(schema, key))
  );
}

type Schema = Readonly<Record<string, unknown>>;

class Reader {
  readonly #root: unknown;
  #parts = 0;

  constructor(root: unknown) {
    this.#root = root;
  }

  read(schema: unknown, depth: number): ValueType {
    if (!isObject(schema) || depth > MAX_DEPTH || ++this.#parts > MAX_PARTS) return JSON_TYPE;
    const type = this.#readPlain(schema, depth);
    return own(schema, "nullable") === true && type.kind !== "json" ? unionOf([type, NULL]) : type;
  }

  #readPlain(schema: Schema, depth: number): ValueType {
    // The other schemas only restrict the fields that it names.
    if (isCombined(schema)) return this.#readNamed("object", schema, depth);
    const reference = own(schema, "$ref");
    if (typeof reference === "string") return this.read(this.#find(reference), depth + 1);
    if (Object.hasOwn(schema, "const")) return literalOf(schema["const"]);
    const values = own(schema, "enum");
    if (Array.isArray(values) && values.length > 0) return joined(values.map(literalOf));
    for (const key of ["anyOf", "oneOf"]) {
      const members = own(schema, key);
      if (!Array.isArray(members) || members.length === 0) continue;
      return joined(members.map((member) => this.read(member, depth + 1)));
    }
    const all = own(schema, "allOf");
    if (Array.isArray(all)) return all.length === 1 ? this.read(all[0], depth + 1) : JSON_TYPE;
    const type = own(schema, "type");
    if (Array.isArray(type)) return joined(type.map((each) => this.#readNamed(each, schema, depth)));
    return this.#readNamed(type ?? (isObject(own(schema, "properties")) ? "object" : undefined), schema, depth);
  }

  #readNamed(type: unknown, schema: Schema, depth: number): ValueType {
    switch (type) {
      case "string":
        return STRING;
      case "integer":
        return INT;
      case "number":
        // May be stored as an int, which is checked at run time.
        return NUMBER;
      case "boolean":
        return BOOL;
      case "null":
        return NULL;
      case "array":
        return listOf(this.read(own(schema, "items"), depth + 1));
      case "object":
        return this.#readObject(schema, depth);
      default:
        return JSON_TYPE;
    }
  }

  #readObject(schema: Schema, depth: number): ValueType {
    const properties = own(schema, "properties");
    const names = isObject(properties) ? Object.keys(properties) : [];
    if (names.length === 0) {
      const values = own(schema, "additionalProperties");
      return values === false && isObject(properties) ? recordOf([]) : mapOf(this.read(values, depth + 1));
    }
    // A record type has no fields that it does not name. The fields at the top are read by the caller.
    if (depth > 0 && isOpenSchema(schema)) return mapOf(JSON_TYPE);
    const required = own(schema, "required");
    const isRequired = new Set(Array.isArray(required) ? required : []);
    return recordOf(
      names.map((name): FieldType => {
        const type = this.read((properties as Schema)[name], depth + 1);
        return isRequired.has(name) ? { name, type } : { name, type, optional: true };
      }),
    );
  }

  /** The part of the schema that a JSON pointer names: `#/$defs/point`. */
  #find(reference: string): unknown {
    if (!reference.startsWith("#")) return undefined;
    let at = this.#root;
    for (const part of reference.slice(1).split("/").slice(1)) {
      const key = part.replaceAll("~1", "/").replaceAll("~0", "~");
      if (typeof at !== "object" || at === null || !Object.hasOwn(at, key)) return undefined;
      at = (at as Schema)[key];
    }
    return at;
  }
}

function literalOf(value: unknown): ValueType {
  if (value === null) return NULL;
  const isScalar = typeof value === "string" || typeof value === "boolean" || Number.isFinite(value);
  return isScalar ? literal(value as string | number | boolean) : JSON_TYPE;
}

/** The union of the types; `json` if one of them is. */
function joined(types: readonly ValueType[]): ValueType {
  return types.some(({ kind }) => kind === "json") ? JSON_TYPE : unionOf(types);
}

function own(schema: Schema, key: string): unknown {
  return Object.hasOwn(schema, key) ? schema[key] : undefined;
}

function isObject(value: unknown): value is Schema {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
