import type { ResumeOptions } from "../interface/engine-options.ts";
import { copyPlain } from "../value/copy-plain.ts";
import { isPlainRecord } from "../value/plain-object.ts";
import { MAX_VALUE_COUNT, MAX_VALUE_DEPTH, MAX_VALUE_TEXT } from "../value/limits.ts";

/**
 * A frozen copy of an argument: later changes by the caller do not affect the run. A value that is not plain JSON is
 * returned as it is; the code that uses it refuses it.
 */
export function snapshotJson<T>(value: T): T {
  if (typeof value !== "object" || value === null) return value;
  return (copyPlain(value, BUDGET) ?? value) as T;
}

const BUDGET = { values: MAX_VALUE_COUNT, text: MAX_VALUE_TEXT, levels: MAX_VALUE_DEPTH };

/** A copy of the options of a call, with frozen copies of the values in them. */
export function snapshotOptions<T extends Pick<ResumeOptions, "metadata" | "answer" | "answers" | "config">>(
  options: T,
): T {
  // `checkOptions` refuses anything but a plain record.
  if (!isPlainRecord(options)) return options;
  const copy: Record<string, unknown> = {};
  for (const name of ["metadata", "answer", "answers", "config"] as const) {
    if (options[name] !== undefined) copy[name] = snapshotJson(options[name]);
  }
  return { ...options, ...copy };
}

/** Copies of the arguments of a call, of which the last one is its settings. The objects for bodies in them stay those of the caller. */
export function copyArguments<Args extends readonly unknown[]>(args: Args): Args {
  return args.map((arg, at) => {
    // A spread would make a record of a value that the operation has to refuse: a `Map`, a `Date`.
    if (at < args.length - 1 || !isPlainRecord(arg)) return snapshotJson(arg);
    const { context: _context, ...rest } = arg as { readonly context?: unknown };
    // A copy of JSON has no fields without a value, and a misspelled option is refused even so.
    return { ...arg, ...snapshotOptions(snapshotJson(rest)) };
  }) as unknown as Args;
}
