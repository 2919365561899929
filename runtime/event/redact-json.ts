import { setField } from "../expression/operations.ts";
import type { Json } from "../value/json.ts";
import { keepAll } from "./redact.ts";

/**
 * Redacts plain JSON, field names included. It redacts each string by itself, because the JSON text of a value may be
 * escaped. The result is frozen.
 *
 * @param value nested no deeper than channels admit
 */
export function redactJson(redact: (text: string) => string, value: Json): Json {
  if (redact === keepAll) return value;
  if (typeof value === "string") return redact(value);
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return Object.freeze((value as readonly Json[]).map((item) => redactJson(redact, item)));
  const shown: Record<string, Json> = {};
  for (const [name, field] of Object.entries(value)) setField(shown, redact(name), redactJson(redact, field));
  return Object.freeze(shown);
}

/** Redacted copy of each list, keyed by the original (a cache). */
const redactedLists = new WeakMap<(text: string) => string, WeakMap<object, readonly Json[]>>();

/** Redacts a list that extends `before`, reusing the redacted prefix. */
export function redactAppended(redact: (text: string) => string, before: Json, after: Json): Json {
  if (redact === keepAll) return after;
  if (!Array.isArray(before) || !Array.isArray(after)) return redactJson(redact, after);
  let lists = redactedLists.get(redact);
  if (lists === undefined) redactedLists.set(redact, (lists = new WeakMap()));
  const start = lists.get(before) ?? (redactJson(redact, before) as readonly Json[]);
  const end = redactJson(redact, after.slice(before.length)) as readonly Json[];
  const shown = Object.freeze(start.concat(end));
  lists.set(after, shown);
  return shown;
}
