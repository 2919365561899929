import { TableError } from "../interface/errors.ts";

/** Refuses a table of a graph or a plan, naming the place. @throws TableError NG_BAD_TABLE */
export function bad(at: string, problem: string): never {
  throw new TableError("NG_BAD_TABLE", `\`${at}\` of the table: ${problem}`);
}

/** @throws TableError NG_BAD_TABLE */
export function record(value: unknown, at: string): Readonly<Record<string, unknown>> {
  if (typeof value !== "object" || value === null || Array.isArray(value)) bad(at, "expected an object");
  return value as Readonly<Record<string, unknown>>;
}

/** Shortest and longest wait between attempts, in milliseconds. @throws TableError NG_BAD_TABLE */
export function waits(value: unknown, at: string): void {
  const { min, max } = record(value, at);
  for (const [name, wait] of Object.entries({ min, max })) {
    if (typeof wait !== "number" || !Number.isFinite(wait) || wait < 0) {
      bad(`${at}.${name}`, "expected a number of at least 0");
    }
  }
  if ((max as number) < (min as number)) bad(`${at}.max`, "expected at least `min`");
}

/** @throws TableError NG_BAD_TABLE */
export function list(value: unknown, at: string): readonly unknown[] {
  if (!Array.isArray(value)) bad(at, "expected a list");
  return value as readonly unknown[];
}
