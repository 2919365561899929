import { RunError } from "../interface/errors.ts";

/** The entries of a record or a map; none if it is absent. */
export function entriesOf(value: unknown, what: string, example: string): Iterable<readonly [string, unknown]> {
  if (value === undefined || value === null) return [];
  if (value instanceof Map) return value as Map<string, unknown>;
  if (typeof value === "object" && !isIterable(value)) return Object.entries(value);
  throw bad(`${what} is a record, as ${example}; found ${kindOf(value)}`);
}

/** A list of names. Accepts any iterable except a string, a `Set` for example. */
export function namesOf(value: unknown, what: string, example: string): readonly string[] {
  const names = typeof value === "object" && value !== null && isIterable(value) ? [...value] : undefined;
  if (names === undefined) throw bad(`${what} is a list of names, as ${example}; found ${kindOf(value)}`);
  const wrong = names.find((name) => typeof name !== "string");
  if (wrong === undefined) return names as readonly string[];
  throw bad(`${what} is a list of names, as ${example}; found ${kindOf(wrong)} in it`);
}

/** The nodes that ran: each a name, or a record with the name as `node`. */
export function listOf(value: unknown, what: string, example: string): readonly unknown[] {
  if (Array.isArray(value)) return value as readonly unknown[];
  throw bad(`${what} is a list, as ${example}; found ${kindOf(value)}`);
}

/** The routing request of a node. Other fields of a result (its updates, its sends) do not affect routing. */
export function requestOf(value: unknown, what: string): Readonly<Record<string, unknown>> {
  if (value === undefined || value === null) return NOTHING;
  if (typeof value === "object" && !isIterable(value)) return value as Readonly<Record<string, unknown>>;
  throw bad(`${what} is a record, as { goto: "draft" }, or nothing; found ${kindOf(value)}`);
}

/** Targets of a `goto`. The empty name, like an empty list, follows the edges. */
export function gotoOf(value: unknown, node: string): readonly string[] {
  if (value === undefined || value === null) return [];
  const what = `the \`goto\` of node \`${node}\``;
  const names = typeof value === "string" ? [value] : namesOf(value, what, '"draft" or ["draft", "end"]');
  return names.filter((name) => name !== "");
}

export function flagOf(value: unknown, name: string, node: string): boolean {
  if (value === undefined || value === null) return false;
  if (typeof value === "boolean") return value;
  throw bad(`\`${name}\` of node \`${node}\` is true or false; found ${kindOf(value)}`);
}

export function unknownName(what: string, name: unknown, known: Iterable<string>): RunError {
  if (typeof name !== "string") return bad(`expected the name of a ${what}, found ${kindOf(name)}`);
  const names = [...known].slice(0, 20).map((other) => `\`${other}\``);
  return bad(`unknown ${what} \`${name}\`: the table has ${names.join(", ") || "none"}`);
}

export function bad(message: string): RunError {
  return new RunError("NG_BAD_INPUT", message);
}

const NOTHING = Object.freeze({});

function isIterable(value: object): value is Iterable<unknown> {
  return Symbol.iterator in value;
}

function kindOf(value: unknown): string {
  if (value === undefined) return "nothing";
  if (value === null) return "null";
  if (value instanceof Map) return "a map";
  if (Array.isArray(value)) return "a list";
  if (typeof value !== "object") return `${JSON.stringify(value) ?? typeof value}`;
  return isIterable(value)
    ? "an iterable"
    : `a record with ${Object.keys(value).slice(0, 5).join(", ") || "no fields"}`;
}
