/** Values of any kind in error messages. `String(value)` may throw for an object, or call code of the program. */

/** A text in quotes, a number, or what the value is. */
export function shown(value: unknown): string {
  return typeof value === "string" ? JSON.stringify(value.slice(0, LONGEST)) : kindOf(value);
}

const LONGEST = 80;

/** What a value is: `a list`, `a text`. Numbers and booleans are shown. */
export function kindOf(value: unknown): string {
  if (value == null || typeof value === "number" || typeof value === "boolean") return String(value);
  if (Array.isArray(value)) return "a list";
  if (typeof value === "string") return "a text";
  return typeof value === "object" ? "an object" : `a ${typeof value}`;
}

/** The first of many names or sentences: a message stays readable. */
export function listed(texts: readonly string[], separator = ", "): string {
  const more = texts.length - MOST_LISTED;
  return more <= 0 ? texts.join(separator) : `${texts.slice(0, MOST_LISTED).join(separator)} and ${more} more`;
}

const MOST_LISTED = 10;
