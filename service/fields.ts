/**
 * The fields of request bodies and queries: one description checks the requests and becomes the schemas of the OpenAPI document.
 */
import type { Json, JsonObject } from "../runtime/value/json.ts";
import { similarName } from "../runtime/run/option-names.ts";
import { Problem } from "./problem.ts";

export interface Field {
  readonly kind: "text" | "thread" | "flag" | "count" | "amount" | "json" | "record" | "texts" | "names";
  readonly description: string;
  readonly isRequired?: true;
  /** The smallest value of a count or an amount; default 0. */
  readonly least?: number;
  /** The largest value of a count. */
  readonly most?: number;
  /** The values of a text. */
  readonly values?: readonly string[];
  /** Whether `null` is a value. */
  readonly isNullable?: true;
  /** The schema of the value, if the graph gives it a type. The engine checks it. */
  readonly schema?: object;
}
export type Fields = Readonly<Record<string, Field>>;

/** The values of a body by field, checked. @throws Problem `bad-request` if the body is not a record; `bad-field` */
export function readFields(body: unknown, fields: Fields): Record<string, Json> {
  if (typeof body !== "object" || body === null || Array.isArray(body)) {
    throw new Problem("bad-request", "the body of the request is a JSON object");
  }
  const given = body as Readonly<Record<string, Json>>;
  const wrong = [...unknownNames(given, fields)];
  const values: Record<string, Json> = {};
  for (const [name, field] of Object.entries(fields)) {
    if (!Object.hasOwn(given, name)) {
      if (field.isRequired) wrong.push(`\`${name}\` is missing`);
      continue;
    }
    const value = given[name]!;
    const problem = mismatch(value, field);
    if (problem === undefined) values[name] = value;
    else wrong.push(`\`${name}\` ${problem}`);
  }
  refuse(wrong);
  return values;
}

/** The values of a query by parameter, converted and checked. @throws Problem `bad-field` */
export function readQuery(query: URLSearchParams, fields: Fields): Record<string, Json> {
  const given: Record<string, Json> = Object.create(null) as Record<string, Json>;
  const wrong: string[] = [];
  for (const [name, text] of query) {
    if (Object.hasOwn(given, name)) wrong.push(`\`${shown(name)}\` is given twice`);
    given[name] = fromText(text, Object.hasOwn(fields, name) ? fields[name] : undefined);
  }
  refuse(wrong);
  return readFields(given, fields);
}

function refuse(wrong: readonly string[]): void {
  if (wrong.length === 0) return;
  const some = wrong.slice(0, 20);
  throw new Problem("bad-field", some.join("; "), { details: some });
}

function* unknownNames(given: object, fields: Fields): Generator<string> {
  const known = Object.keys(fields);
  for (const name of Object.keys(given)) {
    if (Object.hasOwn(fields, name)) continue;
    const similar = similarName(name, known);
    const hint =
      similar === undefined
        ? known.length === 0
          ? ""
          : `; known: ${known.join(", ")}`
        : `; did you mean \`${similar}\`?`;
    yield `\`${shown(name)}\` is not a field${hint}`;
  }
}

/** A name from outside, cut to a size that fits a message. */
function shown(name: string): string {
  return name.length > 60 ? `${name.slice(0, 60)}…` : name;
}

function fromText(text: string, field: Field | undefined): Json {
  if (field?.kind === "flag") return text === "true" || text === "" ? true : text === "false" ? false : text;
  if (field?.kind === "count" || field?.kind === "amount") return /^-?\d+(?:\.\d+)?$/.test(text) ? Number(text) : text;
  return text;
}

function mismatch(value: Json, field: Field): string | undefined {
  if (value === null && field.isNullable) return undefined;
  switch (field.kind) {
    case "text":
    case "thread":
      if (typeof value !== "string" || value === "") return "is a text of at least one character";
      if (field.kind === "thread" && !isNameable(value)) return NOT_NAMEABLE;
      return field.values === undefined || field.values.includes(value)
        ? undefined
        : `is one of ${field.values.join(", ")}`;
    case "flag":
      return typeof value === "boolean" ? undefined : "is true or false";
    case "count":
      if (Number.isSafeInteger(value) && isWithin(value as number, field)) return undefined;
      return `is a whole number of at least ${field.least ?? 0}${field.most === undefined ? "" : ` and at most ${field.most}`}`;
    case "amount":
      return typeof value === "number" && isWithin(value, field)
        ? undefined
        : `is a number of at least ${field.least ?? 0}`;
    case "json":
      return undefined;
    case "record":
      return isRecord(value) ? undefined : "is a JSON object";
    case "texts":
      return Array.isArray(value) && value.every((item) => typeof item === "string") ? undefined : "is a list of texts";
    case "names":
      return isRecord(value) && Object.values(value).every((item) => typeof item === "string")
        ? undefined
        : "is a JSON object whose values are texts";
  }
}

/** Parts of an address that every client removes from it. */
const DOTS: readonly string[] = [".", ".."];

const NOT_NAMEABLE = "is a name that no address can have: `.`, `..`, or a text with half of a character";

/** A lone surrogate has no form in UTF-8, and so none in an address. */
function isNameable(thread: string): boolean {
  return !DOTS.includes(thread) && !/\p{Surrogate}/u.test(thread);
}

function isWithin(value: number, { least = 0, most = Number.MAX_SAFE_INTEGER }: Field): boolean {
  return value >= least && value <= most;
}

function isRecord(value: Json): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The JSON Schema of a body. */
export function schemaOfFields(fields: Fields): object {
  const required = Object.entries(fields).flatMap(([name, field]) => (field.isRequired ? [name] : []));
  return {
    type: "object",
    properties: Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, schemaOfField(field)])),
    ...(required.length === 0 ? {} : { required }),
    additionalProperties: false,
  };
}

export function schemaOfField(field: Field): object {
  const { description } = field;
  if (field.schema !== undefined) return { ...field.schema, description };
  const type = (name: string): string | readonly string[] => (field.isNullable ? [name, "null"] : name);
  switch (field.kind) {
    case "text":
      return {
        type: type("string"),
        minLength: 1,
        ...(field.values === undefined ? {} : { enum: field.values }),
        description,
      };
    case "thread":
      return { type: type("string"), minLength: 1, not: { enum: DOTS }, description };
    case "flag":
      return { type: type("boolean"), description };
    case "count":
      return {
        type: type("integer"),
        minimum: field.least ?? 0,
        ...(field.most === undefined ? {} : { maximum: field.most }),
        description,
      };
    case "amount":
      return { type: type("number"), minimum: field.least ?? 0, description };
    case "json":
      return { description };
    case "record":
      return { type: type("object"), description };
    case "texts":
      return { type: type("array"), items: { type: "string" }, description };
    case "names":
      return { type: type("object"), additionalProperties: { type: "string" }, description };
  }
}
