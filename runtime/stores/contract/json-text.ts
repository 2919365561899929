import { StoreError } from "../../interface/errors.ts";
import { checkJson } from "./frozen-json.ts";

/**
 * A value as JSON text.
 *
 * @param what names the value, for the error
 * @throws StoreError NG_STORE_FAILED for a value that JSON cannot hold: cycles, functions, dates, NaN, too deep nesting
 */
export function jsonText(value: unknown, what: () => string): string {
  checkJson(value, what);
  try {
    return JSON.stringify(value);
  } catch (cause) {
    throw new StoreError("NG_STORE_FAILED", `${what()} cannot be stored: it is nested too deeply, or too large`, {
      cause,
    });
  }
}
