import { setField } from "../expression/operations.ts";
import type { Json } from "../value/json.ts";

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
 * The same for plain JSON, names of fields included: text by text, since in JSON a value may be escaped. The answer is frozen.
 * @param value nested no deeper than what channels admit
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

/** Lists as they were told, by the lists that they stand for. */
const told = new WeakMap<(text: string) => string, WeakMap<object, readonly Json[]>>();

/** The same for a list that `before` is the beginning of: what was told with it is not looked at again. */
export function redactAppended(redact: (text: string) => string, before: Json, after: Json): Json {
  if (redact === keepAll) return after;
  if (!Array.isArray(before) || !Array.isArray(after)) return redactJson(redact, after);
  let lists = told.get(redact);
  if (lists === undefined) told.set(redact, (lists = new WeakMap()));
  const start = lists.get(before) ?? (redactJson(redact, before) as readonly Json[]);
  const end = redactJson(redact, after.slice(before.length)) as readonly Json[];
  const shown = Object.freeze(start.concat(end));
  lists.set(after, shown);
  return shown;
}
