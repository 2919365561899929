import type { ResumeOptions } from "../interface/engine-options.ts";
import { admitJson, Mismatch } from "../value/validate.ts";

/**
 * A value as it is at the moment of the call: a caller who goes on and alters what was handed in does not alter the run. What is
 * no plain JSON stays as it is, and is refused where it is looked at.
 */
export function heldJson<T>(value: T): T {
  if (typeof value !== "object" || value === null) return value;
  const held = admitJson(value);
  return held instanceof Mismatch ? value : (held as T);
}

/** Options as they are at the moment of the call. */
export function heldOptions<T extends Pick<ResumeOptions, "metadata" | "answer" | "answers">>(options: T): T {
  // What is no record is refused where options are checked.
  if (typeof options !== "object" || options === null || Array.isArray(options)) return options;
  const held: Record<string, unknown> = {};
  for (const name of ["metadata", "answer", "answers"] as const) {
    if (options[name] !== undefined) held[name] = heldJson(options[name]);
  }
  return { ...options, ...held };
}
