/** The JSON Schema of the document of `ngc check --json`. It contains exactly the fields that scripts may rely on. */
import { EFFECT_PATTERN } from "../../runtime/table/effects.ts";

const position = object({ line: { type: "integer", minimum: 1 }, column: { type: "integer", minimum: 1 } });
const range = object({ start: position, end: position });
const text = { type: "string" };
const code = { type: "string", pattern: "^NG\\d{3}$" };
const severity = { enum: ["error", "warning", "info"] };
const count = { type: "integer", minimum: 0 };

const graph = object({
  name: text,
  kind: { enum: ["graph", "plan"] },
  digest: { anyOf: [{ type: "string", pattern: "^sha256:[0-9a-f]{64}$" }, { type: "null" }] },
  nodes: count,
  edges: count,
  effects: list({ type: "string", pattern: EFFECT_PATTERN.source }),
  proofs: list(object({ code, message: text, range })),
  verdict: {
    anyOf: [
      object({
        kind: { enum: ["sound", "unsound", "not proven"] },
        text,
        open: list(object({ property: text, why: text })),
      }),
      { type: "null" },
    ],
  },
  file: text,
});

const traceStep = object({
  step: count,
  ran: list(text),
  chose: { type: "object", additionalProperties: text },
  barriers: { type: "object", additionalProperties: list(text) },
});

export const DIAGNOSTIC_SCHEMA = object({
  code,
  name: { type: "string", pattern: "^[a-z]+(-[a-z]+)*$" },
  severity,
  message: { type: "string", minLength: 1 },
  file: text,
  range,
  label: text,
  labels: list(object({ file: text, range, message: text })),
  notes: list(text),
  help: { type: ["string", "null"] },
  fixes: list(object({ title: text, edits: list(object({ range, text })) })),
  trace: list(traceStep),
  traceEnd: { type: ["string", "null"] },
  url: { type: "string", pattern: "^docs/diagnostics/NG\\d{3}\\.md$" },
});

export const CHECK_SCHEMA = object(
  {
    version: { const: 1 },
    ok: { type: "boolean" },
    errors: count,
    warnings: count,
    graphs: list(graph),
    diagnostics: list(DIAGNOSTIC_SCHEMA),
    suppressed: list(object({ code, name: text, message: text, file: text, range, reason: text })),
  },
  {
    fixed: list(object({ file: text, code, title: text, position })),
    text,
    unreadable: list(object({ file: text, message: text })),
  },
);

function object(required: Record<string, object>, optional: Record<string, object> = {}): object {
  return {
    type: "object",
    properties: { ...required, ...optional },
    required: Object.keys(required),
    additionalProperties: false,
  };
}

function list(items: object): object {
  return { type: "array", items };
}
