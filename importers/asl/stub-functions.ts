/** The functions that imported graphs need beside the tasks. Stubs have them in full. */
export type Helper = "at" | "put" | "kindOf" | "time" | "millisecondsUntil" | "raise" | "untyped";

export const HELPERS: readonly Helper[] = ["at", "put", "kindOf", "time", "millisecondsUntil", "raise", "untyped"];

/** Each function as the stubs have it. `ngc export` knows by this text what a call of it means. */
export const HELPER_TEXT: Readonly<Record<Helper, string>> = {
  at: `/** The value at a path such as \`$.order.items[0]\`; \`null\` if there is none. */
export function at(value: unknown, path: string): any {
  let found: any = value;
  for (const [, field, index, name] of path.matchAll(/\\.([A-Za-z_]\\w*)|\\[(\\d+)\\]|\\[("(?:[^"\\\\]|\\\\.)*")\\]/g)) {
    if (typeof found !== "object" || found === null) return null;
    const key = field ?? index ?? JSON.parse(name!);
    found = Object.hasOwn(found, key) ? found[key] : null;
  }
  return found ?? null;
}`,
  untyped: `/** The value without its type: the run checks that it fits where it is written. */
export function untyped(value: unknown): any {
  return value;
}`,
  put: `/** A copy of the value with another value at a path such as \`$.order.result\`. Fields that are missing are made. */
export function put(value: any, path: string, result: unknown): any {
  const keys = [...path.matchAll(/\\.([A-Za-z_]\\w*)|\\[(\\d+)\\]|\\[("(?:[^"\\\\]|\\\\.)*")\\]/g)].map(
    ([, field, index, name]) => field ?? (index === undefined ? JSON.parse(name!) : Number(index)),
  );
  const replace = (current: any, depth: number): any => {
    if (depth === keys.length) return result;
    const key = keys[depth];
    if (Array.isArray(current) && typeof key === "number") {
      return current.map((item, index) => (index === key ? replace(item, depth + 1) : item));
    }
    const fields = typeof current === "object" && current !== null && !Array.isArray(current) ? current : {};
    const inner = Object.hasOwn(fields, key) ? fields[key] : {};
    return Object.fromEntries([...Object.entries(fields), [String(key), replace(inner, depth + 1)]]);
  };
  return replace(value, 0);
}`,
  kindOf: `/** The kind of a JSON value. */
export function kindOf(value: unknown): "null" | "boolean" | "number" | "string" | "list" | "record" {
  if (value === null || value === undefined) return "null";
  if (Array.isArray(value)) return "list";
  return typeof value === "object" ? "record" : (typeof value as "boolean" | "number" | "string");
}`,
  time: `/** A timestamp as milliseconds, so that timestamps of different zones compare. */
export function time(timestamp: string | null): number {
  const milliseconds = Date.parse(String(timestamp));
  if (Number.isNaN(milliseconds)) throw new Error(\`not a timestamp: \${timestamp}\`);
  return milliseconds;
}`,
  millisecondsUntil: `/** The time from now to a timestamp; 0 if it has passed. */
export function millisecondsUntil(timestamp: string): number {
  const milliseconds = Date.parse(timestamp);
  if (Number.isNaN(milliseconds)) throw new Error(\`not a timestamp: \${timestamp}\`);
  return Math.max(0, milliseconds - Date.now());
}`,
  raise: `/** Fails with the name of an error, which error edges of the calling graph read. */
export function raise(failure: { error: string; cause: string }): never {
  throw Object.assign(new Error(failure.cause), { name: failure.error });
}`,
};
