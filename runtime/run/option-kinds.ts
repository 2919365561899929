import { isRecord } from "../value/plain-object.ts";
import { kindOf } from "../value/shown.ts";

/** What the value of an option may be. The check of one value: TypeScript cannot check the options of a JavaScript program. */
const KINDS = {
  flag: ["true or false", (value: unknown) => typeof value === "boolean"],
  count: ["a whole number of at least 1", (value: unknown) => Number.isSafeInteger(value) && (value as number) >= 1],
  number: ["a number", (value: unknown) => typeof value === "number" && !Number.isNaN(value)],
  text: ["a text", (value: unknown) => typeof value === "string"],
  texts: ["a list of texts", isTexts],
  list: ["a list", (value: unknown) => Array.isArray(value)],
  record: ["a record", isRecord],
  function: ["a function", (value: unknown) => typeof value === "function"],
  lookup: ["a record or a function", (value: unknown) => isRecord(value) || typeof value === "function"],
  listener: ["an `AbortSignal`", (value: unknown) => hasMethods(value, ["addEventListener"])],
  clock: [
    "an object with `now`, `setTimeout` and `clearTimeout`",
    (value: unknown) => hasMethods(value, ["now", "setTimeout", "clearTimeout"]),
  ],
  cache: ["an object with `get`, `set` and `clear`", (value: unknown) => hasMethods(value, ["get", "set", "clear"])],
  host: ["a host, an object with `connect`", (value: unknown) => hasMethods(value, ["connect"])],
} as const satisfies Readonly<Record<string, readonly [text: string, isValid: (value: unknown) => boolean]>>;

/** The kind of an option's values; `true` for an option that its reader checks. */
export type OptionKind = keyof typeof KINDS | true;

/** What an option has to be, if a value is of another kind. */
export function wrongKind(kind: OptionKind, value: unknown): string | undefined {
  if (kind === true || value === undefined) return undefined;
  const [text, isValid] = KINDS[kind];
  return isValid(value) ? undefined : `${text}, not ${kindOf(value)}`;
}

function isTexts(value: unknown): boolean {
  return Array.isArray(value) && value.every((each) => typeof each === "string");
}

function hasMethods(value: unknown, names: readonly string[]): boolean {
  if ((typeof value !== "object" && typeof value !== "function") || value === null) return false;
  return names.every((name) => typeof (value as Readonly<Record<string, unknown>>)[name] === "function");
}
