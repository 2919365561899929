import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Ajv, type ErrorObject } from "ajv";

const FORMATS: Readonly<Record<string, (text: string) => boolean>> = {
  uri: (text) => URL.canParse(text),
  "uri-reference": (text) => URL.canParse(text, "file:///base/") && !/[\s\\<>"{}|^`]/.test(text),
  "date-time": (text) => /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/.test(text),
};

/** The errors of a SARIF log by the official schema (sarif-2.1.0.schema.json names its source). */
export function sarifProblems(log: unknown): readonly ErrorObject[] {
  return validate(log) ? [] : (validate.errors ?? []);
}

const validate = compile();

function compile(): ReturnType<Ajv["compile"]> {
  const text = readFileSync(join(import.meta.dirname, "sarif-2.1.0.schema.json"), "utf8");
  // The schema is written for draft 4. Later drafts changed only one keyword that it uses: `id` became `$id`.
  const { $schema: _, id, ...schema } = JSON.parse(text) as { $schema: string; id: string };
  // One of its patterns is not valid for `RegExp` with the flag `u`.
  const ajv = new Ajv({ strict: false, allErrors: true, unicodeRegExp: false, formats: FORMATS });
  return ajv.compile({ ...schema, $id: id });
}
