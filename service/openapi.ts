import type { Table } from "../runtime/table/table.ts";
import { schemaOfRole } from "./documents.ts";
import { schemaOfField, schemaOfFields, type Fields } from "./fields.ts";
import { OPERATIONS, type Operation } from "./operations.ts";
import { PROBLEM_STATUSES } from "./problem.ts";

type Schema = { readonly [key: string]: unknown };

const PROBLEM = content("A problem", "application/problem+json", { $ref: "#/components/schemas/Problem" });

/** The OpenAPI 3.1 document of a service: each graph has a path of its own for runs, with the schemas of its inputs and outputs. */
export function openApiDocument(tables: readonly Table[], hasTokens: boolean): object {
  const paths: Record<string, Record<string, object>> = {};
  const add = (path: string, operation: Operation, more: { readonly graph?: Table } = {}): void => {
    (paths[path] ??= {})[operation.method] = describeOperation(path, operation, more.graph);
  };
  for (const operation of Object.values(OPERATIONS) as readonly Operation[]) {
    if (operation.path.startsWith("/graphs/{graph}")) {
      for (const graph of tables) add(operation.path.replace("{graph}", graph.name), operation, { graph });
    } else add(operation.path, operation);
  }
  const plain = (summary: string, type: string, more: object): object => ({
    get: {
      operationId: summary.toLowerCase().replaceAll(" ", "-"),
      summary,
      ...more,
      responses: {
        200: content("The answer", type, {}),
        default: PROBLEM,
      },
    },
  });
  return {
    openapi: "3.1.0",
    info: {
      title: "ngraph",
      version: "1",
      description: "Runs graphs, answers their questions, and shows their threads.",
    },
    paths: {
      ...paths,
      "/openapi.json": plain("This document", "application/json", {}),
      "/health": plain("Liveness", "application/json", { security: [] }),
      "/ready": plain("Readiness", "application/json", { security: [] }),
      "/metrics": plain("Metrics", "text/plain", {}),
    },
    components: {
      schemas: {
        ...SCHEMAS,
        ...Object.fromEntries(tables.map((table) => [`Result_${table.name}`, resultSchema(table)])),
      },
      ...(hasTokens ? { securitySchemes: { bearer: { type: "http", scheme: "bearer" } } } : {}),
    },
    ...(hasTokens ? { security: [{ bearer: [] }] } : {}),
  };
}

function describeOperation(path: string, operation: Operation, graph: Table | undefined): object {
  const { id, summary, body, query, answer, status = 200, mayBeAsync, streams, media } = operation;
  const parameters = [
    ...(path.includes("{thread}")
      ? [{ name: "thread", in: "path", required: true, schema: { type: "string", minLength: 1 } }]
      : []),
    ...(path.includes("{run}")
      ? [{ name: "run", in: "path", required: true, schema: { type: "string", minLength: 1 } }]
      : []),
    ...Object.entries(query ?? {}).map(([name, field]) => ({
      name,
      in: "query",
      ...(field.isRequired === true ? { required: true } : {}),
      schema: schemaOfField(field),
    })),
    ...(id === "run" || id === "signal"
      ? [header("Idempotency-Key", "A second request with this key repeats nothing")]
      : []),
    ...(mayBeAsync
      ? [header("Prefer", "`respond-async`, or `wait=SECONDS`: 202 if the run has not ended by then")]
      : []),
    ...(id === "events" ? [header("Last-Event-ID", "The last event that was received")] : []),
  ];
  const named = answer === "Result" && graph !== undefined ? `Result_${graph.name}` : answer;
  const schema = named === undefined ? undefined : { $ref: `#/components/schemas/${named}` };
  const events = { "text/event-stream": { schema: { type: "string" } } };
  const responses: Record<string, object> = {
    [status]:
      streams === "always"
        ? { description: "The events", content: events }
        : media !== undefined
          ? { description: "The answer", content: { [media]: { schema: TEXT } } }
          : schema === undefined
            ? { description: "Done" }
            : {
                description: "The answer",
                content: { "application/json": { schema }, ...(streams === undefined ? {} : events) },
              },
  };
  if (mayBeAsync)
    responses[202] = content("The run continues", "application/json", { $ref: "#/components/schemas/Started" });
  responses["default"] = PROBLEM;
  return {
    operationId: graph === undefined ? id : `${id}_${graph.name}`,
    summary: graph?.debug?.doc !== undefined && id === "run" ? `${summary}: ${graph.debug.doc}` : summary,
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(body === undefined ? {} : { requestBody: requestBody(body, id === "run" ? graph : undefined) }),
    responses,
  };
}

