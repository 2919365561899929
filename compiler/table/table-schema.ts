/**
 * The JSON Schemas (2020-12) of a routing table and of a plan: the shapes that `loadTable` and `loadPlanTable` ask for, with no field but those of
 * `runtime/table/table.ts`. What a schema cannot say (that an index points at something) is checked after it.
 *
 * `node scripts/generate-table-validator.mjs` turns this into `table-validator.js`; a test fails when that file is stale.
 */
import { PLAN_FORMAT, PLAN_VERSION } from "../../runtime/table/plan-table.ts";
import { TABLE_FORMAT, TABLE_VERSION } from "../../runtime/table/table.ts";

type Schema = Readonly<Record<string, unknown>>;

const TEXT: Schema = { type: "string" };
const INDEX: Schema = { type: "integer", minimum: 0 };
const COUNT: Schema = { type: "integer", minimum: 1 };
const MILLISECONDS: Schema = { type: "number", minimum: 0 };
const YES: Schema = { const: true };
const ANY: Schema = {};
/** A part that `loadTable` takes by itself, through a list of its own: so that nesting costs no stack. */
const LATER: Schema = { type: "object" };
const definition = (name: string): Schema => ({ $ref: `#/$defs/${name}` });
const list = (items: Schema): Schema => ({ type: "array", items });
const nullable = (schema: Schema): Schema => ({ ...schema, type: [schema["type"], "null"] });

/** A closed object: fields whose name ends in `?` may be absent. */
function object(fields: Readonly<Record<string, Schema>>): Schema {
  const entries = Object.entries(fields).map(([name, schema]) => [name.replace(/\?$/, ""), schema]);
  return {
    type: "object",
    properties: Object.fromEntries(entries),
    required: Object.keys(fields).filter((name) => !name.endsWith("?")),
    additionalProperties: false,
  };
}

/** One of several closed objects, told apart by the text in a field: so an error is about the right one. */
function tagged(tag: string, variants: readonly Schema[]): Schema {
  return { type: "object", required: [tag], discriminator: { propertyName: tag }, oneOf: variants };
}

const tag = (...names: readonly string[]): Schema => (names.length === 1 ? { const: names[0] } : { enum: names });

export const TYPE_SCHEMA = tagged("kind", [
  object({ kind: tag("string", "int", "float", "bool", "null", "json") }),
  object({ kind: tag("literal"), value: { type: ["string", "number", "boolean"] } }),
  object({ kind: tag("list"), item: LATER }),
  object({ kind: tag("map"), value: LATER }),
  object({
    kind: tag("record"),
    fields: list(object({ name: TEXT, type: LATER, "optional?": YES })),
  }),
  object({ kind: tag("union"), members: list(LATER) }),
  object({ kind: tag("ref"), name: TEXT }),
  object({ kind: tag("opaque"), name: TEXT, module: TEXT }),
]);

const OPERATORS = ["+", "-", "*", "/", "%", "<", "<=", ">", ">=", "==", "!=", "&&", "||", "??", "in"];
const PART = LATER;
export const EXPRESSION_SCHEMA = tagged("op", [
  object({ op: tag("const"), value: ANY }),
  object({ op: tag("channel"), channel: INDEX }),
  object({ op: tag("local", "secret"), name: TEXT }),
  object({ op: tag("error") }),
  object({ op: tag("member"), of: PART, name: TEXT, "optional?": YES, "absent?": YES }),
  object({ op: tag("index"), of: PART, at: PART }),
  object({ op: tag("not", "negate"), of: PART }),
  object({ op: tag("binary"), operator: { enum: OPERATORS }, left: PART, right: PART, "int?": YES }),
  object({ op: tag("if"), condition: PART, then: PART, else: PART }),
  object({ op: tag("list"), items: list(PART) }),
  object({ op: tag("record"), fields: list(object({ name: TEXT, value: PART })) }),
  object({ op: tag("template"), parts: list({ type: ["string", "object"] }) }),
  object({ op: tag("comprehension"), list: PART, item: TEXT, value: PART, "condition?": PART }),
  object({ op: tag("library"), name: TEXT, args: list(PART) }),
  object({ op: tag("call"), function: INDEX, args: list(PART) }),
]);

const REDUCER = tagged("kind", [
  object({ kind: tag("last", "append", "sum", "min", "max", "merge", "union") }),
  object({ kind: tag("function"), function: INDEX }),
]);

const CHANNEL = object({
  name: TEXT,
  role: { enum: ["input", "output", "state", "memory"] },
  type: LATER,
  "initial?": ANY,
  "reducer?": REDUCER,
});

const ARGUMENTS = definition("arguments");
const CALLS = [
  object({ kind: tag("function"), function: INDEX, args: list(INDEX) }),
  object({ kind: tag("builtin"), name: TEXT, args: ARGUMENTS }),
  object({ kind: tag("graph"), graph: INDEX, args: ARGUMENTS }),
  object({ kind: tag("expression"), expression: INDEX }),
];
const CALL = tagged("kind", CALLS);

const OUTPUT = tagged("kind", [
  object({ kind: tag("channel"), channel: INDEX }),
  object({ kind: tag("fields"), fields: list(object({ field: TEXT, channel: INDEX })) }),
]);

/** A node or `END`. */
const NODE: Schema = { type: "integer", minimum: -1 };
const TARGET: Schema = {
  type: "object",
  if: { required: ["node"] },
  then: object({ node: NODE }),
  else: object({ barrier: INDEX, member: INDEX }),
};
const TARGETS = definition("targets");

