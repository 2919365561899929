import type { ValueType } from "../runtime/table/value-type.ts";
import type { NodeSignature, Parameter } from "./signature.ts";

const STRING: ValueType = { kind: "string" };
const INT: ValueType = { kind: "int" };
const FLOAT: ValueType = { kind: "float" };
const BOOL: ValueType = { kind: "bool" };
const NULL: ValueType = { kind: "null" };
const JSON_VALUE: ValueType = { kind: "json" };

const TOOLS: ValueType = { kind: "list", item: JSON_VALUE };

/** A command for the system's shell, or a program with its arguments. */
const COMMAND: ValueType = {
  kind: "union",
  members: [STRING, { kind: "list", item: { kind: "union", members: [STRING, INT, FLOAT, BOOL] } }],
};

/** A namespace of the long-term memory. */
const NAMESPACE: ValueType = { kind: "union", members: [STRING, { kind: "list", item: STRING }] };

const METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"] as const;

const signatures: readonly NodeSignature[] = [
  {
    name: "llm",
    summary: "asks a language model; the answer has the type of the channel it is stored into",
    parameters: [
      optional("prompt", STRING),
      optional("system", STRING),
      optional("model", STRING),
      optional("temperature", FLOAT),
      optional("maxTokens", INT),
      optional("messages", { kind: "list", item: JSON_VALUE }),
      { ...optional("tools", TOOLS), isTools: true },
      { ...optional("approve", TOOLS), isTools: true },
      optional("maxSteps", INT),
      optional("servers", { kind: "list", item: STRING }),
    ],
    needs: ["prompt", "messages"],
    result: "infer",
    effects: ["model", "net"],
  },
  {
    name: "http",
    summary: "makes an HTTP request; a status outside 200-299 fails the node unless `check: false`",
    parameters: [
      required("url", STRING),
      optional("method", { kind: "union", members: METHODS.map((value) => ({ kind: "literal", value })) }),
      optional("headers", { kind: "map", value: STRING }),
      optional("body", JSON_VALUE),
      optional("check", BOOL),
      optional("redirects", INT),
      optional("hosts", { kind: "list", item: STRING }),
      optional("private", BOOL),
      optional("maxBytes", INT),
    ],
    result: {
      kind: "record",
      fields: [
        { name: "status", type: INT },
        { name: "headers", type: { kind: "map", value: STRING } },
        { name: "body", type: STRING },
        { name: "json", type: JSON_VALUE },
      ],
    },
    effects: ["net"],
  },
  {
    name: "shell",
    summary:
      "runs a command in the system's shell, or a program with a list of arguments; an exit code other than 0 fails the node unless `check: false`",
    parameters: [
      { ...required("command", COMMAND), isCommand: true },
      optional("cwd", STRING),
      optional("env", { kind: "map", value: STRING }),
      optional("input", STRING),
      optional("check", BOOL),
    ],
    result: {
      kind: "record",
      fields: [
        { name: "code", type: INT },
        { name: "stdout", type: STRING },
        { name: "stderr", type: STRING },
      ],
    },
    effects: ["shell"],
  },
  {
    name: "tool",
    summary: "calls a tool of an MCP server",
    parameters: [required("server", STRING), required("name", STRING), optional("arguments", JSON_VALUE)],
    result: "infer",
    effects: ["net"],
  },
  {
    name: "ask",
    summary: "waits for a person; the answer has the type of the channel it is stored into",
    parameters: [
      required("question", STRING),
      optional("choices", { kind: "list", item: STRING }),
      optional("details", JSON_VALUE),
    ],
    result: "infer",
    effects: ["person"],
    pauses: true,
  },
  {
    name: "receive",
    summary: "waits for a signal with a name; its value has the type of the channel it is stored into",
    parameters: [required("name", STRING)],
    result: "infer",
    effects: [],
    pauses: true,
  },
  {
    name: "sleep",
    summary: "waits; the duration is in milliseconds (`30s` is 30000)",
    parameters: [{ ...required("duration", INT), isDuration: true }],
    result: NULL,
    effects: [],
  },
  {
    name: "json",
    summary: "reads a JSON text; the value has the type of the channel it is stored into",
    parameters: [required("text", STRING)],
    result: "infer",
    effects: [],
  },
  {
    name: "yaml",
    summary: "reads a YAML text; the value has the type of the channel it is stored into",
    parameters: [required("text", STRING)],
    result: "infer",
    effects: [],
  },
  {
    name: "csv",
    summary: "reads comma-separated values; the rows have the type of the channel they are stored into",
    parameters: [required("text", STRING), optional("separator", STRING), optional("header", BOOL)],
    result: "infer",
    effects: [],
  },
  {
    name: "file",
    summary: "reads, writes or lists text files below the root directory",
    parameters: [
      optional("read", STRING),
      optional("write", STRING),
      optional("glob", STRING),
      optional("text", JSON_VALUE),
      optional("maxBytes", INT),
    ],
    forms: {
      read: { takes: ["maxBytes"], result: STRING },
      write: { needs: ["text"], takes: ["maxBytes"], result: STRING },
      glob: { result: { kind: "list", item: STRING } },
    },
    result: "infer",
    effects: ["files"],
  },
  {
    name: "memory",
    summary: "stores, reads, lists and searches items of the long-term memory, which outlive threads",
    parameters: [
      optional("put", STRING),
      optional("get", STRING),
      optional("search", STRING),
      optional("list", NAMESPACE),
      optional("delete", STRING),
      optional("namespace", NAMESPACE),
      optional("value", JSON_VALUE),
      { ...optional("ttl", { kind: "union", members: [INT, NULL] }), isDuration: true },
      optional("filter", { kind: "map", value: JSON_VALUE }),
      optional("limit", INT),
      optional("minScore", FLOAT),
    ],
    forms: {
      put: { needs: ["namespace", "value"], takes: ["ttl"], result: NULL },
      get: { needs: ["namespace"], result: "infer" },
      search: { needs: ["namespace"], takes: ["filter", "limit", "minScore"], result: "infer" },
      list: { takes: ["filter", "limit"], result: "infer" },
      delete: { needs: ["namespace"], result: BOOL },
    },
    result: "infer",
    effects: [],
  },
  {
    name: "print",
    summary: "writes a line of text; values other than strings are written as JSON",
    parameters: [required("text", JSON_VALUE)],
    result: NULL,
    effects: [],
  },
  {
    name: "fail",
    summary: "fails with a message",
    parameters: [required("message", STRING)],
    result: NULL,
    effects: [],
  },
];

/**
 * The signatures of the built-in nodes for the compiler, by name. Their code is in `nodes/`, one file each; every name here
 * has a file there or is listed in `SUPPLIED_BY_RUNNER`.
 */
export const nodeSignatures: ReadonlyMap<string, NodeSignature> = new Map(
  signatures.map((signature) => [signature.name, signature]),
);

/**
 * Built-in nodes that depend on the environment. The program that runs the graph supplies them (`builtins` of `createEngine`;
 * `createLlm` makes an `llm`, `createYaml` a `yaml`).
 */
export const SUPPLIED_BY_RUNNER: readonly string[] = ["llm", "tool", "yaml"];

function required(name: string, type: ValueType): Parameter {
  return { name, type };
}

function optional(name: string, type: ValueType): Parameter {
  return { name, type, optional: true };
}
