import type { ResumeOptions } from "../interface/engine-options.ts";
import { admitJson, Mismatch } from "../value/validate.ts";

/**
 * A frozen copy of an argument: later changes by the caller do not affect the run. A value that is not plain JSON is
 * returned as it is; the code that uses it refuses it.
 */
export function heldJson<T>(value: T): T {
  if (typeof value !== "object" || value === null) return value;
  const held = admitJson(value);
  return held instanceof Mismatch ? value : (held as T);
}

/** A copy of the options of a call, with frozen copies of the values in them. */
export function heldOptions<T extends Pick<ResumeOptions, "metadata" | "answer" | "answers">>(options: T): T {
  // `checkExecuteOptions` refuses anything but a record.
  if (typeof options !== "object" || options === null || Array.isArray(options)) return options;
  const held: Record<string, unknown> = {};
  for (const name of ["metadata", "answer", "answers"] as const) {
    if (options[name] !== undefined) held[name] = heldJson(options[name]);
  }
  return { ...options, ...held };
}
