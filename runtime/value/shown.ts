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
