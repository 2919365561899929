import { RunError } from "../interface/errors.ts";
import { shown } from "../value/shown.ts";

/** A whole number, or `null` for no limit. @throws RunError NG_BAD_INPUT */
export function checkCount(name: string, value: number | null, least: number): number | null {
  if (value === null || value === Number.POSITIVE_INFINITY) return null;
  if (Number.isSafeInteger(value) && value >= least) return value;
  throw new RunError(
    "NG_BAD_INPUT",
    `\`${name}\` is a whole number of at least ${least}, or null for no limit, not ${shown(value)}`,
  );
}

/** As `checkCount`, for any number. @throws RunError NG_BAD_INPUT */
export function checkAmount(name: string, value: number | null, least: number): number | null {
  if (value === null || value === Number.POSITIVE_INFINITY) return null;
  if (Number.isFinite(value) && value >= least) return value;
  throw new RunError(
    "NG_BAD_INPUT",
    `\`${name}\` is a number of at least ${least}, or null for no limit, not ${shown(value)}`,
  );
}
