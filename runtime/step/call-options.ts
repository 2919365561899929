import { isRecord } from "../value/plain-object.ts";

/** The options of a context's methods. A misspelled one would be without effect, so the body fails. */

/** What is wrong with the options of `emit`. */
export function emitProblem(options: unknown): string | undefined {
  if (options == null || hasOnly(options, { kind: (kind) => typeof kind === "string" })) return undefined;
  return "`emit` takes a record of `kind`, which is a string";
}

/** What is wrong with the options of `interrupt`. */
export function interruptProblem(options: unknown): string | undefined {
  if (options == null || hasOnly(options, { expects: () => true, within: Number.isFinite })) return undefined;
  return "`interrupt` takes a record of `expects`, a type, and `within`, which is a finite number of milliseconds";
}

type Tests = Readonly<Record<string, (value: unknown) => boolean>>;

function hasOnly(options: unknown, tests: Tests): boolean {
  if (!isRecord(options)) return false;
  return Object.entries(options).every(
    ([name, value]) => Object.hasOwn(tests, name) && (value === undefined || tests[name]!(value)),
  );
}
