import type { ResumeOptions } from "../interface/engine-options.ts";
import { admitJson, Mismatch } from "../value/validate.ts";

/**
 * A frozen copy of an argument: later changes by the caller do not affect the run. A value that is not plain JSON is
 * returned as it is; the code that uses it refuses it.
 */
export function snapshotJson<T>(value: T): T {
  if (typeof value !== "object" || value === null) return value;
  const copy = admitJson(value);
  return copy instanceof Mismatch ? value : (copy as T);
}

/** A copy of the options of a call, with frozen copies of the values in them. */
export function snapshotOptions<T extends Pick<ResumeOptions, "metadata" | "answer" | "answers" | "config">>(
  options: T,
): T {
  // `checkExecuteOptions` refuses anything but a record.
  if (typeof options !== "object" || options === null || Array.isArray(options)) return options;
  const copy: Record<string, unknown> = {};
  for (const name of ["metadata", "answer", "answers", "config"] as const) {
    if (options[name] !== undefined) copy[name] = snapshotJson(options[name]);
  }
  return { ...options, ...copy };
}