function requestBody(fields: Fields, graph: Table | undefined): object {
  const { input, config } = fields;
  const typed: Fields =
    graph === undefined || input === undefined || config === undefined
      ? fields
      : {
          ...fields,
          input: { ...input, schema: embedded(schemaOfRole(graph, "input"), `${graph.name}:input`) },
          config: { ...config, schema: embedded(schemaOfRole(graph, "config"), `${graph.name}:config`) },
        };
  return { required: true, content: { "application/json": { schema: schemaOfFields(typed) } } };
}

/** References of a schema point to its own root: it keeps its definitions under an id of its own. */
function embedded(schema: Schema, name: string): Schema {
  return "$defs" in schema ? { $id: `urn:ngraph:schema:${name}`, ...schema } : schema;
}

/** Outputs of a run that has not completed may be null, and records may have further fields. */
function resultSchema(table: Table): Schema {
  const output = open(schemaOfRole(table, "output")) as Schema;
  const properties = output["properties"] as Readonly<Record<string, Schema>>;
  const nullable = Object.entries(properties).map(([name, schema]) => [name, { anyOf: [schema, { type: "null" }] }]);
  return {
    ...SCHEMAS.Result,
    properties: {
      ...RESULT,
      output: embedded({ ...output, properties: Object.fromEntries(nullable) as object }, `${table.name}:output`),
    },
  };
}

/** A schema whose records may have further fields. */
function open(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(open);
  if (typeof schema !== "object" || schema === null) return schema;
  const entries = Object.entries(schema).filter(
    ([name, value]) => !(name === "additionalProperties" && value === false),
  );
  return Object.fromEntries(entries.map(([name, value]) => [name, open(value)]));
}

function header(name: string, description: string): object {
  return { name, in: "header", schema: { type: "string" }, description };
}

function content(description: string, type: string, schema: object): object {
  return { description, content: { [type]: { schema } } };
}

const TEXT = { type: "string" };
const NULLABLE_TEXT = { type: ["string", "null"] };
const NULLABLE_NUMBER = { type: ["number", "null"] };
const TEXTS = { type: "array", items: TEXT };
const RECORD = { type: "object" };
const FAILURE = { type: ["object", "null"], properties: { code: TEXT, message: TEXT }, required: ["code", "message"] };
const STATUS = {
  enum: ["running", "interrupted", "paused", "completed", "incomplete", "failed", "limit", "cancelled", "rolled_back"],
};
const PAUSES = { type: "array", items: { $ref: "#/components/schemas/Pause" } };

const record = (properties: Readonly<Record<string, unknown>>, required = Object.keys(properties)): Schema => ({
  type: "object",
  properties,
  required,
});

const RESULT = {
  version: { const: 1 },
  status: STATUS,
  thread: TEXT,
  steps: { type: "array", items: TEXTS },
  output: RECORD,
  state: RECORD,
  pauses: PAUSES,
  incompleteBarriers: { type: "array", items: RECORD },
  error: FAILURE,
  checkpoint: NULLABLE_TEXT,
};

const PLAN_RUN = {
  id: TEXT,
  plan: TEXT,
  thread: NULLABLE_TEXT,
  startedAt: TEXT,
  outcome: NULLABLE_TEXT,
  running: { type: "boolean" },
};
const SPAN = record({ start: { type: "number" }, end: { type: "number" } });