const ROUTE = tagged("kind", [
  object({ kind: tag("plain", "otherwise"), targets: TARGETS }),
  object({ kind: tag("when"), condition: INDEX, targets: TARGETS }),
  object({
    kind: tag("match"),
    subject: INDEX,
    arms: list(object({ values: list({ type: ["string", "number", "boolean", "null"] }), targets: TARGETS })),
    "otherwise?": TARGETS,
  }),
  object({
    kind: tag("cases"),
    arms: list(object({ condition: INDEX, targets: TARGETS })),
    "otherwise?": TARGETS,
  }),
]);

/** A call of a node or task, which may be one of a plan; those of checks are not. */
const ANY_CALL = tagged("kind", [...CALLS, object({ kind: tag("plan"), plan: INDEX, args: ARGUMENTS })]);

const NODE_SPEC = object({
  name: TEXT,
  call: ANY_CALL,
  "each?": object({ item: TEXT, list: INDEX, "parallel?": COUNT }),
  "output?": OUTPUT,
  "tries?": object({ attempts: COUNT, "backoff?": object({ min: MILLISECONDS, max: MILLISECONDS }) }),
  "timeout?": MILLISECONDS,
  "cache?": object({ for: nullable(MILLISECONDS) }),
  "pauseBefore?": YES,
  "pauseAfter?": YES,
  "goes?": list(NODE),
  "idempotent?": YES,
  "waits?": INDEX,
  routes: list(definition("route")),
  onError: list(object({ "condition?": { anyOf: [INDEX, { const: "otherwise" }] }, targets: TARGETS })),
});

const BARRIER = object({
  id: TEXT,
  kind: { enum: ["all", "waits"] },
  target: NODE,
  members: list(list(INDEX)),
});

const ASSERTION = tagged("kind", [
  object({ kind: tag("before"), first: NODE, then: NODE }),
  object({ kind: tag("once", "eventually"), node: NODE }),
  object({ kind: tag("never"), node: NODE, with: NODE }),
]);

const TASK_SPEC = object({
  name: TEXT,
  call: ANY_CALL,
  "item?": object({ name: TEXT, value: ANY }),
  after: list(INDEX),
  trigger: { enum: ["all", "any", "done"] },
  "condition?": INDEX,
  "output?": OUTPUT,
  touches: list(object({ path: TEXT, mode: { enum: ["read", "write"] } })),
  "alone?": YES,
  "pool?": object({ pool: INDEX, count: COUNT }),
  checks: list(definition("call")),
  tries: COUNT,
  "backoff?": object({ min: MILLISECONDS, max: MILLISECONDS }),
  "timeout?": MILLISECONDS,
  "estimate?": MILLISECONDS,
  "cache?": object({ inputs: list(TEXT) }),
});

const POSITIONS = list(object({ line: COUNT, column: COUNT }));
const PLACES = list(object({ line: COUNT, column: COUNT, "shared?": { const: true } }));

/** What tables of graphs and of plans both hold. */
const COMMON: Readonly<Record<string, Schema>> = {
  expressions: list(PART),
  functions: list(object({ name: TEXT, module: TEXT, export: TEXT })),
  types: list(object({ name: TEXT, type: LATER })),
  graphs: list(LATER),
  secrets: list(TEXT),
  effects: list({ enum: ["net", "shell", "files", "code", "model", "person"] }),
  digest: { type: "string", pattern: "^sha256:[0-9a-f]{64}$" },
  "debug?": object({ file: TEXT, nodes: POSITIONS, expressions: PLACES, "doc?": TEXT }),
};

export const TABLE_SCHEMA: Schema = {
  $schema: "https://json-schema.org/draft/2020-12/schema",
  title: "ngraph routing table",
  ...object({
    format: { const: TABLE_FORMAT },
    version: { const: TABLE_VERSION },
    kind: { const: "graph" },
    name: TEXT,
    channels: list(definition("channel")),
    nodes: list(definition("node")),
    start: list(definition("route")),
    barriers: list(BARRIER),
    ...COMMON,
    "plans?": list(LATER),
    limits: object({ steps: nullable(COUNT), parallel: nullable(COUNT) }),
    assertions: list(ASSERTION),
  }),
  $defs: {
    channel: CHANNEL,
    arguments: list(object({ name: TEXT, expression: INDEX })),
    call: CALL,
    node: NODE_SPEC,
    target: TARGET,
    targets: list(definition("target")),
    route: ROUTE,
  },
};

export const PLAN_SCHEMA: Schema = {
  $schema: "https://json-schema.org/draft/2020-12/schema",
  title: "ngraph plan table",
  ...object({
    format: { const: PLAN_FORMAT },
    version: { const: PLAN_VERSION },
    kind: { const: "plan" },
    name: TEXT,
    maxParallel: COUNT,
    order: { enum: ["priority", "file"] },
    onFailure: { enum: ["continue", "no-new", "kill"] },
    pools: list(object({ name: TEXT, size: COUNT })),
    channels: list(definition("channel")),
    tasks: list(definition("task")),
    ...COMMON,
    plans: list(LATER),
    "ranks?": list(INDEX),
  }),
  $defs: {
    channel: CHANNEL,
    arguments: list(object({ name: TEXT, expression: INDEX })),
    call: CALL,
    task: TASK_SPEC,
  },
};
