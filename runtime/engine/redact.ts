import { setField } from "../expression/operations.ts";
import type { Json } from "../json.ts";

/** Values shorter than this are no secrets worth the damage that taking them out of every text would do. */
const SHORTEST = 4;

/** What takes the values of secrets out of a text: error messages, events. Longer values first, should one contain another. */
export function createRedactor(secrets: ReadonlyMap<string, string>): (text: string) => string {
  const values = [...secrets]
    .filter(([, value]) => value.length >= SHORTEST)
    .sort(([, a], [, b]) => b.length - a.length);
  if (values.length === 0) return keepAll;
  return (text) => values.reduce((rest, [name, value]) => rest.replaceAll(value, `[secret ${name}]`), text);
}

/** Nothing is to be hidden. */
function keepAll(text: string): string {
  return text;
}

/**
 * The same for plain JSON, names of fields included: text by text, since in JSON a value may be escaped.
 * @param value nested no deeper than what channels admit
 */
export function redactJson(redact: (text: string) => string, value: Json): Json {
  if (redact === keepAll) return value;
  if (typeof value === "string") return redact(value);
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return (value as readonly Json[]).map((item) => redactJson(redact, item));
  const shown: Record<string, Json> = {};
  for (const [name, field] of Object.entries(value)) setField(shown, redact(name), redactJson(redact, field));
  return shown;
}