const SCHEMAS = {
  Problem: record(
    {
      type: TEXT,
      title: TEXT,
      status: { enum: PROBLEM_STATUSES },
      detail: TEXT,
      code: TEXT,
      details: TEXTS,
    },
    ["type", "title", "status", "detail", "code"],
  ),
  Pause: record(
    {
      id: TEXT,
      node: TEXT,
      kind: { enum: ["interrupt", "before", "after", "timer", "signal"] },
      payload: {},
      due: { type: "number" },
      namespace: TEXTS,
      schema: { type: "object", description: "The JSON Schema of the answer" },
    },
    ["id", "node", "kind", "payload", "namespace"],
  ),
  Started: record({ thread: TEXT, status: { const: "running" } }),
  Result: record(RESULT, ["status", "thread", "output", "state", "pauses", "error", "checkpoint"]),
  Thread: record({
    thread: TEXT,
    graph: TEXT,
    status: STATUS,
    running: { type: "boolean" },
    prepared: { type: "boolean" },
    step: { type: "integer" },
    next: TEXTS,
    pauses: PAUSES,
    output: RECORD,
    state: RECORD,
    error: FAILURE,
    label: NULLABLE_TEXT,
    metadata: RECORD,
    checkpoint: TEXT,
    timestamp: { type: "number" },
    due: NULLABLE_NUMBER,
  }),
  Threads: record({
    threads: {
      type: "array",
      items: record({
        thread: TEXT,
        graph: NULLABLE_TEXT,
        status: STATUS,
        step: { type: "integer" },
        label: NULLABLE_TEXT,
        metadata: RECORD,
        timestamp: { type: "number" },
        due: NULLABLE_NUMBER,
        checkpoint: TEXT,
        checkpoints: { type: "integer" },
      }),
    },
    next: NULLABLE_NUMBER,
  }),
  History: record({ checkpoints: { type: "array", items: RECORD } }),
  Checkpoint: record({ thread: TEXT, checkpoint: TEXT }),
  Signal: record({ id: TEXT, added: { type: "boolean" } }),
  Test: record({ thread: TEXT, graph: TEXT, test: TEXT }),
  Graph: record({
    name: TEXT,
    description: NULLABLE_TEXT,
    digest: TEXT,
    effects: TEXTS,
    input: RECORD,
    output: RECORD,
    config: RECORD,
    state: RECORD,
    nodes: {
      type: "array",
      items: record({ name: TEXT, line: { type: ["integer", "null"], minimum: 1 } }),
    },
  }),
  PlanRunSummary: record(PLAN_RUN),
  PlanRuns: record({ runs: { type: "array", items: record(PLAN_RUN) } }),
  PlanRun: record({
    ...PLAN_RUN,
    resumedFrom: NULLABLE_TEXT,
    length: { type: "number" },
    planned: {
      type: ["object", "null"],
      properties: { makespan: { type: "number" }, unit: { enum: ["ms", "tasks"] }, maxParallel: { type: "integer" } },
    },
    tasks: {
      type: "array",
      items: record({
        id: TEXT,
        status: TEXT,
        attempts: { type: "integer" },
        spans: { type: "array", items: SPAN },
        retries: { type: "array", items: { type: "number" } },
        cached: { type: "boolean" },
        planned: { anyOf: [SPAN, { type: "null" }] },
        critical: { type: "boolean" },
        reason: NULLABLE_TEXT,
        error: NULLABLE_TEXT,
      }),
    },
    logs: {
      type: "array",
      items: record({
        log: TEXT,
        task: TEXT,
        check: { type: ["integer", "null"] },
        attempt: { type: "integer" },
        bytes: { type: "integer" },
      }),
    },
  }),
  PlanLog: record({
    text: TEXT,
    next: { type: "integer" },
    bytes: { type: "integer" },
    over: { type: "boolean" },
  }),
  Graphs: record({ graphs: { type: "array", items: { $ref: "#/components/schemas/Graph" } } }),
} as const;
